package settings

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

func set(text, name, value string) (string, error) {
	b, err := editor{WorkspaceFile, name}.set([]byte(text), value)
	return string(b), err
}

func unset(text, name string) (string, error) {
	b, err := editor{WorkspaceFile, name}.unset([]byte(text))
	return string(b), err
}

// TestSet: the value changes, and not one other byte.
func TestSet(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no text":              {"", "commit: stop\n"},
		"comments only":        {"# a\n", "# a\ncommit: stop\n"},
		"plain":                {"a: 1\ncommit: off\nb: 2\n", "a: 1\ncommit: stop\nb: 2\n"},
		"the same":             {"commit: stop # x\n", "commit: stop # x\n"},
		"a comment after it":   {"commit:   off   # why\n", "commit:   stop   # why\n"},
		"no line end":          {"commit: off", "commit: stop"},
		"added, no line end":   {"a: 1", "a: 1\ncommit: stop\n"},
		"CRLF":                 {"a: 1\r\ncommit: off\r\n", "a: 1\r\ncommit: stop\r\n"},
		"added, CRLF":          {"a: 1\r\n", "a: 1\r\ncommit: stop\r\n"},
		"single quotes":        {"commit: 'o''ff' # x\n", "commit: stop # x\n"},
		"double quotes":        {`commit: "o\"ff" # x` + "\n", "commit: stop # x\n"},
		"a quoted key":         {`"commit" : off` + "\n", `"commit" : stop` + "\n"},
		"empty":                {"commit:\na: 1\n", "commit: stop\na: 1\n"},
		"empty, with comment":  {"commit: # x\na: 1\n", "commit: stop # x\na: 1\n"},
		"null":                 {"commit: ~\n", "commit: stop\n"},
		"twice":                {"commit: off\na: 1\ncommit: x\n", "commit: stop\na: 1\ncommit: stop\n"},
		"on the next line":     {"commit:\n  off\na: 1\n", "commit:\n  stop\na: 1\n"},
		"a list":               {"commit:\n- a\n- b\n# about x\nx: 1\n", "commit: stop\n# about x\nx: 1\n"},
		"a mapping":            {"commit:\n  a: 1\n\n  b: 2\n\nx: 1\n", "commit: stop\n\nx: 1\n"},
		"a block":              {"commit: |\n  off\n  and on\nx: 1\n", "commit: stop\nx: 1\n"},
		"an anchor":            {"commit: &a off # x\nx: 1\n", "commit: stop # x\nx: 1\n"},
		"an alias":             {"x: &a off\ncommit: *a # y\n", "x: &a off\ncommit: stop # y\n"},
		"a tag":                {"commit: !!str off\n", "commit: stop\n"},
		"braces":               {"{a: 1, commit: off, b: 2}\n", "{a: 1, commit: stop, b: 2}\n"},
		"added to braces":      {"# x\n{a: 1}\n", "# x\n{commit: stop, a: 1}\n"},
		"empty braces":         {"{} # x\n", "{commit: stop} # x\n"},
		"letters before it":    {"größe: ü\n\"größe\": {commit: off, \"ü\": 1}\ncommit: off\n", "größe: ü\n\"größe\": {commit: off, \"ü\": 1}\ncommit: stop\n"},
		"letters in the line":  {"{\"größe\": \"ü😀\", commit: off}\n", "{\"größe\": \"ü😀\", commit: stop}\n"},
		"a document mark":      {"---\na: 1\n", "---\na: 1\ncommit: stop\n"},
		"indented":             {"  a: 1\n  b: 2\n", "  a: 1\n  b: 2\n  commit: stop\n"},
		"a name in a value":    {"a: \"commit: off\"\n# commit: off\ncommit: off\n", "a: \"commit: off\"\n# commit: off\ncommit: stop\n"},
		"a name in a mapping":  {"a:\n  commit: off\n", "a:\n  commit: off\ncommit: stop\n"},
		"unknown ones as well": {"new: [1,\n  2]\ncommit: off\n", "new: [1,\n  2]\ncommit: stop\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := set(test.text, "commit", "stop")
			if err != nil || got != test.want {
				t.Errorf("%q, %v\nwant %q", got, err, test.want)
			}
			if _, err := unset(got, "commit"); err != nil {
				t.Errorf("unset: %v", err)
			}
		})
	}
}

// TestSetRefused: a text that cannot be edited without risk is refused, with the line.
func TestSetRefused(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		line int
	}{
		"not YAML":           {"a: 1\n\tb: 2\n", 2},
		"a list":             {"# x\n- a\n", 2},
		"a word":             {"hello\n", 1},
		"conflict markers":   {"a: 1\n<<<<<<< ours\ncommit: off\n=======\ncommit: stop\n>>>>>>> theirs\n", 2},
		"the end":            {"a: 1\n...\n", 1},
		"another document":   {"a: 1\n---\nb: 1\n", 1},
		"an anchor in use":   {"commit: &a off\nb: *a\n", 1},
		"a question mark":    {"? commit\n: off\n", 1},
		"a list in braces":   {"{commit: [a, b]}\n", 1},
		"too many":           {strings.Repeat("a: 1\n", maxSettings+1), 1},
		"a broken character": {"a: \xff\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := set(test.text, "commit", "stop")
			var broken *BrokenError
			if !errors.As(err, &broken) || broken.Line != test.line || broken.Why == "" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestSetThenGet: whatever a file looks like, a value that is set is the one that is read,
// and the other settings, the comments and their order stay.
func TestSetThenGet(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	c := Default()
	table := c.table()
	values := func(s setting) []string {
		if _, number := s.typed().(int); number {
			return []string{"20", "50", "1000", "3000"}
		}
		return strings.Split(strings.ReplaceAll(s.allowed, " or ", ", "), ", ")
	}
	pick := func(list []string) string { return list[rnd.IntN(len(list))] }
	for range 3000 {
		var b strings.Builder
		for _, i := range rnd.Perm(len(table))[:rnd.IntN(8)] {
			s := table[i]
			b.WriteString(pick([]string{"", "", "# about " + s.name + "\n", "\n", "\n# a\n# b: c\n\n"}))
			key := pick([]string{s.name, s.name, `"` + s.name + `"`, "'" + s.name + "' "})
			value := pick(append(values(s), "", "~", "nonsense", "[1, 2]", "\n  - a\n  - b", "|\n  text\n", "{a: b}"))
			if !strings.Contains(value, "\n") {
				value = pick([]string{value, value + " # why", value + "   #"})
			}
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
		b.WriteString(pick([]string{"", "# the end\n", "unknown: {a: 1}\n"}))
		text := b.String()
		s := table[rnd.IntN(len(table))]
		value := pick(values(s))
		got, err := set(text, s.name, value)
		if err != nil {
			t.Fatalf("%q: %s: %v", text, s.name, err)
		}
		is := Default()
		r := read(WorkspaceFile, []byte(got), is.table())
		if named(r.settings, s.name).value() != value || r.lines[s.name] == 0 {
			t.Fatalf("%q\n%s is not %s in\n%q", text, s.name, value, got)
		}
		if a, b := commentsOf(text, s.name), commentsOf(got, s.name); !slices.Equal(a, b) {
			t.Fatalf("%q\n%q\ncomments %q\n%q", text, got, a, b)
		}
		without, err := unset(got, s.name)
		if err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		is = Default()
		if r := read(WorkspaceFile, []byte(without), is.table()); r.lines[s.name] != 0 {
			t.Fatalf("%q still has %s", without, s.name)
		}
	}
}

// commentsOf returns the comment lines, and the lines of settings other than name.
func commentsOf(text, name string) (list []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
		if _, comment, ok := strings.Cut(line, " #"); ok && !strings.Contains(line, name) {
			list = append(list, comment)
		}
	}
	return list
}

// FuzzSet: of any text, an edit changes one setting and nothing else, or it is refused.
func FuzzSet(f *testing.F) {
	f.Add([]byte(Text(CommitOff, CaptureAll)))
	f.Add([]byte("{a: [1], \"commit\": &x 'o''ff', <<: *x}\n...\n---\n? commit\n: |\n  x\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxBytes {
			return
		}
		for _, edit := range []func() ([]byte, error){
			func() ([]byte, error) { return editor{WorkspaceFile, "commit"}.set(text, "stop") },
			func() ([]byte, error) { return editor{WorkspaceFile, "commit"}.unset(text) },
		} {
			got, err := edit()
			if err != nil {
				if !errors.As(err, new(*BrokenError)) || strings.ContainsAny(err.Error(), "\x00\x1b") {
					t.Errorf("%q", err)
				}
				continue
			}
			was, err1 := pairs(text, "commit")
			is, err2 := pairs(got, "commit")
			if err1 != nil || err2 != nil || !slices.Equal(was, is) {
				t.Errorf("%q became %q: %v, %v", text, got, err1, err2)
			}
		}
	})
}

// TestSetAtOnce: of changes at the same time, none is lost.
func TestSetAtOnce(t *testing.T) {
	st := open(t, Text(CommitOff, CaptureCommands))
	var wg sync.WaitGroup
	names := []string{"idle_minutes", "remind_turns", "interval_s", "context_window", "summarize_after", "keep_messages"}
	for _, name := range names {
		wg.Go(func() {
			if _, _, err := Set(InWorkspace(st), name, "77"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b, err := os.ReadFile(InWorkspace(st).Path)
	if err != nil || strings.Count(string(b), ": 77\n") != len(names) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestCommented: the template of the user's file sets nothing, and says how.
func TestCommented(t *testing.T) {
	text := commented(Text(CommitOff, CaptureCommands))
	if root, err := parse([]byte(text)); root != nil || err != nil {
		t.Errorf("it sets something: %v", err)
	}
	plain := strings.NewReplacer("\n#", "\n").Replace(text)
	for _, name := range Names() {
		if !strings.Contains(plain, "\n"+name+": ") {
			t.Errorf("it lacks %s", name)
		}
	}
}

// TestSetLocked: a change that has to wait for too long says so, and changes nothing.
func TestSetLocked(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN with -short (scripts/coverage.sh runs it): waits for a lock")
	}
	st := open(t, "commit: off\n")
	unlock, err := st.LockCache("config", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, _, err := Set(InWorkspace(st), "commit", "stop"); err == nil || !strings.Contains(err.Error(), "is being changed by another cortext: try again") {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(InWorkspace(st).Path); err != nil || string(b) != "commit: off\n" {
		t.Errorf("%q, %v", b, err)
	}
}
