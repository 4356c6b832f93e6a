package capture

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
	"cortext/inject"
)

// Agents identify a session's project by the absolute path it was held in. One workspace
// has several such paths: other work trees of its repository, its earlier locations, and
// other clones.

// markName is the file with a mark that identifies this workspace among the user's
// workspaces after a move. It moves with the workspace and is not committed. The user's
// state records the folders that the workspace has been in, so a mark that comes with a
// repository maps to none.
const markName = ".workspace/local/kept/mark"

// roots are the folders whose sessions belong to this workspace.
type roots struct {
	root    string            // of the workspace, without symbolic links
	dirs    []string          // this folder first
	commits []string          // the first commits of its repository
	rel     string            // path of the workspace within its work tree
	clones  map[string]string // .git path -> top of the work tree if it is a clone of our repository, else empty
	held    map[string]bool   // by folder and commit: cached results of contains
}

// findRoots returns the folders whose sessions belong to this workspace, including those
// the user names. Detecting clones runs git and is slow.
func (c *Capture) findRoots(ctx context.Context, was []string, clones bool) *roots {
	root := registry.RealDir(c.ws.Store.Root())
	for i, dir := range was {
		was[i] = registry.RealDir(dir)
	}
	p := &roots{root: root, dirs: append([]string{root, c.ws.Store.Root()}, was...), clones: map[string]string{}, held: map[string]bool{}}
	if top := git.Root(ctx, root); top != "" {
		top = registry.RealDir(top)
		rel, err := filepath.Rel(top, root)
		if err == nil && filepath.IsLocal(rel) {
			common := registry.RealDir(git.CommonDir(root))
			for _, tree := range git.Worktrees(ctx, root) {
				if _, err := os.Stat(tree); err == nil && registry.RealDir(git.CommonDir(tree)) != common {
					continue // the repository names it, but it belongs to another
				}
				p.dirs = append(p.dirs, filepath.Join(tree, rel), filepath.Join(registry.RealDir(tree), rel))
			}
			p.rel = rel
		}
		if clones {
			p.commits = git.FirstCommits(ctx, root)
		}
	}
	for _, dir := range c.previousRoots() {
		if _, err := os.Stat(filepath.Join(dir, ".workspace")); err != nil { // otherwise it is now a workspace of its own
			p.dirs = append(p.dirs, dir)
		}
	}
	return p
}

// previousRoots returns the earlier locations of this workspace.
func (c *Capture) previousRoots() []string { return c.ws.Registry.Places(c.mark()) }

// mark returns the mark of this workspace, or "" if it has none.
func (c *Capture) mark() string {
	b, err := c.ws.Store.ReadFile(markName)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// noteRoot records the current location of the workspace. A mark unknown to the user's
// state is not this user's, so the workspace gets a new one. If the state cannot be
// written, sync reports the old folder of sessions after a move.
func (c *Capture) noteRoot() error {
	if c.rootNoted {
		return nil
	}
	here := registry.RealDir(c.ws.Store.Root())
	mark := c.mark()
	known := c.ws.Registry.Places(mark)
	if c.rootNoted = slices.Contains(known, here); c.rootNoted {
		return nil
	}
	if len(known) == 0 {
		random := make([]byte, 16)
		if _, err := io.ReadFull(cmp.Or[io.Reader](c.ws.Env.Rand, rand.Reader), random); err != nil {
			return fmt.Errorf("make a mark: %w", err)
		}
		mark = hex.EncodeToString(random)
		if err := c.ws.Store.WriteFile(markName, []byte(mark+"\n")); err != nil {
			return err
		}
	}
	_ = c.ws.Registry.NotePlace(mark, here)
	return nil
}

// contains reports whether a session was held in one of the folders, or in another clone
// of the repository.
func (p *roots) contains(ctx context.Context, n inject.SessionRef) bool {
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

func (p *roots) holds(ctx context.Context, n inject.SessionRef) bool {
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

// isHeldHere reports whether a folder is in this work tree and not in a nested workspace.
// It returns true for an unknown folder.
func (c *Capture) isHeldHere(dir string) bool {
	root := registry.RealDir(c.ws.Store.Root())
	rel, err := filepath.Rel(root, registry.RealDir(dir))
	return dir == "" || err == nil && filepath.IsLocal(rel) && isOurs(root, rel)
}

// holdsClone reports whether a session was held in another clone of the repository, in
// the folder that is the workspace there.
func (p *roots) holdsClone(ctx context.Context, n inject.SessionRef) bool {
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
func (p *roots) mayContain(n inject.SessionRef) bool {
	if n.Dir == "" || filepath.Base(n.Dir) != filepath.Base(p.root) {
		return false
	}
	_, err := os.Stat(n.Dir)
	return err != nil
}
