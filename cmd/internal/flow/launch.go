package flow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// LaunchOptions control how a conversation is resumed in an agent.
type LaunchOptions struct {
	ResumeOptions
	Agent    string // empty: the one used last if it can be launched, else the first
	Headless bool   // one turn with Prompt instead of a terminal session
	Prompt   string
	Args     []string // more arguments for the agent
}

// Planned is a launch that is ready to run.
type Planned struct {
	Agent   inject.Agent
	Launch  *inject.Launch
	Resumed *Resumed
	Dir     string   // absolute: where the agent starts
	Paused  []string // titles of the conversations paused for it

	// Started receives the id of the agent's process.
	Started func(pid int)

	id      string
	request inject.Request
}

// CatchUpWith captures what the agents' transcripts of a conversation have and the logs
// lack, such as the last turns of a killed program.
func (w *Workspace) CatchUpWith(ctx context.Context, e store.Entry) (store.Entry, error) {
	_, err := w.Sources(ctx, e, "", capture.Options{Mode: capture.PutBack})
	fresh, entryErr := w.Entry(e.Path)
	if entryErr != nil {
		return e, errors.Join(err, entryErr)
	}
	return fresh, err
}

// Behind counts the sessions of a conversation whose transcripts have grown since they
// were captured.
func (w *Workspace) Behind(e store.Entry) (n int) {
	for _, src := range e.Session.Sources {
		agent, known := w.Env.Agent(src.Agent)
		if known && w.Behindhand(agent, src.NativeID) && !w.Removed.Skipped(src.Agent, src.NativeID) {
			n++
		}
	}
	return n
}

// Plan decides how to resume a conversation. It changes nothing on disk.
func (w *Workspace) Plan(ctx context.Context, e store.Entry, o LaunchOptions) (*Planned, error) {
	agent, err := w.launchable(e, o.Agent)
	if err != nil {
		return nil, err
	}
	p := &Planned{Agent: agent}
	if o.ResumeOptions, err = w.target(agent, e, o); err != nil {
		return nil, err
	}
	if p.Resumed, err = w.Resume(ctx, e, o.ResumeOptions); err != nil {
		return nil, err
	}
	var warning string
	if p.Dir, warning, err = w.startDir(e); err != nil {
		return nil, err
	}
	if warning != "" {
		p.Resumed.Warnings = append(p.Resumed.Warnings, warning)
	}
	others, err := w.otherBranches(p.Resumed)
	if err != nil {
		return nil, err
	}
	p.Resumed.Warnings = append(append(p.Resumed.Warnings, w.openElsewhere(p.Resumed.Entry)...), others...)
	if p.id, err = w.newUUID(); err != nil {
		return nil, err
	}
	p.request = inject.Request{
		Payload: p.Resumed.Payload.Text, Shown: w.opening(p.Resumed), Dir: p.Dir, Root: w.Store.Root(), Temp: filepath.Join(w.Store.Root(), filepath.FromSlash(capture.LaunchDir)),
		NativeID: p.id, Time: string(schema.NewTime(w.Env.Now())), Headless: o.Headless, Prompt: o.Prompt,
		Args: o.Args, Tools: e.Session.AgentConfig.Tools,
	}
	if p.Launch, err = agent.Launch(w.Env.Machine, p.request); err != nil {
		return nil, w.orAnother(err, agent, o)
	}
	p.Resumed.Warnings = append(p.Resumed.Warnings, p.Launch.Warnings...)
	if room := p.Resumed.Room; o.Budget > room && p.Resumed.Payload.Tokens > room {
		p.Resumed.Warnings = append(p.Resumed.Warnings, fmt.Sprintf("the payload has %d tokens, more than the %d that the model's context window is taken to have room for: the agent or its model may refuse it",
			p.Resumed.Payload.Tokens, room))
	}
	return p, nil
}

// startDir returns the folder to start an agent in: the folder the conversation was held
// in, if it is in the workspace, else the workspace, with a warning.
func (w *Workspace) startDir(e store.Entry) (dir, warning string, err error) {
	root, name := w.Store.Root(), filepath.FromSlash(e.Session.WorkingDir)
	if name == "" {
		return root, "", nil
	}
	at := filepath.Join(root, name)
	info, err := os.Stat(at)
	switch {
	case !filepath.IsLocal(name) || err == nil && !info.IsDir() || errors.Is(err, fs.ErrNotExist):
		return root, fmt.Sprintf("the folder %s is gone: the agent starts in the workspace", workspace.Plain(e.Session.WorkingDir)), nil
	case err != nil:
		return "", "", err
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return "", "", err
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", "", err
	}
	if rel, err := filepath.Rel(realRoot, real); err != nil || !filepath.IsLocal(rel) {
		return root, fmt.Sprintf("the folder %s leads out of the workspace through a link: the agent starts in the workspace", workspace.Plain(e.Session.WorkingDir)), nil
	}
	return at, "", nil
}

// orAnother suggests --agent to a user who did not choose the agent that cannot be
// started.
func (w *Workspace) orAnother(err error, agent inject.Agent, o LaunchOptions) error {
	var stopped *inject.PreflightError
	if o.Agent != "" || !errors.As(err, &stopped) {
		return err
	}
	var others []string
	for _, a := range w.Env.Agents {
		if _, ok := a.(inject.Launcher); ok && a.Name() != agent.Name() {
			others = append(others, "--agent "+a.Name())
		}
	}
	if len(others) == 0 {
		return err
	}
	return &inject.PreflightError{Agent: stopped.Agent, What: stopped.What, Fix: stopped.Fix + "; " + strings.Join(others, " or ") + " continues in another agent"}
}

// Target fills in who gets the payload: the agent that a conversation would continue in,
// its model, and the model's context window, as far as they are known.
func (w *Workspace) Target(e store.Entry, o LaunchOptions) (ResumeOptions, error) {
	agent, err := w.launchable(e, o.Agent)
	switch {
	case err == nil:
		return w.target(agent, e, o)
	case o.Agent == "" && errors.As(err, new(*capture.AgentError)):
		return o.ResumeOptions, nil
	}
	return o.ResumeOptions, err
}

// target fills in o for an agent. The model is the one in the agent's arguments or
// settings, else the one that the agent used last in the conversation.
func (w *Workspace) target(agent inject.Agent, e store.Entry, o LaunchOptions) (ResumeOptions, error) {
	dir, _, err := w.startDir(e)
	if err != nil {
		dir = w.Store.Root() // a launch reports the problem; writing the payload starts nothing
	}
	o.For = agent.Name()
	r := inject.Request{Dir: dir, Root: w.Store.Root(), Args: o.Args}
	if a, ok := agent.(inject.Launcher); ok {
		o.Model = a.Model(w.Env.Machine, r)
	}
	if o.Model == "" {
		if o.Model, err = w.lastModel(e, agent); err != nil {
			return o.ResumeOptions, err
		}
	}
	if o.Window == 0 {
		o.Window = w.Config.ContextWindow
	}
	if windows, ok := agent.(inject.WindowConfigurer); ok && o.Window == 0 && o.Model != "" {
		o.Window = windows.Window(w.Env.Machine, r, o.Model)
	}
	return o.ResumeOptions, nil
}

// A launcher is an agent that can be started.
type launcher interface {
	inject.Agent
	inject.Launcher
}

// launchable returns the agent to resume a conversation in: the named one, else the one
// used last.
func (w *Workspace) launchable(e store.Entry, name string) (launcher, error) {
	var can []launcher
	var names []string
	for _, a := range w.Env.Agents {
		if a, ok := a.(launcher); ok {
			can = append(can, a)
			names = append(names, a.Name())
		}
	}
	want := name
	if want == "" && len(can) > 0 {
		var err error
		if want, err = w.lastAgent(e); err != nil {
			return nil, err
		}
	}
	i := slices.Index(names, want)
	if i < 0 && name != "" || len(can) == 0 {
		return nil, &capture.AgentError{Agent: name, Known: names}
	}
	return can[max(i, 0)], nil
}

// newUUID returns a random UUID, which agents accept as a session id.
func (w *Workspace) newUUID() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(w.Env.Entropy(), b[:]); err != nil {
		return "", err
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}
