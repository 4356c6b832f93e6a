package workspace

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/shell"
	"cortext/store"
)

// A Waiting describes what waits for a conversation: captured messages that are not in
// the work tree's log yet.
type Waiting struct {
	Entry    store.Entry
	Messages int
	Folder   string // where the messages wait, relative to the workspace
	Why      string // why they cannot be in the work tree; empty: nothing prevents it
	Way      string // the command that moves them there
}

func (v Waiting) String() string {
	n := fmt.Sprintf("%d messages wait", v.Messages)
	switch v.Messages {
	case 0:
		n = "changes wait"
	case 1:
		n = "1 message waits"
	}
	why := v.Why
	if why == "" {
		why = "nothing keeps them there now"
	}
	return fmt.Sprintf("%s: %s in %s: %s; %s", v.Entry.Path, n, v.Folder, why, v.Way)
}

// waitingDir is the folder for waiting records.
const waitingDir = ".workspace/local/kept/waiting"

// Waiting returns what waits for the given conversations. Usually nothing does, which
// costs reading one folder.
func (w *Workspace) Waiting(entries ...store.Entry) (list []Waiting, err error) {
	names := w.Store.Kept().WaitingPaths()
	if len(names) == 0 {
		return nil, nil
	}
	var errs []error
	for _, e := range entries {
		for _, name := range e.Folders() {
			if !slices.Contains(names, name) || !w.Store.Kept().WaitsFor(name, e.Session.ID) {
				continue
			}
			n, err := w.Store.Kept().WaitingCount(name)
			if n > 0 && w.Tree.Outside(name) {
				n, err = w.Tree.besideGit(name, e)
			}
			errs = append(errs, err)
			v := Waiting{Entry: e, Messages: n, Folder: path.Join(waitingDir, name)}
			v.Why, v.Way = w.Tree.whyWaiting(e, name)
			list = append(list, v)
		}
	}
	return list, errors.Join(errs...)
}

// besideGit counts the messages that wait for a conversation outside of the sparse
// checkout and that git does not have.
func (t *Tree) besideGit(name string, e store.Entry) (int, error) {
	c, err := t.store.Kept().Waiting(name, e.Session.ID)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	log, err := git.IndexBlob(context.Background(), t.store.Root(), messagesOf(name))
	if err != nil && !errors.Is(err, git.ErrNotInIndex) && !errors.As(err, new(*git.NotFetchedError)) {
		return 0, err
	}
	ids, err := c.MessageIDs()
	for id := range idsIn(log) {
		delete(ids, id)
	}
	return len(ids), err
}

// whyWaiting says why records wait, and which command moves them into the work tree.
func (t *Tree) whyWaiting(e store.Entry, name string) (why, way string) {
	if op := t.Operation(); op != "" {
		return underWay(op), "when that is done, cortext sync puts them into the log"
	}
	sparse := shell.Quote("git", "-C", t.store.Root(), "sparse-checkout", "add", name) + ", then cortext sync puts them into the log"
	c, err := t.store.Conversation(name)
	switch {
	case errors.Is(err, store.ErrNotFound):
		if why := t.whyOutside(name); why != "" {
			return why, sparse
		}
		return "the folder is not in this work tree", "cortext sync --restore or " + shell.Quote("cortext", "resume", e.Session.ID) + " puts it back"
	case err != nil:
		return err.Error(), "then cortext sync puts them into the log"
	}
	defer c.Close()
	if err := c.StandIn(); err != nil {
		return err.Error(), "then cortext sync puts them into the log"
	}
	if why := t.Away(c); why != "" {
		return why, sparse
	}
	return "", "cortext sync puts them into the log"
}
