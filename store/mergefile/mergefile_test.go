package mergefile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/schema"
)

const logName = "conversations/2025-11-22/1030-chat-x-hv37/.session/messages.jsonl"

var start = time.Date(2025, 11, 22, 10, 30, 0, 0, time.UTC)

// merged merges a file in both directions and checks what holds for every merge.
func merged(t *testing.T, name string, base, ours, theirs []byte) []byte {
	t.Helper()
	m, err := Merge(name, base, ours, theirs)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Merge(name, base, theirs, ours)
	if err != nil || !bytes.Equal(m, back) {
		t.Fatalf("theirs and ours, %v:\n%s\nours and theirs:\n%s\nours:\n%s\ntheirs:\n%s", err, back, m, ours, theirs)
	}
	for _, side := range [][]byte{ours, theirs} {
		if again, err := Merge(name, side, m, side); err != nil || !bytes.Equal(again, m) {
			t.Fatalf("merged again, %v:\n%s\nfirst:\n%s\nside:\n%s\nbase:\n%s", err, again, m, side, base)
		}
	}
	return m
}

// A writer grows a log as a clone does.
type writer struct {
	r     *rand.Rand
	name  string
	lines []string
	tip   string
	clock time.Time
}

func (w *writer) fork(name string) *writer {
	c := *w
	c.name, c.lines = name, slices.Clone(w.lines)
	return &c
}

func (w *writer) text() []byte { return []byte(strings.Join(w.lines, "")) }

func (w *writer) message(m schema.Message) string { return string(schema.AppendMessage(nil, &m)) }

// grow appends messages, new revisions of old ones and redactions.
func (w *writer) grow(n int) {
	for range n {
		w.clock = w.clock.Add(time.Duration(1+w.r.IntN(5000)) * time.Millisecond)
		var old schema.Message
		if len(w.lines) > 0 {
			old, _ = schema.ParseMessage([]byte(strings.TrimSpace(w.lines[w.r.IntN(len(w.lines))])))
		}
		switch {
		case w.r.IntN(6) == 0 && old.ID != "" && len(old.Redacted) == 0:
			old.Content += " more"
			old.Rev = w.lastRev(old.ID) + 1
			w.lines = append(w.lines, w.message(old))
		case w.r.IntN(8) == 0 && old.ID != "":
			w.redact(old)
		default:
			m := schema.Message{ID: fmt.Sprintf("%s%d", w.name, len(w.lines)), ParentID: w.tip, Timestamp: schema.NewTime(w.clock), Role: schema.User, Content: "said by " + w.name}
			w.tip = m.ID
			w.lines = append(w.lines, w.message(m))
		}
	}
}

func (w *writer) lastRev(id string) (rev int) {
	for _, l := range w.lines {
		if m, _ := schema.ParseMessage([]byte(strings.TrimSpace(l))); m.ID == id {
			rev = max(rev, m.Rev)
		}
	}
	return rev
}

// redact replaces all lines of a message with two, as the store does.
func (w *writer) redact(m schema.Message) {
	bare := schema.Message{ID: m.ID, ParentID: m.ParentID, Timestamp: m.Timestamp, Role: m.Role}
	m.Content, m.Rev = "[redacted: x]", w.lastRev(m.ID)+1
	m.Redacted = append(slices.Clone(m.Redacted), fmt.Sprintf("%08x", w.r.Uint32()))
	var lines []string
	done := false
	for _, l := range w.lines {
		o, _ := schema.ParseMessage([]byte(strings.TrimSpace(l)))
		if o.ID != m.ID {
			lines = append(lines, l)
		} else if !done {
			lines = append(lines, w.message(bare), w.message(m))
			done = true
		}
	}
	w.lines = lines
}

// A merged log has each record of both sides, what was redacted on either stays redacted,
// and neither the direction nor another merge changes a byte.
func TestMergeLogs(t *testing.T) {
	for seed := range uint64(3000) {
		w := &writer{r: rand.New(rand.NewPCG(seed, 1)), name: "o", clock: start}
		w.grow(w.r.IntN(5))
		sides := []*writer{w.fork("a"), w.fork("b"), w.fork("c")}
		for _, s := range sides {
			s.grow(w.r.IntN(6))
		}
		ab := merged(t, logName, w.text(), sides[0].text(), sides[1].text())
		all := merged(t, logName, w.text(), ab, sides[2].text())
		text := string(all)
		marks := map[string]map[string]bool{} // all redactions of each message
		for _, s := range sides {
			for _, l := range s.lines {
				m, _ := schema.ParseMessage([]byte(strings.TrimSpace(l)))
				if marks[m.ID] == nil {
					marks[m.ID] = map[string]bool{}
				}
				for _, id := range m.Redacted {
					marks[m.ID][id] = true
				}
			}
		}
		for _, s := range sides {
			for _, l := range s.lines {
				m, _ := schema.ParseMessage([]byte(strings.TrimSpace(l)))
				if n := strings.Count(text, l); n > 1 || n == 0 && len(marks[m.ID]) <= len(m.Redacted) {
					t.Fatalf("seed %d: %d times %sin\n%s", seed, n, l, text)
				}
			}
		}
		first := map[string]bool{}
		best := map[string]schema.Message{}
		for l := range strings.Lines(text) {
			m, err := schema.ParseMessage([]byte(strings.TrimSpace(l)))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !first[m.ID] && m.Rev > 0 {
				t.Fatalf("seed %d: the first line of %s has a rev:\n%s", seed, m.ID, text)
			}
			first[m.ID] = true
			if old, ok := best[m.ID]; !ok || m.Precedence() > old.Precedence() {
				best[m.ID] = m
			}
		}
		for id, all := range marks {
			if len(all) > 0 && (best[id].Content != "[redacted: x]" || len(best[id].Redacted) != len(all)) {
				t.Fatalf("seed %d: %s is not redacted by all of %v:\n%s", seed, id, all, text)
			}
		}
	}
}

// What is not a record stays if it is new, and stays away if a side removed it. So does the old text
// of a record that only one side changed.
func TestMergeDamage(t *testing.T) {
	m := func(id string, second int) string {
		return string(schema.AppendMessage(nil, &schema.Message{ID: id, Timestamp: schema.NewTime(start.Add(time.Duration(second) * time.Second)), Role: schema.User, Content: id}))
	}
	a, b, c, d := m("a", 1), m("b", 2), m("c", 3), m("d", 4)
	idless := `{"role":"user","content":"yes"}` + "\n"
	unended := strings.TrimSuffix(c, "\n")
	changed := strings.Replace(b, `"content":"b"`, `"content":"***"`, 1)
	for _, test := range []struct{ name, base, ours, theirs, want string }{
		{"a line without newline", a, a + unended, a + d, a + c + d},
		{"a torn tail", a, a + b + `{"id":"x`, a + d, a + b + d + `{"id":"x`},
		{"a torn tail set aside", a + `{"id":"x`, a + b, a + `{"id":"x`, a + b},
		{"a broken line", a, a + "{broken\n" + b, a + c, a + "{broken\n" + b + c},
		{"a repaired line", a + "{broken\n", a + b, a + "{broken\n" + c, a + b + c},
		{"conflict markers", a, a + "<<<<<<< HEAD\n" + b + "=======\n" + c + ">>>>>>> x\n", a + d, a + b + c + d},
		{"CRLF", strings.ReplaceAll(a, "\n", "\r\n"), strings.ReplaceAll(a+b, "\n", "\r\n"), a + c, a + b + c},
		{"lines without id", a, a + idless + idless + c, a + idless + d, a + idless + idless + c + d},
		{"no base", "", a + c, b + c + d, a + b + c + d},
		{"another order", a, a + b + c, a + c + b + d, a + b + c + d},
		{"a record that one side changed", a + b + c, a + changed + c, a + b + c + d, a + changed + c + d},
		{"a last record that one side changed", a + b, a + changed, a + b + c, a + changed + c},
		{"a record that is new on both sides", a, a + changed, a + b, a + changed + b},
		{"an empty side", a, "", a + b, a + b},
		{"lines in the order of their times", a, a + b + d, a + c, a + b + c + d},
	} {
		if got := merged(t, logName, []byte(test.base), []byte(test.ours), []byte(test.theirs)); string(got) != test.want {
			t.Errorf("%s:\n%swant\n%s", test.name, got, test.want)
		}
	}
	if _, err := Merge(logName, []byte(a), []byte(a+"{"), []byte(a+"{x")); !errors.Is(err, ErrUnsure) {
		t.Errorf("two torn tails: %v", err)
	}
	if _, err := Merge("README.md", nil, nil, nil); !errors.Is(err, ErrUnsure) {
		t.Errorf("another file: %v", err)
	}
}

// edit changes a session at a time, as a command does.
func edit(t *testing.T, r *rand.Rand, s *schema.Session, who string, at time.Time) {
	t.Helper()
	before := s.Clone()
	switch r.IntN(9) {
	case 0:
		s.Title = "title of " + who
	case 1:
		s.Status = []schema.Status{schema.Active, schema.Paused, schema.Completed}[r.IntN(3)]
	case 2:
		s.Tags = append(slices.Clone(s.Tags), who, "both")
	case 3:
		s.Tags = nil
	case 4:
		s.Notes = "noted by " + who
	case 5:
		s.Metadata = schema.Raw(fmt.Sprintf(`{"%s":"%d","k":"%s"}`, who, r.IntN(3), who))
	case 6:
		s.Archived = !s.Archived
	case 7:
		s.Links = &schema.Links{Related: []string{who}}
	case 8:
		s.Sources = append(slices.Clone(s.Sources), schema.Source{Agent: "claude", NativeID: who})
	}
	s.MessageCount += r.IntN(3)
	s.Tokens = int64(s.MessageCount) * 10
	s.CountedBytes = s.Tokens * 10
	s.LastActive = schema.NewTime(at)
	s.Stamp(before, at)
}

// A merged session.json reads like the file that a union merge makes. The counters of the two
// sides are neither added up nor taken from one side.
func TestMergeSessions(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		base := &schema.Session{Version: schema.Version, ConversationID: "1030-chat-x-hv37", Status: schema.Active, CreatedAt: schema.NewTime(start), LastActive: schema.NewTime(start), Title: "x", MessageCount: 2, ID: "01kanht420fe0kcfqm06m7hv37"}
		files := [3][]byte{}
		var err error
		if files[0], err = base.Marshal(); err != nil {
			t.Fatal(err)
		}
		for i, who := range []string{"a", "b"} {
			s := base.Clone()
			for n := range 1 + r.IntN(4) {
				edit(t, r, s, who, start.Add(time.Duration(r.IntN(9000)+10_000*n)*time.Millisecond))
			}
			if files[i+1], err = s.Marshal(); err != nil {
				t.Fatal(err)
			}
		}
		name := strings.Replace(logName, "messages.jsonl", "session.json", 1)
		got, err := schema.ParseSession(merged(t, name, files[0], files[1], files[2]))
		if err != nil || got.Repair != nil {
			t.Fatalf("seed %d: %v, %+v", seed, err, got.Repair)
		}
		for i, n := range []string{"o", "a", "b"} {
			if err := os.WriteFile(filepath.Join(dir, n), files[i], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("git", "merge-file", "-p", "-q", "--union", "a", "o", "b")
		cmd.Dir = dir
		union, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		want, err := schema.ParseSession(union)
		if err != nil {
			t.Fatal(err)
		}
		want.Repair = nil
		if a, b := string(got.AppendLine(nil)), string(want.AppendLine(nil)); a != b {
			t.Fatalf("seed %d: merged\n%s\nunion\n%s\nbase\n%sours\n%stheirs\n%s", seed, a, b, files[0], files[1], files[2])
		}
	}
}

// What one side changed without a stamp, as a person with an editor does, counts if the
// other side left it as it was; a redaction is never undone.
func TestMergeOneSide(t *testing.T) {
	base := &schema.Session{Version: schema.Version, ConversationID: "1030-chat-x-hv37", Status: schema.Active, Title: "x", Tags: []string{"old", "kept"}, Notes: "n", Description: "d [redacted: y]", ID: "01kanht420fe0kcfqm06m7hv37"}
	ours, theirs := base.Clone(), base.Clone()
	ours.Title, ours.Tags, ours.Description = "a", []string{"kept"}, "d secret"
	theirs.Notes, theirs.LastActive = "z", schema.NewTime(start)
	var files [3][]byte
	for i, s := range []*schema.Session{base, ours, theirs} {
		var err error
		if files[i], err = s.Marshal(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := schema.ParseSession(merged(t, strings.Replace(logName, "messages.jsonl", "session.json", 1), files[0], files[1], files[2]))
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "a" || !slices.Equal(got.Tags, []string{"kept"}) || got.Notes != "z" || got.Description != base.Description {
		t.Errorf("title %q, tags %q, notes %q, description %q", got.Title, got.Tags, got.Notes, got.Description)
	}
}

// TestMergeApart: what two clones redact in different places of a record is redacted in
// the merged line, whichever side is ours.
func TestMergeApart(t *testing.T) {
	line := func(content, redaction string, rev int) string {
		m := schema.Message{ID: "m", Timestamp: schema.NewTime(start), Role: schema.User, Content: content, Rev: rev}
		if redaction != "" {
			m.Redacted = []string{redaction}
		}
		return string(schema.AppendMessage(nil, &m))
	}
	bare := line("", "", 0)
	base := line("keys one and two", "", 0)
	a := bare + line("keys [redacted: x] and two", "aaaa", 1)
	b := bare + line("keys one and [redacted: y]", "bbbb", 1)
	for _, sides := range [][2]string{{a, b}, {b, a}} {
		got := string(merged(t, logName, []byte(base), []byte(sides[0]), []byte(sides[1])))
		want := bare + strings.Replace(line("keys [redacted: x] and [redacted: y]", "aaaa", 2), `["aaaa"]`, `["aaaa","bbbb"]`, 1)
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	call := func(output, redaction string) string {
		return string(schema.AppendTool(nil, &schema.Tool{ID: "t", MessageID: "m", Name: "Bash", Output: output, Rev: 1, Redacted: []string{redaction}}))
	}
	tools := strings.Replace(logName, "messages", "tools", 1)
	got := string(merged(t, tools, nil, []byte(call("[redacted: x] two", "aaaa")), []byte(call("one [redacted: x]", "bbbb"))))
	if !strings.Contains(got, `"output":"[redacted: x] [redacted: x]"`) || strings.Count(got, "\n") != 1 {
		t.Errorf("%s", got)
	}
}
