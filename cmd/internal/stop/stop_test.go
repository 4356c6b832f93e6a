package stop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/install"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/schema"
	"cortext/store"
)

// TestMarkStoppedFails: it is an error if a session cannot record that its conversation
// is stopped.
func TestMarkStoppedFails(t *testing.T) {
	w := newWorkspace(t)
	file := filepath.Join(w.Env.Machine.Home, ".local/state/cortext/sessions/claude/s1.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	e := store.Entry{Session: &schema.Session{Sources: []schema.Source{{Agent: "claude", NativeID: "s1"}, {Agent: "another", NativeID: "s2"}}}}
	if err := New(w, capture.New(w), compact.New(w, nil)).markStopped(e); err == nil || !strings.Contains(err.Error(), "s1.json") {
		t.Error(err)
	}
}

// TestStopSummarizes: a stop summarizes all but the last messages.
func TestStopSummarizes(t *testing.T) {
	w := newWorkspace(t)
	c, err := w.Store.Create("chat", "x", &schema.Session{ConversationType: "chat", Title: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b schema.Batch
	for i := range 180 {
		m := schema.Message{ID: fmt.Sprint("m", i), Timestamp: schema.NewTime(time.Date(2025, 11, 22, 10, 0, i, 0, time.UTC)), Role: schema.User, Content: fmt.Sprintf("Please change file%d.go, since it fails.", i)}
		if i%2 == 1 {
			m.Role = schema.Assistant
		}
		if i > 0 {
			m.ParentID = fmt.Sprint("m", i-1)
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
	out, err := New(w, capture.New(w), compact.New(w, nil)).Stop(t.Context(), e)
	if err != nil || len(out.Warnings) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if names := w.Store.ListFiles(c.Path() + "/.session/summaries"); len(names) != 4 {
		t.Errorf("summaries %q", names)
	}
}

func newWorkspace(t *testing.T) *workspace.Workspace {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	if _, err := install.Init(dir, settings.CommitOff, ""); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(workspace.Env{
		Dir: dir, Now: time.Now, Holder: "test", Agents: []inject.Agent{claude.Agent()},
		Machine: inject.Machine{Home: home, Getenv: func(string) string { return "" }},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}
