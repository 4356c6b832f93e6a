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

// catchUpTime bounds how long a session that begins waits for what was missed:
// the rest is caught up the next time.
const catchUpTime = 5 * time.Second

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
