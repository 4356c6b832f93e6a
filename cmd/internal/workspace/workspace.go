// Package workspace holds the settings, prompts and conversations of an open workspace,
// and records what the user decides about them. It prints nothing and reads no
// transcripts: package capture does that, and package flow runs the agents.
package workspace

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/store"
)

// Env is the environment of a workspace.
type Env struct {
	Dir     string // the user's current folder, absolute
	Machine inject.Machine
	Now     func() time.Time
	Rand    io.Reader
	Holder  string         // names this process to others that wait for its locks
	Agents  []inject.Agent // in detection order
}

// A Workspace is an open workspace. It belongs to one goroutine.
type Workspace struct {
	Store    *store.Store
	Config   Config
	Warnings []string // about the settings
	Registry registry.Registry
	Env      Env

	events  []Event
	place   *registry.Place
	leftOut *leftOut            // what a sparse checkout leaves out
	asked   bool                // git was asked for the first commits of this place
	commits map[string][]string // the first commits of other places
}

// Open opens the workspace that contains env.Dir. The error is [store.ErrNoWorkspace] if
// there is none.
func Open(env Env) (*Workspace, error) {
	root, err := store.Find(env.Dir)
	if err != nil {
		return nil, err
	}
	var agents []string
	for _, a := range env.Agents {
		agents = append(agents, a.Name)
	}
	st, err := store.Open(root, store.Options{Now: env.Now, Rand: env.Rand, Holder: env.Holder, Agents: agents})
	if err != nil {
		return nil, err
	}
	_ = st.IgnoreLocal() // a user who cannot write can still read
	w := with(env, st)
	w.Warnings = append(w.Warnings, w.interrupted()...)
	return w, nil
}

// OpenNew opens a folder that is to become a workspace, to plan the files to create in
// it.
func OpenNew(env Env, dir string) (*Workspace, error) {
	st, err := store.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	return with(env, st), nil
}

func with(env Env, st *store.Store) *Workspace {
	w := &Workspace{Store: st, Env: env, Registry: registry.In(StateDir(env.Machine))}
	w.Config, w.Warnings = ReadConfig(st)
	return w
}

// StateDir returns the folder for user state: $XDG_STATE_HOME, or ~/.local/state. A
// relative $XDG_STATE_HOME would be in the work tree, so it is ignored.
func StateDir(m inject.Machine) string {
	if dir := m.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Home, ".local", "state")
}

// Close releases the workspace.
func (w *Workspace) Close() error { return w.Store.Close() }

// Agent returns the agent with a name.
func (w *Workspace) Agent(name string) (inject.Agent, bool) {
	i := slices.IndexFunc(w.Env.Agents, func(a inject.Agent) bool { return a.Name == name })
	if i < 0 {
		return inject.Agent{}, false
	}
	return w.Env.Agents[i], true
}

// AgentNames lists the names of the agents.
func (w *Workspace) AgentNames() []string {
	names := make([]string, len(w.Env.Agents))
	for i, a := range w.Env.Agents {
		names[i] = a.Name
	}
	return names
}

// Relative returns dir relative to the workspace with slashes; ok is false if dir is
// outside.
func (w *Workspace) Relative(dir string) (rel string, ok bool) {
	rel, err := filepath.Rel(w.Store.Root(), dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(os.PathSeparator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// GitOperation names the git operation in progress in this work tree, such as "merge", or
// returns "". Nothing is written to the work tree until it ends.
func (w *Workspace) GitOperation() string { return git.Operation(w.Store.Root()) }

func underWay(op string) string { return "a git " + op + " is under way" }

// Conversation opens a conversation for writing: in the work tree, unless
// [Workspace.Away] says that it must not be written there, otherwise where records wait.
// The error is [store.ErrNotFound] if this work tree knows nothing about it.
func (w *Workspace) Conversation(path string) (*store.Conversation, error) {
	c, err := w.Store.Conversation(path)
	switch {
	case err == nil && w.Away(c) == "":
		return c, nil
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return nil, err
	case err != nil && !slices.Contains(w.Store.WaitingPaths(), path) && !w.Outside(path):
		return nil, err
	}
	return w.waiting(path)
}

// Away says why a conversation whose folder is in the work tree must not be written
// there; empty if it may. In a sparse checkout git would treat a recreated file as the
// user's, without the records that git itself has.
func (w *Workspace) Away(c *store.Conversation) string {
	if op := w.GitOperation(); op != "" {
		return underWay(op)
	}
	if !c.LogMissing() {
		return ""
	}
	return w.whyOutside(c.Path())
}

// Place identifies this workspace among others. It reads files only and does not run git.
func (w *Workspace) Place() registry.Place {
	if w.place == nil {
		w.place = &registry.Place{Workspace: realDir(w.Store.Root())}
		if common := git.CommonDir(w.Store.Root()); common != "" {
			w.place.Repository = realDir(common)
			w.place.Within = withinTree(w.place.Workspace)
		}
	}
	return *w.place
}

// KnowClones finds the commits by which clones of the repository are recognized, so that
// [Workspace.SamePlace] recognizes them. It runs git.
func (w *Workspace) KnowClones(ctx context.Context) registry.Place {
	if w.Place().Repository != "" && !w.asked {
		w.asked = true // even if git does not answer in time: it would not the next time either
		w.place.Commits = git.FirstCommits(ctx, w.Store.Root())
	}
	return *w.place
}

// SamePlace reports whether a place is this workspace, or that of another work tree of
// its repository or, after [Workspace.KnowClones], of a clone.
func (w *Workspace) SamePlace(p registry.Place) bool {
	here := w.Place()
	if here.Same(p) {
		return true
	}
	if here.Commits == nil || p.Commits != nil || p.Within != here.Within {
		return false
	}
	commits, known := w.commits[p.Workspace]
	if !known {
		commits = git.FirstCommits(context.Background(), p.Workspace)
		if w.commits == nil {
			w.commits = map[string][]string{}
		}
		w.commits[p.Workspace] = commits
	}
	p.Commits = commits
	return here.Same(p)
}

// withinTree returns the path of a workspace below the folder that has .git.
func withinTree(root string) string {
	for dir := root; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			rel, err := filepath.Rel(dir, root)
			if err != nil {
				return ""
			}
			return filepath.ToSlash(rel)
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// realDir returns the path of a folder without symbolic links, if the folder exists.
func realDir(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}
