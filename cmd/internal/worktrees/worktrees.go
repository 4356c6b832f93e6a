// Package worktrees finds the folders whose native sessions belong to a workspace. Agents
// identify a session's project by the absolute path it was held in, and one workspace has
// several such paths: its work trees, its earlier locations, and other clones.
package worktrees

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
	"cortext/inject"
)

// Folders are the folders whose sessions belong to a workspace.
type Folders struct {
	root     string            // of the workspace, without symbolic links
	dirs     []string          // this folder first
	tree     string            // top of the work tree; empty: not in a repository
	rel      string            // path of the workspace within its work tree
	commits  []string          // the first commits of its repository; none: clones do not belong
	clones   map[string]string // .git path -> top of the work tree if it is a clone of our repository, else empty
	contains map[string]bool   // cached results of Contains, by folder and commit
}

// Find returns the folders of the workspace in the folder root: root itself and the same
// folder in the other work trees of its repository. earlier lists folders that the
// workspace was in before, as named by the user.
func Find(ctx context.Context, root string, earlier []string) *Folders {
	at := registry.RealDir(root)
	p := &Folders{root: at, dirs: []string{at, root}, clones: map[string]string{}, contains: map[string]bool{}}
	for _, dir := range earlier {
		p.dirs = append(p.dirs, registry.RealDir(dir))
	}
	if p.tree = git.Root(ctx, at); p.tree == "" {
		return p
	}
	rel, err := filepath.Rel(registry.RealDir(p.tree), at)
	if err != nil || !filepath.IsLocal(rel) {
		return p
	}
	p.rel = rel
	common := registry.RealDir(git.CommonDir(at))
	for _, tree := range git.Worktrees(ctx, at) {
		if _, err := os.Stat(tree); err == nil && registry.RealDir(git.CommonDir(tree)) != common {
			continue // the repository names it, but it belongs to another
		}
		p.dirs = append(p.dirs, filepath.Join(tree, rel), filepath.Join(registry.RealDir(tree), rel))
	}
	return p
}

// AddClones adds the other clones of the repository. Detecting one runs git and is slow.
func (p *Folders) AddClones(ctx context.Context) {
	if p.tree != "" {
		p.commits = git.FirstCommits(ctx, p.root)
	}
}

// AddMoved adds folders that the workspace was in before, unless they are now workspaces
// of their own.
func (p *Folders) AddMoved(dirs []string) {
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, ".workspace")); err != nil {
			p.dirs = append(p.dirs, dir)
		}
	}
}

// Contains reports whether a session was held in one of the folders, or in another clone
// of the repository.
func (p *Folders) Contains(ctx context.Context, n inject.SessionRef) bool {
	if n.Dir == "" || !filepath.IsAbs(n.Dir) {
		return false
	}
	in := n.Dir + "\n" + n.Root // one folder has many sessions
	is, known := p.contains[in]
	if !known {
		is = p.holds(ctx, n)
		p.contains[in] = is
	}
	return is
}

func (p *Folders) holds(ctx context.Context, n inject.SessionRef) bool {
	best, at := "", "" // a work tree may be within another
	names := []string{n.Dir, registry.RealDir(n.Dir)}
	for _, dir := range p.dirs {
		for _, held := range names {
			if rel, err := filepath.Rel(dir, held); err == nil && filepath.IsLocal(rel) && len(dir) > len(best) {
				best, at = dir, rel
			}
		}
	}
	if best != "" {
		return isOurs(p.root, at)
	}
	return p.holdsClone(ctx, n)
}

// isOurs reports whether a folder of a work tree belongs to no workspace below the work
// tree's top.
func isOurs(top, rel string) bool {
	for ; rel != "."; rel = filepath.Dir(rel) {
		if _, err := os.Stat(filepath.Join(top, rel, ".workspace")); err == nil {
			return false
		}
	}
	return true
}

// holdsClone reports whether a session was held in another clone of the repository, in
// the folder that is the workspace there.
func (p *Folders) holdsClone(ctx context.Context, n inject.SessionRef) bool {
	if len(p.commits) == 0 {
		return false
	}
	if info, err := os.Stat(n.Dir); err != nil || !info.IsDir() {
		return p.rel == "." && n.Root != "" && slices.Contains(p.commits, n.Root)
	}
	gitDir := git.Dir(n.Dir)
	if gitDir == "" {
		return false
	}
	top, known := p.clones[gitDir]
	if !known {
		if p.isClone(ctx, n.Dir) {
			top = registry.RealDir(git.Root(ctx, n.Dir))
		}
		p.clones[gitDir] = top
	}
	if top == "" {
		return false
	}
	workspace := filepath.Join(top, p.rel)
	rel, err := filepath.Rel(workspace, registry.RealDir(n.Dir))
	return err == nil && filepath.IsLocal(rel) && isOurs(workspace, rel)
}

// isClone reports whether a folder is in a clone of our repository. Clones share a first
// commit, or one of them is shallow and its first commit is in the other. If both have a
// remote, they also share the remote.
func (p *Folders) isClone(ctx context.Context, dir string) bool {
	first := git.FirstCommits(ctx, dir)
	if !slices.ContainsFunc(first, func(c string) bool { return slices.Contains(p.commits, c) }) &&
		!(git.IsShallow(dir) && git.HasCommit(ctx, p.root, first)) && !(git.IsShallow(p.root) && git.HasCommit(ctx, dir, p.commits)) {
		return false
	}
	ours, theirs := originOf(ctx, p.root), originOf(ctx, dir)
	return ours == "" || theirs == "" || ours == theirs
}

// MayContain reports whether a session was held in a folder of the same name that is
// gone. That may be an earlier location of this workspace, or of another clone of it.
func (p *Folders) MayContain(n inject.SessionRef) bool {
	if n.Dir == "" || filepath.Base(n.Dir) != filepath.Base(p.root) {
		return false
	}
	_, err := os.Stat(n.Dir)
	return err != nil
}

// Within reports whether a folder is in the work tree of the workspace in root and not in
// a nested workspace.
func Within(root, dir string) bool {
	root = registry.RealDir(root)
	rel, err := filepath.Rel(root, registry.RealDir(dir))
	return err == nil && filepath.IsLocal(rel) && isOurs(root, rel)
}
