package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cortext/cmd/internal/lifecycle"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A launch leaves files, and in some agents a session among their own. What is to
// be done with them stands in a note beside the files while the program runs, so
// that the next launch, or sync, cleans up after one that was killed.

// A launchNote says what a launch is for.
type launchNote struct {
	Agent    string `json:"agent"`
	NativeID string `json:"native_id,omitempty"` // empty: the agent chooses it
	Payload  string `json:"payload"`             // the id of the line with the payload
	Path     string `json:"path"`                // of the conversation
	Status   string `json:"status"`              // of the conversation, before
	PID      int    `json:"pid,omitempty"`       // of the agent, once it runs
	Files    []left `json:"files,omitempty"`     // that were written elsewhere
}

// A left is a file of a launch that lies outside the workspace.
type left struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	Session bool   `json:"session,omitempty"` // it stays if the agent went on in it
}

// noteEnd is the ending of a note's name.
const noteEnd = ".note"

// Run takes a conversation up again: it writes the files of the launch, ties the
// new session to the conversation, lets start run the program, and afterwards
// captures what came and removes what it wrote. prepare runs the program once
// before with other arguments, where the launch wants that. after is how the
// conversation stands then; it is there whenever the program ran.
func (w *Workspace) Run(ctx context.Context, p *Planned, prepare, start func(*Planned) error) (after *Stopped, err error) {
	e := p.Resumed.Entry
	unlock, err := w.Store.LockCache(launchLock(p.id), lockWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w.CleanUp(ctx)
	note := launchNote{
		Agent: p.Agent.Name, NativeID: p.Launch.NativeID, Payload: inject.PayloadID(p.Resumed.Payload.Text),
		Path: e.Path, Status: string(e.Session.Status),
	}
	for _, f := range p.Launch.Files {
		if _, ok := w.relative(f.Path); !ok {
			note.Files = append(note.Files, left{f.Path, int64(len(f.Data)), f.Session})
		}
	}
	// The note comes first and goes last: what is written is always known.
	if err := w.writeNote(p.id, note); err != nil {
		return nil, err
	}
	defer func() { _ = w.Store.RemoveFile(noteName(p.id)) }()
	remove, err := w.writeFiles(p.Launch.Files)
	if err != nil {
		return nil, err
	}
	defer remove()
	p.Started = func(pid int) {
		if now, ok := w.readNote(p.id + noteEnd); ok { // a hook may have told the session's id
			now.PID = pid
			_ = w.writeNote(p.id, now)
		}
	}
	before := e.Session.Status
	if p.Paused, err = w.activate(e); err != nil {
		return nil, err
	}
	if p.Launch.NativeID != "" {
		if err := w.goOnIn(p.Agent, inject.Event{NativeID: p.Launch.NativeID}, &tie{}, e.Path); err != nil {
			return nil, errors.Join(err, w.takeBack(note, before))
		}
	}
	if len(p.Launch.Import) > 0 {
		if err := prepare(p); err != nil {
			return nil, errors.Join(err, w.takeBack(note, before), w.discard(ctx, note, false))
		}
	}
	w.noteSent(e.Path, p.Agent.Name, p.Resumed.Payload)
	runErr := start(p)
	var unstarted *StartError
	if errors.As(runErr, &unstarted) {
		return nil, errors.Join(runErr, w.takeBack(note, before), w.discard(ctx, note, false))
	}
	if note.NativeID == "" && p.Agent.Launched != nil {
		if id, ok := p.Agent.Launched(w.env.Machine, p.request); ok {
			note.NativeID = id
			err = w.tieLaunched(p.Agent, id, e.Path)
		}
	}
	after, afterErr := w.afterRun(ctx, note)
	return after, errors.Join(runErr, err, afterErr)
}

// A StartError says that the program could not be started at all.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// tieLaunched lets a session go on in the conversation that it was launched for,
// unless a hook has done so.
func (w *Workspace) tieLaunched(agent inject.Agent, nativeID, at string) error {
	return w.locked(agent, inject.Event{NativeID: nativeID}, lockWait, func() error {
		t, err := w.tieOf(agent, nativeID, "")
		if err != nil || len(t.Parts) > 0 {
			return err
		}
		return w.goOnIn(agent, inject.Event{NativeID: nativeID}, t, at)
	})
}

// begunLaunched ties a session to the conversation that its program was launched
// for, where the agent has only now chosen the session's id.
func (w *Workspace) begunLaunched(agent inject.Agent, e inject.Event) error {
	at := w.launchedFor()
	if at == "" {
		return nil
	}
	for _, name := range w.Store.ListFiles(launchDir) {
		note, ok := w.readNote(name)
		if !ok || note.Agent != agent.Name || note.NativeID != "" || note.Path != at {
			continue
		}
		t, err := w.tieOf(agent, e.NativeID, "")
		if err == nil && len(t.Parts) == 0 {
			err = w.goOnIn(agent, e, t, at)
		}
		if err != nil {
			return err
		}
		note.NativeID = e.NativeID
		return w.writeNote(strings.TrimSuffix(name, noteEnd), note)
	}
	return nil
}

// launchedWith returns the conversation that the payload with an id was made for,
// if a launch with it is noted.
func (w *Workspace) launchedWith(agent, payload string) (at string, ok bool) {
	for _, name := range w.Store.ListFiles(launchDir) {
		note, known := w.readNote(name)
		if known && note.Agent == agent && note.Payload == payload {
			return note.Path, true
		}
	}
	return "", false
}

// activate makes a conversation the active one, as of now.
func (w *Workspace) activate(e store.Entry) (paused []string, err error) {
	if paused, err = w.SetStatus(e, schema.Active); err != nil {
		return paused, err
	}
	w.note(lifecycle.Resume, e.Path)
	w.note(lifecycle.Start, e.Path)
	_, err = w.edit(e.Path, func(_ *store.Conversation, s *schema.Session) error {
		if now := w.env.Now(); s.LastActive.Time().Before(now) {
			s.LastActive = schema.NewTime(now)
		}
		return nil
	})
	return paused, err
}

// takeBack undoes what was noted for a launch in which nothing was said.
func (w *Workspace) takeBack(n launchNote, status schema.Status) error {
	_, err := w.edit(n.Path, func(_ *store.Conversation, s *schema.Session) error {
		s.Status = status
		s.Sources = slices.DeleteFunc(s.Sources, func(src schema.Source) bool {
			return src.Agent == n.Agent && src.NativeID == n.NativeID
		})
		return nil
	})
	return errors.Join(err, w.Store.RemoveCache(tieName(n.Agent, n.NativeID)))
}

// discard tidies up what a launch left among the agent's own sessions.
func (w *Workspace) discard(ctx context.Context, n launchNote, said bool) error {
	agent, ok := w.agent(n.Agent)
	if !ok || agent.Discard == nil || n.NativeID == "" {
		return nil
	}
	return agent.Discard(ctx, w.env.Machine, n.NativeID, said)
}

// afterRun captures what the program did and pauses the conversation. A session in
// which nothing was said is not noted, and goes.
func (w *Workspace) afterRun(ctx context.Context, n launchNote) (*Stopped, error) {
	e, err := w.entry(n.Path)
	if err != nil {
		return nil, err
	}
	count, captureErr := w.captureOf(ctx, e, "")
	if err := w.pause(n.Path); err != nil {
		return nil, errors.Join(err, captureErr)
	}
	if captureErr == nil {
		said, err := w.wasUsed(n)
		if err != nil {
			return nil, err
		}
		captureErr = w.discard(ctx, n, said)
		if n.NativeID != "" && !said {
			status := schema.Paused
			if n.Status == string(schema.Completed) {
				status = schema.Completed
			}
			if err := w.takeBack(n, status); err != nil {
				return nil, err
			}
		}
	}
	if e, err = w.entry(n.Path); err != nil {
		return nil, errors.Join(err, captureErr)
	}
	out := &Stopped{Entry: e, Summary: e.Session.ContextSummary, Captured: count}
	if captureErr != nil {
		out.Warnings = append(out.Warnings, captureErr)
	}
	return out, nil
}

// wasUsed reports whether something of a launched session was captured. How far it
// was read does not tell: it begins with the payload.
func (w *Workspace) wasUsed(n launchNote) (bool, error) {
	c, err := w.Store.Conversation(n.Path)
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

func noteName(id string) string { return launchDir + "/" + id + noteEnd }

func (w *Workspace) writeNote(id string, n launchNote) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return w.Store.WriteFile(noteName(id), b)
}

func (w *Workspace) readNote(name string) (n launchNote, ok bool) {
	if !strings.HasSuffix(name, noteEnd) {
		return n, false
	}
	b, err := w.Store.ReadFile(launchDir + "/" + name)
	return n, err == nil && json.Unmarshal(b, &n) == nil && n.Path != ""
}

// writeFiles writes the files of a launch and returns what removes them.
func (w *Workspace) writeFiles(files []inject.File) (remove func(), err error) {
	var written []inject.File
	remove = func() {
		for _, f := range written {
			info, err := os.Lstat(f.Path)
			if err == nil && info.Mode().IsRegular() && (!f.Session || info.Size() == int64(len(f.Data))) {
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

// writeLaunchFile makes a file that was not there; only its owner may read it.
func (w *Workspace) writeLaunchFile(f inject.File) error {
	if name, ok := w.relative(f.Path); ok {
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

// launchLock names what a launch holds while it runs.
func launchLock(id string) string { return "launch/" + id }

// CleanUp removes what launches left that were killed: nobody holds them, and their
// agents do not run any more. What was said in their sessions is captured first.
// What could not be removed stays noted for the next time; the errors tell of it.
func (w *Workspace) CleanUp(ctx context.Context) (failed []error) {
	names := w.Store.ListFiles(launchDir)
	slices.SortStableFunc(names, func(a, b string) int { // a note goes when all else is gone
		return boolInt(strings.HasSuffix(a, noteEnd)) - boolInt(strings.HasSuffix(b, noteEnd))
	})
	for _, name := range names {
		id := strings.TrimSuffix(name, path.Ext(name))
		unlock, err := w.Store.LockCache(launchLock(id), 0)
		if err != nil {
			continue
		}
		note, ok := w.readNote(id + noteEnd)
		switch {
		case ok && note.PID > 0 && runs(note.PID):
		case ok && name == id+noteEnd:
			if err := w.afterKill(ctx, id, note); err != nil {
				failed = append(failed, fmt.Errorf("cleaning up after a launch of %s that was killed: %w", note.Agent, err))
			} else {
				_ = w.Store.RemoveFile(noteName(id))
			}
		default:
			_ = w.Store.RemoveFile(launchDir + "/" + name)
		}
		unlock()
	}
	return failed
}

// afterKill does for a launch that was killed what it would have done itself.
func (w *Workspace) afterKill(ctx context.Context, id string, n launchNote) error {
	agent, ok := w.agent(n.Agent)
	if !ok {
		return nil
	}
	if n.NativeID == "" && agent.Launched != nil {
		if native, ok := agent.Launched(w.env.Machine, inject.Request{NativeID: id, Root: w.Store.Root(), Dir: w.Store.Root()}); ok {
			n.NativeID = native
			if err := w.tieLaunched(agent, native, n.Path); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
	}
	out, err := w.afterRun(ctx, n)
	if errors.Is(err, store.ErrNotFound) {
		err = nil // its conversation is gone
	}
	if out != nil {
		err = errors.Join(append(out.Warnings, err)...)
	}
	for _, f := range n.Files {
		info, statErr := os.Lstat(f.Path)
		if statErr == nil && info.Mode().IsRegular() && (!f.Session || info.Size() == f.Bytes) {
			err = errors.Join(err, os.Remove(f.Path))
		}
	}
	return err
}
