package gemini

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/inject"
)

// imported returns what Gemini CLI 0.61.0 writes for an import: the session, and an
// empty file with the same id.
func imported(id, file, turn string) string {
	return fmt.Sprintf(`{"sessionId":%q,"projectHash":"p","kind":"main","firstUserMessage":"`+strings.Repeat("x", 300<<10)+`"}
{"id":"import-1","type":"info","content":"Imported session from %s"}
%s
{"$set":{"sessionId":%q}}
{"$set":{"messages":[{"id":"d0","type":"user","content":[{"text":"<session_context>\nThis is"}]},%s]}}
`, id, file, turn, id, turn)
}

func stub(id string) string {
	return fmt.Sprintf(`{"sessionId":%q,"projectHash":"p","kind":"main"}
{"$set":{"messages":[{"id":"d0","type":"user","content":[{"text":"<session_context>\nThis is"}]}]}}
`, id)
}

func (s *stage) turn() string {
	return strings.Split(transcriptOf(s.request), "\n")[1]
}

func (s *stage) chat(t *testing.T, slug, name, text string, age time.Duration) string {
	t.Helper()
	file := s.user(filepath.Join("tmp", slug, "chats", name))
	s.write(t, file, text)
	at := time.Now().Add(-age)
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLaunched(t *testing.T) {
	s := newStage(t, "echo 0.61.0")
	want := func(id string) {
		t.Helper()
		if got, ok := adapter.Launched(s.machine(), s.request); got != id || ok != (id != "") {
			t.Errorf("the session is %q, %t, not %q", got, ok, id)
		}
	}
	ours := s.request.NativeID + ".jsonl"
	want("")
	s.chat(t, "work", "session-1795301122836-aaaaaaaa.jsonl", imported("aaaaaaaa-1", "/tmp/another.jsonl", s.turn()), 0)
	want("") // the same payload, launched earlier
	s.chat(t, "other", "session-1795301122835-bbbbbbbb.jsonl", imported("bbbbbbbb-2", "/tmp/x/"+ours, s.turn()), time.Hour)
	s.chat(t, "other", "session-2026-11-21T22-45-bbbbbbbb.jsonl", stub("bbbbbbbb-2"), 0)
	s.chat(t, "other", "session-2026-11-21T22-45-cccccccc.jsonl", imported("cccccccc-3", "/tmp/x/"+ours+".old", s.turn()), 0)
	s.chat(t, "other", "session-2026-11-21T22-45-dddddddd.jsonl", `{"sessionId":"dddddddd-4"}`+strings.Repeat("\n", 300<<10)+imported("dddddddd-4", ours, s.turn()), 0)
	s.chat(t, "other", "notes.jsonl", imported("eeeeeeee-5", ours, s.turn()), 0)
	want("bbbbbbbb-2")
	s.request.NativeID = ""
	want("cccccccc-3") // the newest with this payload; among equals, the last one written
	s.request.Payload += "x"
	want("")
	s.request.NativeID = "of-a-command-file"
	s.chat(t, "work", "session-2026-11-21T22-50-ffffffff.json", "{\n  \"sessionId\": \"ffffffff-6\",\n  \"messages\": [{\"content\": \"[cortext of-a-command-file]\\nx\"}]}", time.Minute)
	want("ffffffff-6")
}

// TestCleanup checks that Discard removes unused sessions, and that it and Cleanup keep
// used ones and whatever they do not understand.
func TestCleanup(t *testing.T) {
	const id = "f567a092-e0cd-4b78-9996-72fe9a351dba"
	s := newStage(t, "echo 0.61.0")
	own := imported(id, "/tmp/x.jsonl", s.turn())
	user := func(text string) string {
		return fmt.Sprintf(`{"id":"29c6b12e","type":"user","content":[{"text":%q}]}`+"\n", text)
	}
	const real, empty = "session-1795301122836-f567a092.jsonl", "session-2026-11-21T22-45-f567a092.jsonl"
	for _, c := range []struct {
		name, real, empty string
		used              bool
		want              []string // what remains
	}{
		{name: "unused", real: own, empty: stub(id)},
		{name: "typed", real: own + user("go on"), empty: stub(id), want: []string{real}},
		{name: "answered", real: own + `{"id":"b2","type":"gemini","content":""}` + "\n", empty: stub(id), want: []string{real}},
		{name: "said in a context", real: own + `{"$set":{"messages":[{"id":"c","type":"user","content":"go on"}]}}`, empty: stub(id), want: []string{real}},
		{name: "only notes", real: own + `{"id":"i","type":"info","content":"hi"}` + "\n" + user("<hook_context>x</hook_context>") + `{"$set":{"lastUpdated":"x"}}`, empty: stub(id)},
		{name: "torn", real: own + `{"id":"29c6b12e","type":"us`, empty: stub(id), want: []string{real}},
		{name: "an image", real: own + `{"id":"i","type":"user","content":[{"inlineData":{"data":""}}]}`, empty: stub(id), want: []string{real}},
		{name: "an edited payload", real: strings.ReplaceAll(own, "what was said", "what was sayd"), empty: stub(id), want: []string{real}},
		{name: "another's", real: strings.ReplaceAll(own, id, "f567a092-other"), empty: stub(id), want: []string{real}},
		{name: "no header", real: user(""), empty: stub(id), want: []string{real}},
		{name: "alone", real: own + user("go on"), want: []string{real}},
		{name: "just begun", real: own, empty: stub(id), used: true, want: []string{real}},
		{name: "gone on with", real: own + user("go on"), empty: stub(id), used: true, want: []string{real}},
		{name: "nothing but empty", real: stub(id), used: true, want: []string{real}},
		{name: "two unused", real: own, empty: own},
		{name: "one of two used", real: own + user("go on"), empty: own, want: []string{real, empty}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.chat(t, "work", real, c.real, 0)
			if c.empty != "" {
				s.chat(t, "work", empty, c.empty, 0)
			}
			other := s.chat(t, "work", "session-2026-11-21T22-45-00000000.jsonl", stub("00000000-1"), 0)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if err := adapter.Discard(ctx, s.machine(), id); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled, it ends with %v", err)
			}
			clean := adapter.Discard
			if c.used {
				clean = adapter.Cleanup
			}
			for range 2 { // the second time there is nothing to do
				if err := clean(context.Background(), s.machine(), id); err != nil {
					t.Fatal(err)
				}
			}
			var left []string
			entries, err := os.ReadDir(filepath.Dir(other))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Name() != filepath.Base(other) {
					left = append(left, e.Name())
				}
			}
			if !slices.Equal(left, c.want) {
				t.Errorf("%q stays, not %q", left, c.want)
			}
			if err := os.RemoveAll(filepath.Dir(other)); err != nil {
				t.Fatal(err)
			}
		})
	}
	for _, id := range []string{"", "*", "../../x", "[f]567a092"} {
		if err := adapter.Discard(context.Background(), s.machine(), id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestPayloadKept checks that holdsOf recognizes the turn that a launch writes.
func TestPayloadKept(t *testing.T) {
	for _, payload := range []string{"a", "/a", "bad \xff", "\u2028 \x00"} {
		r := inject.Request{NativeID: "n", Payload: payload}
		file := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(file, []byte(transcriptOf(r)), 0o600); err != nil {
			t.Fatal(err)
		}
		if id, holds, err := holdsOf(context.Background(), file); id != "n" || holds != holding(1) || err != nil {
			t.Errorf("%q: %q, %d, %v", payload, id, holds, err)
		}
	}
}
