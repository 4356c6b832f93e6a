package flow

import (
	"context"
	"errors"

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
func (w *Workspace) cleared(agent inject.Agent, e inject.Event, t *tie) error {
	name := clearedName(agent.Name, e.Process)
	switch {
	case w.skipped(agent.Name, e.NativeID):
		return w.Store.WriteCache(name, []byte(skippedMark))
	case !t.held() || t.Stopped:
		return w.Store.WriteCache(name, nil)
	}
	return w.Store.WriteCache(name, []byte(t.current().Path))
}

// began ties a session that goes on after /clear to the conversation that it was
// in. One that is taken up again is rid of what would harm it.
func (w *Workspace) began(ctx context.Context, agent inject.Agent, e inject.Event) error {
	if !e.Cleared {
		if e.Fresh {
			return nil
		}
		err := w.begunLaunched(agent, e)
		if agent.Discard != nil {
			err = errors.Join(err, agent.Discard(ctx, w.env.Machine, e.NativeID, true))
		}
		return err
	}
	name := clearedName(agent.Name, e.Process)
	b, ok := w.Store.ReadCache(name)
	at := string(b)
	if !ok { // the hook of the end before was not called, or the cache is gone
		at = w.launchedFor()
	}
	if err := w.Store.RemoveCache(name); err != nil || at == "" {
		return err
	}
	if at == skippedMark {
		return w.Store.WriteFile(skipName(agent.Name, e.NativeID), nil)
	}
	t, err := w.tieOf(agent, e.NativeID, "")
	if err != nil || len(t.Parts) > 0 {
		return err
	}
	err = w.goOnIn(agent, e, t, at)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// launchedFor is the path of the conversation that the program was launched for,
// if that is active still.
func (w *Workspace) launchedFor() string {
	id := w.env.Machine.Getenv(LaunchedFor)
	if id == "" {
		return ""
	}
	e, err := w.Pick(id)
	if err != nil || e.Session.Status != schema.Active {
		return "" // it is gone, or another workspace's, or was stopped
	}
	return e.Path
}

// goOnIn lets a session go on in a conversation, behind what is there.
func (w *Workspace) goOnIn(agent inject.Agent, e inject.Event, t *tie, at string) error {
	p := part{Path: at}
	if len(t.Parts) > 0 {
		p.From = w.from(e)
	}
	var err error
	if p.After, err = w.leaf(at); err != nil {
		return err
	}
	if err := w.addSource(p, schema.Source{Agent: agent.Name, NativeID: e.NativeID, Version: t.Version}); err != nil {
		return err
	}
	t.add(p)
	if e.Transcript != "" {
		t.Transcript = e.Transcript
	}
	w.writeTie(agent.Name, e.NativeID, t)
	return nil
}

// leaf is the id of the message that a conversation would be resumed at.
func (w *Workspace) leaf(at string) (string, error) {
	c, err := w.Store.Conversation(at)
	if err != nil {
		return "", err
	}
	defer c.Close()
	h, _, err := c.History(store.Limit{Messages: 1})
	if err != nil || len(h.Messages) == 0 {
		return "", err
	}
	return h.Messages[len(h.Messages)-1].ID, nil
}
