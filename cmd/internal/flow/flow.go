// Package flow holds what the commands do, as plain functions: it is where the
// store, the agents' transcripts and the resume engine meet. Nothing here prints
// or exits, so that a server could call it as the command line does.
package flow

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume/find"
	"cortext/schema"
	"cortext/store"
)

// Env is what flow needs of the world around it.
type Env struct {
	Dir     string // where the user stands, absolute
	Machine inject.Machine
	Now     func() time.Time
	Rand    io.Reader
	Holder  string         // what another process is told while this one holds a lock
	Agents  []inject.Agent // the agents, in the order in which they are asked
}

// A Workspace is an open workspace with its settings.
type Workspace struct {
	Store    *store.Store
	Config   Config
	Warnings []string // about the settings

	// Summing, if it is set, is told of which messages, and how many there are, a
	// model is asked for a summary, before it is.
	Summing func(first, last, of int)

	env      Env
	happened []Happening
	syncing  *syncing // while many sessions are looked at

	summaryWait time.Duration // how long one summary may take; 0: summaryTime
}

// Open opens the workspace that env.Dir is in.
func Open(env Env) (*Workspace, error) {
	root, err := store.Find(env.Dir)
	if err != nil {
		return nil, err
	}
	st, err := store.Open(root, store.Options{Now: env.Now, Rand: env.Rand, Holder: env.Holder})
	if err != nil {
		return nil, err
	}
	w := &Workspace{Store: st, env: env}
	w.Config, w.Warnings = workspace.ReadConfig(st)
	return w, nil
}

// OpenAt opens dir as a workspace, also if it is none yet: to plan what would be
// put into it.
func OpenAt(env Env, dir string, isNew bool) (*Workspace, error) {
	if !isNew {
		return Open(env)
	}
	st, err := store.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	w := &Workspace{Store: st, env: env}
	w.Config, w.Warnings = workspace.ReadConfig(st)
	return w, nil
}

// Close releases the workspace.
func (w *Workspace) Close() error { return w.Store.Close() }

// A NotFoundError says that no conversation is meant by a query.
type NotFoundError struct {
	Query string
	Near  []store.Entry // what may have been meant, best first
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("no conversation matches %q", e.Query) }

// An AmbiguousError says that several conversations may be meant.
type AmbiguousError struct {
	Query      string // empty: none was named
	Candidates []store.Entry
}

func (e *AmbiguousError) Error() string {
	if e.Query == "" {
		return fmt.Sprintf("which conversation is meant? there are %d", len(e.Candidates))
	}
	return fmt.Sprintf("%q matches %d conversations", e.Query, len(e.Candidates))
}

// ErrNoConversation is returned where a command means the current conversation
// and there is none.
var ErrNoConversation = errors.New("no conversation is active")

// nearest is how many conversations are named where nothing matched.
const nearest = 3

// match returns what query means, at least one.
func (w *Workspace) match(all []store.Entry, query string) ([]store.Entry, error) {
	items := make([]find.Item, len(all))
	for i, e := range all {
		items[i] = find.Item{
			ID:      e.Session.ID,
			Folder:  strings.TrimPrefix(e.Path, "conversations/"),
			Title:   e.Session.DisplayTitle(),
			Summary: e.Session.ContextSummary,
		}
	}
	take := func(at []int) []store.Entry {
		list := make([]store.Entry, len(at))
		for i, n := range at {
			list[i] = all[n]
		}
		return list
	}
	if hits := find.Match(items, query); len(hits) > 0 {
		return take(hits), nil
	}
	return nil, &NotFoundError{Query: query, Near: take(find.Nearest(items, query, nearest))}
}

// Current returns the conversation that a command means which names none: that
// of CORTEXT_SESSION, else that of the agent's session the command runs in, else
// the only active one (DESIGN: "Which conversation is meant without an id").
func (w *Workspace) Current() (store.Entry, error) {
	if id := w.env.Machine.Getenv("CORTEXT_SESSION"); id != "" {
		return w.Pick(id)
	}
	for _, agent := range w.env.Agents {
		id := agent.Session(w.env.Machine)
		if id == "" {
			continue
		}
		t, err := w.tieOf(agent, id, "")
		if err != nil {
			return store.Entry{}, err
		}
		if t.held() {
			return w.entry(t.current().Path)
		}
	}
	active, err := w.active()
	if err != nil {
		return store.Entry{}, err
	}
	switch len(active) {
	case 0:
		return store.Entry{}, ErrNoConversation
	case 1:
		return active[0], nil
	}
	return store.Entry{}, &AmbiguousError{Candidates: active}
}

// entry returns the conversation at a path as List gives it.
func (w *Workspace) entry(at string) (store.Entry, error) {
	c, err := w.Store.Conversation(at)
	if err != nil {
		return store.Entry{}, err
	}
	defer c.Close()
	s, damage, err := c.Session()
	return store.Entry{Path: at, Session: s, Damage: damage}, err
}

// PickOrCurrent is Pick where a query is given, else Current.
func (w *Workspace) PickOrCurrent(query string) (store.Entry, error) {
	if query != "" {
		return w.Pick(query)
	}
	return w.Current()
}

func hasSource(s *schema.Session, agent, nativeID string) bool {
	for _, src := range s.Sources {
		if src.Agent == agent && src.NativeID == nativeID {
			return true
		}
	}
	return false
}

// edit opens a conversation, changes its metadata and returns it as it stands
// then.
func (w *Workspace) edit(path string, f func(*store.Conversation, *schema.Session) error) (*schema.Session, error) {
	c, err := w.Store.Conversation(path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.Edit(func(s *schema.Session) error { return f(c, s) }); err != nil {
		return nil, err
	}
	s, _, err := c.Session()
	return s, err
}

// SetStatus changes the status of a conversation. Where one conversation at a
// time is active (one_active), the others that are become paused; their titles
// are returned.
func (w *Workspace) SetStatus(e store.Entry, status schema.Status) (paused []string, err error) {
	if status == schema.Active {
		if paused, err = w.pauseOthers(e.Path); err != nil {
			return nil, err
		}
	}
	_, err = w.edit(e.Path, func(_ *store.Conversation, s *schema.Session) error {
		s.Status = status
		return nil
	})
	return paused, err
}

func (w *Workspace) pauseOthers(path string) (paused []string, err error) {
	if !w.Config.OneActive {
		return nil, nil
	}
	all, err := w.Store.List()
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.Path == path || e.Session.Status != schema.Active {
			continue
		}
		if _, err := w.edit(e.Path, func(_ *store.Conversation, s *schema.Session) error {
			s.Status = schema.Paused
			return nil
		}); err != nil {
			return paused, err
		}
		paused = append(paused, e.Session.DisplayTitle())
	}
	return paused, nil
}

// maxTitle is the longest title in bytes: it stands in lists.
const maxTitle = 300

// A TitleError says why a text cannot be a title.
type TitleError struct{ Why string }

func (e *TitleError) Error() string { return e.Why }

// cleanTitle puts a title on one line.
func cleanTitle(title string) (string, error) {
	title = strings.Join(strings.Fields(title), " ")
	switch {
	case title == "":
		return "", &TitleError{"the title is empty"}
	case len(title) > maxTitle:
		return "", &TitleError{fmt.Sprintf("the title has %d bytes, at most %d are shown in lists", len(title), maxTitle)}
	}
	return title, nil
}

// SetTitle changes the title of a conversation; its folder keeps its name, since
// links and commits point at it.
func (w *Workspace) SetTitle(e store.Entry, title string) (*schema.Session, error) {
	title, err := cleanTitle(title)
	if err != nil {
		return nil, err
	}
	return w.edit(e.Path, func(_ *store.Conversation, s *schema.Session) error {
		s.Title = title
		return nil
	})
}

// relative returns dir relative to the workspace with slashes; ok is false where
// dir is not in it.
func (w *Workspace) relative(dir string) (rel string, ok bool) {
	rel, err := filepath.Rel(w.Store.Root(), dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(os.PathSeparator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
