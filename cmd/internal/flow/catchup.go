package flow

import (
	"context"
	"errors"
	"slices"
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
	errs := []error{w.CatchUp(ctx, agent)}
	active, err := w.active()
	errs = append(errs, err)
	for i := range active { // the cache may know nothing of them
		n, err := w.captureOf(ctx, active[i], e.NativeID)
		if n > 0 && err == nil {
			active[i], err = w.entry(active[i].Path)
		}
		errs = append(errs, err)
	}
	_, err = w.pauseIdle(active, e.NativeID)
	errs = slices.DeleteFunc(append(errs, err), func(err error) bool { return errors.Is(err, context.DeadlineExceeded) })
	return errors.Join(errs...)
}

// active lists the conversations that are.
func (w *Workspace) active() ([]store.Entry, error) {
	all, err := w.Store.List()
	return slices.DeleteFunc(all, func(e store.Entry) bool { return e.Session.Status != schema.Active }), err
}

// CatchUp captures what the sessions that the cache knows have grown by.
func (w *Workspace) CatchUp(ctx context.Context, agent inject.Agent) error {
	var errs []error
	for _, name := range w.Store.ListCache("sessions/" + agent.Name) {
		id := strings.TrimSuffix(name, ".json")
		t, ok := w.readTie(agent.Name, id)
		if ok && t.gone(agent) {
			_ = w.Store.RemoveCache(tieName(agent.Name, id))
			continue
		}
		if !ok || !t.kept() || !t.grown(agent) || w.skipped(agent.Name, id) {
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
