package registry

import (
	"context"
	"os"
	"path/filepath"

	"cortext/cmd/internal/git"
)

// Here is the [Place] of the workspace that a process works in.
type Here struct {
	root    string // folder of the workspace
	real    string // root without symbolic links, once it is known
	place   *Place
	asked   bool                // whether git was asked for the root commits
	commits map[string][]string // root commits of other places
	shares  map[string]bool     // by the folders of two places: whether the second has a commit of the first
}

// At returns the place of the workspace in the folder root.
func At(root string) *Here { return &Here{root: root} }

// Workspace returns the absolute path of the workspace's folder, without symbolic links.
func (h *Here) Workspace() string {
	if h.real == "" {
		h.real = RealDir(h.root)
	}
	return h.real
}

// Place identifies the workspace among others. It reads files only and does not run git.
func (h *Here) Place() Place {
	if h.place == nil {
		h.place = &Place{Workspace: h.Workspace()}
		if common := git.CommonDir(h.root); common != "" {
			h.place.Repository = RealDir(common)
			h.place.Within = withinTree(h.place.Workspace)
		}
	}
	return *h.place
}

// KnowClones finds the repository's root commits, by which [Here.Same] recognizes clones.
// It runs git.
func (h *Here) KnowClones(ctx context.Context) Place {
	if h.Place().Repository != "" && !h.asked {
		h.asked = true // even if git does not answer in time: it would not do so next time
		h.place.Commits, h.place.Shallow = git.FirstCommits(ctx, h.root), git.IsShallow(h.root)
	}
	return *h.place
}

// Same reports whether a place is this workspace, the same workspace in another work tree
// or, after [Here.KnowClones], the same one in a clone.
func (h *Here) Same(p Place) bool {
	here := h.Place()
	if here.same(p) {
		return true
	}
	if here.Commits == nil || p.Within != here.Within {
		return false
	}
	if p.Commits == nil {
		commits, known := h.commits[p.Workspace]
		if !known {
			commits = git.FirstCommits(context.Background(), p.Workspace)
			if h.commits == nil {
				h.commits = map[string][]string{}
			}
			h.commits[p.Workspace] = commits
		}
		p.Commits, p.Shallow = commits, git.IsShallow(p.Workspace)
	}
	return here.same(p) || p.Shallow && h.share(p, here) || here.Shallow && h.share(here, p)
}

// share reports whether a place has a commit at which the history of another, a shallow clone, is
// cut.
func (h *Here) share(shallow, whole Place) bool {
	of := shallow.Workspace + "\n" + whole.Workspace
	is, known := h.shares[of]
	if !known {
		is = git.HasCommit(context.Background(), whole.Workspace, shallow.Commits)
		if h.shares == nil {
			h.shares = map[string]bool{}
		}
		h.shares[of] = is
	}
	return is
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

// RealDir returns the path of a folder without symbolic links, if the folder exists.
func RealDir(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}
