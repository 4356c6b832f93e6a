package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// The ids of two conversations, and the id that another capture gives the first.
const (
	oneID      = "01kang3778aty14bbbvg7pq7a8"
	oneIDLater = "01kang3779aty14bbbvg7pq7a8"
	twoID      = "01kang3778aty14bbbvg7pq7a9"
)

// record writes a removal file as the removal of the conversation with an id does.
func record(t *testing.T, w *Workspace, id string, hashes ...string) {
	t.Helper()
	if err := w.writeHashes(id, hashes); err != nil {
		t.Fatal(err)
	}
}

// A part is a segment of a Claude Code session.
type part struct{ session, from string }

func (p part) hash() string { return removalHash("claude", p.session, p.from) }

// wantRemoved checks which segments count as removed.
func wantRemoved(t *testing.T, w *Workspace, want map[part]bool) {
	t.Helper()
	for p, gone := range want {
		if got, err := w.IsRemoved("claude", p.session, p.from); err != nil || got != gone {
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
	if err := w.BringBack(context.Background(), "claude", "s1", []string{"p1", "p2", "message:m9"}, nil); err != nil {
		t.Fatal(err)
	}
	wantRemoved(t, w, map[part]bool{s1: false, s2: true, prompt: false, message: false})
	for _, id := range []string{oneID, oneIDLater, twoID} {
		if gone, err := w.ConversationRemoved(id); gone || err != nil {
			t.Errorf("%s: removed %v, %v", id, gone, err)
		}
	}
	names := w.Store.ListFiles(RemovedDir)
	if len(names) != 1 {
		t.Fatal(names)
	}
	b, err := w.Store.ReadFile(RemovedDir + "/" + names[0])
	if err != nil || string(b) != s2.hash()+"\n" {
		t.Fatalf("%s: %s, %v", names[0], b, err)
	}
	if sum := sha256.Sum256(b); names[0] != "back-"+hex.EncodeToString(sum[:4]) {
		t.Error(names[0])
	}
	if err := w.BringBack(context.Background(), "claude", "s2", nil, nil); err != nil {
		t.Fatal(err)
	}
	wantRemoved(t, w, map[part]bool{s2: false})
	if names := w.Store.ListFiles(RemovedDir); len(names) > 0 {
		t.Error(names)
	}
}

// TestBringBackUnnamed: a session that only the registry connects to a removed
// conversation is brought back with it.
func TestBringBackUnnamed(t *testing.T) {
	w := openWorkspace(t)
	record(t, w, oneID, part{"s1", ""}.hash())
	err := errors.Join(
		w.Registry.Remove(schema.IDKey(oneID), w.Place()),
		w.Registry.Update("claude", "s2", func(s *registry.Session) {
			s.Bind(w.Place(), w.SamePlace, []registry.Segment{{Path: "conversations/2025-11-22/1030-plan-one-q7a8", ID: oneID}})
		}),
		w.BringBack(context.Background(), "claude", "s2", nil, nil),
	)
	if err != nil {
		t.Fatal(err)
	}
	if gone, err := w.ConversationRemoved(oneID); gone || err != nil {
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
		if gone, err := w.ConversationRemoved(id); gone != want || err != nil {
			t.Errorf("%q: removed %v, %v, want %v", id, gone, err, want)
		}
	}
}

// TestKept: a session in which a removed conversation was resumed is captured until the
// conversation is removed again, here or elsewhere.
func TestKept(t *testing.T) {
	w := openWorkspace(t)
	w.Env.Agents = []inject.Agent{{Name: "claude"}}
	c, err := w.Store.Create("chat", "x", &schema.Session{ConversationType: "chat", Title: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	e, err := w.Entry(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	seg := registry.Segment{Path: e.Path, ID: e.Session.ID, Kept: true}
	want := func(when string, segment, conversation bool) {
		t.Helper()
		gone, err := w.SegmentRemoved("claude", "s2", seg)
		if err != nil || gone != segment {
			t.Errorf("%s: the segment is removed: %v, %v, want %v", when, gone, err, segment)
		}
		if gone, err = w.ConversationRemoved(seg.ID); err != nil || gone != conversation {
			t.Errorf("%s: the conversation is removed: %v, %v, want %v", when, gone, err, conversation)
		}
	}
	if err := errors.Join(
		w.Registry.Remove(schema.IDKey(seg.ID), w.Place()),
		w.Registry.Update("claude", "s2", func(s *registry.Session) { s.Bind(w.Place(), w.SamePlace, []registry.Segment{seg}) }),
	); err != nil {
		t.Fatal(err)
	}
	want("resumed", false, false)
	record(t, w, seg.ID, part{"s2", ""}.hash())
	want("removed again elsewhere", true, false)
	if err := w.Store.RemoveFile(RemovedDir + "/" + w.Store.ListFiles(RemovedDir)[0]); err != nil {
		t.Fatal(err)
	}
	want("that taken back", false, false)

	// Remove it from a work tree whose session.json does not know the session.
	if err := w.Forget(context.Background(), e, nil); err != nil {
		t.Fatal(err)
	}
	s, err := w.Registry.Session("claude", "s2")
	if err != nil || len(s.In(w.SamePlace)) != 1 {
		t.Fatal(s, err)
	}
	seg = s.In(w.SamePlace)[0]
	want("removed again", true, true)
}

// TestRemovalsUnreadable: an unreadable record of a removal is an error; it does not mean
// that nothing was removed.
func TestRemovalsUnreadable(t *testing.T) {
	w := openWorkspace(t)
	name := filepath.Join(w.Env.Machine.Home, ".local", "state", "cortext", "sessions", "claude")
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := w.Registry.Sessions("claude", func(string, registry.Session) {}); err == nil {
		t.Error("sessions without an error")
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(w.Store.Root(), filepath.FromSlash(RemovedDir), "large-00000000")
	if err := errors.Join(os.MkdirAll(filepath.Dir(large), 0o700), os.WriteFile(large, nil, 0o600), os.Truncate(large, 1<<40)); err != nil {
		t.Skip(err)
	}
	if _, err := w.RemovedSegments("claude", "s1"); err == nil || !strings.Contains(err.Error(), RemovedDir+"/large-00000000") {
		t.Errorf("a file that is not read: %v", err)
	}
	dir := filepath.Dir(large)
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.RemovedSegments("claude", "s1"); err == nil {
		t.Error("a folder that is not read: no error")
	}
	if gone, err := w.ConversationRemoved(oneID); err == nil {
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
			if list, err := w.RemovedHere(); len(list) > 0 || err != nil {
				t.Fatal(list, err)
			}
		})
	}
	if few, many := cost(15), cost(60); many > 6*few {
		t.Errorf("%g allocations, and %g with four times as many conversations and removals", few, many)
	}
}

// TestFirstCommitsOnce: git is asked only once for the commits that identify clones, even
// if it does not answer.
func TestFirstCommitsOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the false git is a shell script")
	}
	w := openWorkspace(t)
	bin := t.TempDir()
	calls := filepath.Join(bin, "calls")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := errors.Join(
		os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho \"$*\" >> '"+calls+"'\nexit 1\n"), 0o700),
		os.MkdirAll(filepath.Join(w.Store.Root(), ".git"), 0o700),
		os.WriteFile(filepath.Join(w.Store.Root(), ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w.KnowClones(context.Background())
	}
	b, err := os.ReadFile(calls)
	if n := strings.Count(string(b), "rev-list"); err != nil || n != 1 {
		t.Errorf("git was asked %d times, %v:\n%s", n, err, b)
	}
}

// TestInterruptedRemoval: the next command reports a removal that was killed. No command
// does once the removal is finished or the conversation is brought back.
func TestInterruptedRemoval(t *testing.T) {
	for name, end := range map[string]func(w *Workspace, e store.Entry) error{
		"finished": func(w *Workspace, e store.Entry) error { return w.Forget(context.Background(), e, nil) },
		"brought back": func(w *Workspace, e store.Entry) error {
			return w.BringBack(context.Background(), "claude", "s1", nil, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := openWorkspace(t)
			e, _, err := w.Begin(Beginning{Type: "plan", Title: "one", Source: &schema.Source{Agent: "claude", NativeID: "s1"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Registry.BeginRemoval(w.Place().Workspace, registry.Removing{ID: e.Session.ID, Paths: []string{e.Path}}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.noteRemoval(e, w.Place(), nil); err != nil {
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
			wantRemoved(t, next, map[part]bool{{"s1", ""}: true})
			if err := end(next, e); err != nil {
				t.Fatal(err)
			}
			if got := next.interrupted(); len(got) > 0 {
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
	if err := w.Registry.Update("claude", "s1", func(s *registry.Session) {
		s.Removed = append(s.Removed, elsewhere)
		s.Bind(w.Place(), w.SamePlace, bound)
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
	s, err := w.Registry.Session("claude", "s1")
	if err != nil || len(s.Removed) != 1 || s.Removed[0].Workspace != "/elsewhere" || len(s.In(w.SamePlace)) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if gone, err := w.ConversationRemoved(e.Session.ID); gone || err != nil {
		t.Errorf("removed: %v, %v", gone, err)
	}
	if list := append(w.Store.ListFiles(RemovedDir), w.interrupted()...); len(list) > 0 {
		t.Errorf("left: %q", list)
	}
	wantRemoved(t, w, map[part]bool{{"s1", ""}: false})
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
