package workspace

import (
	"errors"
	"time"

	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/settings"
	"cortext/schema"
	"cortext/store"
)

// Status changes the status of conversations, and finds the active ones.
type Status struct {
	conversations Conversations
	config        *settings.Config
	events        *Events
	now           func() time.Time
}

// Set changes the status of a conversation. With one_active, it pauses the other
// active conversations and returns their titles.
func (v Status) Set(e store.Entry, status schema.Status) (paused []string, err error) {
	if status == schema.Active {
		if paused, err = v.pauseOthers(e.Path); err != nil {
			return nil, err
		}
	}
	_, err = v.conversations.Edit(e, func(s *schema.Session) error {
		v.change(e.Path, s, status)
		return nil
	})
	return paused, err
}

// change sets the status of a session and notes an event if an active one ends.
func (v Status) change(path string, s *schema.Session, status schema.Status) {
	if s.Status == schema.Active && status != schema.Active || status == schema.Completed && s.Status != status {
		v.events.Note(lifecycle.End, path)
	}
	s.Status = status
}

// Activate makes a conversation active as of now.
func (v Status) Activate(e store.Entry) (paused []string, err error) {
	if paused, err = v.pauseOthers(e.Path); err != nil {
		return paused, err
	}
	_, err = v.conversations.Edit(e, func(s *schema.Session) error {
		s.Status = schema.Active
		if now := v.now(); s.LastActive.Time().Before(now) {
			s.LastActive = schema.NewTime(now)
		}
		return nil
	})
	if err == nil {
		v.events.Note(lifecycle.Resume, e.Path)
		v.events.Note(lifecycle.Start, e.Path)
	}
	return paused, err
}

func (v Status) pauseOthers(path string) (paused []string, err error) {
	if !v.config.OneActive {
		return nil, nil
	}
	active, err := v.ListedActive()
	if err != nil {
		return nil, err
	}
	for _, e := range active {
		if e.Path == path || !v.IsHere(e) {
			continue
		}
		if _, err := v.conversations.Edit(e, func(s *schema.Session) error {
			v.change(e.Path, s, schema.Paused)
			return nil
		}); err != nil {
			return paused, err
		}
		paused = append(paused, e.Session.DisplayTitle())
	}
	return paused, nil
}

// IsHere reports whether an active conversation continues in this work tree. Git brings those that
// continue in others.
func (v Status) IsHere(e store.Entry) bool {
	return !e.Session.LastActive.Time().After(v.conversations.Store.Written(e.Path).Add(late))
}

// late is how much earlier than its last message a conversation may have been written: agents
// and file systems have clocks of their own.
const late = time.Minute

// Active reads the active conversations that can be written.
func (v Status) Active() (active []store.Entry, err error) {
	err = v.eachListed(ofStatus(schema.Active), func(l *listing.Listing, r *listing.Row) error {
		e, err := l.Read(r)
		if err == nil && e.Session.Status == schema.Active && !e.IsClosed() {
			active = append(active, e)
		}
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return err
	})
	return active, err
}

// ListedActive describes the active conversations as a list does, see [listing.Row.Entry].
// It opens only files that have changed.
func (v Status) ListedActive() (active []store.Entry, err error) {
	return v.listed(ofStatus(schema.Active))
}

// ofStatus selects the conversations with a status.
func ofStatus(status schema.Status) listing.Filter {
	return listing.Filter{Statuses: []string{string(status)}, Archived: true}
}

func (v Status) listed(f listing.Filter) (list []store.Entry, err error) {
	err = v.eachListed(f, func(_ *listing.Listing, r *listing.Row) error {
		list = append(list, r.Entry())
		return nil
	})
	return list, err
}

// eachListed calls f with the row of each conversation that a filter selects.
func (v Status) eachListed(filter listing.Filter, f func(l *listing.Listing, r *listing.Row) error) error {
	l, err := v.conversations.Listing(nil)
	if err != nil {
		return err
	}
	defer l.Close()
	page, err := l.Page(listing.Selection{Filter: filter, Limit: listing.Looked})
	for k := 0; err == nil && k < page.Len(); k++ {
		r := page.Row(k)
		err = f(l, &r)
	}
	return err
}

// WentOn reports whether a paused conversation continued in this work tree later than an
// active one, and after it was paused: its agent session is then still open beside the
// other one.
func (v Status) WentOn(active store.Entry) (bool, error) {
	later := ofStatus(schema.Paused)
	later.Since = active.Session.LastActive.Time()
	paused, err := v.listed(later)
	if err != nil {
		return false, err
	}
	for _, e := range paused {
		last := e.Session.LastActive.Time()
		if !last.After(active.Session.LastActive.Time()) || !v.IsHere(e) {
			continue
		}
		whole, err := v.conversations.Entry(e.Path)
		if err == nil && whole.Session.StatusSet != nil && last.After(whole.Session.StatusSet.At.Time()) {
			return true, nil
		}
	}
	return false, nil
}

// ShownStatus returns the status of a conversation for listings. It is "newer" for a
// conversation written by a later cortext, whose status is unknown.
func ShownStatus(e store.Entry) string {
	if e.IsNewer() {
		return "newer"
	}
	return string(e.Session.Status)
}
