package flow

import (
	"slices"
	"time"

	"cortext/schema"
	"cortext/store"
)

// PauseIdle pauses the active conversations in which nothing has happened for
// idle_minutes and returns them. It is called at the next contact: where nobody
// watches, nobody else can. The conversations of the session that makes the
// contact, if one does, are not idle.
func (w *Workspace) PauseIdle(nativeID string) (paused []store.Entry, err error) {
	active, err := w.active()
	if err != nil {
		return nil, err
	}
	return w.pauseIdle(active, nativeID)
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
