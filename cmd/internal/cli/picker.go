package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// fullScreen reports whether the terminal can show the picker.
func (a *app) fullScreen() bool {
	f, ok := a.Out.(*os.File)
	if !ok || !a.terminal.present() || os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" {
		return false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return err == nil && width >= picker.MinWidth && height >= picker.MinHeight
}

// begin lets the user choose a conversation and resumes it. Outside of a workspace, or
// without a terminal, it prints the help.
func (a *app) begin(cmd *cobra.Command) error {
	dir, err := a.folder()
	if err != nil {
		return err
	}
	if _, err := store.Find(dir); err != nil || !a.fullScreen() {
		return cmd.Help()
	}
	return runResume(a, cmd, "", resumeOptions{payloadFlags: payloadFlags{sinceThen: true}})
}

// choose lets the user choose a conversation on the full screen, or begin one.
func (a *app) choose(ctx context.Context, w *opened, query string, filter listing.Filter) (picked, error) {
	r, err := readingOf(w.Workspace)
	if err != nil {
		return picked{}, err
	}
	defer r.close()
	var unread []error
	o := picker.Options{
		In: a.In, Out: a.Out, Environ: os.Environ(), Now: a.Now,
		Rows: r.rows, Filter: filter, Query: strings.TrimPrefix(query, "conversations/"),
		Agents: w.Env.AgentNames(), Types: w.Prompts.Types(),
		Reload: r.reload, Preview: r.preview, Exists: r.exists, Search: r.search, Act: r.act, Actions: pickerActions,
	}
	if query == "" && w.Config.Autosave != settings.AutosaveOff {
		o.Prepare = func(ctx context.Context) error {
			out, err := w.leftovers().Discover(ctx)
			if out != nil {
				unread = out.Errors
			}
			return err
		}
	}
	chosen, err := picker.Run(ctx, o)
	if r.removed {
		err = errors.Join(err, w.ForgetRemoved(nil))
	}
	if n := len(unread); n > 0 {
		a.screen.warn(strings.Join(messages(unread[:min(n, 3)]), "; "))
	}
	switch {
	case err != nil:
		return picked{}, err
	case chosen.Kind == picker.Interrupted:
		return picked{}, errInterrupted
	case chosen.Kind == picker.New:
		return picked{fresh: &newChat{chosen.Type, chosen.Topic}}, nil
	case chosen.Kind == picker.Resume:
		e, err := w.Entry(chosen.Row.Path)
		return picked{Entry: e, agent: chosen.Agent}, err
	}
	return picked{}, errSilent
}

// A reading reads conversations for the picker, in a workspace of its own: one workspace
// belongs to one goroutine, and conversations are captured meanwhile.
type reading struct {
	mu      sync.Mutex // held while w reads a conversation
	w       *workspace.Workspace
	removed bool // a conversation was removed

	listing sync.Mutex // held while rows are replaced
	rows    *listing.Listing
	all     []*listing.Listing // open until the picker has ended
}

func readingOf(w *workspace.Workspace) (*reading, error) {
	own, err := workspace.Open(w.Env)
	if err != nil {
		return nil, err
	}
	rows, err := own.Listing(nil)
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	return &reading{w: own, rows: rows, all: []*listing.Listing{rows}}, nil
}

func (r *reading) close() {
	for _, l := range r.all {
		_ = l.Close()
	}
	if r.mu.TryLock() { // else a preview is still being read
		_ = r.w.Close()
	}
}

// reload returns the conversations as they are now, or nil if they look the same.
func (r *reading) reload(context.Context) (picker.Rows, error) {
	r.listing.Lock()
	defer r.listing.Unlock()
	now, err := r.w.Listing(nil)
	if err != nil {
		return nil, err
	}
	same, ok := now.SameIndex(r.rows)
	if !ok {
		same = picker.Same(r.rows, now)
	}
	if same {
		return nil, now.Close()
	}
	r.rows, r.all = now, append(r.all, now)
	return now, nil
}

// exists reports whether a conversation is still there.
func (r *reading) exists(row listing.Row) bool {
	if _, err := os.Lstat(filepath.Join(r.w.Store.Root(), filepath.FromSlash(row.Path))); err == nil {
		return true
	}
	if !r.mu.TryLock() { // a preview is being read, and will tell
		return true
	}
	defer r.mu.Unlock()
	_, err := r.w.Entry(row.Path) // its records may wait, or be in git only
	return !errors.Is(err, store.ErrNotFound)
}
