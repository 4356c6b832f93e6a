package workspace

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"cortext/cmd/internal/lifecycle"
	"cortext/schema"
	"cortext/store"
)

// maxTitle is the maximum title length in bytes: lists show titles.
const maxTitle = 300

// A TitleError says why a text cannot be a title.
type TitleError struct{ Why string }

func (e *TitleError) Error() string { return e.Why }

// CleanTitle puts a title on one line, without control characters. The error is a
// [*TitleError].
func CleanTitle(title string) (string, error) {
	title = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, title)
	title = strings.Join(strings.Fields(title), " ")
	switch {
	case title == "":
		return "", &TitleError{"the title is empty"}
	case len(title) > maxTitle:
		return "", &TitleError{fmt.Sprintf("the title has %d bytes, at most %d are shown in lists", len(title), maxTitle)}
	}
	return title, nil
}

// A Beginning describes a new conversation.
type Beginning struct {
	Type      string
	Title     string // also used for the folder name
	Arguments string // typed after the command
	Source    *schema.Source
	ID        string // empty: make a new one
}

// Begin starts a conversation: it creates the folder with the type's document and makes
// the conversation active. paused are the titles of the conversations that are paused for
// it.
func (w *Workspace) Begin(b Beginning) (e store.Entry, paused []string, err error) {
	if err := w.Prompts.Check(b.Type); err != nil {
		return e, nil, err
	}
	title, err := CleanTitle(b.Title)
	if err != nil {
		return e, nil, err
	}
	now := w.Env.Now()
	s := &schema.Session{
		Version:          schema.Version,
		ID:               b.ID,
		ConversationType: b.Type,
		Title:            title,
		Status:           schema.Active,
		CreatedAt:        schema.NewTime(now),
		LastActive:       schema.NewTime(now),
	}
	if s.ID == "" {
		var entropy [10]byte
		if _, err := io.ReadFull(w.Env.Entropy(), entropy[:]); err != nil {
			return e, nil, err
		}
		s.ID = schema.NewID(now, entropy)
	}
	if err := w.Prompts.Describe(s, "/workspace."+b.Type, b.Arguments); err != nil {
		return e, nil, err
	}
	if b.Source != nil {
		s.Sources = []schema.Source{*b.Source}
		s.AgentConfig.Agent = b.Source.Agent
	}
	if rel, ok := w.Tree.Relative(w.Env.Dir); ok && rel != "." {
		s.WorkingDir = rel
	}
	s.Git = w.Tree.Head()
	c, err := w.Store.Stage(b.Type, title, s, []byte(DocumentOf(s)))
	if err != nil {
		return e, nil, err
	}
	if b.Source != nil { // a user who starts a conversation on the command line wants it as it is
		if err := c.HoldFromGit(); err != nil {
			c.Discard()
			return e, nil, err
		}
	}
	return w.Start(c)
}

// Start publishes a staged conversation, closes it and makes it the active one. paused lists
// the titles of the conversations that it paused.
func (w *Workspace) Start(c *store.Conversation) (e store.Entry, paused []string, err error) {
	defer c.Close()
	if err := w.Publish(c); errors.Is(err, store.ErrExist) {
		return w.takeExisting(c.Path())
	} else if err != nil {
		return e, nil, err
	}
	if paused, err = w.Status.pauseOthers(c.Path()); err != nil {
		return e, nil, err
	}
	if e, err = w.Entry(c.Path()); err == nil {
		w.Events.Note(lifecycle.Start, e.Path)
	}
	return e, paused, err
}

// takeExisting activates a conversation that another capture of the same native session
// began.
func (w *Workspace) takeExisting(path string) (store.Entry, []string, error) {
	e, err := w.Entry(path)
	if err != nil {
		return e, nil, err
	}
	paused, err := w.Status.Set(e, schema.Active)
	return e, paused, err
}

// Publish puts a new conversation into the work tree. During a git operation the
// conversation waits outside of the work tree until the operation ends. If the conversation
// already exists, or is outside of the sparse checkout, the error is [store.ErrExist].
func (w *Workspace) Publish(c *store.Conversation) error {
	if w.Tree.Outside(c.Path()) {
		c.Discard()
		return store.ErrExist
	}
	_ = w.Repository.Exclude() // a commit repeats it, and reports why it fails
	if w.Tree.Operation() != "" {
		return c.PublishWaiting()
	}
	return c.Publish()
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
