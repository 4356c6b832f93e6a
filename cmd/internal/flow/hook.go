package flow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// Hook handles one event of an agent's session and returns the text to inject next to the
// prompt: empty for none, at most as long as [inject.ReplyLimits] say. The agent never sees an error.
func (w *Workspace) Hook(ctx context.Context, agent inject.Agent, e inject.Event) (say string, err error) {
	if e.Type == inject.PromptSubmit && !strings.HasPrefix(e.Prompt, inject.CommandPrefix) {
		say, err = w.named(ctx, agent, e)
		return say + w.remind(agent, e), err // the usual case is nearly free
	}
	if e.Type != inject.PromptSubmit && w.Removed.Skipped(agent.Name(), e.NativeID) {
		if e.Type == inject.SessionEnd && e.Cleared {
			err = w.cleared(agent, e, &capture.Binding{})
		}
		return "", err
	}
	if e.Transcript == "" && e.Type != inject.SessionStart { // not every agent reports it
		if e.Transcript, _, err = agent.Locate(w.Env.Machine, e.NativeID); err != nil {
			return "", err
		}
	}
	if err := w.Locked(agent.Name(), e.NativeID, func() error {
		say, err = w.handle(ctx, agent, e)
		return err
	}); err != nil || e.Type != inject.SessionStart {
		return say, err
	}
	return "", w.CatchUp(ctx, agent, e)
}

// OwnTurn reports whether an event needs only its own agent and no model: it is part of a
// turn, and not a command.
func (w *Workspace) OwnTurn(agent inject.Agent, e inject.Event) bool {
	switch e.Type {
	case inject.PromptSubmit:
		return !strings.HasPrefix(e.Prompt, inject.CommandPrefix)
	case inject.TurnEnd:
		_, stopping := w.Store.ReadCache(stoppingName(agent.Name(), e.NativeID))
		return !stopping
	case inject.ToolUse, inject.PreCompact:
		return true
	}
	return false
}

func (w *Workspace) handle(ctx context.Context, agent inject.Agent, e inject.Event) (say string, err error) {
	switch e.Type {
	case inject.SessionStart:
		return "", w.began(ctx, agent, e)
	case inject.PromptSubmit:
		return w.prompted(ctx, agent, e)
	case inject.TurnEnd:
		return "", w.answered(ctx, agent, e)
	case inject.ToolUse:
		if !w.Config.AfterTool || w.Config.Autosave != workspace.AutosaveTurn {
			return "", nil
		}
		_, err := w.Session(ctx, agent, e)
		return "", err
	case inject.PreCompact:
		if w.Config.Autosave == workspace.AutosaveOff {
			return "", nil
		}
		b, err := w.Session(ctx, agent, e)
		if err == nil {
			_, err = w.BeginMissed(ctx, agent, e, b)
		}
		return "", err
	case inject.SessionEnd:
		return "", w.ended(ctx, agent, e)
	}
	return "", nil
}

// answered captures a turn. If the turn stopped its conversation, answered finishes and
// commits it now that the last answer is there.
func (w *Workspace) answered(ctx context.Context, agent inject.Agent, e inject.Event) error {
	name := stoppingName(agent.Name(), e.NativeID)
	path, stopping := w.Store.ReadCache(name)
	if w.Config.Autosave != workspace.AutosaveTurn && !stopping {
		w.CountTurn(agent, e.NativeID)
		return nil
	}
	b, err := w.Answer(ctx, agent, e)
	if err != nil {
		return err
	}
	if _, err := agent.Stat(b.Transcript); b.Captured() && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the turn is not saved: the transcript of %s session %s is not there (%s): run cortext sync when it is", agent.Name(), e.NativeID, b.Transcript)
	}
	if !stopping {
		w.CountTurn(agent, e.NativeID)
		return w.sumUpLater(b)
	}
	return errors.Join(w.Store.RemoveCache(name), w.completeStop(ctx, string(path)))
}

// nameWait is how long a prompt waits for another hook of the session before it names the
// conversation. If that takes longer, the next prompt names it.
const nameWait = 500 * time.Millisecond

// named names the conversation after its first prompt with a topic, before the agent does
// anything in its folder. It returns the text that informs the agent.
func (w *Workspace) named(ctx context.Context, agent inject.Agent, e inject.Event) (string, error) {
	if !w.AwaitsName(agent.Name(), e.NativeID) || w.Removed.Skipped(agent.Name(), e.NativeID) {
		return "", nil
	}
	unlock, err := w.Lock(agent.Name(), e.NativeID, nameWait)
	if errors.As(err, new(*store.LockedError)) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer unlock()
	b, err := w.Bind(agent, e.NativeID, "")
	if err != nil || !b.Bound() {
		return "", err
	}
	moved, err := w.NameCurrent(ctx, agent.Name(), e.NativeID, b, e.Prompt)
	if _, replies := agent.(inject.Hooks); !moved || b.Ordinary || !replies {
		return "", err
	}
	return fmt.Sprintf("%sthe folder of this conversation has a name now, and is %s.", sayPrefix, b.CurrentSegment().Path), err
}

// remind returns, once, a reminder for the agent if the conversation was not stopped for
// remind_turns turns.
func (w *Workspace) remind(agent inject.Agent, e inject.Event) string {
	if _, replies := agent.(inject.Hooks); !replies || !w.TakeReminder(agent, e.NativeID) {
		return ""
	}
	return fmt.Sprintf("%s%d turns have passed since this conversation was last stopped. After your answer, unless you have asked before, "+
		"ask the user once whether to save it with /workspace.stop-conversation. If the answer is no, run `cortext skip` and do not ask again.",
		sayPrefix, w.Config.RemindTurns)
}

func stoppingName(agent, nativeID string) string {
	return "stopping/" + agent + "/" + schema.PathElement(nativeID)
}

// completeStop finishes a conversation again after the answer to the command that stopped
// it, and commits it if configured to.
func (w *Workspace) completeStop(ctx context.Context, path string) error {
	out, err := w.finishStop(path)
	if err != nil {
		return err
	}
	_, err = w.Commit(ctx, out.Entry)
	return err
}

// ended captures the rest of a session and pauses its conversation, unless the
// program continues with an empty context.
func (w *Workspace) ended(ctx context.Context, agent inject.Agent, e inject.Event) error {
	b, err := w.Bind(agent, e.NativeID, e.Transcript)
	if err == nil && w.Config.Autosave != workspace.AutosaveOff {
		if _, err = w.Ingest(ctx, agent, e.NativeID, b, capture.Options{Mode: capture.OwnTurn}); err == nil {
			b, err = w.BeginMissed(ctx, agent, e, b)
		}
	}
	if err != nil {
		return err
	}
	if e.Cleared {
		err = w.cleared(agent, e, b)
	}
	if !b.Bound() || w.Config.Autosave == workspace.AutosaveOff {
		return err
	}
	name := stoppingName(agent.Name(), e.NativeID)
	if path, stopping := w.Store.ReadCache(name); stopping {
		return errors.Join(err, w.Store.RemoveCache(name), w.completeStop(ctx, string(path)))
	}
	if e.Cleared && !b.Stopped {
		return err
	}
	return errors.Join(err, w.Pause(b.CurrentSegment().Path), w.sumUpLater(b))
}
