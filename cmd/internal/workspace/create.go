package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/lifecycle"
	"cortext/schema"
	"cortext/schema/prompt"
	"cortext/store"
)

// maxTitle is the longest title in bytes: titles are shown in lists.
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

// A Beginning describes a conversation that begins now.
type Beginning struct {
	Type      string
	Title     string // also the words of the folder's name
	Arguments string // what was typed after the command
	Source    *schema.Source
	ID        string // empty: a new one is made
}

// Begin makes a conversation that begins now: its folder with the type's document.
// It is active from now on; paused are the titles of the conversations that give
// way to it.
func (w *Workspace) Begin(b Beginning) (e store.Entry, paused []string, err error) {
	if err := w.CheckType(b.Type); err != nil {
		return e, nil, err
	}
	title, err := cleanTitle(b.Title)
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
		if _, err := io.ReadFull(w.Random(), entropy[:]); err != nil {
			return e, nil, err
		}
		s.ID = schema.NewID(now, entropy)
	}
	if err := w.DescribeCommand(s, "/workspace."+b.Type, b.Arguments); err != nil {
		return e, nil, err
	}
	if b.Source != nil {
		s.Sources = []schema.Source{*b.Source}
		s.AgentConfig.Agent = b.Source.Agent
	}
	if rel, ok := w.Relative(w.Env.Dir); ok && rel != "." {
		s.WorkingDir = rel
	}
	s.Git = w.GitState()
	c, err := w.Store.Stage(b.Type, title, s, []byte(DocumentOf(s)))
	if err != nil {
		return e, nil, err
	}
	defer c.Close()
	if b.Source != nil { // whoever asks for a conversation on the command line wants it as it is
		if err := c.HoldFromGit(); err != nil {
			c.Discard()
			return e, nil, err
		}
	}
	if err := w.Publish(c); errors.Is(err, store.ErrExist) {
		return w.takeExisting(c.Path())
	} else if err != nil {
		return e, nil, err
	}
	if paused, err = w.pauseOthers(c.Path()); err != nil {
		return e, nil, err
	}
	if e, err = w.Entry(c.Path()); err == nil {
		w.Note(lifecycle.Start, e.Path)
	}
	return e, paused, err
}

// takeExisting makes a conversation active that another capture of the same native
// session has begun.
func (w *Workspace) takeExisting(path string) (store.Entry, []string, error) {
	e, err := w.Entry(path)
	if err != nil {
		return e, nil, err
	}
	paused, err := w.SetStatus(e, schema.Active)
	return e, paused, err
}

// Publish puts a new conversation into the work tree, or, while an operation of git's
// is under way, where it waits for its end. If the conversation is there already, or is
// outside of the sparse checkout, the error is [store.ErrExist].
func (w *Workspace) Publish(c *store.Conversation) error {
	if w.Outside(c.Path()) {
		c.Discard()
		return store.ErrExist
	}
	if w.GitOperation() != "" {
		return c.PublishWaiting()
	}
	return c.Publish()
}

// GitState is where the work tree is now; nil outside of git.
func (w *Workspace) GitState() *schema.Git {
	at, ok := git.Head(w.Store.Root())
	if !ok {
		return nil
	}
	return &schema.Git{Commit: at.Commit, Branch: at.Branch}
}

// Random is the source of randomness.
func (w *Workspace) Random() io.Reader {
	if w.Env.Rand != nil {
		return w.Env.Rand
	}
	return rand.Reader
}

// DescribeCommand notes the command that a conversation began with, and which
// wording of it.
func (w *Workspace) DescribeCommand(s *schema.Session, command, arguments string) error {
	c, ok, err := w.Command(s.ConversationType)
	if err != nil || !ok {
		return err
	}
	s.AgentConfig.Command = command
	s.AgentConfig.Arguments = arguments
	s.AgentConfig.SystemPromptHash = prompt.Hash(c.Body)
	return nil
}
