package repair

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"cortext/store"
)

// edited applies f to one of the files of a conversation that match.
func edited(pattern string, f func(r *rand.Rand, b []byte) []byte) func(*world, string) {
	return func(w *world, session string) {
		names, _ := filepath.Glob(filepath.Join(session, pattern))
		names = slices.DeleteFunc(names, func(name string) bool {
			info, err := os.Lstat(name)
			return err != nil || !info.Mode().IsRegular()
		})
		if len(names) == 0 {
			return
		}
		name := names[w.r.IntN(len(names))]
		b, err := os.ReadFile(name)
		w.must(err)
		w.must(os.WriteFile(name, f(w.r, b), 0o600))
	}
}

// lines applies f to the lines of a log.
func lines(f func(r *rand.Rand, list []string) []string) func(*world, string) {
	return edited("*.jsonl", func(r *rand.Rand, b []byte) []byte {
		list := strings.SplitAfter(string(b), "\n")
		if len(list) < 2 {
			return b
		}
		return []byte(strings.Join(f(r, list[:len(list)-1]), ""))
	})
}

// instead puts something else in the place of a file.
func instead(pattern string, f func(name string) error) func(*world, string) {
	return func(w *world, session string) {
		names, _ := filepath.Glob(filepath.Join(session, pattern))
		if len(names) > 0 {
			name := names[w.r.IntN(len(names))]
			w.must(os.RemoveAll(name))
			w.must(f(name))
		}
	}
}

var faults = []fault{
	{"torn tail", edited("*.jsonl", func(r *rand.Rand, b []byte) []byte { return b[:len(b)-r.IntN(min(len(b), 200)+1)] })},
	{"lost tail", lines(func(r *rand.Rand, l []string) []string { return l[:r.IntN(len(l))] })},
	{"lost lines", lines(func(r *rand.Rand, l []string) []string {
		i := r.IntN(len(l))
		return slices.Delete(l, i, i+1+r.IntN(len(l)-i))
	})},
	{"NULs in the middle", edited("*.jsonl", func(r *rand.Rand, b []byte) []byte {
		if len(b) > 0 {
			i := r.IntN(len(b))
			clear(b[i:min(len(b), i+r.IntN(400))])
		}
		return b
	})},
	{"NULs at the end", edited("*.jsonl", func(r *rand.Rand, b []byte) []byte {
		return append(b, make([]byte, r.IntN(5000))...)
	})},
	{"two writers in one line", lines(func(r *rand.Rand, l []string) []string { // the second wrote in the middle of the first's record
		i, j := r.IntN(len(l)), r.IntN(len(l))
		at := r.IntN(len(l[i]))
		l[i] = l[i][:at] + l[j] + l[i][at:]
		return l
	})},
	{"an append after a torn tail", lines(func(r *rand.Rand, l []string) []string {
		last := len(l) - 1
		l[last] = l[last][:r.IntN(len(l[last]))]
		return append(l, `{"id":"later","timestamp":"2025-11-02T01:00:00.000Z","role":"user","content":"and then"}`+"\n")
	})},
	{"records twice", lines(func(r *rand.Rand, l []string) []string { // as merge=union leaves them
		n := r.IntN(len(l)) + 1
		return slices.Concat(l, l[:n])
	})},
	{"a very long line", lines(func(r *rand.Rand, l []string) []string {
		return append(l, `{"id":"long","timestamp":"2025-11-02T01:00:00.000Z","role":"user","content":"`+strings.Repeat("a word ", 1<<17+r.IntN(1<<17))+`"}`+"\n")
	})},
	{"a very long line that is no record", lines(func(r *rand.Rand, l []string) []string {
		i := r.IntN(len(l) + 1)
		return slices.Insert(l, i, strings.Repeat("{", 1<<20+r.IntN(1<<20))+"\n")
	})},
	{"deep nesting", lines(func(r *rand.Rand, l []string) []string {
		return append(l, `{"id":"deep","x":`+strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)+"}\n")
	})},
	{"a pipe instead of a file", instead("*.json*", func(name string) error { return makePipe(name) })},
	{"a file that leads outside", instead("*.jsonl", func(name string) error { return os.Symlink("../../../../../outside.jsonl", name) })},
	{"a stale index", func(w *world, session string) {
		w.must(os.RemoveAll(filepath.Join(w.dir, ".workspace/local/cache")))
		w.must(os.MkdirAll(filepath.Join(w.dir, ".workspace/local/cache"), 0o700))
		w.must(os.WriteFile(filepath.Join(w.dir, ".workspace/local/cache/index"), []byte("x"), 0o600))
	}},
	{"welded records", edited("*.jsonl", func(r *rand.Rand, b []byte) []byte {
		return bytes.Replace(b, []byte("}\n{"), []byte("}{"), 1+r.IntN(3))
	})},
	{"spliced records", lines(func(r *rand.Rand, l []string) []string {
		i := r.IntN(len(l))
		l[i] = l[i][:r.IntN(len(l[i]))]
		return l
	})},
	{"CRLF", edited("*.jsonl", func(r *rand.Rand, b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) })},
	{"byte order mark", edited("*.json*", func(r *rand.Rand, b []byte) []byte { return append([]byte("\xEF\xBB\xBF"), b...) })},
	{"UTF-16", edited("*.json*", func(r *rand.Rand, b []byte) []byte {
		if !utf8.Valid(b) {
			return b
		}
		out := []byte{0xFF, 0xFE}
		for _, c := range string(b) {
			out = append(out, byte(c), byte(c>>8))
		}
		return out
	})},
	{"git's conflict markers", lines(func(r *rand.Rand, l []string) []string {
		i := r.IntN(len(l) + 1)
		return slices.Concat(l[:i], []string{"<<<<<<< HEAD\n"}, l[i:], []string{"=======\n", ">>>>>>> other\n"})
	})},
	{"jj's conflict markers", lines(func(r *rand.Rand, l []string) []string {
		out := []string{"<<<<<<< conflict 1 of 1\n", "%%%%%%% diff from: aaa\n", "\\\\\\\\\\\\\\        to: bbb\n"}
		for i, line := range l {
			if i == len(l)/2 {
				out = append(out, "+++++++ ccc\n")
			}
			prefix := ""
			if i < len(l)/2 {
				prefix = string("+- "[r.IntN(3)])
			}
			out = append(out, prefix+line)
		}
		return append(out, ">>>>>>> conflict 1 of 1 ends\n")
	})},
	{"an empty file", edited("*.json*", func(*rand.Rand, []byte) []byte { return nil })},
	{"a missing file", instead("*.json*", func(string) error { return nil })},
	{"a folder instead of a file", instead("*.json*", func(name string) error { return os.MkdirAll(filepath.Join(name, "x"), 0o755) })},
	{"a link instead of a file", instead("*.json*", func(name string) error { return os.Symlink("/etc/hosts", name) })},
	{"wrong modes", func(w *world, session string) { w.must(os.Chmod(session, 0o755)) }},
	{"counters too high", edited("session.json", func(r *rand.Rand, b []byte) []byte {
		return bytes.Replace(b, []byte(`"message_count": `), []byte(`"message_count": 9`), 1)
	})},
	{"half a session.json", edited("session.json", func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b)+1)] })},
	{"a session.json of NULs", edited("session.json", func(r *rand.Rand, b []byte) []byte { return make([]byte, len(b)) })},
	{"a conflict in session.json", edited("session.json", func(r *rand.Rand, b []byte) []byte {
		l := strings.SplitAfter(string(b), "\n")
		if len(l) < 4 {
			return b
		}
		return []byte(l[0] + "<<<<<<< ours\n" + l[1] + "=======\n" + l[1] + ">>>>>>> theirs\n" + strings.Join(l[2:], ""))
	})},
	{"a broken summary", func(w *world, session string) {
		_ = os.MkdirAll(filepath.Join(session, "summaries"), 0o700)
		w.must(os.WriteFile(filepath.Join(session, "summaries", "a-b.json"), []byte("{"), 0o600))
	}},
	{"invalid UTF-8", lines(func(r *rand.Rand, l []string) []string {
		i := r.IntN(len(l))
		l[i] = strings.Replace(l[i], "handler", "h\xffandler", 1)
		return l
	})},
	{"not a record", lines(func(r *rand.Rand, l []string) []string { return append(l, "[1,2]\n", `{"role":"nobody","x":1}`+"\n") })},
	{"lines in another order", lines(func(r *rand.Rand, l []string) []string {
		r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		return l
	})},
	{"no .session", func(w *world, session string) { w.must(os.RemoveAll(session)) }},
	{"a file instead of .session", func(w *world, session string) {
		w.must(os.RemoveAll(session))
		w.must(os.WriteFile(session, []byte("x"), 0o600))
	}},
	{"a damaged sub-agent", func(w *world, session string) {
		if sub := filepath.Join(session, "subagents", "x"); w.r.IntN(2) == 0 {
			edited("*.json*", func(r *rand.Rand, b []byte) []byte { return b[:len(b)/2] })(w, sub)
		} else if _, err := os.Stat(sub); err == nil {
			w.must(os.WriteFile(filepath.Join(session, "subagents", "y"), []byte("x"), 0o600))
		}
	}},
}

// intact returns the records of a log that a damaged file still has whole.
func intact(before, damaged string) (whole []string) {
	if text, ok := strings.CutPrefix(damaged, "\xFF\xFE"); ok {
		var b strings.Builder
		for i := 0; i+1 < len(text); i += 2 {
			b.WriteRune(rune(text[i]) | rune(text[i+1])<<8)
		}
		damaged = b.String()
	}
	for line := range strings.Lines(before) {
		if record := strings.TrimSuffix(line, "\n"); strings.Contains(damaged, record) {
			whole = append(whole, record)
		}
	}
	return whole
}

// TestRepair damages generated workspaces at random. A repair must bring back every record
// that a transcript or git still has, keep every record that is whole, leave nothing for a
// check to find if nothing is lost, and be undone byte for byte. CORTEXT_REPAIRS sets the
// number of workspaces.
func TestRepair(t *testing.T) {
	n := 40
	if testing.Short() {
		n = 12
	}
	if s := os.Getenv("CORTEXT_REPAIRS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	only := os.Getenv("CORTEXT_REPAIR_SEED")
	recovered, lost, repaired := 0, 0, 0
	for seed := range uint64(n) {
		if only != "" && only != strconv.FormatUint(seed, 10) {
			continue
		}
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			w := newWorld(t, seed)
			a, b, c := w.try()
			recovered, lost, repaired = recovered+a, lost+b, repaired+c
		})
	}
	t.Logf("%d conversations repaired, %d records recovered, %d lost", repaired, recovered, lost)
}

func (w *world) try() (recovered, lost, repaired int) {
	t := w.t
	sessions, _ := filepath.Glob(filepath.Join(w.dir, "conversations/*/*"))
	slices.Sort(sessions)
	for range 1 + w.r.IntN(4) {
		f := faults[w.r.IntN(len(faults))]
		session := filepath.Join(sessions[w.r.IntN(len(sessions))], ".session")
		if info, err := os.Lstat(session); err != nil || !info.IsDir() {
			continue
		}
		f.do(w, session)
		w.log = append(w.log, f.name+" in "+strings.TrimPrefix(session, w.dir))
	}
	damaged, before := w.logs(), w.tree()
	ws, c := w.open()
	defer ws.Close()
	r := New(ws, c)
	ctx := context.Background()
	targets, err := r.Targets(ctx, func(string) {})
	w.must(err)
	folders := map[string]bool{}
	var plans []Result
	for _, target := range targets {
		folders[target.Path] = true
		plans = append(plans, r.Plan(ctx, target))
	}
	if now := w.tree(); !equal(now, before) {
		w.fail("a plan changed something")
	}
	for i, target := range targets {
		got := r.Repair(ctx, target)
		w.log = append(w.log, fmt.Sprintf("repaired %s: %v, lost %v, %v", got.Path, got.Steps, got.Lost, got.Err))
		w.must(got.Err)
		if fmt.Sprint(plans[i].Steps) != fmt.Sprint(got.Steps) {
			w.fail("planned %v", plans[i].Steps)
		}
		repaired++
	}
	after := w.logs()
	whole := true
	for name, content := range w.files {
		folder := folderOf(name)
		for _, record := range intact(content, damaged[name]) {
			if !strings.Contains(after[name], record) {
				w.fail("%s lost %s", name, record)
			}
		}
		if !folders[folder] {
			continue
		}
		for line := range strings.Lines(content) {
			line = strings.TrimSuffix(line, "\n")
			has := strings.Contains(after[name], line)
			had := strings.Contains(damaged[name], line)
			sub := strings.Contains(name, "/subagents/")
			switch {
			case has && !had:
				recovered++
			case has:
			case w.kept[folder] && !sub || strings.Contains(w.git[name], line):
				w.fail("%s lacks %s", name, line)
			default:
				lost++
				whole = false
			}
		}
	}
	left := r.Remaining(ctx, targets)
	left = slices.DeleteFunc(left, func(d store.Damage) bool { // without a transcript, nothing shows that the counters are wrong
		return !w.kept[folderOf(d.File)] && strings.Contains(d.Detail, "session.json counted 9")
	})
	if whole && len(left) > 0 {
		w.fail("still damaged: %v", left)
	}
	again, err := r.Targets(ctx, func(string) {})
	w.must(err)
	for _, target := range again {
		if got := r.Plan(ctx, target); len(got.Steps) > 0 {
			w.fail("a second repair would do %v", got.Steps)
		}
	}
	past, err := r.Last("")
	w.must(err)
	for _, p := range past {
		w.must(r.Undo(p))
	}
	if now := w.tree(); !equal(now, before) {
		for name := range now {
			if now[name] != before[name] {
				t.Logf("%s\nis  %q\nwas %q", name, now[name], before[name])
			}
		}
		for name := range before {
			if _, ok := now[name]; !ok {
				t.Logf("%s is gone", name)
			}
		}
		w.fail("undone, the files are not as before")
	}
	return recovered, lost, repaired
}

func equal(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, v := range a {
		if b[name] != v {
			return false
		}
	}
	return true
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf(format+"\n%s", append(args, strings.Join(w.log, "\n"))...)
}
