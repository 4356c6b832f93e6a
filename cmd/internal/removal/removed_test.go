package removal_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/removal"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// openWorkspace opens a new workspace of a new user.
func openWorkspace(t *testing.T) *workspace.Workspace {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	st, _, err := store.Init(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	w, err := workspace.Open(workspace.Env{
		Dir: dir, Now: time.Now, Holder: "test", Agents: []inject.Agent{inject.Elsewhere("claude")},
		Machine: inject.Machine{Home: home, Getenv: func(string) string { return "" }},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// The ids of two conversations, and the id that another capture gives the first.
const (
	oneID      = "01kang3778aty14bbbvg7pq7a8"
	oneIDLater = "01kang3779aty14bbbvg7pq7a8"
	twoID      = "01kang3778aty14bbbvg7pq7a9"
)

// record writes a removal file as the removal of the conversation with an id does.
func record(t *testing.T, w *workspace.Workspace, id string, hashes ...string) {
	t.Helper()
	slices.Sort(hashes)
	text := strings.Join(hashes, "\n") + "\n"
	sum := sha256.Sum256([]byte(text))
	if err := w.Store.WriteFile(removal.Dir+"/"+id+"-"+hex.EncodeToString(sum[:4]), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// A part is a segment of a Claude Code session.
type part struct{ session, from string }

// hash returns the hash of the part, as specified in FORMAT.md, "Files".
func (p part) hash() string {
	sum := sha256.Sum256([]byte("claude\n" + p.session + "\n" + p.from))
	return "sha256-" + hex.EncodeToString(sum[:])
}

// wantRemoved checks which segments count as removed.
func wantRemoved(t *testing.T, w *workspace.Workspace, want map[part]bool) {
	t.Helper()
	for p, gone := range want {
		if got, err := w.Removed.Source("claude", p.session, p.from); err != nil || got != gone {
			t.Errorf("session %s from %q: removed %v, %v, want %v", p.session, p.from, got, err, gone)
		}
	}
}

// TestBringBack: a session is brought back from all files that name it, with its later
// segments. The other sessions in these files stay removed.
func TestBringBack(t *testing.T) {
	w := openWorkspace(t)
	s1, s2, prompt, message := part{"s1", ""}, part{"s2", ""}, part{"s1", "p2"}, part{"s1", "message:m9"}
	record(t, w, oneID, s1.hash())
	record(t, w, oneIDLater, s1.hash(), s2.hash())
	record(t, w, twoID, prompt.hash(), message.hash())
	wantRemoved(t, w, map[part]bool{s1: true, s2: true, prompt: true, message: true})
	if err := w.Removed.BringBack(context.Background(), "claude", "s1", []string{"p1", "p2", "message:m9"}, nil); err != nil {
		t.Fatal(err)
	}
	wantRemoved(t, w, map[part]bool{s1: false, s2: true, prompt: false, message: false})
	for _, id := range []string{oneID, oneIDLater, twoID} {
		if gone, err := w.Removed.Conversation(id); gone || err != nil {
			t.Errorf("%s: removed %v, %v", id, gone, err)
		}
	}
	names := w.Store.ListFiles(removal.Dir)
	if len(names) != 1 {
		t.Fatal(names)
	}
	b, err := w.Store.ReadFile(removal.Dir + "/" + names[0])
	if err != nil || string(b) != s2.hash()+"\n" {
		t.Fatalf("%s: %s, %v", names[0], b, err)
	}
	if sum := sha256.Sum256(b); names[0] != "back-"+hex.EncodeToString(sum[:4]) {
		t.Error(names[0])
	}
	if err := w.Removed.BringBack(context.Background(), "claude", "s2", nil, nil); err != nil {
		t.Fatal(err)
	}
	wantRemoved(t, w, map[part]bool{s2: false})
	if names := w.Store.ListFiles(removal.Dir); len(names) > 0 {
		t.Error(names)
	}
}

// TestBringBackUnnamed: a session that only the registry connects to a removed
// conversation is brought back with it.
func TestBringBackUnnamed(t *testing.T) {
	w := openWorkspace(t)
	record(t, w, oneID, part{"s1", ""}.hash())
	err := errors.Join(
		w.Registry.Removed.Add(schema.IDKey(oneID), w.Here.Place()),
		w.Registry.Sessions.Update("claude", "s2", func(s *registry.Session) {
			s.Bind(w.Here.Place(), w.Here.Same, []registry.Segment{{Path: "conversations/2025-11-22/1030-plan-one-q7a8", ID: oneID}})
		}),
		w.Removed.BringBack(context.Background(), "claude", "s2", nil, nil),
	)
	if err != nil {
		t.Fatal(err)
	}
	if gone, err := w.Removed.Conversation(oneID); gone || err != nil {
		t.Errorf("removed %v, %v", gone, err)
	}
	wantRemoved(t, w, map[part]bool{{"s1", ""}: true})
}

// TestConversationRemoved: ids that differ only in their time belong to one conversation,
// and an id does not match a file name that it is a prefix of.
func TestConversationRemoved(t *testing.T) {
	w := openWorkspace(t)
	record(t, w, oneID, part{"s1", ""}.hash())
	record(t, w, "api-v2", part{"s2", ""}.hash())
	for id, want := range map[string]bool{oneID: true, oneIDLater: true, twoID: false, "api-v2": true, "api": false, "": false} {
		if gone, err := w.Removed.Conversation(id); gone != want || err != nil {
			t.Errorf("%q: removed %v, %v, want %v", id, gone, err, want)
		}
	}
}

// TestKept: a session in which a removed conversation was resumed is captured until the
// conversation is removed again, here or elsewhere.
func TestKept(t *testing.T) {
	w := openWorkspace(t)
	c, err := w.Store.Create("chat", "x", &schema.Session{ConversationType: "chat", Title: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	e, err := w.Entry(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	seg := registry.Segment{Path: e.Path, ID: e.Session.ID, Resumed: true}
	want := func(when string, segment, conversation bool) {
		t.Helper()
		gone, err := w.Removed.Segment("claude", "s2", seg)
		if err != nil || gone != segment {
			t.Errorf("%s: the segment is removed: %v, %v, want %v", when, gone, err, segment)
		}
		if gone, err = w.Removed.Conversation(seg.ID); err != nil || gone != conversation {
			t.Errorf("%s: the conversation is removed: %v, %v, want %v", when, gone, err, conversation)
		}
	}
	if err := errors.Join(
		w.Registry.Removed.Add(schema.IDKey(seg.ID), w.Here.Place()),
		w.Registry.Sessions.Update("claude", "s2", func(s *registry.Session) { s.Bind(w.Here.Place(), w.Here.Same, []registry.Segment{seg}) }),
	); err != nil {
		t.Fatal(err)
	}
	want("resumed", false, false)
	record(t, w, seg.ID, part{"s2", ""}.hash())
	want("removed again elsewhere", true, false)
	if err := w.Store.RemoveFile(removal.Dir + "/" + w.Store.ListFiles(removal.Dir)[0]); err != nil {
		t.Fatal(err)
	}
	want("that taken back", false, false)

	// Remove it from a work tree whose session.json does not know the session.
	if err := w.Forget(context.Background(), e, nil); err != nil {
		t.Fatal(err)
	}
	s, err := w.Registry.Sessions.Get("claude", "s2")
	if err != nil || len(s.In(w.Here.Same)) != 1 {
		t.Fatal(s, err)
	}
	seg = s.In(w.Here.Same)[0]
	want("removed again", true, true)
}

// TestManyRemovedAgain: many removals read the state of all sessions once, even if the
// conversations were removed before, for example in another clone.
func TestManyRemovedAgain(t *testing.T) {
	w := openWorkspace(t)
	c, err := w.Store.Create("chat", "x", &schema.Session{ConversationType: "chat", Title: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	e, err := w.Entry(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	sessions := filepath.Join(w.Env.Machine.Home, ".local", "state", "cortext", "sessions", "claude")
	if err := errors.Join(
		w.Registry.Removed.Add(schema.IDKey(e.Session.ID), w.Here.Place()),
		w.Removed.ReadResumed(),
		os.MkdirAll(filepath.Dir(sessions), 0o700),
		os.WriteFile(sessions, nil, 0o600), // from now on, they cannot be read
	); err != nil {
		t.Fatal(err)
	}
	if err := w.Forget(context.Background(), e, nil); err != nil {
		t.Error("all sessions are read again:", err)
	}
}

// TestRemovalsUnreadable: an unreadable record of a removal is an error; it does not mean
// that nothing was removed.
func TestRemovalsUnreadable(t *testing.T) {
	w := openWorkspace(t)
	name := filepath.Join(w.Env.Machine.Home, ".local", "state", "cortext", "sessions", "claude")
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := w.Registry.Sessions.Each("claude", func(string, registry.Session) {}); err == nil {
		t.Error("sessions without an error")
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(w.Store.Root(), filepath.FromSlash(removal.Dir), "large-00000000")
	if err := errors.Join(os.MkdirAll(filepath.Dir(large), 0o700), os.WriteFile(large, nil, 0o600), os.Truncate(large, 1<<40)); err != nil {
		t.Skip("NOT RUN: no sparse files here:", err)
	}
	if _, err := w.Removed.Segments("claude", "s1"); err == nil || !strings.Contains(err.Error(), removal.Dir+"/large-00000000") {
		t.Errorf("a file that is not read: %v", err)
	}
	dir := filepath.Dir(large)
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Removed.Segments("claude", "s1"); err == nil {
		t.Error("a folder that is not read: no error")
	}
	if gone, err := w.Removed.Conversation(oneID); err == nil {
		t.Errorf("a folder that is not read: %v without an error", gone)
	}
}

// TestRemovedHereReadsOnce: each removal file is read once, however many conversations
// exist; twice as many of both cost twice as much.
func TestRemovedHereReadsOnce(t *testing.T) {
	w := openWorkspace(t)
	made := 0
	cost := func(upTo int) float64 {
		for ; made < upTo; made++ {
			src := schema.Source{Agent: "claude", NativeID: fmt.Sprint("s", made)}
			c, err := w.Store.Create("chat", "x", &schema.Session{ConversationType: "chat", Title: "x", ID: schema.DerivedID(src.Agent, src.NativeID, time.Unix(1, 0)), Sources: []schema.Source{src}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
			record(t, w, fmt.Sprint("x", made), part{fmt.Sprint("t", made), ""}.hash())
		}
		return testing.AllocsPerRun(1, func() {
			if list, err := w.Removed.Leftovers(); len(list) > 0 || err != nil {
				t.Fatal(list, err)
			}
		})
	}
	if few, many := cost(15), cost(60); many > 6*few {
		t.Errorf("%g allocations, and %g with four times as many conversations and removals", few, many)
	}
}
