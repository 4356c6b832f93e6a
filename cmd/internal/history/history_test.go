package history

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// begin creates a conversation with one message per id; parents names those that do not
// follow the message before them.
func begin(t *testing.T, w *workspace.Workspace, title string, ids []string, parents map[string]string) store.Entry {
	t.Helper()
	s := &schema.Session{ConversationType: "chat", Title: title, Sources: []schema.Source{{Agent: "claude", NativeID: "s"}}}
	c, err := w.Store.Create("chat", title, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b schema.Batch
	for i, id := range ids {
		m := schema.Message{ID: id, Role: schema.User, Content: id, Source: "s", Timestamp: schema.NewTime(time.Unix(1_763_800_000+int64(i), 0))}
		if i%2 == 1 {
			m.Role, m.Model = schema.Assistant, "model-"+id
		}
		if i > 0 {
			m.ParentID = ids[i-1]
		}
		if parent, ok := parents[id]; ok {
			m.ParentID = parent
		}
		b.Messages = append(b.Messages, m)
	}
	if _, err := c.Append(b); err != nil {
		t.Fatal(err)
	}
	e, err := w.Entry(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func open(t *testing.T) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(workspace.Env{Dir: dir, Now: time.Now, Holder: "test", Machine: inject.Machine{Home: t.TempDir(), Getenv: func(string) string { return "" }}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func idsOf(messages []schema.Message) (ids []string) {
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

// TestBranches: the newest branch is the one that goes on; another one counts only if it
// has an answer. Agent and model are those of the newest branch.
func TestBranches(t *testing.T) {
	w := open(t)
	e := begin(t, w, "x", []string{"a", "b", "c", "d", "e", "f", "g"}, map[string]string{"e": "b", "g": "b"})
	newest, others, err := Branches(w.Conversations, e)
	if err != nil || fmt.Sprint(idsOf(newest)) != "[a b g]" || len(others) != 2 {
		t.Errorf("newest %v, others %v, %v", idsOf(newest), others, err)
	}
	if agent, err := LastAgent(w.Conversations, e); agent != "claude" || err != nil {
		t.Errorf("agent %q, %v", agent, err)
	}
	if model, err := LastModel(w.Conversations, e, "claude"); model != "model-b" || err != nil {
		t.Errorf("model %q, %v", model, err)
	}
}

// TestShow: without options every branch is shown, with options only the one that would be
// resumed. A number that is not on it is an error.
func TestShow(t *testing.T) {
	w := open(t)
	e := begin(t, w, "x", []string{"a", "b", "c", "d", "e", "f"}, map[string]string{"e": "b"})
	for _, c := range []struct {
		o    ShowOptions
		want string
	}{
		{ShowOptions{}, "[a b c d e f]"},
		{ShowOptions{Last: 3}, "[b e f]"},
		{ShowOptions{Ranges: [][2]int{{1, 1}}}, "[a]"},
	} {
		if got, err := Show(w.Conversations, e, c.o); err != nil || fmt.Sprint(idsOf(got.Messages)) != c.want {
			t.Errorf("%+v: %+v, %v, want %s", c.o, got, err, c.want)
		}
	}
	var number *NumberError
	if _, err := Show(w.Conversations, e, ShowOptions{Ranges: [][2]int{{99, 99}}}); !errors.As(err, &number) || number.Number != 99 {
		t.Errorf("message 99: %v", err)
	}
}
