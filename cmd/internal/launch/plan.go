// Package launch starts an agent on a conversation and cleans up afterwards, even after a
// launch that was killed: it captures what the agent did, and removes what the launch wrote
// outside of the conversation.
package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A Launcher launches agents in one workspace.
type Launcher struct {
	ws        *workspace.Workspace
	capture   *capture.Capture
	payloads  *payload.Builder
	leftovers *Leftovers
}

// New returns a Launcher for a workspace.
func New(ws *workspace.Workspace, c *capture.Capture, p *payload.Builder) *Launcher {
	return &Launcher{ws, c, p, LeftoversOf(ws, c)}
}

// Options control how a conversation is resumed in an agent.
type Options struct {
	payload.Options
	Agent    string // empty: the one used last if it can be launched, else the first
	Headless bool   // one turn with Prompt instead of a terminal session
	Prompt   string
	Args     []string // more arguments for the agent
	Into     string   // absolute; a new conversation with the same history begins there: start in this folder
}

// A Plan is a launch that nothing has been written for yet.
type Plan struct {
	Agent  inject.Agent
	Launch *inject.Launch
	Built  *payload.Built
	Dir    string // absolute: where the agent starts

	id      string
	request inject.Request
}

// CatchUp captures messages that the agents' transcripts of a conversation have and its
// logs lack, such as the last turns of a killed program.
func (l *Launcher) CatchUp(ctx context.Context, e store.Entry) (store.Entry, error) {
	_, err := l.capture.Sources(ctx, e, "", capture.Options{Mode: capture.PutBack})
	fresh, entryErr := l.ws.Entry(e.Path)
	if entryErr != nil {
		return e, errors.Join(err, entryErr)
	}
	return fresh, err
}

// Behind counts the sessions of a conversation whose transcripts have messages that are not
// captured.
func (l *Launcher) Behind(e store.Entry) (n int) {
	for _, src := range e.Session.Sources {
		agent, known := l.ws.Env.Agent(src.Agent)
		if !known || l.ws.Removed.Skipped(src.Agent, src.NativeID) {
			continue
		}
		if b, ok := l.capture.Cached(src.Agent, src.NativeID); ok && capture.Unsaved(l.ws, agent, src.NativeID, b) {
			n++
		}
	}
	return n
}

// Ready checks that an agent can be started on a new conversation: the one that the options
// name, else the first. The error is an [*inject.PreflightError] if the user has to do
// something first.
func (l *Launcher) Ready(o Options) error {
	agent, err := l.payloads.AgentNamed(o.Agent)
	if err != nil {
		return err
	}
	if _, err := agent.Ready(l.ws.Env.Machine, inject.Request{Dir: l.ws.Env.Dir, Root: l.ws.Store.Root(), Args: o.Args, Headless: o.Headless}); err != nil {
		return l.orAnother(err, agent, o)
	}
	return nil
}

// Plan decides how to resume a conversation. It changes nothing on disk.
func (l *Launcher) Plan(ctx context.Context, e store.Entry, o Options) (*Plan, error) {
	agent, err := l.payloads.Agent(e, o.Agent)
	if err != nil {
		return nil, err
	}
	p := &Plan{Agent: agent}
	if o.Options, err = l.payloads.TargetIn(agent, e, o.Args, o.Options); err != nil {
		return nil, err
	}
	if p.Built, err = l.payloads.Build(ctx, e, o.Options); err != nil {
		return nil, err
	}
	var warning string
	if p.Dir, warning, err = l.payloads.StartDir(e); err != nil {
		return nil, err
	}
	if warning != "" && o.Into == "" {
		p.Built.Warnings = append(p.Built.Warnings, warning)
	}
	if o.Into != "" {
		p.Dir = o.Into
	} else {
		others, err := l.otherBranches(p.Built)
		if err != nil {
			return nil, err
		}
		p.Built.Warnings = append(append(p.Built.Warnings, l.openElsewhere(p.Built.Entry)...), others...)
	}
	if p.id, err = l.newUUID(); err != nil {
		return nil, err
	}
	p.request = inject.Request{
		Payload: p.Built.Payload.Text, Shown: l.opening(p.Built), Dir: p.Dir, Root: l.ws.Store.Root(), Temp: filepath.Join(l.ws.Store.Root(), filepath.FromSlash(capture.LaunchDir)),
		NativeID: p.id, Time: string(schema.NewTime(l.ws.Env.Now())), Headless: o.Headless, Prompt: o.Prompt,
		Args: o.Args, Tools: e.Session.AgentConfig.Tools,
	}
	if p.Launch, err = agent.Launch(l.ws.Env.Machine, p.request); err != nil {
		return nil, l.orAnother(err, agent, o)
	}
	p.Built.Warnings = append(p.Built.Warnings, p.Launch.Warnings...)
	if room := p.Built.Room; o.Budget > room && p.Built.Payload.Tokens > room {
		p.Built.Warnings = append(p.Built.Warnings, fmt.Sprintf("the payload has %d tokens, more than the %d that the model's context window is assumed to hold: the agent or its model may refuse it",
			p.Built.Payload.Tokens, room))
	}
	return p, nil
}

// orAnother suggests --agent to a user who did not choose the agent that cannot be
// started.
func (l *Launcher) orAnother(err error, agent inject.Agent, o Options) error {
	var stopped *inject.PreflightError
	if o.Agent != "" || !errors.As(err, &stopped) {
		return err
	}
	var others []string
	for _, a := range l.ws.Env.Agents {
		if _, ok := a.(inject.Launcher); ok && a.Name() != agent.Name() {
			others = append(others, "--agent "+a.Name())
		}
	}
	if len(others) == 0 {
		return err
	}
	return &inject.PreflightError{Agent: stopped.Agent, What: stopped.What, Fix: stopped.Fix + "; " + strings.Join(others, " or ") + " continues in another agent"}
}

// newUUID returns a random UUID, which agents accept as a session id.
func (l *Launcher) newUUID() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(l.ws.Env.Entropy(), b[:]); err != nil {
		return "", err
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}
