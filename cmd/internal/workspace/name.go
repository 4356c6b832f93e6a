package workspace

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/git"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/prompt"
	"cortext/store"
)

// Untitled is the title of a conversation without a topic, until its first words give one.
const Untitled = notes.Untitled

// Unnamed reports whether a folder name may have been chosen before there were words for
// it.
func Unnamed(folder string) bool { return strings.Contains(path.Base(folder), "-"+notes.Untitled+"-") }

// Name names a conversation that began without a topic after its first words, or after
// said, a prompt that is not captured yet. It sets the title if there is none, renames the
// folder if nothing refers to it, and returns the folder. If it is killed in between, the
// next Name completes it.
func (w *Workspace) Name(ctx context.Context, at, said string) (string, error) {
	if !Unnamed(at) || w.Tree.Operation() != "" {
		return at, nil
	}
	c, err := w.Store.Conversation(at)
	if errors.Is(err, store.ErrNotFound) {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	defer c.Close()
	if w.Tree.Away(c) != "" || c.LogsAbsent() {
		return at, nil // git has the rest of it, and the user has not asked to restore it
	}
	s, damage, err := c.Session()
	if err != nil || len(damage) > 0 || at != store.FolderName(s, s.ConversationType, notes.Untitled) {
		return at, err
	}
	head, err := headOf(c)
	if err != nil {
		return at, err
	}
	words := notes.Title(append(head, Shorten([]schema.Message{{Role: schema.User, Content: said}})...))
	if words == notes.Untitled {
		return at, nil
	}
	doc, free := w.isFree(ctx, c, s)
	name := path.Base(at)
	if free {
		name = path.Base(store.FolderName(s, s.ConversationType, words))
	}
	if err := called(c, name, words); err != nil {
		return at, err
	}
	if !free {
		return at, nil
	}
	if doc != "" {
		if s, _, err = c.Session(); err == nil {
			err = w.Store.WriteFile(at+"/"+doc, []byte(DocumentOf(s)))
		}
		if err != nil {
			return at, err
		}
	}
	if err = c.Rename(words); errors.Is(err, store.ErrExist) {
		err = nil
	}
	if now := path.Base(c.Path()); err == nil && now != name { // the name is taken, or had a secret in it
		err = called(c, now, words)
	}
	return c.Path(), err
}

// called records the name of a conversation's folder, and a title if it has none.
func called(c *store.Conversation, name, title string) error {
	return c.Edit(func(s *schema.Session) error {
		s.ConversationID = name
		if s.Title == notes.Untitled {
			s.Title = title
		}
		return nil
	})
}

// DocumentOf returns the document that a conversation begins with.
func DocumentOf(s *schema.Session) string {
	return prompt.Document(s.ConversationType, s.Title, s.CreatedAt.Time().UTC().Format(time.DateOnly))
}

// isFree reports whether nothing refers to the folder of a conversation: the user put
// nothing in it, no commit contains it, only one session goes into it, and nothing is
// kept for it. doc is the document, which is unchanged.
func (w *Workspace) isFree(ctx context.Context, c *store.Conversation, s *schema.Session) (doc string, free bool) {
	entries, err := os.ReadDir(filepath.Join(w.Store.Root(), filepath.FromSlash(c.Path())))
	if err != nil || len(s.Sources) != 1 || c.HasMore() || slices.Contains(w.Store.Kept().TakenPaths(), c.Path()) {
		return "", false
	}
	for _, e := range entries {
		switch e.Name() {
		case ".session":
		case s.ConversationType + ".md":
			doc = e.Name()
			b, err := w.Store.ReadFile(c.Path() + "/" + doc)
			untitled := *s
			untitled.Title = notes.Untitled
			if err != nil || string(b) != DocumentOf(s) && string(b) != DocumentOf(&untitled) {
				return "", false
			}
		default:
			return "", false
		}
	}
	launches := w.Launches()
	for _, id := range launches.IDs() {
		if l, ok := launches.Get(id); ok && l.Path == c.Path() {
			return "", false
		}
	}
	if git.Dir(w.Store.Root()) == "" {
		return doc, true
	}
	root := w.Store.Root()
	known, err := git.Knows(ctx, root, c.Path())
	if err == nil && !known { // a branch or stash that contains it would bring the folder back
		known, err = git.Had(ctx, root, c.Path(), s.CreatedAt.Time().AddDate(0, 0, -1))
	}
	return doc, err == nil && !known
}
