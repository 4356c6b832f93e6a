package flow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A launch leaves files and, with some agents, a session among the agent's own. While the
// program runs, a note in the user's state lists what to clean up, so that the next
// launch, or sync, can do it if this one is killed.

// Run resumes a conversation. It writes the files of the launch, binds the new session to
// the conversation, calls start to run the program, and afterwards captures the new
// messages and removes what it wrote. If the launch needs it, prepare first runs the
// program with other arguments. after is the state of the conversation afterwards; it is
// set whenever the program ran.
func (w *Workspace) Run(ctx context.Context, p *Planned, prepare, start func(*Planned) error) (after *StopResult, err error) {
	e := p.Resumed.Entry
	unlock, err := w.Store.LockCache(launchLock(p.id), capture.LockWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w.CleanUp(ctx)
	note := registry.Launch{
		Agent: p.Agent.Name(), NativeID: p.Launch.NativeID, Payload: inject.PayloadID(p.Resumed.Payload.Text),
		ID: e.Session.ID, Path: e.Path, In: w.Store.Root(), Began: w.Env.Now(), Status: string(e.Session.Status),
	}
	for _, f := range p.Launch.Files {
		if _, ok := w.Tree.Relative(f.Path); !ok {
			note.Files = append(note.Files, registry.Left(f.Path, f.Data, f.Session))
		}
	}
	// The note is written first and removed last, so it always covers what is on disk.
	if err := w.Launches().Put(p.id, note); err != nil {
		return nil, err
	}
	defer func() { _ = w.endLaunch(p.id) }()
	remove, err := w.writeFiles(p.Launch.Files)
	if err != nil {
		return nil, err
	}
	defer remove()
	p.Started = func(pid int) {
		if now, ok := w.Launches().Get(p.id); ok { // a hook may have reported the session's id
			now.PID = pid
			_ = w.Launches().Put(p.id, now)
		}
	}
	before := e.Session.Status
	if p.Paused, err = w.Activate(e); err != nil {
		return nil, err
	}
	if p.Launch.NativeID != "" {
		if err := w.ContinueIn(p.Agent, inject.Event{NativeID: p.Launch.NativeID}, &capture.Binding{}, e.Path); err != nil {
			return nil, errors.Join(err, w.takeBack(note, before))
		}
	}
	if len(p.Launch.Import) > 0 {
		if err := prepare(p); err != nil {
			return nil, errors.Join(err, w.takeBack(note, before), w.discard(ctx, p.id, note, false))
		}
	}
	w.noteSent(e.Path, p.Agent.Name(), p.Resumed.Payload)
	runErr := start(p)
	var unstarted *StartError
	if errors.As(runErr, &unstarted) {
		return nil, errors.Join(runErr, w.takeBack(note, before), w.discard(ctx, p.id, note, false))
	}
	if finder, ok := p.Agent.(inject.LaunchFinder); ok && note.NativeID == "" {
		if id, ok := finder.Launched(w.Env.Machine, p.request); ok {
			note.NativeID = id
			err = w.tieLaunched(p.Agent, id, e.Path)
		}
	}
	after, afterErr := w.afterRun(ctx, p.id, note)
	return after, errors.Join(runErr, err, afterErr)
}

// A StartError reports that the program could not be started.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// tieLaunched makes a session continue in the conversation that it was launched for,
// unless a hook already did.
func (w *Workspace) tieLaunched(agent inject.Agent, nativeID, at string) error {
	return w.Locked(agent.Name(), nativeID, func() error {
		t, err := w.Bind(agent, nativeID, "")
		if err != nil || len(t.Segments) > 0 {
			return err
		}
		return w.ContinueIn(agent, inject.Event{NativeID: nativeID}, t, at)
	})
}

// takeBack undoes what was recorded for a launch without messages.
func (w *Workspace) takeBack(n registry.Launch, status schema.Status) error {
	c, err := w.Conversation(n.Path)
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.Edit(func(s *schema.Session) error {
		s.Status = status
		s.Sources = slices.DeleteFunc(s.Sources, func(src schema.Source) bool {
			return src.Agent == n.Agent && src.NativeID == n.NativeID
		})
		return nil
	})
	if err == nil && n.NativeID != "" {
		err = w.Release(n.Agent, n.NativeID, n.Path)
	}
	return err
}

// discard cleans up what a launch left among the agent's own sessions. Slow work is left
// to [Workspace.RemoveUnused].
func (w *Workspace) discard(ctx context.Context, id string, n registry.Launch, said bool) error {
	agent, ok := w.Env.Agent(n.Agent)
	if !ok || n.NativeID == "" {
		return nil
	}
	if _, slow := agent.(inject.Remover); slow && !said {
		n.Unused = true
		return w.Launches().Put(id, n)
	}
	if cleaner, ok := agent.(inject.Cleaner); ok {
		return cleaner.Cleanup(ctx, w.Env.Machine, n.NativeID, said)
	}
	return nil
}

// afterRun captures what the program did and pauses the conversation. A session without
// messages is not recorded, and is removed.
func (w *Workspace) afterRun(ctx context.Context, id string, n registry.Launch) (*StopResult, error) {
	e, err := w.Entry(n.Path)
	if err != nil {
		return nil, err
	}
	count, captureErr := w.Sources(ctx, e, "", capture.Options{Mode: capture.PutBack})
	if err := w.Pause(n.Path); err != nil {
		return nil, errors.Join(err, captureErr)
	}
	unused := false
	if captureErr == nil {
		said, err := w.wasUsed(n)
		if err != nil {
			return nil, err
		}
		captureErr = w.discard(ctx, id, n, said)
		if n.NativeID != "" && !said {
			status := schema.Paused
			if n.Status == string(schema.Completed) {
				status = schema.Completed
			}
			if err := w.takeBack(n, status); err != nil {
				return nil, err
			}
			unused = true
		}
	}
	if e, err = w.Entry(n.Path); err != nil {
		return nil, errors.Join(err, captureErr)
	}
	return &StopResult{Entry: e, Summary: e.Session.ContextSummary, Captured: count, Unused: unused, Unsaved: captureErr}, nil
}

// wasUsed reports whether any message of a launched session was captured. How far the
// transcript was read does not show that, because it begins with the payload.
func (w *Workspace) wasUsed(n registry.Launch) (bool, error) {
	c, err := w.Conversation(n.Path)
	if err != nil {
		return false, err
	}
	defer c.Close()
	for m, err := range c.Messages() {
		var damage *store.Damage
		if err != nil && !errors.As(err, &damage) {
			return false, err
		}
		if err == nil && m.Source == n.NativeID {
			return true, nil
		}
	}
	return false, nil
}

// writeFiles writes the files of a launch and returns a function that removes them.
func (w *Workspace) writeFiles(files []inject.File) (remove func(), err error) {
	var written []inject.File
	remove = func() {
		for _, f := range written {
			info, err := os.Lstat(f.Path)
			if err == nil && info.Mode().IsRegular() && (!f.Session || holds(f.Path, f.Data)) {
				_ = os.Remove(f.Path)
			}
		}
	}
	for _, f := range files {
		if err := w.writeLaunchFile(f); err != nil {
			remove()
			return nil, err
		}
		written = append(written, f)
	}
	return remove, nil
}

// writeLaunchFile creates a new file that only its owner can read.
func (w *Workspace) writeLaunchFile(f inject.File) error {
	if name, ok := w.Tree.Relative(f.Path); ok {
		return w.Store.WriteFile(name, []byte(f.Data))
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(f.Data)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(f.Path)
	}
	return err
}

// holds reports whether a file has the given content.
func holds(file, data string) bool {
	b, err := os.ReadFile(file)
	return err == nil && string(b) == data
}
