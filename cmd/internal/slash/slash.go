// Package slash carries out the /workspace commands that a user types in an agent's session,
// and writes the agent's part of the answer. Titles and summaries are data: each is written
// on one line, without control characters.
package slash

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/check"
	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/stop"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/inject/setup"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/clip"
)

// Commands carry out /workspace commands in one workspace.
type Commands struct {
	ws       *workspace.Workspace
	capture  *capture.Capture
	payloads *payload.Builder
	compact  *compact.Compactor
	checks   check.Checker
	stop     *stop.Stopper
	lists    lists
}

// New returns the commands in a workspace.
func New(ws *workspace.Workspace, c *capture.Capture, p *payload.Builder, m *compact.Compactor) *Commands {
	return &Commands{ws: ws, capture: c, payloads: p, compact: m, checks: check.New(ws, c), stop: stop.New(ws, c, m), lists: lists{ws}}
}

// Prefix begins our text for an agent, so that its commands can refer to it.
const Prefix = "From cortext: "

// Run carries out a /workspace command that was typed in a session, and returns the text
// for the agent, which is no longer than the agent's [inject.ReplyLimits] allow. The text
// is empty if the prompt is not a /workspace command.
func (c *Commands) Run(ctx context.Context, agent inject.Agent, e inject.Event) (string, error) {
	limits := replyLimits(agent)
	limits.Bytes -= pendingLimit
	lead := ""
	if e.Unexpanded {
		lead = c.commandText(agent, e)
		limits.Bytes -= len(lead)
	}
	say, err := c.carryOut(ctx, agent, e, limits)
	if say == "" {
		return "", err
	}
	why, pendingErr := c.pendingFailures()
	return lead + say + why, errors.Join(err, pendingErr)
}

// replyLimits returns the limits that an answer to the agent must keep.
func replyLimits(agent inject.Agent) inject.ReplyLimits {
	if hooks, ok := agent.(inject.Hooks); ok {
		return hooks.ReplyLimits()
	}
	return inject.ReplyLimits{}
}

// commandText returns the text of a command that the agent itself does not know. The
// agent sends what the user typed to the model unchanged.
func (c *Commands) commandText(agent inject.Agent, e inject.Event) string {
	typed, _ := inject.ParseCommand(e.Prompt)
	text, ok := setup.Managing(typed.Name, agent.Name())
	if !ok {
		command, known, err := c.ws.Prompts.Command(typed.Name)
		if err != nil || !known {
			return ""
		}
		text = command.Body
	}
	return fmt.Sprintf("%s is a command of the user's, short for this text:\n\n%s\n\n", typed.Line(), strings.TrimSpace(strings.ReplaceAll(text, "$ARGUMENTS", typed.Arguments)))
}

// pendingLimit is how many bytes of an answer may report earlier failures. The report
// begins with pendingLead.
const (
	pendingLimit = 400
	pendingLead  = "\n\nThe last time: "
)

// pendingFailures returns earlier failures, oldest first, as far as they fit into an answer.
// The next command reports the rest.
func (c *Commands) pendingFailures() (text string, err error) {
	room := pendingLimit - len(pendingLead)
	for why := range strings.Lines(c.ws.Pending.Take()) {
		why = workspace.Plain(why)
		switch {
		case why == "":
		case room > 0 && len(why) <= room:
			text += why + "; "
			room -= len(why) + len("; ")
			continue
		case text == "": // it would never fit
			begin := clip.Head(why, room-len(" …"))
			text, why = begin+" …", "… "+why[len(begin):]
		}
		room = 0 // keep the order: later ones wait, too
		if why != "" {
			err = errors.Join(err, c.ws.Pending.Add(errors.New(why)))
		}
	}
	if text == "" {
		return "", err
	}
	return pendingLead + strings.TrimSuffix(text, "; "), err
}

// carryOut executes one command.
func (c *Commands) carryOut(ctx context.Context, agent inject.Agent, e inject.Event, limits inject.ReplyLimits) (string, error) {
	typed, ok := inject.ParseCommand(e.Prompt)
	if !ok {
		return "", nil
	}
	name, args := typed.Name, typed.Arguments
	switch name {
	case "resume":
		return c.resumeHere(ctx, agent, e, args, limits)
	case "stop-conversation":
		return c.stopHere(ctx, agent, e)
	case "sessions":
		return c.lists.sessions(limits.Bytes, args)
	case "session":
		return c.session(ctx, agent, e, args)
	case "context":
		return c.context(ctx, agent, e, args)
	case "compact":
		return c.compactHere(ctx, agent, e, args)
	}
	if c.ws.Prompts.Check(name) != nil {
		return "", nil // not one of our commands
	}
	return c.begin(ctx, agent, e, name, args)
}

// begin starts the conversation of a /workspace.<type> prompt and binds the session to
// it. If the session was in no conversation, its earlier messages go into the new one,
// too.
func (c *Commands) begin(ctx context.Context, agent inject.Agent, e inject.Event, typ, args string) (string, error) {
	if err := c.ws.Removed.Unskip(agent.Name(), e.NativeID); err != nil {
		return "", err
	}
	t, err := c.capture.Session(ctx, agent, e)
	if err == nil {
		t, err = c.capture.BeginMissed(ctx, agent, e, t) // an earlier command that no hook reported
	}
	if err != nil {
		return "", err
	}
	if t.Bound() && (e.PromptID != "" && (t.Prompt == e.PromptID || t.CurrentSegment().From == e.PromptID) || c.hasBegun(t.CurrentSegment().Path, typ, args)) {
		return sayBegun(t.CurrentSegment().Path, typ), nil // the hook is installed twice, or was killed
	}
	seg := binding.Segment{}
	if len(t.Segments) > 0 {
		seg.From = c.capture.From(e)
		if err := c.leave(t); err != nil {
			return "", err
		}
	}
	entry, _, err := c.ws.Begin(workspace.Beginning{
		Type: typ, Title: notes.Title([]schema.Message{{Role: schema.User, Content: e.Prompt}}), Arguments: args,
		Source: &schema.Source{Agent: agent.Name(), NativeID: e.NativeID, Version: t.Version, From: seg.From},
		ID:     schema.DerivedPartID(agent.Name(), e.NativeID, seg.From, c.ws.Env.Now()),
	})
	if err != nil {
		return "", err
	}
	seg.Path, seg.ID = entry.Path, entry.Session.ID
	t.Add(seg)
	t.Prompt = e.PromptID
	if err := c.capture.Save(agent.Name(), e.NativeID, t); err != nil {
		return "", err
	}
	return sayBegun(entry.Path, typ), nil
}

// hasBegun reports whether a command started this conversation and it has no messages
// yet.
func (c *Commands) hasBegun(path, typ, args string) bool {
	e, err := c.ws.Entry(path)
	if err != nil {
		return false
	}
	begun := e.Session.AgentConfig
	return e.Session.MessageCount == 0 && begun.Command == inject.CommandPrefix+typ && begun.Arguments == args
}

func sayBegun(folder, typ string) string {
	return fmt.Sprintf("%sthis conversation is kept in %s; its document is %s. It is saved automatically after each turn.",
		Prefix, folder, path.Join(folder, typ+".md"))
}

// leave pauses the conversation that a session leaves, if any.
func (c *Commands) leave(t *binding.Binding) error {
	if !t.Bound() {
		return nil
	}
	return c.ws.Pause(t.CurrentSegment().Path)
}

// Failed tells an agent that a /workspace command failed, so that it informs the user.
// It returns "" if the prompt is not such a command.
func Failed(e inject.Event, err error) string {
	typed, ok := inject.ParseCommand(e.Prompt)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s%s failed: %s. Tell the user so.", Prefix, workspace.Plain(typed.Line()), workspace.Plain(err.Error()))
}
