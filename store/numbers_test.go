package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/schema"
	"cortext/store/secrets"
)

// randomLogs appends lines in which ids repeat, branches leave each other and some lines
// are damaged or have no id.
func randomLogs(t *testing.T, s *Store, c *Conversation, r *rand.Rand) {
	t.Helper()
	var messages, tools bytes.Buffer
	parent := ""
	for i := range 5 + r.IntN(30) {
		m := schema.Message{
			ID: fmt.Sprintf("m%d", i), ParentID: parent, Timestamp: schema.NewTime(start.Add(time.Duration(i) * time.Minute)),
			Role: []schema.Role{schema.User, schema.Assistant}[i%2], Content: fmt.Sprint("say ", i), Rev: 0,
		}
		switch r.IntN(8) {
		case 0:
			m.ID, m.ParentID = "", ""
		case 1:
			messages.WriteString("not a record\n")
		case 2: // the next message leaves this branch
		default:
			parent = m.ID
		}
		messages.Write(schema.AppendMessage(nil, &m))
		if m.ID != "" && r.IntN(4) == 0 {
			m.Content, m.Rev = m.Content+" and more", 1+r.IntN(2)
			messages.Write(schema.AppendMessage(nil, &m))
		}
		call := schema.Tool{ID: fmt.Sprintf("t%d", r.IntN(8)), MessageID: m.ID, Name: "Bash", Output: fmt.Sprint(i), Rev: r.IntN(3)}
		tools.Write(schema.AppendTool(nil, &call))
	}
	for name, text := range map[string][]byte{messagesFile: messages.Bytes(), toolsFile: tools.Bytes()} {
		must(t, os.WriteFile(filepath.Join(s.dir, c.file(name)), text, 0o600))
	}
}

// TestNumbersAgree: which lines count and how messages are numbered is the same for a
// reader of the bytes as for one of the records.
func TestNumbersAgree(t *testing.T) {
	for seed := range uint64(60) {
		s := newTestStore(t)
		c := create(t, s)
		randomLogs(t, s, c, rand.New(rand.NewPCG(seed, 3)))
		messages, tools, err := c.Whole()
		must(t, err)
		logs, ok := c.OpenLogs()
		if !ok {
			t.Fatal("the records are not in two files")
		}
		numbers, err := logs.Numbers()
		must(t, err)
		calls, err := logs.Calls()
		must(t, err)
		want := map[string]int{}
		for _, m := range messages {
			if m.ID != "" {
				want[m.ID] = m.Number
			}
		}
		counted := map[string]string{}
		each := func(l *Log, f func(offset int64, line []byte)) {
			for b, err := range l.Blocks(0, l.Size()) {
				must(t, err)
				at := b.Offset
				for line := range bytes.Lines(b.Text) {
					f(at, bytes.TrimSpace(line))
					at += int64(len(line))
				}
			}
		}
		each(logs.Messages, func(offset int64, line []byte) {
			m, err := schema.ParseMessage(line)
			if err != nil {
				return
			}
			if raw, err := logs.Messages.Record(offset); err != nil || !bytes.Equal(bytes.TrimSpace(raw), line) {
				t.Fatalf("seed %d: the record at %d is %q, %v", seed, offset, raw, err)
			}
			if m.ID == "" {
				return
			}
			if got := numbers.Number([]byte(m.ID), offset); got != want[m.ID] {
				t.Fatalf("seed %d: %s has number %d, want %d", seed, m.ID, got, want[m.ID])
			}
			if numbers.Counts([]byte(m.ID), offset) {
				counted[m.ID] += m.Content
			}
		})
		each(logs.Tools, func(offset int64, line []byte) {
			if call, err := schema.ParseTool(line); err == nil && calls.Counts([]byte(call.ID), offset) {
				counted[call.ID] += call.Output
			}
		})
		for _, m := range messages {
			if m.ID != "" && counted[m.ID] != m.Content {
				t.Fatalf("seed %d: %q counts of %s, want %q", seed, counted[m.ID], m.ID, m.Content)
			}
		}
		for _, call := range tools {
			if counted[call.ID] != call.Output {
				t.Fatalf("seed %d: %q counts of %s, want %q", seed, counted[call.ID], call.ID, call.Output)
			}
		}
		if numbers.Number([]byte("unknown"), 0) != 0 || numbers.Counts([]byte("unknown"), 0) || !numbers.Counts(nil, 0) {
			t.Fatalf("seed %d: an unknown id", seed)
		}
		must(t, logs.Close())
	}
}

// TestLogStates: the state of a log is the same until it changes, whoever looks; its sum
// recognizes what was appended to, and nothing else.
func TestLogStates(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 6))
	soon := time.Now().Add(time.Minute) // this test may be slow
	for _, name := range []string{messagesFile, toolsFile} {
		must(t, os.Chtimes(filepath.Join(s.dir, c.file(name)), soon, soon))
	}
	names, states, ok := s.Folders().LogStates(c.Path())
	if !ok || names[0] != c.file(messagesFile) || names[1] != c.file(toolsFile) {
		t.Fatalf("%q, %t", names, ok)
	}
	for _, state := range states {
		if state.Known {
			t.Error("a log that was just written counts as settled")
		}
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range names {
		must(t, os.Chtimes(filepath.Join(s.dir, name), old, old))
	}
	if _, states, ok := s.Folders().LogStates("conversations/none/x"); !ok || states != [2]LogState{{Known: true}, {Known: true}} {
		t.Errorf("logs that do not exist have the states %+v, not those of empty ones", states)
	}
	logs, _ := c.OpenLogs()
	defer logs.Close()
	size := logs.Messages.Size()
	before, err := logs.Messages.Sum(size)
	must(t, err)
	_, states, _ = s.Folders().LogStates(c.Path())
	if got := logs.Messages.State(); got != states[0] {
		t.Errorf("open, it has the state %+v, want %+v", got, states[0])
	}
	appendBatch(t, c, thread(6, 8))
	must(t, os.Chtimes(filepath.Join(s.dir, c.file(messagesFile)), soon, soon))
	if got := logs.Messages.State(); got.Known {
		t.Errorf("a log that grew has the state %+v", got)
	}
	again, _ := c.OpenLogs()
	defer again.Close()
	if sum, err := again.Messages.Sum(size); err != nil || sum != before {
		t.Errorf("after an append the sum is %x, %v; want %x", sum, err, before)
	}
	name := filepath.Join(s.dir, c.file(messagesFile))
	b, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name, bytes.ToUpper(b), 0o600))
	other, _ := c.OpenLogs()
	defer other.Close()
	if sum, err := other.Messages.Sum(size); err != nil || sum == before {
		t.Errorf("another content has the sum %x, %v", sum, err)
	}
	if _, err := other.Messages.Sum(other.Messages.Size() * 2); err == nil {
		t.Error("a sum of more than there is")
	}
}

// TestListedAgrees: what describes one conversation, a day or some folders says the same as
// the list of all, whole or damaged.
func TestListedAgrees(t *testing.T) {
	s := newTestStore(t)
	var paths []string
	for i := range 6 {
		c, err := s.Create("plan", fmt.Sprint("topic ", i), &schema.Session{ID: testID(fmt.Sprint("abc", i)), Title: fmt.Sprint("topic ", i), CreatedAt: schema.NewTime(start.AddDate(0, 0, i%3))}, nil)
		must(t, err)
		appendBatch(t, c, thread(0, i))
		paths = append(paths, c.Path())
		must(t, c.Close())
	}
	must(t, os.WriteFile(filepath.Join(s.dir, paths[1], sessionDir, sessionFile), []byte("{"), 0o600))
	must(t, os.RemoveAll(filepath.Join(s.dir, paths[2], sessionDir)))
	must(t, os.Remove(filepath.Join(s.dir, paths[4], sessionDir, messagesFile)))
	all, err := s.List()
	must(t, err)
	show := func(e Entry) string {
		return fmt.Sprintf("%s %q %s %d %d", e.Path, e.Session.Title, e.Session.Status, e.Session.MessageCount, len(e.Damage))
	}
	some := s.ListOf(append([]string{"conversations/none/x"}, paths...))
	var folders []string
	days, err := s.Folders().Days()
	must(t, err)
	for _, day := range days {
		list, err := s.Folders().Of(day)
		must(t, err)
		folders = append(folders, list...)
		if look := s.Folders().LookAtDay(day); look != "" && look != s.Folders().LookAtDay(day) {
			t.Errorf("%s does not change and has two looks", day)
		}
	}
	slices.Sort(folders)
	slices.Sort(paths)
	if !slices.Equal(folders, paths) || len(days) != 3 || len(some) != len(all) {
		t.Fatalf("%d days, %d of %d conversations, %q", len(days), len(some), len(all), folders)
	}
	byPath := map[string]string{}
	for _, e := range all {
		byPath[e.Path] = show(e)
	}
	for _, e := range some {
		if show(e) != byPath[e.Path] {
			t.Errorf("ListOf says %s, List %s", show(e), byPath[e.Path])
		}
	}
	for _, path := range paths {
		e, look, known, ok := s.Describe(path)
		if !ok || known && len(e.Damage) > 0 || show(e) != byPath[path] {
			t.Errorf("Describe says %s, %t, %t, List %s", show(e), known, ok, byPath[path])
		}
		if again := DecodeLook(look.AppendTo(nil)); again != look || len(look.AppendTo(nil)) != LookBytes {
			t.Errorf("a look is decoded as %+v, want %+v", again, look)
		}
	}
	if _, _, _, ok := s.Describe("conversations/none/x"); ok {
		t.Error("a folder that does not exist is described")
	}
	if s.Folders().LookAtDay("none") != "" {
		t.Error("a day that does not exist has a look")
	}
	if list, err := s.Folders().Of("none"); len(list) > 0 || err != nil {
		t.Errorf("folders of no day: %q, %v", list, err)
	}
	must(t, s.WriteCache("x", []byte("hello")))
	f, size, ok := s.OpenCache("x")
	if !ok || size != 5 {
		t.Fatalf("a file of the cache has %d bytes, %t", size, ok)
	}
	must(t, f.Close())
	if _, _, ok := s.OpenCache("none"); ok {
		t.Error("a file that does not exist is opened")
	}
}

// TestRedactApart: after two clones redacted different texts of a record, a merge that
// keeps both lines shows neither text, and the next write that reads the log keeps one line.
func TestRedactApart(t *testing.T) {
	const content = "the keys are first-key and second-key"
	redacted := func(pattern, id string) (lines, tools string) {
		s := newTestStore(t)
		c, err := s.Create("plan", "x", &schema.Session{ID: testID("abcd"), Notes: "not first-key", CreatedAt: schema.NewTime(start)}, nil)
		must(t, err)
		defer c.Close()
		m, call := message(0), tool(1)
		m.Content, call.MessageID, call.Output = content, m.ID, content
		m.ToolCalls = []schema.ToolCall{{ID: call.ID, Name: call.Name}}
		appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}, Tools: []schema.Tool{call}})
		must(t, os.MkdirAll(filepath.Join(s.dir, c.file(summariesDir)), 0o700))
		must(t, os.WriteFile(filepath.Join(s.dir, c.file(summariesDir), "a-b.json"), []byte("broken, with first-key and second-key"), 0o600))
		found := &secrets.Found{}
		places, err := c.Texts(Redaction{Name: "by-user", Texts: secrets.Matching(regexp.MustCompile(pattern), "by-user", found)})
		must(t, err)
		done, err := c.Redact(Redaction{ID: id, Name: "by-user", Texts: secrets.Matching(regexp.MustCompile(pattern), "by-user", nil)})
		must(t, err)
		for name, n := range places {
			if done[name] != n {
				t.Errorf("%s: found %d, redacted %d", name, n, done[name])
			}
		}
		if len(places) < 3 {
			t.Errorf("found %v, redacted %v", places, done)
		}
		if files := filesWith(t, s.dir, pattern); len(files) > 0 {
			t.Errorf("%s is still in %q", pattern, files)
		}
		return readFile(t, s, c.file(messagesFile)), readFile(t, s, c.file(toolsFile))
	}
	m1, t1 := redacted("first-key", "aaaa")
	m2, t2 := redacted("second-key", "bbbb")
	s := newTestStore(t)
	c, err := s.Create("plan", "x", &schema.Session{ID: testID("abcd"), CreatedAt: schema.NewTime(start)}, nil)
	must(t, err)
	defer c.Close()
	must(t, os.WriteFile(filepath.Join(s.dir, c.file(messagesFile)), []byte(m1+m2), 0o600))
	must(t, os.WriteFile(filepath.Join(s.dir, c.file(toolsFile)), []byte(t1+t2), 0o600))
	const want = "the keys are [redacted: by-user] and [redacted: by-user]"
	read := func(when string) {
		t.Helper()
		_, h, _ := history(t, c, Limit{})
		if len(h.Messages) != 1 || h.Messages[0].Content != want {
			t.Errorf("%s: %+v", when, h.Messages)
		}
		for _, call := range h.Tools {
			if call.Output != want {
				t.Errorf("%s: %+v", when, call)
			}
		}
		_, h, _ = history(t, c, Limit{Messages: 1})
		if len(h.Messages) != 1 || h.Messages[0].Content != want {
			t.Errorf("%s, the last message: %+v", when, h.Messages)
		}
	}
	read("merged")
	settled := 0
	for m, err := range c.Settled().Messages() {
		if must(t, err); m.Content != "" && m.Content != want {
			t.Errorf("settled: %+v", m)
		}
		settled++
	}
	for call, err := range c.Settled().Tools() {
		if must(t, err); call.Output != "" && call.Output != want {
			t.Errorf("settled: %+v", call)
		}
		settled++
	}
	if settled != 4 { // a line that places each, and what counts
		t.Errorf("%d settled lines", settled)
	}
	apart := func(want bool) {
		t.Helper()
		logs, _ := c.OpenLogs()
		defer logs.Close()
		numbers, err := logs.Numbers()
		must(t, err)
		calls, err := logs.Calls()
		must(t, err)
		if got := [2]bool{numbers.Apart([]byte(message(0).ID)), calls.Apart([]byte(tool(1).ID))}; got != [2]bool{want, want} || numbers.Apart([]byte("none")) || calls.Apart(nil) {
			t.Errorf("redacted apart: %t, want %t", got, want)
		}
	}
	apart(true)
	tx, err := c.Begin()
	must(t, err)
	for _, name := range []string{toolsFile, messagesFile} {
		l, err := tx.logs.openWhole(name)
		must(t, err)
		must(t, tx.logs.settle(l, nil))
	}
	must(t, tx.Commit())
	apart(false)
	read("settled")
	for _, name := range []string{messagesFile, toolsFile} {
		if text := readFile(t, s, c.file(name)); strings.Contains(text, "-key") || !strings.Contains(text, `"redacted":["aaaa","bbbb"]`) {
			t.Errorf("%s has\n%s", name, text)
		}
	}
}

// TestSettleSummaries: a summary in which a merge kept the lines of two clones, each with
// another text redacted, is written as it is read, with both texts redacted.
func TestSettleSummaries(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	defer c.Close()
	sum := schema.Summary{Version: schema.Version, First: "a", Last: "b", MessageCount: 2, CreatedAt: schema.NewTime(start), Content: "keys [redacted: x] and two", Method: schema.Extracted, Members: schema.MembersHash(nil)}
	raw, err := sum.Marshal()
	must(t, err)
	line := `"content": "keys [redacted: x] and two"`
	doubled := strings.Replace(string(raw), "  "+line, "  "+strings.Replace(line, "and two", "and [redacted: y]", 1)+",\n  "+strings.Replace(line, "[redacted: x]", "one", 1), 1)
	must(t, os.MkdirAll(filepath.Join(s.dir, c.file(summariesDir)), 0o700))
	for name, text := range map[string]string{"a-b.json": doubled, "c-d.json": string(raw), "e-f.json": "[redacted: x] broken"} {
		must(t, os.WriteFile(filepath.Join(s.dir, c.file(summariesDir), name), []byte(text), 0o600))
	}
	must(t, c.settleSummaries())
	want := `"content": "keys [redacted: x] and [redacted: y]"`
	if got := readFile(t, s, c.file(summariesDir)+"/a-b.json"); strings.Count(got, `"content"`) != 1 || !strings.Contains(got, want) {
		t.Errorf("merged:\n%s\nbecame\n%s", doubled, got)
	}
	for name, want := range map[string]string{"c-d.json": string(raw), "e-f.json": "[redacted: x] broken"} {
		if got := readFile(t, s, c.file(summariesDir)+"/"+name); got != want {
			t.Errorf("%s became %s", name, got)
		}
	}
}

// TestLogsOfFolder: what is said about the logs of a folder, without opening it as a
// conversation, follows the files.
func TestLogsOfFolder(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	name := filepath.Join(s.dir, c.file(messagesFile))
	appendBatch(t, c, thread(0, 4))
	info, err := os.Stat(name)
	must(t, err)
	size, err := s.Folders().LogSize(c.Path())
	if err != nil || size != info.Size() {
		t.Errorf("the log has %d bytes, %v; want %d", size, err, info.Size())
	}
	before := s.Folders().LogState(c.Path())
	if before == "" || before != s.Folders().LogState(c.Path()) || !s.HasRecords(c.Path()) {
		t.Errorf("a log with records has the state %q", before)
	}
	appendBatch(t, c, thread(4, 5))
	if s.Folders().LogState(c.Path()) == before {
		t.Error("an append does not change the state")
	}
	for _, file := range []string{messagesFile, toolsFile} {
		must(t, os.WriteFile(filepath.Join(s.dir, c.file(file)), nil, 0o600))
	}
	if size, err := s.Folders().LogSize(c.Path()); size != 0 || err != nil || s.HasRecords(c.Path()) {
		t.Errorf("emptied, the log has %d bytes, %v", size, err)
	}
	must(t, os.Remove(name))
	must(t, os.Mkdir(name, 0o700))
	if _, err := s.Folders().LogSize(c.Path()); !errors.Is(err, ErrNotFound) {
		t.Errorf("a folder in place of the log: %v", err)
	}
	must(t, os.Remove(name))
	if _, err := s.Folders().LogSize(c.Path()); !errors.Is(err, ErrNotFound) || s.Folders().LogState(c.Path()) != "" {
		t.Errorf("without a log: %v, %q", err, s.Folders().LogState(c.Path()))
	}
	for _, outside := range []string{"../x", "/etc", ".workspace/local"} {
		if _, err := s.Folders().LogSize(outside); err == nil || s.HasRecords(outside) || s.Folders().LogState(outside) != "" {
			t.Errorf("%s was examined: %v", outside, err)
		}
	}
}
