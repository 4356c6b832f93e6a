package capture

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
	"cortext/inject"
)

// Agents identify a session's project by the absolute path it was held in. One workspace
// has several such paths: other work trees of its repository, its earlier locations, and
// other clones.

// roots are the folders whose sessions belong to this workspace.
type roots struct {
	root    string            // of the workspace, without symbolic links
	dirs    []string          // this folder first
	commits []string          // the first commits of its repository
	rel     string            // path of the workspace within its work tree
	clones  map[string]string // .git path -> top of the work tree if it is a clone of our repository, else empty
	held    map[string]bool   // by folder and commit: cached results of contains
}

// contains reports whether a session was held in one of the folders, or in another clone
// of the repository.
func (p *roots) contains(ctx context.Context, n inject.Native) bool {
	if n.Dir == "" || !filepath.IsAbs(n.Dir) {
		return false
	}
	in := n.Dir + "\n" + n.Root // one folder has many sessions
	is, known := p.held[in]
	if !known {
		is = p.holds(ctx, n)
		p.held[in] = is
	}
	return is
}

func (p *roots) holds(ctx context.Context, n inject.Native) bool {
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
func (p *roots) holdsClone(ctx context.Context, n inject.Native) bool {
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

// isClone reports whether a folder is in a clone of our repository: both share a first
// commit and, if both have a remote, the remote.
func (p *roots) isClone(ctx context.Context, dir string) bool {
	if !slices.ContainsFunc(git.FirstCommits(ctx, dir), func(c string) bool { return slices.Contains(p.commits, c) }) {
		return false
	}
	ours, theirs := originOf(ctx, p.root), originOf(ctx, dir)
	return ours == "" || theirs == "" || ours == theirs
}

// mayContain reports whether a session was held in a folder of the same name that is
// gone. That may be an earlier location of this workspace, or of another clone of it.
func (p *roots) mayContain(n inject.Native) bool {
	if n.Dir == "" || filepath.Base(n.Dir) != filepath.Base(p.root) {
		return false
	}
	_, err := os.Stat(n.Dir)
	return err != nil
}
