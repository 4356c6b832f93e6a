package workspace

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cortext/cmd/internal/find"
	"cortext/cmd/internal/git"
	"cortext/schema"
	"cortext/store"
)

// In a sparse checkout the files of a conversation may be in git's index but not in the
// work tree. They are read from git, and never fetched unasked.

// maxBorrowed limits how many bytes are read of one conversation.
const maxBorrowed = 512 << 20

// borrow lets a conversation read its files that are outside of the sparse checkout. The
// error is a [*git.NotFetchedError] if they are not on this machine.
func (w *Workspace) borrow(c *store.Conversation) error {
	if !c.IsWaiting() && !c.LogMissing() {
		return nil
	}
	sparse, err := w.outside(c.Path())
	if err != nil || len(sparse) == 0 {
		return err
	}
	files := map[string][]byte{}
	err = git.IndexFiles(context.Background(), w.Store.Root(), c.Path()+"/.session", maxBorrowed, func(f git.File) error {
		if path.Dir(f.Path) == c.Path()+"/.session" && slices.Contains(sparse, f.Path) {
			files[path.Base(f.Path)] = f.Content
		}
		return nil
	})
	c.Borrow(files)
	return err
}

// outside lists the session files of a conversation that the sparse checkout leaves out.
func (w *Workspace) outside(path string) ([]string, error) {
	all, err := w.allOutside()
	return slices.DeleteFunc(all, func(file string) bool { return !strings.HasPrefix(file, path+"/.session/") }), err
}

// allOutside is outside for all conversations. It asks git once, and again after git has
// changed something.
func (w *Workspace) allOutside() ([]string, error) {
	if !w.sparse() {
		return nil, nil
	}
	if state := git.State(w.Store.Root()); w.leftOut == nil || w.leftOut.state != state {
		files, err := git.Sparse(context.Background(), w.Store.Root(), conversationsDir)
		if err != nil {
			return nil, err
		}
		w.leftOut = &leftOut{state, files}
	}
	return slices.DeleteFunc(slices.Clone(w.leftOut.files), func(file string) bool {
		_, err := os.Lstat(filepath.Join(w.Store.Root(), filepath.FromSlash(file)))
		return err == nil
	}), nil
}

// leftOut holds the files that a sparse checkout leaves out.
type leftOut struct {
	state string // of git, as in [git.State]
	files []string
}

// Outside reports whether git has the session files of a conversation but the sparse
// checkout leaves them out.
func (w *Workspace) Outside(path string) bool { return w.whyOutside(path) != "" }

// whyOutside says why a conversation counts as outside of the sparse checkout, or returns
// "". In a sparse checkout it also gives a reason if git does not answer.
func (w *Workspace) whyOutside(path string) string {
	sparse, err := w.outside(path)
	switch {
	case err != nil:
		return "git does not say what is outside of the sparse checkout: " + err.Error()
	case len(sparse) > 0:
		return "its files are outside of the sparse checkout"
	}
	return ""
}

// sparse reports whether the user has ever made the work tree a sparse checkout, judging
// from files only.
func (w *Workspace) sparse() bool {
	_, err := os.Lstat(filepath.Join(git.Dir(w.Store.Root()), "info", "sparse-checkout"))
	return err == nil
}

// waiting opens a conversation's waiting records, together with git's copy of it.
func (w *Workspace) waiting(path string) (*store.Conversation, error) {
	c, err := w.Store.Waiting(path, "")
	if err != nil {
		return nil, err
	}
	return c, w.borrow(c)
}

// pickOutside finds a conversation that is entirely outside of the sparse checkout. It
// returns the error missing if there is none.
func (w *Workspace) pickOutside(query string, missing error) (store.Entry, error) {
	root := w.Store.Root()
	sparse, err := w.allOutside()
	if err != nil {
		return store.Entry{}, missing
	}
	wanted := map[string]bool{}
	for _, name := range sparse {
		if strings.Count(name, "/") == 4 && strings.HasSuffix(name, "/.session/session.json") {
			wanted[name] = true
		}
	}
	if len(wanted) == 0 {
		return store.Entry{}, missing
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
		items = append(items, find.Item{ID: s.ID, Folder: strings.TrimPrefix(folder, conversationsDir+"/"), Title: s.DisplayTitle(), Summary: s.ContextSummary})
		found = append(found, store.Entry{Path: folder, Session: s, Waiting: true})
		return nil
	})
	hits := find.Match(items, query)
	switch {
	case len(hits) == 1:
		return w.entryOutside(found[hits[0]].Path)
	case len(hits) > 1:
		ambiguous := &AmbiguousError{Query: query}
		for _, i := range hits {
			ambiguous.Candidates = append(ambiguous.Candidates, found[i])
		}
		return store.Entry{}, ambiguous
	}
	var unfetched *git.NotFetchedError
	if errors.As(err, &unfetched) {
		unfetched.Args = []string{"git", "-C", filepath.Clean(root), "ls-tree", "-r", "-l", "HEAD", "--", conversationsDir}
		return store.Entry{}, errors.Join(missing, unfetched)
	}
	return store.Entry{}, missing
}

// entryOutside describes a conversation that only git has.
func (w *Workspace) entryOutside(path string) (store.Entry, error) {
	c, err := w.waiting(path)
	if err != nil {
		return store.Entry{}, err
	}
	defer c.Close()
	s, damage, err := c.Session()
	return store.Entry{Path: path, Session: s, Damage: damage, Waiting: true}, err
}
