package payload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/history"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/store"
)

// A Recipient is the agent that gets a payload.
type Recipient struct {
	Agent string   // empty: the one used last if it can be launched, else the first
	Args  []string // more arguments for the agent
}

// Target fills in the options for the agent that a conversation would continue in: the
// agent, its model and the model's context window, as far as they are known.
func (b *Builder) Target(e store.Entry, to Recipient, o Options) (Options, error) {
	agent, err := b.Agent(e, to.Agent)
	switch {
	case err == nil:
		return b.TargetIn(agent, e, to.Args, o)
	case to.Agent == "" && errors.As(err, new(*capture.AgentError)):
		return o, nil
	}
	return o, err
}

// TargetIn is [Builder.Target] for an agent that starts with args. The model is the one in
// the agent's arguments or settings, else the one that the agent used last in the
// conversation.
func (b *Builder) TargetIn(agent inject.Agent, e store.Entry, args []string, o Options) (Options, error) {
	dir, _, err := b.StartDir(e)
	if err != nil {
		dir = b.ws.Store.Root() // a launch reports the problem; writing the payload starts nothing
	}
	o.For = agent.Name()
	r := inject.Request{Dir: dir, Root: b.ws.Store.Root(), Args: args}
	if a, ok := agent.(inject.Launcher); ok {
		o.Model = a.Model(b.ws.Env.Machine, r)
	}
	if o.Model == "" {
		if o.Model, err = history.LastModel(b.ws.Conversations, e, agent.Name()); err != nil {
			return o, err
		}
	}
	if o.Window == 0 {
		o.Window = b.ws.Config.ContextWindow
	}
	if windows, ok := agent.(inject.WindowConfigurer); ok && o.Window == 0 && o.Model != "" {
		o.Window = windows.Window(b.ws.Env.Machine, r, o.Model)
	}
	return o, nil
}

// Launchable is an agent that can be started.
type Launchable interface {
	inject.Agent
	inject.Launcher
}

// Agent returns the agent to resume a conversation in: the named one, else the one
// used last.
func (b *Builder) Agent(e store.Entry, name string) (Launchable, error) {
	if name == "" {
		last, err := history.LastAgent(b.ws.Conversations, e)
		if err != nil {
			return nil, err
		}
		if a, err := b.AgentNamed(last); err == nil {
			return a, nil
		}
	}
	return b.AgentNamed(name)
}

// AgentNamed returns the agent with the given name, or without one the first that can be
// launched. The error is a [*capture.AgentError] if there is none.
func (b *Builder) AgentNamed(name string) (Launchable, error) {
	var names []string
	for _, a := range b.ws.Env.Agents {
		if a, ok := a.(Launchable); ok {
			if name == "" || a.Name() == name {
				return a, nil
			}
			names = append(names, a.Name())
		}
	}
	return nil, &capture.AgentError{Agent: name, Known: names}
}

// StartDir returns the folder to start an agent in: the folder the conversation was held
// in, if it is in the workspace, else the workspace, with a warning.
func (b *Builder) StartDir(e store.Entry) (dir, warning string, err error) {
	root, name := b.ws.Store.Root(), filepath.FromSlash(e.Session.WorkingDir)
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
