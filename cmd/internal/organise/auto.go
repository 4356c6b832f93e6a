package organise

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// Auto archives old conversations automatically if auto_archive_days or max_conversations
// is set. It does nothing else to them.
type Auto struct{ ws *workspace.Workspace }

// AutoIn returns the Auto for a workspace.
func AutoIn(w *workspace.Workspace) Auto { return Auto{w} }

// autoEvery is the interval between checks of a work tree's conversations.
const autoEvery = 24 * time.Hour

// autoFile is the cache file that records the last check.
const autoFile = "archive"

// An autoCheck is the content of autoFile.
type autoCheck struct {
	At       time.Time `json:"at"`
	Days     int       `json:"days"` // the settings at that time
	Most     int       `json:"most"`
	Partly   bool      `json:"partly"`   // whether more are to be archived
	Archived []string  `json:"archived"` // paths of the conversations archived last
	Untold   int       `json:"untold"`   // number of archived conversations not reported to the user yet
	Left     int       `json:"left"`     // number of old conversations left alone because git has them unchanged
	LeftTold int       `json:"left_told"`
}

func (a Auto) last() (c autoCheck) {
	if b, ok := a.ws.Store.ReadCache(autoFile); ok && json.Unmarshal(b, &c) != nil {
		return autoCheck{}
	}
	return c
}

func (a Auto) save(c autoCheck) {
	if b, err := json.Marshal(c); err == nil {
		_ = a.ws.Store.WriteCache(autoFile, b) // on failure the check is repeated
	}
}

// Due reports whether a check is due: the settings ask for one, and the last was a day ago,
// incomplete, or made with other settings.
func (a Auto) Due() bool {
	days, most := a.ws.Config.AutoArchiveDays, a.ws.Config.MaxConversations
	if days == 0 && most == 0 {
		return false
	}
	c := a.last()
	since := a.ws.Env.Now().Sub(c.At)
	return c.Partly || since < 0 || since >= autoEvery || c.Days != days || c.Most != most
}

// AutoFew is how many conversations a command archives while the user waits. A separate
// process archives the rest.
const AutoFew = 50

// Run archives at most the given number of the conversations that the settings select, if a
// check is due and no merge or rebase is in progress. It reports whether more are left. It
// skips conversations whose session.json equals git's version: the user did not ask for the
// change, and it would make git refuse to check out another branch, or to pull what another
// clone archived. [Auto.TakeUntold] returns how many it archived and how many it skipped.
func (a Auto) Run(ctx context.Context, most int) (more bool, err error) {
	if !a.Due() || git.Operation(a.ws.Store.Root()) != "" {
		return false, nil
	}
	unlock, err := a.ws.Store.LockCache(autoFile, 0)
	if errors.As(err, new(*store.LockedError)) {
		return false, nil // another process is archiving
	}
	if err != nil {
		return false, err
	}
	defer unlock()
	all, err := a.ws.Store.Outlines()
	if err != nil {
		return false, err
	}
	old := a.selected(all)
	selected := a.writable(ctx, old)
	if err := ctx.Err(); err != nil {
		return false, err // git did not answer for all of them
	}
	var archived []string
	var errs []error
	for _, e := range selected[:min(most, len(selected))] {
		if err := ctx.Err(); err != nil {
			errs = append(errs, err)
			break
		}
		switch _, _, err := Apply(a.ws, e, SetArchived(true)); {
		case err == nil:
			archived = append(archived, e.Path)
		case !errors.Is(err, store.ErrNotFound): // the user has removed it in the meantime
			errs = append(errs, err)
		}
	}
	more = len(selected) > most
	a.done(archived, more || ctx.Err() != nil, len(old)-len(selected))
	return more, errors.Join(errs...)
}

// done records what was archived. An incomplete check stays due, and one undo covers all
// its parts. left is the number of old conversations it skipped.
func (a Auto) done(archived []string, partly bool, left int) {
	before, config := a.last(), a.ws.Config
	c := autoCheck{At: a.ws.Env.Now(), Days: config.AutoArchiveDays, Most: config.MaxConversations, Partly: partly, Left: left, LeftTold: min(left, before.LeftTold)}
	c.Archived, c.Untold = archived, before.Untold+len(archived)
	if before.Partly || len(archived) == 0 {
		c.Archived = append(before.Archived, archived...)
	}
	a.save(c)
}

// writable leaves out the conversations whose session.json equals git's version.
func (a Auto) writable(ctx context.Context, list []store.Entry) (free []store.Entry) {
	const part = 1000 // command lines are limited
	for some := range slices.Chunk(list, part) {
		var files []string
		for _, e := range some {
			files = append(files, e.Path+"/.session/session.json")
		}
		unchanged := git.Unchanged(ctx, a.ws.Store.Root(), files)
		for i, e := range some {
			if !unchanged[files[i]] {
				free = append(free, e)
			}
		}
	}
	return free
}

// selected returns the conversations that the settings select: those idle for
// auto_archive_days days, and those beyond the max_conversations most recent ones. It skips
// conversations that are active, were written by a newer cortext, could not be read, or
// have no folder in this work tree.
func (a Auto) selected(all []store.Entry) (list []store.Entry) {
	shown := slices.DeleteFunc(slices.Clone(all), func(e store.Entry) bool { return e.Session.Archived })
	slices.SortStableFunc(shown, func(x, y store.Entry) int { return cmp.Compare(lastUse(y).UnixNano(), lastUse(x).UnixNano()) })
	config := a.ws.Config
	limit := a.ws.Env.Now().Add(-time.Duration(config.AutoArchiveDays) * 24 * time.Hour)
	for i, e := range shown {
		used := lastUse(e)
		old := config.AutoArchiveDays > 0 && used.Before(limit)
		beyond := config.MaxConversations > 0 && i >= config.MaxConversations
		if !old && !beyond || used.IsZero() {
			continue
		}
		if e.Session.Status == schema.Active || workspace.ShownStatus(e) == "newer" || e.Unread() != nil || e.Waiting || len(e.Twins) > 0 {
			continue
		}
		list = append(list, e)
	}
	return list
}

// lastUse returns when a conversation was last active or taken out of the archive.
func lastUse(e store.Entry) time.Time {
	used := e.Session.LastActive.Time()
	if set := e.Session.ArchivedSet; set != nil && !set.To && set.At.Time().After(used) {
		return set.At.Time()
	}
	return used
}

// TakeUntold returns how many conversations were archived since its last call and, if that
// number has grown, how many old ones are left alone because git has them unchanged. While
// another process archives, it returns 0.
func (a Auto) TakeUntold() (archived, left int) {
	if c := a.last(); c.Untold == 0 && c.Left <= c.LeftTold {
		return 0, 0
	}
	unlock, err := a.ws.Store.LockCache(autoFile, 0)
	if err != nil {
		return 0, 0
	}
	defer unlock()
	c := a.last()
	archived = c.Untold
	if c.Left > c.LeftTold {
		left = c.Left
	}
	c.Untold, c.LeftTold = 0, c.Left
	a.save(c)
	return archived, left
}

// Old returns the conversations that the settings select, including those that git has
// unchanged. If neither setting is set, the error is an [*InputError].
func (a Auto) Old() ([]store.Entry, error) {
	if a.ws.Config.AutoArchiveDays == 0 && a.ws.Config.MaxConversations == 0 {
		return nil, invalid("neither auto_archive_days nor max_conversations is set, so no conversation counts as old")
	}
	all, err := a.ws.Store.Outlines()
	return a.selected(all), err
}

// recordWait is how long Record waits for another process that archives.
const recordWait = 10 * time.Second

// Record notes which conversations the user had archived, for [Auto.Archived].
func (a Auto) Record(list []store.Entry) error {
	unlock, err := a.ws.Store.LockCache(autoFile, recordWait)
	if err != nil {
		return err
	}
	defer unlock()
	c := a.last()
	c.Archived, c.Left, c.LeftTold = nil, 0, 0
	for _, e := range list {
		c.Archived = append(c.Archived, e.Path)
	}
	a.save(c)
	return nil
}

// Archived returns the conversations archived last that are still archived.
func (a Auto) Archived() (list []store.Entry, err error) {
	for _, path := range a.last().Archived {
		e, err := a.ws.Entry(path)
		switch {
		case errors.Is(err, store.ErrNotFound): // removed since
		case err != nil:
			return nil, err
		case e.Session.Archived:
			list = append(list, e)
		}
	}
	return list, nil
}

// Prune selects conversations to remove. All criteria must hold.
type Prune struct {
	Before   time.Time // last active before this time; zero: at any time
	Archived bool      // only archived ones
	Keep     int       // number of selected conversations to keep, the most recent first
}

// Select returns the conversations to remove from a list sorted by activity, most recent
// first. It never selects one that is active, was written by a newer cortext, or could not
// be read.
func (p Prune) Select(all []store.Entry) []store.Entry {
	list := slices.DeleteFunc(slices.Clone(all), func(e store.Entry) bool {
		s := e.Session
		switch {
		case s.Status == schema.Active, workspace.ShownStatus(e) == "newer", e.Unread() != nil:
			return true
		case p.Archived && !s.Archived:
			return true
		}
		return !p.Before.IsZero() && !s.LastActive.Time().Before(p.Before)
	})
	return list[min(p.Keep, len(list)):]
}

// ParseAge parses a time span such as 12h, 90d or 8w.
func ParseAge(s string) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	unit, ok := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[s[len(s)-1]]
	n, err := strconv.Atoi(s[:len(s)-1])
	if !ok || err != nil || n < 0 || int64(n) > math.MaxInt64/int64(unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
