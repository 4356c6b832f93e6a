package workspace

import (
	"errors"

	"cortext/store"
)

// A Wait is a conversation with messages that are kept outside of its logs until they
// can be put there.
type Wait struct {
	Path     string
	Messages int
	Why      string
}

// Waits lists the conversations with messages that wait.
func (w *Workspace) Waits() (list []Wait, err error) {
	for _, path := range w.Store.WaitingPaths() {
		n, err := w.Store.WaitingCount(path)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			list = append(list, Wait{path, n, w.whyWaits(path)})
		}
	}
	return list, nil
}

func (w *Workspace) whyWaits(path string) string {
	c, err := w.Store.Conversation(path)
	switch op := w.GitOperation(); {
	case op != "":
		return "git is in the middle of a " + op
	case errors.Is(err, store.ErrNotFound):
		return "its folder is not in this work tree"
	case err != nil:
		return err.Error()
	}
	defer c.Close()
	if why := w.Away(c); why != "" {
		return why
	}
	return "nothing was written to it since"
}

// RemovedHere lists the conversations that were removed, in another clone or on
// another machine, and whose folders are in this work tree.
func (w *Workspace) RemovedHere() (list []store.Entry, err error) {
	all, err := w.Store.List()
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		gone := len(e.Session.Sources) > 0
		for _, src := range e.Session.Sources {
			removed, err := w.IsRemoved(src.Agent, src.NativeID, src.From)
			if err != nil {
				return nil, err
			}
			gone = gone && removed
		}
		if gone && !e.Waiting {
			list = append(list, e)
		}
	}
	return list, nil
}
