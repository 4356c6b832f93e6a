package hook

import (
	"context"
	"errors"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/capture"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// After its context is cleared (/clear), a program continues in a session with a new id.
// It stays in its conversation, unless the user stopped that conversation with a command.

// clearedName is the file that records, for a program's new session, which conversation
// the previous one was in.
func clearedName(agent, process string) string {
	return "cleared/" + agent + "/" + schema.PathElement(process)
}

// skippedMark in that file means that the session must not be saved.
const skippedMark = "skipped"

// cleared records where the program continues from.
func (h *handler) cleared(agent inject.Agent, e inject.Event, b *binding.Binding) error {
	name := clearedName(agent.Name(), e.Process)
	switch {
	case h.ws.Removed.Skipped(agent.Name(), e.NativeID):
		return h.ws.Store.WriteCache(name, []byte(skippedMark))
	case !b.Bound() || b.Stopped:
		return h.ws.Store.WriteCache(name, nil)
	}
	return h.ws.Store.WriteCache(name, []byte(b.CurrentSegment().Path))
}

// resumed activates the paused conversation of a session that the user resumed or branched
// with the agent's own command, unless the user stopped the conversation.
func (h *handler) resumed(agent inject.Agent, e inject.Event) error {
	b, err := h.capture.BindResumed(agent, e.NativeID, e.Transcript)
	if err != nil || !b.Bound() || b.Stopped {
		return err
	}
	entry, err := h.ws.Entry(b.CurrentSegment().Path)
	if errors.Is(err, store.ErrNotFound) || err == nil && (entry.Waiting || entry.Session.Status != schema.Paused) {
		return nil
	}
	if err == nil {
		_, err = h.ws.Status.Activate(entry)
	}
	return err
}

// began binds a session that continues after /clear to the conversation it was in. For a
// resumed session it first removes leftovers that would harm it.
func (h *handler) began(ctx context.Context, agent inject.Agent, e inject.Event) error {
	if !e.Cleared {
		if e.New {
			return nil
		}
		err := h.capture.BindLaunched(agent, e)
		if !e.Compacted {
			err = errors.Join(err, h.resumed(agent, e))
		}
		if cleaner, ok := agent.(inject.Cleaner); ok {
			err = errors.Join(err, cleaner.Cleanup(ctx, h.ws.Env.Machine, e.NativeID))
		}
		return err
	}
	name := clearedName(agent.Name(), e.Process)
	kept, ok := h.ws.Store.ReadCache(name)
	at := string(kept)
	if !ok { // the hook of the previous session's end did not run, or the cache is gone
		at = h.capture.LaunchedConversation()
		if gone, err := h.ws.Removed.Conversation(h.ws.Env.Machine.Getenv(capture.LaunchedFor)); err != nil {
			return err
		} else if gone {
			at = ""
		}
	}
	if err := h.ws.Store.RemoveCache(name); err != nil || at == "" {
		return err
	}
	if at == skippedMark {
		return h.ws.Removed.Skip(agent.Name(), e.NativeID)
	}
	b, err := h.capture.Bind(agent, e.NativeID, "")
	if err != nil || len(b.Segments) > 0 {
		return err
	}
	err = h.capture.ContinueIn(agent, e, b, capture.Place{Path: at})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
