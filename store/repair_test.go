package store

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cortext/schema"
)

// repairCases damage a conversation of four messages and two calls.
var repairCases = []struct {
	name  string
	spoil func(t *testing.T, s *Store, c *Conversation)
}{
	{"torn tail", func(t *testing.T, s *Store, c *Conversation) {
		b := readFile(t, s, c.file(messagesFile))
		writeFile(t, s, c.file(messagesFile), b[:len(b)-20])
	}},
	{"NULs at the end", func(t *testing.T, s *Store, c *Conversation) {
		b := readFile(t, s, c.file(messagesFile))
		writeFile(t, s, c.file(messagesFile), b[:len(b)/2]+strings.Repeat("\x00", len(b)-len(b)/2))
	}},
	{"NULs in the middle", func(t *testing.T, s *Store, c *Conversation) {
		b := readFile(t, s, c.file(messagesFile))
		writeFile(t, s, c.file(messagesFile), b[:100]+strings.Repeat("\x00", 200)+b[300:])
	}},
	{"welded", func(t *testing.T, s *Store, c *Conversation) {
		for _, name := range []string{messagesFile, toolsFile} {
			writeFile(t, s, c.file(name), strings.ReplaceAll(readFile(t, s, c.file(name)), "}\n{", "}{"))
		}
	}},
	{"spliced", func(t *testing.T, s *Store, c *Conversation) {
		lines := strings.SplitAfter(readFile(t, s, c.file(messagesFile)), "\n")
		writeFile(t, s, c.file(messagesFile), lines[0]+lines[1][:len(lines[1])/2]+lines[2]+lines[3])
	}},
	{"UTF-16", func(t *testing.T, s *Store, c *Conversation) {
		var b strings.Builder
		b.WriteString("\xff\xfe")
		for _, r := range readFile(t, s, c.file(messagesFile)) {
			b.Write([]byte{byte(r), byte(r >> 8)})
		}
		writeFile(t, s, c.file(messagesFile), b.String())
	}},
	{"git's conflict markers", func(t *testing.T, s *Store, c *Conversation) {
		lines := strings.SplitAfter(readFile(t, s, c.file(messagesFile)), "\n")
		writeFile(t, s, c.file(messagesFile), lines[0]+"<<<<<<< ours\n"+lines[1]+"||||||| base\n=======\n"+lines[2]+">>>>>>> theirs\n"+lines[3])
	}},
	{"jj's conflict markers", func(t *testing.T, s *Store, c *Conversation) {
		lines := strings.SplitAfter(readFile(t, s, c.file(messagesFile)), "\n")
		writeFile(t, s, c.file(messagesFile), lines[0]+"<<<<<<< conflict 1 of 1\n%%%%%%% diff from: base\n\\\\\\\\\\\\\\        to: side\n "+lines[1]+"+"+lines[2]+"+++++++ other\n"+lines[3]+">>>>>>> conflict 1 of 1 ends\n")
	}},
	{"lost lines", func(t *testing.T, s *Store, c *Conversation) {
		for _, name := range []string{messagesFile, toolsFile} {
			lines := strings.SplitAfter(readFile(t, s, c.file(name)), "\n")
			writeFile(t, s, c.file(name), lines[0]+strings.Join(lines[2:], ""))
		}
	}},
	{"an empty log", func(t *testing.T, s *Store, c *Conversation) { writeFile(t, s, c.file(messagesFile), "") }},
	{"no logs", func(t *testing.T, s *Store, c *Conversation) {
		for _, name := range []string{messagesFile, toolsFile} {
			must(t, os.Remove(filepath.Join(s.dir, c.file(name))))
		}
	}},
	{"no .session", func(t *testing.T, s *Store, c *Conversation) { must(t, os.RemoveAll(filepath.Join(s.dir, c.dir))) }},
	{"no session.json", func(t *testing.T, s *Store, c *Conversation) {
		must(t, os.Remove(filepath.Join(s.dir, c.file(sessionFile))))
	}},
	{"half a session.json", func(t *testing.T, s *Store, c *Conversation) {
		b := readFile(t, s, c.file(sessionFile))
		writeFile(t, s, c.file(sessionFile), b[:len(b)/2])
	}},
	{"folders and links instead of files", func(t *testing.T, s *Store, c *Conversation) {
		for _, name := range []string{messagesFile, sessionFile} {
			must(t, os.Remove(filepath.Join(s.dir, c.file(name))))
		}
		must(t, os.MkdirAll(filepath.Join(s.dir, c.file(messagesFile), "x"), 0o700))
		must(t, os.Symlink("nowhere", filepath.Join(s.dir, c.file(sessionFile))))
	}},
	{"a file instead of .session", func(t *testing.T, s *Store, c *Conversation) {
		must(t, os.RemoveAll(filepath.Join(s.dir, c.dir)))
		writeFile(t, s, c.dir, "a file")
	}},
	{"modes", func(t *testing.T, s *Store, c *Conversation) {
		must(t, os.Chmod(filepath.Join(s.dir, c.dir), 0o755))
		must(t, os.Chmod(filepath.Join(s.dir, c.file(toolsFile)), 0o644))
	}},
	{"counters of a log with markers", func(t *testing.T, s *Store, c *Conversation) {
		writeFile(t, s, c.file(messagesFile), readFile(t, s, c.file(messagesFile))+"=======\n")
		writeFile(t, s, c.file(sessionFile), strings.Replace(readFile(t, s, c.file(sessionFile)), `"message_count": 4`, `"message_count": 99`, 1))
	}},
	{"counters", func(t *testing.T, s *Store, c *Conversation) {
		writeFile(t, s, c.file(sessionFile), strings.Replace(readFile(t, s, c.file(sessionFile)), `"message_count": 4`, `"message_count": 99`, 1))
	}},
	{"a broken summary", func(t *testing.T, s *Store, c *Conversation) {
		writeFile(t, s, c.file(summariesDir+"/m0-m1.json"), "{")
	}},
	{"a damaged sub-agent", func(t *testing.T, s *Store, c *Conversation) {
		sub := subagent(t, c, "x")
		b := readFile(t, s, sub.file(messagesFile))
		writeFile(t, s, sub.file(messagesFile), b+"{torn")
		writeFile(t, s, sub.file(sessionFile), "")
		writeFile(t, s, c.file(subagentsDir+"/y"), "a file")
	}},
}

// repairable makes a conversation with a sub-agent, and copies of its records.
func repairable(t *testing.T, s *Store) (*Conversation, *Copies) {
	t.Helper()
	c := create(t, s)
	appendBatch(t, c, thread(0, 4))
	appendBatch(t, subagent(t, c, "x"), thread(0, 2))
	must(t, settle(c))
	c.Close()
	sess, _ := session(t, c)
	f := &Copies{Places: []Copy{{From: "elsewhere", Session: sess, Messages: []byte(readFile(t, s, c.file(messagesFile))), Tools: []byte(readFile(t, s, c.file(toolsFile)))}}}
	sub := subagent(t, c, "x")
	f.Add("x", Copy{From: "elsewhere", Messages: []byte(readFile(t, s, sub.file(messagesFile))), Tools: []byte(readFile(t, s, sub.file(toolsFile)))})
	return c, f
}

func tree(t *testing.T, s *Store) map[string]string {
	t.Helper()
	all := snapshot(t, filepath.Join(s.dir, conversationsDir))
	return all
}

func TestRepair(t *testing.T) {
	for _, tt := range repairCases {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestStore(t)
			c, copies := repairable(t, s)
			want := logLines(t, c)
			slices.Sort(want)
			tt.spoil(t, s, c)
			before := tree(t, s)
			s = openTestStore(t, s.dir)
			c = s.at("", c.path)
			plan, err := s.Repairs().Plan(c, copies)
			must(t, err)
			wantSameTree(t, "a plan", before, tree(t, s))
			mark, end, err := s.ChangeList().Start()
			must(t, err)
			r, err := s.Repairs().Repair(c, copies)
			must(t, err)
			if len(r.Steps) == 0 || len(r.Lost) > 0 || len(plan.Steps) != len(r.Steps) {
				t.Errorf("%+v, lost %v, planned %+v", r.Steps, r.Lost, plan.Steps)
			}
			for i := range plan.Steps {
				if plan.Steps[i].File != r.Steps[i].File || plan.Steps[i].Done != r.Steps[i].Done {
					t.Errorf("%+v was planned, %+v was done", plan.Steps[i], r.Steps[i])
				}
			}
			got := logLines(t, c)
			for i := range got {
				got[i] = strings.TrimLeft(got[i], " ")
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("the logs hold\n%s, want\n%s", strings.Join(got, ""), strings.Join(want, ""))
			}
			wantSound(t, s)
			if sess, _ := session(t, c); sess.ID != copies.Places[0].Session.ID || sess.MessageCount != 4 {
				t.Errorf("%+v", sess)
			}
			again, err := s.Repairs().Repair(c, copies)
			if err != nil || len(again.Steps) > 0 {
				t.Errorf("again: %+v, %v", again.Steps, err)
			}
			past, err := s.Repairs().Past()
			if err != nil || len(past) != 1 || past[0].Path != c.path {
				t.Fatalf("%d repairs, %v", len(past), err)
			}
			repaired, ok := s.ChangeList().Since(mark, end)
			must(t, s.Repairs().Undo(past[0]))
			wantSameTree(t, "undone", before, tree(t, s))
			undone, alsoOK := s.ChangeList().Since(mark, repaired.End)
			if want := []string{c.path}; !ok || !alsoOK || !slices.Equal(repaired.Folders, want) || !slices.Equal(undone.Folders, want) {
				t.Errorf("noted as changed: by the repair %q, by its undoing %q", repaired.Folders, undone.Folders)
			}
		})
	}
}

// contents leaves out the modes.
func contents(tree map[string]string) map[string]string {
	for name, v := range tree {
		_, tree[name], _ = strings.Cut(v, " ")
	}
	return tree
}

func wantSameTree(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s: %s is %.100q, want %.100q", what, name, got[name], want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is new", what, name)
		}
	}
}

// finishAndRepair does what the repair command does.
func finishAndRepair(s *Store, path string, copies *Copies) error {
	past, err := s.Repairs().Past()
	if err != nil {
		return err
	}
	for _, r := range past {
		if r.Unfinished {
			if err := s.Repairs().Finish(r); err != nil {
				return err
			}
		}
	}
	c := s.at("", path)
	c.findOthers(nil)
	_, err = s.Repairs().Repair(c, copies)
	return errors.Join(err, c.Close())
}

// ruined makes a conversation with four messages and damages all of its files. No record
// is lost.
func ruined(t *testing.T, s *Store) *Conversation {
	t.Helper()
	c, err := s.Create("plan", "x", &schema.Session{ID: testID("abcd"), CreatedAt: schema.NewTime(start)}, nil)
	must(t, err)
	appendBatch(t, c, thread(0, 4))
	must(t, settle(c))
	must(t, c.Close())
	writeFile(t, s, c.file(toolsFile), strings.ReplaceAll(readFile(t, s, c.file(toolsFile)), "}\n{", "}{"))
	writeFile(t, s, c.file(messagesFile), strings.Replace(readFile(t, s, c.file(messagesFile)), "\n", "\n\x00\x00", 2)+"torn")
	writeFile(t, s, c.file(sessionFile), readFile(t, s, c.file(sessionFile))[:60])
	writeFile(t, s, c.file(subagentsDir), "a file")
	writeFile(t, s, c.file(summariesDir+"/m0-m1.json"), "{")
	return c
}

func wantFour(t *testing.T, s *Store) {
	t.Helper()
	c, err := s.Conversation(crashPath)
	must(t, err)
	ids, err := c.MessageIDs()
	if err != nil || len(ids) != 4 {
		t.Errorf("messages %v, %v", ids, err)
	}
	if n := len(logLines(t, c)); n < 5 {
		t.Errorf("the logs hold %d lines", n)
	}
}

// undoLast undoes the last repair, if it is not undone.
func undoLast(s *Store) error {
	past, err := s.Repairs().Past()
	if err == nil && len(past) > 0 && !past[0].Undone {
		err = s.Repairs().Undo(past[0])
	}
	return err
}

// TestUndoRefuses checks that an undo overwrites nothing that was written after the
// repair, and names the file.
func TestUndoRefuses(t *testing.T) {
	s := newTestStore(t)
	c := ruined(t, s)
	_, err := s.Repairs().Repair(c, nil)
	must(t, err)
	appendBatch(t, c, thread(4, 6))
	c.Close()
	before := tree(t, s)
	if err := undoLast(s); err == nil || !strings.Contains(err.Error(), `messages.jsonl" has changed since`) && !strings.Contains(err.Error(), `tools.jsonl" has changed since`) {
		t.Errorf("the undo: %v", err)
	}
	wantSameTree(t, "a refused undo", before, tree(t, s))
	wantSound(t, s)
}

// TestRedactedStays checks that a record does not come back in an earlier wording, and
// that a missing one comes back in its latest.
func TestRedactedStays(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 4))
	c.Close()
	log := readFile(t, s, c.file(messagesFile))
	lines := strings.SplitAfter(log, "\n")
	redacted := strings.Replace(strings.Replace(lines[1], "message 1", "[redacted: mine]", 1), "}\n", ",\"rev\":1}\n", 1)
	gone := strings.Replace(strings.Replace(lines[2], "message 2", "[redacted: mine]", 1), "10}\n", "13,\"rev\":1}\n", 1)
	writeFile(t, s, c.file(messagesFile), lines[0]+redacted+lines[3])
	r, err := s.Repairs().Repair(c, &Copies{Places: []Copy{{From: "a", Messages: []byte(log)}, {From: "b", Messages: []byte(gone)}}})
	must(t, err)
	if got := readFile(t, s, c.file(messagesFile)); got != lines[0]+redacted+lines[3]+gone || len(r.Steps) != 2 || r.Steps[0].Done != "1 record restored from b" {
		t.Errorf("%+v:\n%s", r.Steps, got)
	}
	wantSound(t, s)
}

// TestClosedFiles checks that a repair first gives back the right to read.
func TestClosedFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: no file modes on Windows")
	}
	s := newTestStore(t)
	c, copies := repairable(t, s)
	writeFile(t, s, c.file(messagesFile), readFile(t, s, c.file(messagesFile))+"torn")
	must(t, os.Chmod(filepath.Join(s.dir, c.file(messagesFile)), 0))
	before := tree(t, s)
	for _, want := range []string{"mode 0600 instead of 0000", "rewritten"} {
		r, err := s.Repairs().Repair(c, copies)
		if must(t, err); len(r.Steps) == 0 || r.Steps[0].Done != want {
			t.Errorf("%+v, want %s", r.Steps, want)
		}
	}
	wantSound(t, s)
	past, err := s.Repairs().Past()
	must(t, err)
	for _, r := range past {
		must(t, s.Repairs().Undo(r))
	}
	wantSameTree(t, "undone", before, tree(t, s))
}

// TestNoModes: a repair does not report modes again and again where files have none, as on
// FAT and on many network file systems.
func TestNoModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: no file modes on Windows")
	}
	s := newTestStore(t)
	c, copies := repairable(t, s)
	name := filepath.Join(s.dir, c.file(sessionFile))
	must(t, os.Chmod(name, 0o777))
	plan, err := s.Repairs().Plan(c, copies)
	if must(t, err); len(plan.Steps) == 0 || plan.Steps[0].Done != "mode 0600 instead of 0777" {
		t.Errorf("with modes: %+v", plan.Steps)
	}
	s.files.Chmod = func(*os.File, fs.FileMode) error { return syscall.EPERM }
	r, err := s.Repairs().Repair(c, copies)
	if must(t, err); len(r.Steps) > 0 {
		t.Errorf("without modes: %+v", r.Steps)
	}
	must(t, c.Edit(func(sess *schema.Session) error { sess.Notes = "changed"; return nil }))
	if sess, _ := session(t, c); sess.Notes != "changed" {
		t.Errorf("%+v", sess)
	}
}
