package workspace

import (
	"context"
	"slices"
	"time"

	"cortext/cmd/internal/git"
	"cortext/schema"
	"cortext/store"
)

// Idle pauses the active conversations in which nothing has happened for idle_minutes.
type Idle struct{ ws *Workspace }

// Includes reports whether a conversation is active but nothing happened in it for
// idle_minutes.
func (i Idle) Includes(e store.Entry) bool {
	limit := i.ws.Env.Now().Add(-time.Duration(i.ws.Config.IdleMinutes) * time.Minute)
	return e.Session.Status == schema.Active && i.ws.Config.IdleMinutes > 0 && !e.Session.LastActive.Time().After(limit)
}

// idleCheck is how often all conversations are checked for idle ones. Capturing a turn
// among thousands of conversations must not pay for that each time.
const idleCheck = time.Minute

// idleFile is the cache file with the time of the last check.
const idleFile = "idle"

// Pause pauses and returns the active conversations in which nothing happened for
// idle_minutes. It checks at most once a minute. Commands call it, because nothing else
// does without a watch. The conversations of the calling native session are not idle.
func (i Idle) Pause(ctx context.Context, nativeID string) (paused []store.Entry, err error) {
	now := i.ws.Env.Now()
	if b, ok := i.ws.Store.ReadCache(idleFile); ok {
		last, err := time.Parse(time.RFC3339Nano, string(b))
		if since := now.Sub(last); err == nil && since >= 0 && since < idleCheck {
			return nil, nil
		}
	}
	active, err := i.ws.Status.Active()
	if err != nil {
		return nil, err
	}
	if paused, err = i.PauseAmong(ctx, active, nativeID); err == nil {
		_ = i.ws.Store.WriteCache(idleFile, []byte(now.Format(time.RFC3339Nano)))
	}
	return paused, err
}

// PauseAmong is Pause for some conversations, at any time. It does not change a
// session.json that equals git's version: the user did not ask for the change, and it would
// make git refuse to check out another branch.
func (i Idle) PauseAmong(ctx context.Context, active []store.Entry, nativeID string) (paused []store.Entry, err error) {
	idle := slices.DeleteFunc(slices.Clone(active), func(e store.Entry) bool {
		mine := slices.ContainsFunc(e.Session.Sources, func(src schema.Source) bool { return src.NativeID == nativeID && nativeID != "" })
		return mine || !i.Includes(e)
	})
	if len(idle) == 0 {
		return nil, nil
	}
	var files []string
	for _, e := range idle {
		files = append(files, e.Path+"/.session/session.json")
	}
	unchanged := git.Unchanged(ctx, i.ws.Store.Root(), files)
	if err := ctx.Err(); err != nil {
		return nil, err // git did not answer for all of them
	}
	for n, e := range idle {
		if unchanged[files[n]] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return paused, err // the next session pauses the rest
		}
		if err := i.ws.Pause(e.Path); err != nil {
			return paused, err
		}
		e.Session.Status = schema.Paused
		paused = append(paused, e)
	}
	return paused, nil
}
