package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/slash"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/store"
)

// A handler handles the events of agents' sessions in one workspace.
type handler struct {
	ws       *workspace.Workspace
	capture  *capture.Capture
	compact  *compact.Compactor
	commands *slash.Commands
}

func newHandler(ws *workspace.Workspace, endpoint compact.Endpoint) *handler {
	c, m := capture.New(ws), compact.New(ws, endpoint)
	return &handler{ws, c, m, slash.New(ws, c, payload.New(ws), m)}
}

// handle handles one event of an agent's session and returns the text to inject next to the
// prompt. The text is empty if there is nothing to inject, and no longer than
// [inject.ReplyLimits] allow. The agent never sees an error.
func (h *handler) handle(ctx context.Context, agent hooked, e inject.Event) (say string, err error) {
	if e.Type == inject.PromptSubmit && !strings.HasPrefix(e.Prompt, inject.CommandPrefix) {
		say, err = h.named(ctx, agent, e)
		return say + h.remind(agent, e), err // the usual case is nearly free
	}
	if e.Type != inject.PromptSubmit && h.ws.Removed.Skipped(agent.Name(), e.NativeID) {
		if e.Type == inject.SessionEnd && e.Cleared {
			err = h.cleared(agent, e, &binding.Binding{})
		}
		return "", err
	}
	if e.Transcript == "" && e.Type != inject.SessionStart { // not every agent reports it
		if e.Transcript, _, err = agent.Locate(h.ws.Env.Machine, e.NativeID); err != nil {
			return "", err
		}
	}
	if err := h.capture.Locked(agent.Name(), e.NativeID, func() error {
		say, err = h.dispatch(ctx, agent, e)
		return err
	}); err != nil || e.Type != inject.SessionStart {
		return say, err
	}
	return "", h.capture.CatchUp(ctx, agent, e)
}

// ownTurn reports whether an event needs only its own agent and no model: it is part of a
// turn, and not a command.
func (h *handler) ownTurn(agent inject.Agent, e inject.Event) bool {
	switch e.Type {
	case inject.PromptSubmit:
		return !strings.HasPrefix(e.Prompt, inject.CommandPrefix)
	case inject.TurnEnd:
		_, stopping := h.commands.Stopping(agent.Name(), e.NativeID)
		return !stopping
	case inject.ToolUse, inject.PreCompact:
		return true
	}
	return false
}

func (h *handler) dispatch(ctx context.Context, agent inject.Agent, e inject.Event) (say string, err error) {
	switch e.Type {
	case inject.SessionStart:
		return "", h.began(ctx, agent, e)
	case inject.PromptSubmit:
		return h.commands.Run(ctx, agent, e)
	case inject.TurnEnd:
		return "", h.answered(ctx, agent, e)
	case inject.ToolUse:
		if !h.ws.Config.AfterTool || h.ws.Config.Autosave != settings.AutosaveTurn {
			return "", nil
		}
		_, err := h.capture.Session(ctx, agent, e)
		return "", err
	case inject.PreCompact:
		if h.ws.Config.Autosave == settings.AutosaveOff {
			return "", nil
		}
		b, err := h.capture.Session(ctx, agent, e)
		if err == nil {
			_, err = h.capture.BeginMissed(ctx, agent, e, b)
		}
		return "", err
	case inject.SessionEnd:
		return "", h.ended(ctx, agent, e)
	}
	return "", nil
}

// answered captures a turn. If the turn stopped its conversation, answered finishes and
// commits it now that the last answer is there.
func (h *handler) answered(ctx context.Context, agent inject.Agent, e inject.Event) error {
	path, stopping := h.commands.Stopping(agent.Name(), e.NativeID)
	if h.ws.Config.Autosave != settings.AutosaveTurn && !stopping {
		h.capture.CountTurn(agent, e.NativeID)
		return nil
	}
	b, err := h.capture.Answer(ctx, agent, e)
	if err != nil {
		return err
	}
	if _, err := agent.Stat(b.Transcript); b.Captured() && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the turn is not saved: the transcript of %s session %s is not there (%s): run cortext sync when it is", agent.Name(), e.NativeID, b.Transcript)
	}
	if !stopping {
		h.capture.CountTurn(agent, e.NativeID)
		return h.markDue(b)
	}
	return h.commands.EndStopping(ctx, agent.Name(), e.NativeID, path)
}

// markDue marks a session's conversation for summarizing old messages, if that is due.
func (h *handler) markDue(b *binding.Binding) error {
	if !b.Bound() {
		return nil
	}
	return h.compact.MarkDue(b.CurrentSegment().Path)
}

// nameWait is how long a prompt waits for another hook of the session before it names the
// conversation. If that takes longer, the next prompt names it.
const nameWait = 500 * time.Millisecond

// named names the conversation after its first prompt with a topic, before the agent does
// anything in its folder. It returns the text that informs the agent.
func (h *handler) named(ctx context.Context, agent inject.Agent, e inject.Event) (string, error) {
	if !h.capture.AwaitsName(agent.Name(), e.NativeID) || h.ws.Removed.Skipped(agent.Name(), e.NativeID) {
		return "", nil
	}
	unlock, err := h.capture.Lock(agent.Name(), e.NativeID, nameWait)
	if errors.As(err, new(*store.LockedError)) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer unlock()
	b, err := h.capture.Bind(agent, e.NativeID, "")
	if err != nil || !b.Bound() {
		return "", err
	}
	moved, err := h.capture.NameCurrent(ctx, agent.Name(), e.NativeID, b, e.Prompt)
	if !moved || b.Ordinary {
		return "", err
	}
	return fmt.Sprintf("%sthe folder of this conversation is now %s.", slash.Prefix, b.CurrentSegment().Path), err
}

// remind returns, once, a reminder for the agent if the conversation was not stopped for
// remind_turns turns.
func (h *handler) remind(agent inject.Agent, e inject.Event) string {
	if !h.capture.TakeReminder(agent, e.NativeID) {
		return ""
	}
	return fmt.Sprintf("%s%d turns have passed since this conversation was last stopped. After your answer, unless you have asked before, "+
		"ask the user once whether to save it with /workspace.stop-conversation. If the answer is no, run `cortext skip` and do not ask again.",
		slash.Prefix, h.ws.Config.RemindTurns)
}

// ended captures the rest of a session and pauses its conversation, unless the
// program continues with an empty context or another program has the conversation open.
func (h *handler) ended(ctx context.Context, agent inject.Agent, e inject.Event) error {
	b, err := h.capture.Bind(agent, e.NativeID, e.Transcript)
	if err == nil && h.ws.Config.Autosave != settings.AutosaveOff {
		if _, err = h.capture.Ingest(ctx, agent, e.NativeID, b, capture.Options{Mode: capture.OwnTurn}); err == nil {
			b, err = h.capture.BeginMissed(ctx, agent, e, b)
		}
	}
	if err != nil {
		return err
	}
	if e.Cleared {
		err = h.cleared(agent, e, b)
	}
	if !b.Bound() || h.ws.Config.Autosave == settings.AutosaveOff {
		return err
	}
	if path, stopping := h.commands.Stopping(agent.Name(), e.NativeID); stopping {
		return errors.Join(err, h.commands.EndStopping(ctx, agent.Name(), e.NativeID, path))
	}
	if e.Cleared && !b.Stopped {
		return err
	}
	path := b.CurrentSegment().Path
	return errors.Join(err, h.ws.FinishAt(path, workspace.Finishing{Pause: !h.openBeside(path, e)}), h.markDue(b))
}

// openBeside reports whether a program other than the one that ends has a conversation open.
func (h *handler) openBeside(path string, e inject.Event) bool {
	own, err := strconv.Atoi(e.Process)
	if err != nil {
		return false
	}
	entry, err := h.ws.Entry(path)
	return err == nil && slices.ContainsFunc(capture.Openings(h.ws, entry.Session), func(o capture.Opening) bool { return o.PID != own })
}
