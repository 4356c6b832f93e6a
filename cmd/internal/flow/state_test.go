package flow

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"cortext/schema"
	"cortext/store"
)

// TestStateIsExtended: the state that is kept and extended by what is new is that
// of the whole conversation, also where it was gone on with in another session or
// from an earlier message.
func TestStateIsExtended(t *testing.T) {
	w := newWorld(t, 1).open()
	defer w.Close()
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"Never touch the database.", "Let's go with REST.", "Should I go on?", "yes", "please change cmd/serve/main.go", "I have decided to use SQLite."}
	for range 20 {
		s := &schema.Session{ConversationType: "chat", Title: "x"}
		c, err := w.Store.Create("2025-11-22", "chat", "x", s, nil)
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
			extended := stateText(t, w, c)
			again := stateText(t, w, c)
			if err := w.Store.RemoveCache(stateName(c)); err != nil {
				t.Fatal(err)
			}
			if whole := stateText(t, w, c); extended != whole || again != whole {
				t.Fatalf("round %d: extended it is\n%s\nand as a whole\n%s", round, extended, whole)
			}
		}
		c.Close()
	}
}

func stateText(t *testing.T, w *Workspace, c *store.Conversation) string {
	t.Helper()
	s, err := w.stateOf(c, true)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
