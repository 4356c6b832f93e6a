package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/removal"
	"cortext/schema"
	"cortext/store"
)

// TestInterruptedRemoval: the next command reports a removal that was killed. No command
// does once the removal is finished or the conversation is brought back.
func TestInterruptedRemoval(t *testing.T) {
	for name, end := range map[string]func(w *Workspace, e store.Entry) error{
		"finished": func(w *Workspace, e store.Entry) error { return w.Forget(context.Background(), e, nil) },
		"brought back": func(w *Workspace, e store.Entry) error {
			return w.Removed.BringBack(context.Background(), "claude", "s1", nil, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := openWorkspace(t)
			e, _, err := w.Begin(Beginning{Type: "plan", Title: "one", Source: &schema.Source{Agent: "claude", NativeID: "s1"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.removing().notes.Begin(registry.Removing{ID: e.Session.ID, Paths: []string{e.Path}}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Removed.Note(context.Background(), e, nil); err != nil {
				t.Fatal(err)
			}
			next, err := Open(w.Env)
			if err != nil {
				t.Fatal(err)
			}
			defer next.Close()
			if got, want := strings.Join(next.Warnings, "\n"), "the removal of "+e.Path+" was interrupted: cortext rm "+filepath.Base(e.Path); !strings.Contains(got, want) {
				t.Errorf("%q does not contain %q", got, want)
			}
			if gone, err := next.Removed.Source("claude", "s1", ""); !gone || err != nil {
				t.Errorf("removed: %v, %v", gone, err)
			}
			if err := end(next, e); err != nil {
				t.Fatal(err)
			}
			if got := next.removing().interrupted(); len(got) > 0 {
				t.Errorf("it is named after all: %q", got)
			}
		})
	}
}

// TestFailedRemoval: the record of a failed removal is undone, and nothing else.
func TestFailedRemoval(t *testing.T) {
	w := openWorkspace(t)
	e, _, err := w.Begin(Beginning{Type: "plan", Title: "one", Source: &schema.Source{Agent: "claude", NativeID: "s1"}})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := registry.Removal{Place: registry.Place{Workspace: "/elsewhere"}}
	bound := []registry.Segment{{Path: e.Path, ID: e.Session.ID}}
	if err := w.Registry.Sessions.Update("claude", "s1", func(s *registry.Session) {
		s.Removed = append(s.Removed, elsewhere)
		s.Bind(w.Here.Place(), w.Here.Same, bound)
	}); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(w.Store.Root(), filepath.FromSlash(messagesOf(e.Path)))
	if err := errors.Join(os.RemoveAll(log), os.Mkdir(log, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := w.Forget(context.Background(), e, nil); err == nil || !strings.Contains(err.Error(), "what is left is in "+e.Path) {
		t.Errorf("%v", err)
	}
	s, err := w.Registry.Sessions.Get("claude", "s1")
	if err != nil || len(s.Removed) != 1 || s.Removed[0].Workspace != "/elsewhere" || len(s.In(w.Here.Same)) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if gone, err := w.Removed.Conversation(e.Session.ID); gone || err != nil {
		t.Errorf("removed: %v, %v", gone, err)
	}
	if list := append(w.Store.ListFiles(removal.Dir), w.removing().interrupted()...); len(list) > 0 {
		t.Errorf("left: %q", list)
	}
	if gone, err := w.Removed.Source("claude", "s1", ""); gone || err != nil {
		t.Errorf("the session is removed: %v, %v", gone, err)
	}
}

// TestForgetUnread: a conversation whose sessions are unknown is not removed, since they
// would bring it back.
func TestForgetUnread(t *testing.T) {
	w := openWorkspace(t)
	e, _, err := w.Begin(Beginning{Type: "plan", Title: "one", Source: &schema.Source{Agent: "claude", NativeID: "s1"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(w.Store.Root(), filepath.FromSlash(e.Path), ".session")
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	all, err := w.Store.List()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if err := w.Forget(context.Background(), all[0], nil); err == nil {
		t.Error("it is removed")
	}
	if _, err := os.Lstat(dir); err != nil {
		t.Error(err)
	}
}
