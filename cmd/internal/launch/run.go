package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A launch leaves files and, with some agents, a session among the agent's own. While the
// program runs, a note in the user's state lists what to clean up, so that the next
// launch, or sync, can do it if this one is killed.

// A Run is a launch whose files are written and whose conversation is active. Start must
// follow: it also cleans up.
type Run struct {
	Paused []string // titles of the conversations paused for it

	plan    *Plan
	program Program
	l       *Launcher
	note    registry.Launch
	before  schema.Status
	undo    []func() // in reverse order
}

// Prepare writes the files of a launch and binds the new session to the conversation. If
// the launch needs it, it runs the program with other arguments. If it fails, it leaves
// nothing behind.
func (l *Launcher) Prepare(ctx context.Context, p *Plan, program Program) (_ *Run, err error) {
	e := p.Built.Entry
	unlock, err := l.ws.Store.LockCache(launchLock(p.id), binding.LockWait)
	if err != nil {
		return nil, err
	}
	r := &Run{plan: p, program: program, l: l, before: e.Session.Status, undo: []func(){unlock}}
	defer func() {
		if err != nil {
			r.end()
		}
	}()
	l.leftovers.cleanUp(ctx)
	r.note = registry.Launch{
		Agent: p.Agent.Name(), NativeID: p.Launch.NativeID, Payload: inject.PayloadID(p.Built.Payload.Text),
		ID: e.Session.ID, Path: e.Path, After: p.Built.End, In: l.ws.Store.Root(), Began: l.ws.Env.Now(), Status: string(e.Session.Status), Messages: e.Session.MessageCount,
	}
	for _, f := range p.Launch.Files {
		if _, ok := l.ws.Tree.Relative(f.Path); !ok {
			r.note.Files = append(r.note.Files, registry.Left(f.Path, f.Data, f.Session))
		}
	}
	// The note is written first and removed last, so it always covers what is on disk.
	if err := l.ws.Launches().Put(p.id, r.note); err != nil {
		return nil, err
	}
	r.undo = append(r.undo, func() { _ = l.leftovers.end(p.id) })
	remove, err := l.writeFiles(p.Launch.Files)
	if err != nil {
		return nil, err
	}
	r.undo = append(r.undo, remove)
	if r.Paused, err = l.ws.Status.Activate(e); err != nil {
		return nil, err
	}
	if p.Launch.NativeID != "" {
		if err := l.capture.ContinueIn(p.Agent, inject.Event{NativeID: p.Launch.NativeID}, &binding.Binding{}, capture.Place{Path: e.Path, After: p.Built.End}); err != nil {
			return nil, errors.Join(err, l.leftovers.takeBack(r.note, r.before))
		}
	}
	if len(p.Launch.Import) > 0 {
		if err := program.importSession(p); err != nil {
			return nil, errors.Join(err, r.takeBack(ctx))
		}
	}
	l.payloads.RecordSent(e.Path, p.Agent.Name(), p.Built.Payload)
	return r, nil
}

// Start runs the agent to its end. Afterwards it captures the new messages, pauses the
// conversation and removes what the launch wrote. after is the state of the conversation
// then; it is nil if the agent could not be started.
func (r *Run) Start(ctx context.Context) (after *Result, err error) {
	defer r.end()
	p, l := r.plan, r.l
	runErr := r.program.run(p, r.started)
	var unstarted *startError
	if errors.As(runErr, &unstarted) {
		return nil, errors.Join(runErr, r.takeBack(ctx))
	}
	if finder, ok := p.Agent.(inject.LaunchFinder); ok && r.note.NativeID == "" {
		if id, ok := finder.Launched(l.ws.Env.Machine, p.request); ok {
			r.note.NativeID = id
			err = l.leftovers.bind(p.Agent, id, r.note)
		}
	}
	after, afterErr := l.leftovers.after(ctx, p.id, r.note)
	return after, errors.Join(runErr, err, afterErr)
}

// started records the id of the agent's process.
func (r *Run) started(pid int) {
	launches := r.l.ws.Launches()
	if now, ok := launches.Get(r.plan.id); ok { // a hook may have reported the session's id
		now.PID = pid
		_ = launches.Put(r.plan.id, now)
	}
}

// takeBack undoes what was recorded for an agent that did not start.
func (r *Run) takeBack(ctx context.Context) error {
	return errors.Join(r.l.leftovers.takeBack(r.note, r.before), r.l.leftovers.discard(ctx, r.plan.id, r.note))
}

// end removes the files and the note of the launch, and releases its lock.
func (r *Run) end() {
	for _, undo := range slices.Backward(r.undo) {
		undo()
	}
	r.undo = nil
}

// A Result says what became of a conversation after a launch.
type Result struct {
	Entry   store.Entry
	Unused  bool  // the session has no messages
	Unsaved error // what could not be captured: the conversation is not saved completely
}

// writeFiles writes the files of a launch and returns a function that removes them.
func (l *Launcher) writeFiles(files []inject.File) (remove func(), err error) {
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
		if err := l.writeLaunchFile(f); err != nil {
			remove()
			return nil, err
		}
		written = append(written, f)
	}
	return remove, nil
}

// writeLaunchFile creates a new file that only its owner can read.
func (l *Launcher) writeLaunchFile(f inject.File) error {
	if name, ok := l.ws.Tree.Relative(f.Path); ok {
		return l.ws.Store.WriteFile(name, []byte(f.Data))
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
