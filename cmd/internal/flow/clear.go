package flow

import (
	"context"
	"errors"

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
func (w *Workspace) cleared(agent inject.Agent, e inject.Event, t *capture.Binding) error {
	name := clearedName(agent.Name(), e.Process)
	switch {
	case w.Removed.Skipped(agent.Name(), e.NativeID):
		return w.Store.WriteCache(name, []byte(skippedMark))
	case !t.Bound() || t.Stopped:
		return w.Store.WriteCache(name, nil)
	}
	return w.Store.WriteCache(name, []byte(t.CurrentSegment().Path))
}

// began binds a session that continues after /clear to the conversation it was in. For a
// resumed session it first removes leftovers that would harm it.
func (w *Workspace) began(ctx context.Context, agent inject.Agent, e inject.Event) error {
	if !e.Cleared {
		if e.New {
			return nil
		}
		err := w.BindLaunched(agent, e)
		if cleaner, ok := agent.(inject.Cleaner); ok {
			err = errors.Join(err, cleaner.Cleanup(ctx, w.Env.Machine, e.NativeID, true))
		}
		return err
	}
	name := clearedName(agent.Name(), e.Process)
	b, ok := w.Store.ReadCache(name)
	at := string(b)
	if !ok { // the hook of the previous session's end did not run, or the cache is gone
		at = w.LaunchedConversation()
		if gone, err := w.Removed.Conversation(w.Env.Machine.Getenv(capture.LaunchedFor)); err != nil {
			return err
		} else if gone {
			at = ""
		}
	}
	if err := w.Store.RemoveCache(name); err != nil || at == "" {
		return err
	}
	if at == skippedMark {
		return w.Removed.Skip(agent.Name(), e.NativeID)
	}
	t, err := w.Bind(agent, e.NativeID, "")
	if err != nil || len(t.Segments) > 0 {
		return err
	}
	err = w.ContinueIn(agent, e, t, at)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
