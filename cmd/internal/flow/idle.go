package flow

import (
	"slices"
	"time"

	"cortext/schema"
	"cortext/store"
)

// idleCheck is how often all conversations are read for those that are idle: a
// turn that is captured from a store of thousands must not cost that each time.
const idleCheck = time.Minute

// idleFile is the file of the cache with the time of the last such look.
const idleFile = "idle"

// PauseIdle pauses the active conversations in which nothing has happened for
// idle_minutes and returns them; it looks for them once a minute at most. It is
// called at the next contact: where nobody watches, nobody else can. The
// conversations of the session that makes the contact, if one does, are not idle.
func (w *Workspace) PauseIdle(nativeID string) (paused []store.Entry, err error) {
	now := w.env.Now()
	if b, ok := w.Store.ReadCache(idleFile); ok {
		last, err := time.Parse(time.RFC3339Nano, string(b))
		if since := now.Sub(last); err == nil && since >= 0 && since < idleCheck {
			return nil, nil
		}
	}
	active, err := w.active()
	if err != nil {
		return nil, err
	}
	if paused, err = w.pauseIdle(active, nativeID); err == nil {
		_ = w.Store.WriteCache(idleFile, []byte(now.Format(time.RFC3339Nano)))
	}
	return paused, err
}

func (w *Workspace) pauseIdle(active []store.Entry, nativeID string) (paused []store.Entry, err error) {
	if w.Config.IdleMinutes <= 0 {
		return nil, nil
	}
	limit := w.env.Now().Add(-time.Duration(w.Config.IdleMinutes) * time.Minute)
	for _, e := range active {
		s := e.Session
		mine := slices.ContainsFunc(s.Sources, func(src schema.Source) bool { return src.NativeID == nativeID && nativeID != "" })
		if mine || s.LastActive.Time().After(limit) {
			continue
		}
		if err := w.pause(e.Path); err != nil {
			return paused, err
		}
		e.Session.Status = schema.Paused
		paused = append(paused, e)
	}
	return paused, nil
}
