package workspace

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// TestNotesAreExtended: cached notes extended by new messages equal the notes on the whole
// conversation, even if it continued in another session or from an earlier message.
func TestNotesAreExtended(t *testing.T) {
	w := openWorkspace(t)
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"Never touch the database.", "Let's go with REST.", "Should I go on?", "yes", "please change cmd/serve/main.go", "I have decided to use SQLite."}
	for range 20 {
		s := &schema.Session{ConversationType: "chat", Title: "x"}
		c, err := w.Store.Create("chat", "x", s, nil)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		at := time.Date(2025, 11, 22, 10, 0, 0, 0, time.UTC)
		for round := range 12 {
			var b schema.Batch
			for range 1 + r.IntN(4) {
				at = at.Add(time.Second)
				m := schema.Message{ID: fmt.Sprint("m", len(ids)), Role: []schema.Role{schema.User, schema.Assistant, schema.Assistant}[r.IntN(3)], Timestamp: schema.NewTime(at), Content: texts[r.IntN(len(texts))]}
				if n := len(ids); n > 0 {
					m.ParentID = ids[n-1]
					switch r.IntN(12) {
					case 0:
						m.ParentID = "" // another session
					case 1:
						m.ParentID = ids[r.IntN(n)] // a rewind
					}
				}
				if m.Role == schema.Assistant && r.IntN(2) == 0 {
					done := r.IntN(3) > 0
					call := schema.Tool{ID: "c-" + m.ID, MessageID: m.ID, Name: "Write", Input: schema.Raw(fmt.Sprintf(`{"file_path":"file%d.go"}`, r.IntN(5))), Success: &done, Output: "done"}
					m.ToolCalls = []schema.ToolCall{{ID: call.ID, Name: call.Name}}
					b.Tools = append(b.Tools, call)
				}
				ids = append(ids, m.ID)
				b.Messages = append(b.Messages, m)
			}
			if _, err := c.Append(b); err != nil {
				t.Fatal(err)
			}
			extended := notesText(t, w, c)
			again := notesText(t, w, c)
			if err := w.Store.RemoveCache(notesName(c.Path())); err != nil {
				t.Fatal(err)
			}
			if whole := notesText(t, w, c); extended != whole || again != whole {
				t.Fatalf("round %d: extended it is\n%s\nand as a whole\n%s", round, extended, whole)
			}
		}
		c.Close()
	}
}

// TestNotesAreRevised: changes after caching are not lost if a later line has the outcome
// of a call, a longer answer or an unknown call.
func TestNotesAreRevised(t *testing.T) {
	failed, code := false, 2
	at := time.Date(2025, 11, 22, 10, 0, 0, 0, time.UTC)
	message := func(n int, role schema.Role, text string) schema.Message {
		m := schema.Message{ID: fmt.Sprint("m", n), Role: role, Timestamp: schema.NewTime(at.Add(time.Duration(n) * time.Second)), Content: text}
		if n > 1 {
			m.ParentID = fmt.Sprint("m", n-1)
		}
		return m
	}
	answer := message(2, schema.Assistant, "Building.")
	answer.ToolCalls = []schema.ToolCall{{ID: "c1", Name: "Bash"}, {ID: "c2", Name: "Write"}}
	pending := schema.Tool{ID: "c1", MessageID: "m2", Name: "Bash", Input: schema.Raw(`{"command":"make all"}`)}
	done := pending
	done.Success, done.ExitCode, done.Output = &failed, &code, "make: *** [all] Error 2"
	longer := answer
	longer.Content = "Building. Shall I use bolt?"
	longer.Blocks = []schema.Block{{Type: schema.ToolCallBlock, ID: "c1"}, {Type: schema.ToolCallBlock, ID: "c2"}, {Type: schema.TextBlock, Bytes: len(longer.Content)}}
	for name, tc := range map[string]struct {
		batch schema.Batch
		want  string
	}{
		"the outcome of a call":   {schema.Batch{Tools: []schema.Tool{done}}, "[all] Error 2"},
		"a longer answer":         {schema.Batch{Messages: []schema.Message{longer}}, "“ok” to “Shall I use bolt?”"},
		"both":                    {schema.Batch{Messages: []schema.Message{longer}, Tools: []schema.Tool{done}}, "“ok” to “Shall I use bolt?”"},
		"a call not known before": {schema.Batch{Tools: []schema.Tool{{ID: "c2", MessageID: "m2", Name: "Write", Input: schema.Raw(`{"file_path":"late.go"}`), Success: new(true)}}}, "late.go"},
		"nothing that matters":    {schema.Batch{Messages: []schema.Message{message(5, schema.Assistant, "The docs are fine.")}}, "The docs are fine."},
	} {
		t.Run(name, func(t *testing.T) {
			w := openWorkspace(t)
			c, err := w.Store.Create("chat", "x", &schema.Session{ConversationType: "chat", Title: "x"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Append(schema.Batch{Messages: []schema.Message{message(1, schema.User, "please build it"), answer, message(3, schema.User, "ok"), message(4, schema.Assistant, "I will look.")}, Tools: []schema.Tool{pending}}); err != nil {
				t.Fatal(err)
			}
			if before := notesText(t, w, c); strings.Contains(before, tc.want) {
				t.Fatal(before)
			}
			if _, err := c.Append(tc.batch); err != nil {
				t.Fatal(err)
			}
			looked, err := w.Notes.Of(c, ReadNotes)
			if err != nil {
				t.Fatal(err)
			}
			if _, stays := w.Store.ReadCache(notesName(c.Path())); stays != (name == "nothing that matters") {
				t.Errorf("after a look the cached notes are there: %v", stays)
			}
			extended := notesText(t, w, c)
			if b, _ := json.MarshalIndent(looked, "", " "); string(b) != extended || !strings.Contains(extended, tc.want) {
				t.Fatalf("who only looks sees\n%s\nand who keeps it\n%s", b, extended)
			}
			if err := w.Store.RemoveCache(notesName(c.Path())); err != nil {
				t.Fatal(err)
			}
			if whole := notesText(t, w, c); extended != whole {
				t.Fatalf("extended it is\n%s\nand as a whole\n%s", extended, whole)
			}
		})
	}
}

// TestNotesOfOtherLogs: notes are rebuilt if git replaced their logs, as after a merge.
// Unreadable logs confirm nothing.
func TestNotesOfOtherLogs(t *testing.T) {
	w := openWorkspace(t)
	c, err := w.Store.Create("chat", "x", &schema.Session{ConversationType: "chat", Title: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b schema.Batch
	for i, text := range []string{"Never use REST.", "Fine.", "Use bolt instead of SQLite.", "Done."} {
		m := schema.Message{ID: fmt.Sprint("m", i), Role: []schema.Role{schema.User, schema.Assistant}[i%2], Content: text}
		if i > 0 {
			m.ParentID = fmt.Sprint("m", i-1)
		}
		b.Messages = append(b.Messages, m)
	}
	if _, err := c.Append(b); err != nil {
		t.Fatal(err)
	}
	notesText(t, w, c)
	log := filepath.Join(w.Store.Root(), filepath.FromSlash(c.Path()), ".session", "messages.jsonl")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for what, other := range map[string]string{"merged": strings.Replace(string(text), "Never use REST.", "Never use SOAP, not for this.", 1), "shorter": strings.Replace(string(text), "Never use REST.", "No SOAP. Never.", 1)} {
		notesText(t, w, c)
		if err := os.WriteFile(log, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := notesText(t, w, c); what == "merged" && (!strings.Contains(got, "SOAP") || strings.Contains(got, "REST")) {
			t.Errorf("%s: %s", what, got)
		}
	}
	logs, err := c.CheckpointNow()
	if err != nil {
		t.Fatal(err)
	}
	if revised(c, logs, schema.History{}) {
		t.Error("logs that are as they were are read again")
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(log, 0o700); err != nil {
		t.Fatal(err)
	}
	if !revised(c, logs, schema.History{}) {
		t.Error("a folder was taken for a log that is as it was")
	}
}

// openWorkspace creates a workspace and opens it.
func openWorkspace(t *testing.T) *Workspace {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	st, _, err := store.Init(dir)
	if err != nil {
		t.Fatal(err)
	}
	st.Close()
	w, err := Open(Env{
		Dir: dir, Now: time.Now, Holder: "test",
		Machine: inject.Machine{Home: home, Getenv: func(string) string { return "" }},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func notesText(t *testing.T, w *Workspace, c *store.Conversation) string {
	t.Helper()
	s, err := w.Notes.Of(c, KeepNotes)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
