package workspace

import (
	"errors"
	"slices"

	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/listing"
	"cortext/schema"
	"cortext/store"
)

// Edit changes the metadata of a conversation and returns the result.
func (w *Workspace) Edit(e store.Entry, f func(*schema.Session) error) (*schema.Session, error) {
	if err := w.MergeTwins(e); err != nil {
		return nil, err
	}
	c, err := w.Conversation(e.Path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.Edit(f); err != nil {
		return nil, err
	}
	s, _, err := c.Session()
	return s, err
}

// SetTitle changes the title of a conversation. The folder keeps its name, because links
// and commits point to it.
func (w *Workspace) SetTitle(e store.Entry, title string) (*schema.Session, error) {
	title, err := CleanTitle(title)
	if err != nil {
		return nil, err
	}
	return w.Edit(e, func(s *schema.Session) error {
		s.Title = title
		return nil
	})
}

// SetStatus changes the status of a conversation. With one_active, it pauses the other
// active conversations and returns their titles.
func (w *Workspace) SetStatus(e store.Entry, status schema.Status) (paused []string, err error) {
	if status == schema.Active {
		if paused, err = w.pauseOthers(e.Path); err != nil {
			return nil, err
		}
	}
	_, err = w.Edit(e, func(s *schema.Session) error {
		w.setStatus(e.Path, s, status)
		return nil
	})
	return paused, err
}

// setStatus sets the status of a session and notes an event if an active one ends.
func (w *Workspace) setStatus(path string, s *schema.Session, status schema.Status) {
	if s.Status == schema.Active && status != schema.Active || status == schema.Completed && s.Status != status {
		w.Events.Note(lifecycle.End, path)
	}
	s.Status = status
}

// Activate makes a conversation active as of now.
func (w *Workspace) Activate(e store.Entry) (paused []string, err error) {
	if paused, err = w.pauseOthers(e.Path); err != nil {
		return paused, err
	}
	_, err = w.Edit(e, func(s *schema.Session) error {
		s.Status = schema.Active
		if now := w.Env.Now(); s.LastActive.Time().Before(now) {
			s.LastActive = schema.NewTime(now)
		}
		return nil
	})
	if err == nil {
		w.Events.Note(lifecycle.Resume, e.Path)
		w.Events.Note(lifecycle.Start, e.Path)
	}
	return paused, err
}

func (w *Workspace) pauseOthers(path string) (paused []string, err error) {
	if !w.Config.OneActive {
		return nil, nil
	}
	active, err := w.ListedActive()
	if err != nil {
		return nil, err
	}
	for _, e := range active {
		if e.Path == path {
			continue
		}
		if _, err := w.Edit(e, func(s *schema.Session) error {
			w.setStatus(e.Path, s, schema.Paused)
			return nil
		}); err != nil {
			return paused, err
		}
		paused = append(paused, e.Session.DisplayTitle())
	}
	return paused, nil
}

// Active lists the active conversations.
func (w *Workspace) Active() ([]store.Entry, error) {
	all, err := w.Store.ListAny(func(k store.Known) bool { return string(k.Status) == string(schema.Active) })
	return slices.DeleteFunc(all, func(e store.Entry) bool { return e.Session.Status != schema.Active || unwritable(e) }), err
}

// ListedActive describes the active conversations as a list does, see [listing.Row.Entry].
// It opens no file that has not changed.
func (w *Workspace) ListedActive() (active []store.Entry, err error) {
	l, err := w.Listing(nil)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	page, err := l.Page(listing.Selection{Filter: listing.Filter{Statuses: []string{string(schema.Active)}, Archived: true}, Limit: listing.Looked})
	if err != nil {
		return nil, err
	}
	for k := range page.Len() {
		r := page.Row(k)
		active = append(active, r.Entry())
	}
	return active, nil
}

// ShownStatus returns the status of a conversation for listings. It is "newer" for a
// conversation written by a later cortext, whose status is unknown.
func ShownStatus(e store.Entry) string {
	if slices.ContainsFunc(e.Damage, func(d store.Damage) bool { return d.Kind == store.Newer }) {
		return "newer"
	}
	return string(e.Session.Status)
}

// unwritable reports whether a conversation cannot be changed by this version.
func unwritable(e store.Entry) bool {
	return slices.ContainsFunc(e.Damage, func(d store.Damage) bool { return d.Kind == store.Newer || d.Kind == store.NotRegular })
}

// Pause pauses an active conversation and updates its counters and summary. It does nothing
// if the conversation is not in this work tree.
func (w *Workspace) Pause(path string) error {
	c, err := w.Conversation(path)
	if errors.Is(err, store.ErrNotFound) {
		return nil // another branch is checked out, or the user removed it
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if c.LogsAbsent() && !c.IsWaiting() {
		return nil // git removed the records
	}
	_, err = w.Finish(c, Finishing{Pause: true})
	return err
}
