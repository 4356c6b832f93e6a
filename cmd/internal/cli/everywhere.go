package cli

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// seen lists the folders of the workspaces on this machine that cortext has seen, except
// the one that the command works in.
func (a *app) seen() []string {
	known := registry.In(workspace.StateDir(a.Machine)).Workspaces
	root, err := a.root()
	if err != nil {
		return known.Seen()
	}
	return known.Others(root)
}

// others opens the workspaces that seen lists, and warns about those that cannot be opened.
func (a *app) others(cmd *cobra.Command) (list []*opened) {
	for _, dir := range a.seen() {
		w, err := a.openAt(cmd, dir)
		if err != nil {
			a.screen.warn(fmt.Sprintf("%s is left out: %v", dir, err))
			continue
		}
		list = append(list, w)
	}
	return list
}

// openAt opens the workspace in a folder, without its warnings.
func (a *app) openAt(cmd *cobra.Command, dir string) (*opened, error) {
	ws, err := workspace.Open(a.env(cmd, dir))
	if err != nil {
		return nil, err
	}
	return &opened{ws, capture.New(ws), payload.New(ws), compact.New(ws, endpoint)}, nil
}

// found is a conversation in another workspace.
type found struct{ dir, id, title string }

// elsewhere looks for a conversation in the other workspaces. The query must be an id, the
// start of one, a folder, or the short name in a list, because words would match too many.
func elsewhere(cmd *cobra.Command, a *app, query string) (hits []found) {
	if strings.ContainsAny(query, " \t") {
		return nil
	}
	for _, dir := range a.seen() {
		w, err := a.openAt(cmd, dir)
		if err != nil {
			continue
		}
		if l, err := w.Listing(nil); err == nil {
			for _, i := range l.Mentioning(strings.Trim(strings.TrimPrefix(query, "conversations/"), "/")) {
				if r := l.Row(i); named(&r, query) {
					hits = append(hits, found{dir, strings.Clone(r.ID), strings.Clone(r.Title)})
				}
			}
			_ = l.Close()
		}
		_ = w.Close()
	}
	if i := slices.IndexFunc(hits, func(h found) bool { return strings.EqualFold(h.id, query) }); i >= 0 {
		return hits[i : i+1]
	}
	return hits
}

// leastPrefix is how many characters of an id are needed to find it in another workspace.
const leastPrefix = 8

// named reports whether query names a conversation, and is not just words from it.
func named(l *listing.Row, query string) bool {
	if len(query) >= leastPrefix && len(query) <= len(l.ID) && strings.EqualFold(l.ID[:len(query)], query) {
		return true
	}
	folder := strings.TrimSuffix(strings.TrimPrefix(query, "conversations/"), "/")
	switch folder {
	case "":
		return false
	case l.Folder(), path.Base(l.Path):
		return true
	}
	return folder == shortName(l.Path) && (strings.HasSuffix(l.ID, folder) || strings.Contains(folder, "/"))
}

// goThere switches the command to the workspace that has a conversation, if query names one
// in another workspace. It returns the conversation's id.
func (a *app) goThere(cmd *cobra.Command, query string, missing error) (id string, err error) {
	if query == "" || !errors.Is(missing, store.ErrNoWorkspace) && !errors.As(missing, new(*workspace.NotFoundError)) {
		return "", missing
	}
	switch hits := elsewhere(cmd, a, query); len(hits) {
	case 0:
		return "", missing
	case 1:
		fmt.Fprintf(a.screen.errw, "%s is in %s\n", oneLine(hits[0].title), visible(hits[0].dir))
		a.dir = hits[0].dir
		return hits[0].id, nil
	default:
		var places []string
		for _, h := range hits[:min(len(hits), mostNumbered)] {
			places = append(places, fmt.Sprintf("%s in %s", h.id, h.dir))
		}
		return "", &workspacesError{fmt.Sprintf("%q is in %d other workspaces: %s", query, len(hits), strings.Join(places, ", "))}
	}
}

// pickAnywhere picks the conversation that query names, and opens its workspace: that of
// the current folder or, if it has no such conversation, another one.
func pickAnywhere(cmd *cobra.Command, a *app, query string) (*opened, store.Entry, error) {
	w, err := a.open(cmd)
	if err == nil {
		e, err := w.Pick(query)
		if err == nil {
			return w, e, nil
		}
		id, err := a.goThere(cmd, query, err)
		_ = w.Close()
		if err != nil {
			return nil, store.Entry{}, err
		}
		query = id
	} else if query, err = a.goThere(cmd, query, err); err != nil {
		return nil, store.Entry{}, err
	}
	if w, err = a.open(cmd); err != nil {
		return nil, store.Entry{}, err
	}
	e, err := w.Pick(query)
	if err != nil {
		_ = w.Close()
	}
	return w, e, err
}

// A workspacesError reports a name that conversations of several workspaces have.
type workspacesError struct{ text string }

func (e *workspacesError) Error() string { return e.text }
