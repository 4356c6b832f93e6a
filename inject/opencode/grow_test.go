package opencode

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cortext/inject"
	"cortext/schema"
)

// documents returns the exports among the fixtures, and the real ones if they exist.
func documents(t testing.TB) (files []string) {
	t.Helper()
	all, _ := filepath.Glob(fixtures + "*/*/transcript.json")
	for _, f := range all {
		if filepath.Base(filepath.Dir(f)) != "cut-off" {
			files = append(files, f)
		}
	}
	if len(files) < 6 {
		t.Fatalf("fixtures: %v", files)
	}
	if dir := os.Getenv("CORTEXT_TRANSCRIPTS"); dir != "" {
		real, _ := filepath.Glob(filepath.Join(dir, "opencode", "*", "*.json"))
		if len(real) == 0 {
			t.Fatalf("%s holds no transcripts of OpenCode", dir)
		}
		files = append(files, real...)
	} else {
		t.Log("NOT RUN on real transcripts: CORTEXT_TRANSCRIPTS is not set")
	}
	return files
}

// merged is what a store would have after captures of a growing transcript: the last
// record for each id.
type merged map[string]string

func (m merged) take(t testing.TB, tr *inject.Transcript) {
	t.Helper()
	b := gather(t, tr)
	for i := range b.Messages {
		m[b.Messages[i].ID] = string(schema.AppendMessage(nil, &b.Messages[i]))
	}
	for i := range b.Tools {
		m["call "+b.Tools[i].ID] = string(schema.AppendTool(nil, &b.Tools[i]))
	}
}

// A follower reads a growing session, from the cursor of the previous reading.
type follower struct {
	t           testing.TB
	path        string
	cursor      inject.Cursor
	have        merged
	reads, anew int
	fromCursor  int // messages read from a cursor
}

func (f *follower) follow() {
	f.t.Helper()
	f.reads++
	o := inject.Options{From: f.cursor}
	tr, err := adapter.Open(f.path, o)
	if errors.Is(err, inject.ErrCursor) {
		f.anew++
		o.From = inject.Cursor{}
		tr, err = adapter.Open(f.path, o)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	defer tr.Close()
	if o.From.Offset > 0 {
		f.fromCursor += tr.Messages
	}
	if state, err := adapter.Stat(f.path); err != nil || state != tr.Next.Size {
		f.t.Fatalf("stat gives %d, %v; the cursor has %d", state, err, tr.Next.Size)
	}
	if f.have == nil {
		f.have = merged{}
	}
	f.have.take(f.t, tr)
	f.cursor = tr.Next
}

// check compares the result with a reading from the start.
func (f *follower) check(what any) {
	f.t.Helper()
	tr, err := adapter.Open(f.path, inject.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	defer tr.Close()
	whole := merged{}
	whole.take(f.t, tr)
	for _, id := range slices.Sorted(maps.Keys(whole)) {
		if f.have[id] != whole[id] {
			f.t.Fatalf("%s, %v: read step by step, %s is\n%s\nwant\n%s", f.path, what, id, f.have[id], whole[id])
		}
	}
	if len(f.have) != len(whole) {
		f.t.Fatalf("%s, %v: %d records step by step, %d as a whole", f.path, what, len(f.have), len(whole))
	}
}

// TestGrowing checks that reading a session again and again while the program writes
// it, part by part and with calls that have no outcome at first, gives the same as
// reading it at once. It covers the database and exports.
func TestGrowing(t *testing.T) {
	reads, anew := 0, 0
	for _, file := range documents(t) {
		d := parseDoc(t, slurp(t, file))
		delete(d.Info, "revert")
		base := filepath.Base(filepath.Dir(file))
		steps := 0
		grow(d, func(docMessage, map[string]any) {}, func(int) { steps++ })
		every := max(1, steps/30)
		if testing.Short() && os.Getenv("CORTEXT_TRANSCRIPTS") == "" {
			every = max(1, steps/8)
		}

		s := newStore(t, false)
		s.session("ses_1", "")
		db := &follower{t: t, path: s.file + "#ses_1"}
		grow(d, func(m docMessage, part map[string]any) {
			id, _ := m.Info["id"].(string)
			if part != nil {
				s.part("ses_1", id, part)
			} else {
				s.message("ses_1", m.Info)
			}
		}, func(n int) {
			if n%every == 0 {
				db.follow()
				db.check(n)
			}
		})
		db.follow()
		db.check("the end of " + base)

		doc := &follower{t: t, path: filepath.Join(t.TempDir(), "x.json")}
		for n := 1; n <= len(d.Messages); n += max(1, len(d.Messages)/10) {
			write(t, filepath.Dir(doc.path), "x.json", toJSON(map[string]any{"info": d.Info, "messages": d.Messages[:n]}))
			doc.follow()
			doc.check(n)
		}
		reads, anew = reads+db.reads+doc.reads, anew+db.anew+doc.anew
	}
	t.Logf("%d readings, %d of them from the start", reads, anew)
	if anew*20 > reads {
		t.Errorf("%d of %d readings had to begin at the start: the cursor is of no use", anew, reads)
	}
}

// grow writes a session as the program does, and calls look after each step.
func grow(d doc, put func(m docMessage, part map[string]any), look func(n int)) {
	steps := 0
	step := func() { steps++; look(steps) }
	for _, m := range d.Messages {
		begun := docMessage{Info: maps.Clone(m.Info)}
		delete(begun.Info, "finish")
		if at, ok := m.Info["time"].(map[string]any); ok {
			begun.Info["time"] = map[string]any{"created": at["created"]}
		}
		put(begun, nil)
		step()
		for _, p := range m.Parts {
			if state, ok := p["state"].(map[string]any); ok {
				first := maps.Clone(p)
				first["state"] = map[string]any{"status": "running", "input": state["input"], "time": map[string]any{"start": 1}}
				put(m, first)
				step()
			}
			put(m, p)
			step()
		}
		put(m, nil)
		step()
	}
}

// TestRevert goes through the stages of a revert: the reverted messages are kept,
// and the conversation continues above them.
func TestRevert(t *testing.T) {
	s := newStore(t, false)
	s.session("s", "")
	say := func(role, id, text string) {
		s.message("s", map[string]any{"id": id, "role": role, "time": map[string]any{"created": float64(s.tick())}})
		s.part("s", id, map[string]any{"id": id + "p", "type": "text", "text": text})
	}
	say("user", "m1", "one")
	say("assistant", "m2", "First.")
	say("user", "m3", "two")
	say("assistant", "m4", "Second.")
	say("user", "m5", "three")
	f := &follower{t: t, path: s.file + "#s"}
	f.follow()

	s.do(`update session set revert = '{"messageID":"m3"}'`)
	f.follow()
	f.check("pending")
	path := leaf(t, f)
	if got := path[len(path)-1]; got != "m3#undone" || path[len(path)-2] != "m2" || f.have["m5"] == "" {
		t.Errorf("while it can be undone, the branch is %v", path)
	}
	state, again := f.cursor, f.anew
	f.follow()
	if f.anew != again || f.cursor.Offset != state.Offset {
		t.Errorf("read on, the cursor is %+v instead of %+v", f.cursor, state)
	}

	s.do(`delete from part where message_id in ('m3','m4','m5')`)
	s.do(`delete from message where id in ('m3','m4','m5')`)
	s.do(`update session set revert = null`)
	say("user", "m6", "two, otherwise")
	say("assistant", "m7", "Otherwise.")
	f.follow()
	if path := leaf(t, f); !slices.Equal(path, []string{"m1", "m2", "m6", "m7"}) || f.have["m4"] == "" {
		t.Errorf("then it goes on as %v", path)
	}
	if f.anew > 1 {
		t.Errorf("%d readings from the start", f.anew)
	}

	// Revert everything, then a part of an answer.
	s.do(`update session set revert = '{"messageID":"m1"}'`)
	tr, b := readAll(t, f.path, inject.Options{})
	if len(b.Messages) != 4 || tr.Next.Message != "m1" {
		t.Errorf("all taken back: %d messages, %+v", len(b.Messages), tr.Next)
	}
	s.do(`update session set revert = '{"messageID":"m2","partID":"m2p"}'`)
	_, b = readAll(t, f.path, inject.Options{})
	if last := b.Messages[len(b.Messages)-1]; last.ParentID != "m2" || last.Role != schema.System {
		t.Errorf("from a part on: %+v", last)
	}
}

// leaf returns the ids of the branch to resume.
func leaf(t *testing.T, f *follower) (ids []string) {
	t.Helper()
	var msgs []schema.Message
	for id, line := range f.have {
		if m, err := schema.ParseMessage([]byte(line)); err == nil && m.ID == id {
			msgs = append(msgs, m)
		}
	}
	path, _ := schema.Branch(schema.Arrange(msgs))
	for _, m := range path {
		ids = append(ids, m.ID)
	}
	return ids
}

// TestCursorRefused checks that the file is read from the start if anything before the
// cursor changed.
func TestCursorRefused(t *testing.T) {
	d := parseDoc(t, slurp(t, fixtures+"1.18.33/compaction/transcript.json"))
	first, _ := d.Messages[0].Info["id"].(string)
	for name, change := range map[string]func(s *storeFile){
		"another text": func(s *storeFile) {
			s.part("s", first, map[string]any{"id": d.Messages[0].Parts[0]["id"], "type": "text", "text": "other"})
		},
		"another length": func(s *storeFile) { s.do(`update part set data = data || ' ' where message_id = ?`, first) },
		"a part less":    func(s *storeFile) { s.do(`delete from part where message_id = ?`, first) },
		"a part more":    func(s *storeFile) { s.part("s", first, map[string]any{"id": "prt_x", "type": "text", "text": "more"}) },
		"a message less": func(s *storeFile) { s.do(`delete from message where id = ?`, first) },
		"one before":     func(s *storeFile) { s.do(`insert into message values ('msg_0', 's', 1, 1, '{"role":"user"}')`) },
		"taken back":     func(s *storeFile) { s.do(`update session set revert = json_object('messageID', ?)`, first) },
	} {
		s := newStore(t, false)
		s.put("s", d)
		path := s.file + "#s"
		tr, _ := readAll(t, path, inject.Options{})
		if tr.Next.Offset == 0 || len(tr.Next.Anchors) == 0 {
			t.Fatalf("cursor %+v", tr.Next)
		}
		before, err := adapter.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		change(s)
		if _, err := adapter.Open(path, inject.Options{From: tr.Next}); !errors.Is(err, inject.ErrCursor) {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := adapter.Stat(path); err != nil || after == before {
			t.Errorf("%s: stat gives %d as before, %v", name, after, err)
		}
	}
	// An export that has become shorter.
	file := write(t, t.TempDir(), "x.json", toJSON(d))
	tr, _ := readAll(t, file, inject.Options{})
	d.Messages = d.Messages[:1]
	write(t, filepath.Dir(file), "x.json", toJSON(d))
	if _, err := adapter.Open(file, inject.Options{From: tr.Next}); !errors.Is(err, inject.ErrCursor) {
		t.Errorf("a shorter export: %v", err)
	}
}

// TestReusedCalls checks that no call is lost if a server restarts its count, whether
// the session is read at once or step by step.
func TestReusedCalls(t *testing.T) {
	s := newStore(t, false)
	s.session("s", "")
	f := &follower{t: t, path: s.file + "#s"}
	for _, n := range []string{"1", "2", "3"} {
		s.message("s", map[string]any{"id": "u" + n, "role": "user"})
		s.part("s", "u"+n, map[string]any{"id": "pu" + n, "type": "text", "text": "go"})
		s.message("s", map[string]any{"id": "v" + n, "role": "assistant"})
		s.part("s", "v"+n, map[string]any{"id": "pv" + n, "type": "tool", "tool": "bash", "callID": "call_1",
			"state": json.RawMessage(`{"status":"completed","input":{"n":` + n + `},"output":"out"}`)})
		f.follow()
		f.check(n)
	}
	for _, id := range []string{"call_1", "call_1#pv2", "call_1#pv3"} {
		if f.have["call "+id] == "" {
			t.Errorf("no call %s: %v", id, slices.Sorted(maps.Keys(f.have)))
		}
	}
	if f.anew > 0 {
		t.Errorf("%d readings from the start", f.anew)
	}
}
