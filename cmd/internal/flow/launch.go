package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// LaunchOptions say how a conversation is taken up again in an agent.
type LaunchOptions struct {
	ResumeOptions
	Agent    string // empty: that of the conversation, if it can be launched, else the first
	Headless bool   // one turn with Prompt instead of a terminal
	Prompt   string
	Args     []string // more arguments for the agent
}

// A Planned is a launch that is ready to be run.
type Planned struct {
	Agent   inject.Agent
	Launch  *inject.Launch
	Resumed *Resumed
	Dir     string   // absolute: where the agent starts
	Paused  []string // titles of the conversations that gave way to it

	id string
}

// LaunchedFor is the variable that tells the hooks of a program for which
// conversation it was launched.
const LaunchedFor = "CORTEXT_LAUNCHED_FOR"

// launchDir is where files for a launch lie, relative to the workspace.
const launchDir = ".workspace/local/cache/launch"

// CatchUpWith captures what the agents' transcripts of a conversation have that
// is not stored yet: the last turns of a program that was killed.
func (w *Workspace) CatchUpWith(ctx context.Context, e store.Entry) (store.Entry, error) {
	_, err := w.captureOf(ctx, e, "")
	fresh, entryErr := w.entry(e.Path)
	if entryErr != nil {
		return e, errors.Join(err, entryErr)
	}
	return fresh, err
}

// Behind counts the sessions of a conversation whose transcripts have grown since
// they were captured.
func (w *Workspace) Behind(e store.Entry) (n int) {
	for _, src := range e.Session.Sources {
		agent, known := w.agent(src.Agent)
		t, ok := w.readTie(src.Agent, src.NativeID)
		if known && ok && t.grown(agent) && !w.skipped(src.Agent, src.NativeID) {
			n++
		}
	}
	return n
}

// Plan decides how a conversation is taken up again. It changes nothing on disk.
func (w *Workspace) Plan(e store.Entry, o LaunchOptions) (*Planned, error) {
	agent, err := w.launchable(e, o.Agent)
	if err != nil {
		return nil, err
	}
	p := &Planned{Agent: agent, Dir: w.Store.Root()}
	if p.Resumed, err = w.Resume(e, o.ResumeOptions); err != nil {
		return nil, err
	}
	if dir := e.Session.WorkingDir; dir != "" {
		at := filepath.Join(w.Store.Root(), filepath.FromSlash(dir))
		switch info, err := os.Stat(at); {
		case !filepath.IsLocal(filepath.FromSlash(dir)) || err == nil && !info.IsDir() || errors.Is(err, fs.ErrNotExist):
			p.Resumed.Warnings = append(p.Resumed.Warnings, fmt.Sprintf("the folder %s is gone: the agent starts in the workspace", plain(dir)))
		case err != nil:
			return nil, err
		default:
			p.Dir = at
		}
	}
	if p.id, err = w.newUUID(); err != nil {
		return nil, err
	}
	p.Launch, err = agent.Launch(w.env.Machine, inject.Request{
		Payload: p.Resumed.Payload.Text, Dir: p.Dir, Root: w.Store.Root(), Temp: filepath.Join(w.Store.Root(), filepath.FromSlash(launchDir)),
		NativeID: p.id, Time: string(schema.NewTime(w.env.Now())), Headless: o.Headless, Prompt: o.Prompt,
		Args: o.Args, Tools: e.Session.AgentConfig.Tools,
	})
	if err != nil {
		return nil, err
	}
	p.Resumed.Warnings = append(p.Resumed.Warnings, p.Launch.Warnings...)
	if o.Budget > resume.DefaultBudget(e.Session) && p.Resumed.Payload.Tokens > resume.DefaultBudget(e.Session) {
		p.Resumed.Warnings = append(p.Resumed.Warnings, fmt.Sprintf("the payload has %d tokens, more than the %d that the model's context window is taken to have room for: the agent or its model may refuse it",
			p.Resumed.Payload.Tokens, resume.DefaultBudget(e.Session)))
	}
	return p, nil
}

// launchable returns the agent that a conversation is to be taken up in.
func (w *Workspace) launchable(e store.Entry, name string) (inject.Agent, error) {
	var can []inject.Agent
	var names []string
	for _, a := range w.env.Agents {
		if a.Launch != nil {
			can = append(can, a)
			names = append(names, a.Name)
		}
	}
	want := cmp.Or(name, e.Session.AgentConfig.Agent)
	i := slices.Index(names, want)
	if i < 0 && name != "" || len(can) == 0 {
		return inject.Agent{}, &AgentError{Agent: name, Known: names}
	}
	return can[max(i, 0)], nil
}

// newUUID makes a random UUID, which agents take for the id of a session.
func (w *Workspace) newUUID() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(w.random(), b[:]); err != nil {
		return "", err
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// Run takes a conversation up again: it writes the files of the launch, ties the
// new session to the conversation, lets start run the program, and afterwards
// captures what came and removes what it wrote. after is how the conversation
// stands then; it is there whenever the program ran.
func (w *Workspace) Run(ctx context.Context, p *Planned, start func(*Planned) error) (after *Stopped, err error) {
	e := p.Resumed.Entry
	unlock, err := w.Store.LockCache(launchLock(p.id), lockWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w.sweepLaunches()
	remove, err := w.writeFiles(p.Launch.Files)
	if err != nil {
		return nil, err
	}
	defer remove()
	before := e.Session.Status
	if p.Paused, err = w.activate(e); err != nil {
		return nil, err
	}
	if p.Launch.NativeID != "" {
		t := &tie{}
		if err := w.goOnIn(p.Agent, inject.Event{NativeID: p.Launch.NativeID}, t, e.Path); err != nil {
			return nil, errors.Join(err, w.takeBack(p, before))
		}
	}
	runErr := start(p)
	var unstarted *StartError
	if errors.As(runErr, &unstarted) {
		return nil, errors.Join(runErr, w.takeBack(p, before))
	}
	after, err = w.afterRun(ctx, p)
	return after, errors.Join(runErr, err)
}

// A StartError says that the program could not be started at all.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// activate makes a conversation the active one, as of now.
func (w *Workspace) activate(e store.Entry) (paused []string, err error) {
	if paused, err = w.SetStatus(e, schema.Active); err != nil {
		return paused, err
	}
	_, err = w.edit(e.Path, func(_ *store.Conversation, s *schema.Session) error {
		if now := w.env.Now(); s.LastActive.Time().Before(now) {
			s.LastActive = schema.NewTime(now)
		}
		return nil
	})
	return paused, err
}

// takeBack undoes what was noted for a launch that did not happen.
func (w *Workspace) takeBack(p *Planned, status schema.Status) error {
	_, err := w.edit(p.Resumed.Entry.Path, func(_ *store.Conversation, s *schema.Session) error {
		s.Status = status
		s.Sources = slices.DeleteFunc(s.Sources, func(src schema.Source) bool {
			return src.Agent == p.Agent.Name && src.NativeID == p.Launch.NativeID
		})
		return nil
	})
	return errors.Join(err, w.Store.RemoveCache(tieName(p.Agent.Name, p.Launch.NativeID)))
}

// afterRun captures what the program did and pauses the conversation. A session in
// which nothing was said is not noted.
func (w *Workspace) afterRun(ctx context.Context, p *Planned) (*Stopped, error) {
	at := p.Resumed.Entry.Path
	e, err := w.entry(at)
	if err != nil {
		return nil, err
	}
	n, captureErr := w.captureOf(ctx, e, "")
	if err := w.pause(at); err != nil {
		return nil, errors.Join(err, captureErr)
	}
	if id := p.Launch.NativeID; id != "" && captureErr == nil {
		if t, ok := w.readTie(p.Agent.Name, id); !ok || t.Read.Cursor.Offset == 0 {
			if err := w.takeBack(p, schema.Paused); err != nil {
				return nil, err
			}
		}
	}
	if e, err = w.entry(at); err != nil {
		return nil, errors.Join(err, captureErr)
	}
	out := &Stopped{Entry: e, Summary: e.Session.ContextSummary, Captured: n}
	if captureErr != nil {
		out.Warnings = append(out.Warnings, captureErr)
	}
	return out, nil
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
	return errors.Join(err, file.Close())
}

// launchLock names what a launch holds while it runs.
func launchLock(id string) string { return "launch/" + id }

// sweepLaunches removes what launches left that were killed: nobody holds them.
func (w *Workspace) sweepLaunches() {
	for _, name := range w.Store.ListFiles(launchDir) {
		unlock, err := w.Store.LockCache(launchLock(strings.TrimSuffix(name, path.Ext(name))), 0)
		if err == nil {
			_ = w.Store.RemoveFile(launchDir + "/" + name)
			unlock()
		}
	}
}
