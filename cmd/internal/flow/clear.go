package flow

import (
	"context"
	"errors"

	"cortext/cmd/internal/capture"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A program whose context is emptied (/clear) goes on in a session with a new id.
// It stays in its conversation, unless that was stopped by a word of the user's.

// clearedName is the file that tells the new session of a program where the one
// before it was.
func clearedName(agent, process string) string {
	return "cleared/" + agent + "/" + schema.PathElement(process)
}

// skippedMark stands in that file for a session that is not to be saved.
const skippedMark = "skipped"

// cleared notes where the program goes on from.
func (w *Workspace) cleared(agent inject.Agent, e inject.Event, t *capture.Binding) error {
	name := clearedName(agent.Name, e.Process)
	switch {
	case w.Skipped(agent.Name, e.NativeID):
		return w.Store.WriteCache(name, []byte(skippedMark))
	case !t.Bound() || t.Stopped:
		return w.Store.WriteCache(name, nil)
	}
	return w.Store.WriteCache(name, []byte(t.CurrentSegment().Path))
}

// began ties a session that goes on after /clear to the conversation that it was
// in. One that is taken up again is rid of what would harm it.
func (w *Workspace) began(ctx context.Context, agent inject.Agent, e inject.Event) error {
	if !e.Cleared {
		if e.Fresh {
			return nil
		}
		err := w.BindLaunched(agent, e)
		if agent.Discard != nil {
			err = errors.Join(err, agent.Discard(ctx, w.Env.Machine, e.NativeID, true))
		}
		return err
	}
	name := clearedName(agent.Name, e.Process)
	b, ok := w.Store.ReadCache(name)
	at := string(b)
	if !ok { // the hook of the end before was not called, or the cache is gone
		at = w.LaunchedConversation()
		if gone, err := w.ConversationRemoved(w.Env.Machine.Getenv(capture.LaunchedFor)); err != nil {
			return err
		} else if gone {
			at = ""
		}
	}
	if err := w.Store.RemoveCache(name); err != nil || at == "" {
		return err
	}
	if at == skippedMark {
		return w.Skip(agent.Name, e.NativeID)
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
