package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver for OpenCode's databases

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/install"
	"cortext/cmd/internal/interrupt"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// A remover is an agent that can remove sessions.
type remover struct {
	inject.Agent
	remove func(nativeID string) error
}

func (r remover) Remove(_ context.Context, _ inject.Machine, nativeID string) error {
	return r.remove(nativeID)
}

// TestRemoveUnused: the session of a launch without messages is removed as soon as its
// agent can remove it. After some failures cortext gives up and reports that once.
func TestRemoveUnused(t *testing.T) {
	for _, failures := range []int{0, mostTries - 1, mostTries} {
		asked := 0
		agent := remover{claude.Agent(), func(nativeID string) error {
			if asked++; nativeID != "ses" {
				t.Errorf("asked to remove %s", nativeID)
			}
			if asked <= failures {
				return errors.New("database is locked")
			}
			return nil
		}}
		w := newWorkspace(t, agent)
		l := LeftoversOf(w, capture.New(w))
		if err := errors.Join(
			w.Launches().Put("running", registry.Launch{Agent: agent.Name(), NativeID: "other", Path: "conversations/x/y"}),
			w.Launches().Put("ended", registry.Launch{Agent: agent.Name(), NativeID: "ses", Path: "conversations/x/y", Unused: true}),
		); err != nil {
			t.Fatal(err)
		}
		var reported []error
		tries := 0
		for ; l.HasUnused(); tries++ {
			if reported != nil || tries == 10 {
				t.Fatalf("%d failures: reported of %v, and goes on", failures, reported)
			}
			reported = l.RemoveUnused(t.Context())
		}
		if gaveUp := failures == mostTries; tries != asked || asked != min(failures+1, mostTries) || (len(reported) == 1) != gaveUp || gaveUp && !strings.Contains(reported[0].Error(), "session ses, in which nothing was said, is still there: database is locked") {
			t.Errorf("%d failures: asked %d times, reported of %v", failures, asked, reported)
		}
		if ids := w.Launches().IDs(); len(ids) != 1 || ids[0] != "running" {
			t.Errorf("%d failures: noted are %q", failures, ids)
		}
	}
}

func newWorkspace(t *testing.T, agents ...inject.Agent) *workspace.Workspace {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	if _, err := install.Init(dir, settings.CommitOff, ""); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(workspace.Env{
		Dir: dir, Now: time.Now, Holder: "test", Agents: agents,
		Machine: inject.Machine{Home: home, Getenv: func(string) string { return "" }},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// answered begins a conversation with an answer in Gemini CLI.
func answered(t *testing.T, w *workspace.Workspace) store.Entry {
	t.Helper()
	s := &schema.Session{ConversationType: "chat", Title: "x", Status: schema.Paused, Sources: []schema.Source{{Agent: "gemini", NativeID: "s"}}}
	s.AgentConfig.Agent = "gemini"
	c, err := w.Store.Create("chat", "x", s, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Append(schema.Batch{Messages: []schema.Message{
		{ID: "m1", Role: schema.User, Content: "c", Source: "s", Timestamp: schema.NewTime(time.Unix(1_763_800_000, 0))},
		{ID: "m2", ParentID: "m1", Role: schema.Assistant, Content: "c", Source: "s", Model: "gemini-2.5-pro", Timestamp: schema.NewTime(time.Unix(1_763_800_001, 0))},
	}}); err != nil {
		t.Fatal(err)
	}
	e, err := w.Entry(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPrepareFails: a launch whose session the agent cannot import, or whose files cannot be
// written, reports why and leaves nothing behind.
func TestPrepareFails(t *testing.T) {
	w := newWorkspace(t, claude.Agent(), gemini.Agent())
	e := answered(t, w)
	l := New(w, capture.New(w), payload.New(w))
	missing, inTheWay := filepath.Join(t.TempDir(), "missing"), t.TempDir()
	for name, launch := range map[string]*inject.Launch{
		missing:  {Program: missing, Import: []string{"import"}, NativeID: "new"},
		inTheWay: {Program: missing, Files: []inject.File{{Path: inTheWay}}},
	} {
		plan := &Plan{Agent: claude.Agent(), Launch: launch, Built: &payload.Built{Entry: e, Payload: &resume.Payload{}}, Dir: t.TempDir(), id: "launch"}
		for range 2 { // the second time, the lock is free
			if _, err := l.Prepare(t.Context(), plan, Program{Interrupts: interrupt.New(func() {}, func(int) {})}); err == nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if now, err := w.Entry(e.Path); err != nil || now.Session.Status != schema.Paused || len(w.Launches().IDs()) > 0 {
			t.Errorf("%s: %v, status %s, launches %q", name, err, now.Session.Status, w.Launches().IDs())
		}
	}
}

// TestEndsAtOnce: a conversation keeps its status if the agent ends before it chooses the id of
// a session.
func TestEndsAtOnce(t *testing.T) {
	w := newWorkspace(t, gemini.Agent())
	e := answered(t, w)
	if _, err := w.Status.Set(e, schema.Completed); err != nil {
		t.Fatal(err)
	}
	e, err := w.Entry(e.Path)
	if err != nil {
		t.Fatal(err)
	}
	l := New(w, capture.New(w), payload.New(w))
	plan := &Plan{Agent: gemini.Agent(), Launch: &inject.Launch{Program: os.Args[0], Args: []string{"-test.run=^$"}}, Built: &payload.Built{Entry: e, Payload: &resume.Payload{}}, Dir: t.TempDir(), id: "launch"}
	run, err := l.Prepare(t.Context(), plan, Program{Environ: os.Environ(), Interrupts: interrupt.New(func() {}, func(int) {})})
	if err != nil {
		t.Fatal(err)
	}
	if after, err := run.Start(t.Context()); err != nil || !after.Unused || after.Entry.Session.Status != schema.Completed {
		t.Errorf("%+v, %v", after, err)
	}
}

// TestMissingProgram: if the agent used last cannot be started, the error says how to
// choose another.
func TestMissingProgram(t *testing.T) {
	w := newWorkspace(t, opencode.Agent(), claude.Agent(), gemini.Agent())
	w.Env.Machine.Getenv = func(name string) string {
		if strings.HasPrefix(name, "CORTEXT_") {
			return filepath.Join(w.Env.Machine.Home, "nowhere")
		}
		return ""
	}
	e := answered(t, w)
	l := New(w, capture.New(w), payload.New(w))
	for agent, named := range map[string]bool{"": false, "claude": true} {
		_, err := l.Plan(t.Context(), e, Options{Agent: agent})
		var stopped *inject.PreflightError
		if !errors.As(err, &stopped) || !strings.Contains(stopped.What, "is not on this machine") {
			t.Fatalf("%q: %v", agent, err)
		}
		if offers := strings.HasSuffix(stopped.Fix, "; --agent opencode or --agent claude continues in another agent"); offers == named {
			t.Errorf("%q: %s", agent, stopped.Fix)
		}
	}
}
