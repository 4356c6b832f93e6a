package workspace

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"cortext/cmd/internal/find"
	"cortext/cmd/internal/git"
	"cortext/schema"
	"cortext/store"
)

// waiting opens a conversation's waiting records, together with git's copy of it.
func (w Conversations) waiting(path string) (*store.Conversation, error) {
	c, err := w.Store.Kept().Waiting(path, "")
	if err != nil {
		return nil, err
	}
	return c, w.Tree.borrow(c)
}

// matchingOutside returns the conversations that query matches and that are entirely outside
// of the sparse checkout. It returns the error missing if there is none.
func (w Conversations) matchingOutside(query string, missing error) ([]store.Entry, error) {
	root := w.Store.Root()
	sparse, err := w.Tree.allOutside()
	if err != nil {
		return nil, missing
	}
	wanted := map[string]bool{}
	for _, name := range sparse {
		if strings.Count(name, "/") == 4 && strings.HasSuffix(name, "/.session/session.json") {
			wanted[name] = true
		}
	}
	if len(wanted) == 0 {
		return nil, missing
	}
	var items []find.Item
	var found []store.Entry
	err = git.Versions(context.Background(), root, conversationsDir, ".session/session.json", func(v git.Version) error {
		if !wanted[v.Path] {
			return nil
		}
		s, err := schema.ParseSession(v.Content)
		if err != nil {
			return nil // check reports it
		}
		delete(wanted, v.Path) // the newest branch comes first
		folder := path.Dir(path.Dir(v.Path))
		items = append(items, find.Item{ID: s.ID, Folder: strings.TrimPrefix(folder, conversationsDir+"/"), Title: s.DisplayTitle(), Summary: s.ContextSummary, Prompt: s.Description, Tags: s.Tags})
		found = append(found, store.Entry{Path: folder, Session: s, Waiting: true})
		return nil
	})
	hits, _ := find.Match(items, query)
	if len(hits) == 1 {
		e, err := w.entryOutside(found[hits[0]].Path)
		return []store.Entry{e}, err
	}
	if len(hits) > 1 {
		return selected(found, hits), nil
	}
	var unfetched *git.NotFetchedError
	if errors.As(err, &unfetched) {
		unfetched.Args = git.FetchCommand(filepath.Clean(root), "HEAD", conversationsDir)
		return nil, errors.Join(missing, unfetched)
	}
	return nil, missing
}

// entryOutside describes a conversation that only git has.
func (w Conversations) entryOutside(path string) (store.Entry, error) {
	c, err := w.waiting(path)
	if err != nil {
		return store.Entry{}, err
	}
	defer c.Close()
	s, damage, err := c.Session()
	return store.Entry{Path: path, Session: s, Damage: damage, Waiting: true}, err
}
