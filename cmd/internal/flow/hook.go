package flow

import (
	"context"
	"errors"
	"strings"
	"time"

	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// Hook does what is to be done at a moment of an agent's session. say is what the
// agent is to be told beside the prompt, empty for nothing; it is never more than
// the agent takes whole. Of an error the agent must not learn.
func (w *Workspace) Hook(ctx context.Context, agent inject.Agent, e inject.Event) (say string, err error) {
	if w.skipped(agent.Name, e.NativeID) && e.Moment != inject.Prompted {
		return "", nil
	}
	if e.Moment == inject.Prompted && !strings.HasPrefix(e.Prompt, commandPrefix) {
		return "", nil // the usual case costs nothing
	}
	if err := w.locked(agent, e, lockWait, func() error {
		say, err = w.moment(ctx, agent, e)
		return err
	}); err != nil || e.Moment != inject.Began {
		return say, err
	}
	return "", w.catchUp(ctx, agent, e)
}

// lockWait is how long a hook waits for another one of the same session.
const lockWait = 10 * time.Second

// locked calls f while no other process deals with the session.
func (w *Workspace) locked(agent inject.Agent, e inject.Event, wait time.Duration, f func() error) error {
	unlock, err := w.lockTie(agent.Name, e.NativeID, wait)
	if err != nil {
		return err
	}
	defer unlock()
	return f()
}

func (w *Workspace) moment(ctx context.Context, agent inject.Agent, e inject.Event) (say string, err error) {
	switch e.Moment {
	case inject.Began:
		return "", w.began(agent, e)
	case inject.Prompted:
		return w.prompted(ctx, agent, e)
	case inject.Answered:
		return "", w.answered(ctx, agent, e)
	case inject.Compacting:
		if w.Config.Autosave == AutosaveOff {
			return "", nil
		}
		_, err := w.capture(ctx, agent, e.NativeID, e.Transcript)
		return "", err
	case inject.Ended:
		return "", w.ended(ctx, agent, e)
	}
	return "", nil
}

// capture reads on in the transcript of a session, if that is tied to a
// conversation.
func (w *Workspace) capture(ctx context.Context, agent inject.Agent, nativeID, transcript string) (*tie, error) {
	t, err := w.tieOf(agent, nativeID, transcript)
	if err != nil {
		return nil, err
	}
	_, err = w.follow(ctx, agent, nativeID, t)
	return t, err
}

// catchUpTime bounds how long a session that begins waits for what was missed:
// the rest is caught up the next time.
const catchUpTime = 5 * time.Second

// began ties a session that goes on after /clear to the conversation that it was
// in.
func (w *Workspace) began(agent inject.Agent, e inject.Event) error {
	if e.Cleared {
		return w.goOn(agent, e)
	}
	return nil
}

// catchUp captures what sessions before this one left, since a program that was
// killed calls no hook, and pauses what is idle.
func (w *Workspace) catchUp(ctx context.Context, agent inject.Agent, e inject.Event) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	err := w.CatchUp(ctx, agent)
	if err == nil {
		err = w.catchUpActive(ctx, e.NativeID)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	_, idleErr := w.PauseIdle(e.NativeID)
	return errors.Join(err, idleErr)
}

// catchUpActive captures what the transcripts of active conversations have, also
// where the cache knows nothing of them.
func (w *Workspace) catchUpActive(ctx context.Context, held string) error {
	all, err := w.Store.List()
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range all {
		if e.Session.Status == schema.Active {
			_, err := w.captureOf(ctx, e, held)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// goOn ties a new session of a program to the conversation that the program was
// in before its context was emptied, unless that was stopped meanwhile.
func (w *Workspace) goOn(agent inject.Agent, e inject.Event) error {
	name := clearedName(agent.Name, e.Process)
	b, ok := w.Store.ReadCache(name)
	at := string(b)
	if !ok {
		id := w.env.Machine.Getenv(LaunchedFor)
		if id == "" {
			return nil
		}
		entry, err := w.Pick(id)
		if err != nil {
			return nil // the conversation is gone, or another workspace's
		}
		at = entry.Path
	}
	if err := w.Store.RemoveCache(name); err != nil {
		return err
	}
	t, err := w.tieOf(agent, e.NativeID, "")
	if err != nil || len(t.Parts) > 0 {
		return err
	}
	c, err := w.Store.Conversation(at)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer c.Close()
	s, _, err := c.Session()
	if err != nil || s.Status != schema.Active {
		return err
	}
	return w.goOnIn(agent, e, t, at)
}

func clearedName(agent, process string) string {
	return "cleared/" + agent + "/" + store.NativeName(process)
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
	t.Parts = append(t.Parts, p)
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

// CatchUp captures what the sessions that the cache knows have grown by.
func (w *Workspace) CatchUp(ctx context.Context, agent inject.Agent) error {
	var errs []error
	for _, name := range w.Store.ListCache("sessions/" + agent.Name) {
		id := strings.TrimSuffix(name, ".json")
		t, ok := w.readTie(agent.Name, id)
		if ok && t.gone() {
			_ = w.Store.RemoveCache(tieName(agent.Name, id))
			continue
		}
		if !ok || len(t.Parts) == 0 || !t.grown() || w.skipped(agent.Name, id) {
			continue
		}
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		err := w.locked(agent, inject.Event{NativeID: id}, 0, func() error {
			if t, ok = w.readTie(agent.Name, id); !ok {
				return nil
			}
			_, err := w.follow(ctx, agent, id, t)
			return err
		})
		var locked *store.LockedError
		if !errors.As(err, &locked) { // who holds it captures it
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// answered captures a turn; a conversation that the turn stopped is settled and
// committed now that its last answer is there.
func (w *Workspace) answered(ctx context.Context, agent inject.Agent, e inject.Event) error {
	name := stoppingName(agent.Name, e.NativeID)
	at, stopping := w.Store.ReadCache(name)
	if w.Config.Autosave != AutosaveTurn && !stopping {
		return nil
	}
	if err := w.captureAnswer(ctx, agent, e); err != nil || !stopping {
		return err
	}
	return errors.Join(w.Store.RemoveCache(name), w.finishStop(ctx, string(at)))
}

// An agent may call the hook a moment before the answer is in the transcript
// (Claude Code 2.1.329, in a terminal: some 20 ms). It is waited for, but never
// for long: what is late is captured the next time.
const (
	answerWait = 500 * time.Millisecond
	answerPoll = 5 * time.Millisecond
)

// captureAnswer captures a turn with the answer that the agent has told of.
func (w *Workspace) captureAnswer(ctx context.Context, agent inject.Agent, e inject.Event) error {
	for waited := time.Duration(0); ; {
		t, err := w.capture(ctx, agent, e.NativeID, e.Transcript)
		if err != nil || len(t.Parts) == 0 || e.Said == "" || strings.HasSuffix(t.Said, endOf(e.Said)) || t.Said != "" && strings.HasSuffix(endOf(e.Said), t.Said) {
			return err
		}
		for !t.grown() {
			if waited >= answerWait || ctx.Err() != nil {
				return nil
			}
			time.Sleep(answerPoll)
			waited += answerPoll
		}
	}
}

// endOf is the end of a text by which it is told from others, whatever the space
// in it.
func endOf(text string) string {
	const runes = 80
	r := []rune(strings.Join(strings.Fields(text[max(0, len(text)-8*runes):]), " "))
	return string(r[max(0, len(r)-runes):])
}

func stoppingName(agent, nativeID string) string {
	return "stopping/" + agent + "/" + store.NativeName(nativeID)
}

// finishStop settles a conversation again, behind the answer to the command that
// stopped it, and commits it if so configured.
func (w *Workspace) finishStop(ctx context.Context, at string) error {
	c, err := w.Store.Conversation(at)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := w.settle(c); err != nil {
		return err
	}
	s, _, err := c.Session()
	if err != nil {
		return err
	}
	_, err = w.commit(ctx, store.Entry{Path: at, Session: s})
	return err
}

// ended captures the rest of a session and pauses its conversation, unless the
// program goes on with an empty context.
func (w *Workspace) ended(ctx context.Context, agent inject.Agent, e inject.Event) error {
	if w.Config.Autosave == AutosaveOff {
		return nil
	}
	t, err := w.capture(ctx, agent, e.NativeID, e.Transcript)
	if err != nil {
		return err
	}
	if len(t.Parts) == 0 {
		return w.Store.RemoveCache(clearedName(agent.Name, e.Process))
	}
	at := t.Parts[len(t.Parts)-1].Path
	name := stoppingName(agent.Name, e.NativeID)
	if _, stopping := w.Store.ReadCache(name); stopping {
		return errors.Join(w.Store.RemoveCache(name), w.finishStop(ctx, at))
	}
	if e.Cleared {
		return w.Store.WriteCache(clearedName(agent.Name, e.Process), []byte(at))
	}
	return w.pause(at)
}

// pause ends a conversation's activity with counters and summary as they are now.
func (w *Workspace) pause(at string) error {
	c, err := w.Store.Conversation(at)
	if errors.Is(err, store.ErrNotFound) {
		return nil // another branch of git is checked out, or the user removed it
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if err := w.settleQuick(c); err != nil {
		return err
	}
	return c.Edit(func(s *schema.Session) error {
		if s.Status == schema.Active {
			s.Status = schema.Paused
		}
		return nil
	})
}
