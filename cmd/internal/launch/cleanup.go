package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/store"
)

// Leftovers are what launches in one workspace left behind: files, notes, and sessions of
// the agents.
type Leftovers struct {
	ws      *workspace.Workspace
	capture *capture.Capture
}

// LeftoversOf returns the leftovers of the launches in a workspace.
func LeftoversOf(ws *workspace.Workspace, c *capture.Capture) *Leftovers {
	return &Leftovers{ws, c}
}

// launchLock names the lock that a launch holds while it runs.
func launchLock(id string) string { return "launch/" + id }

// cleanUp removes what killed launches left behind, and captures their sessions first. A
// launch was killed if no process holds its lock and its agent no longer runs. Whatever
// cleanUp could not remove stays noted for the next time and is reported in the errors.
func (l *Leftovers) cleanUp(ctx context.Context) (failed []error) {
	files := map[string][]string{}
	for _, id := range l.ws.Launches().IDs() {
		files[id] = nil
	}
	for _, name := range l.ws.Store.ListFiles(capture.LaunchDir) {
		id := strings.TrimSuffix(name, path.Ext(name))
		files[id] = append(files[id], name)
	}
	for id, names := range files {
		unlock, err := l.ws.Store.LockCache(launchLock(id), 0)
		if err != nil {
			continue
		}
		if err := l.cleanUpOne(ctx, id, names); err != nil {
			failed = append(failed, err)
		}
		unlock()
	}
	return failed
}

// HasUnused reports whether there is work for RemoveUnused.
func (l *Leftovers) HasUnused() bool {
	return slices.ContainsFunc(l.ws.Launches().IDs(), func(id string) bool {
		n, ok := l.ws.Launches().Get(id)
		return ok && n.Unused
	})
}

// mostTries is how often RemoveUnused tries to remove a session before it gives up.
const mostTries = 3

// RemoveUnused makes the agents remove the sessions of ended launches without messages.
// The errors report the sessions it gives up on.
func (l *Leftovers) RemoveUnused(ctx context.Context) (failed []error) {
	for _, id := range l.ws.Launches().IDs() {
		unlock, err := l.ws.Store.LockCache(launchLock(id), 0)
		if err != nil {
			continue // another process is working on it
		}
		if n, ok := l.ws.Launches().Get(id); ok && n.Unused {
			if err := l.removeUnused(ctx, id, n); err != nil {
				failed = append(failed, fmt.Errorf("the %s session %s, in which nothing was said, is still there: %w", n.Agent, n.NativeID, err))
			}
		}
		unlock()
	}
	return failed
}

func (l *Leftovers) removeUnused(ctx context.Context, id string, n registry.Launch) error {
	agent, ok := l.ws.Env.Agent(n.Agent)
	remover, can := agent.(inject.Remover)
	if !ok || !can {
		return l.ws.Launches().Remove(id)
	}
	n.Tries++
	err := remover.Remove(ctx, l.ws.Env.Machine, n.NativeID)
	if err != nil && n.Tries < mostTries {
		return l.ws.Launches().Put(id, n)
	}
	return errors.Join(err, l.ws.Launches().Remove(id))
}

// end removes the note of a launch, unless RemoveUnused needs it.
func (l *Leftovers) end(id string) error {
	if n, ok := l.ws.Launches().Get(id); ok && n.Unused {
		return nil
	}
	return l.ws.Launches().Remove(id)
}

// cleanUpOne removes the files of a launch in the workspace, then what its note lists,
// and then the note.
func (l *Leftovers) cleanUpOne(ctx context.Context, id string, names []string) error {
	note, noted := l.ws.Launches().Get(id)
	if note.PID > 0 && capture.Runs(note.PID) || note.Unused {
		return nil
	}
	for _, name := range names {
		_ = l.ws.Store.RemoveFile(capture.LaunchDir + "/" + name)
	}
	if !noted {
		return nil
	}
	if err := l.afterKill(ctx, id, note); err != nil {
		return fmt.Errorf("cleaning up after a launch of %s that was killed: %w", note.Agent, err)
	}
	return l.end(id)
}

// afterKill does for a killed launch what the launch would have done itself.
func (l *Leftovers) afterKill(ctx context.Context, id string, n registry.Launch) error {
	agent, ok := l.ws.Env.Agent(n.Agent)
	if !ok {
		return nil
	}
	if finder, ok := agent.(inject.LaunchFinder); ok && n.NativeID == "" {
		if native, ok := finder.Launched(l.ws.Env.Machine, inject.Request{NativeID: id, Root: l.ws.Store.Root(), Dir: l.ws.Store.Root()}); ok {
			n.NativeID = native
			if err := l.bind(agent, native, n); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
	}
	_, err := l.after(ctx, id, n)
	if errors.Is(err, store.ErrNotFound) {
		err = nil // its conversation is gone
	}
	for _, f := range n.Files {
		err = errors.Join(err, l.removeLeft(agent, id, f))
	}
	return err
}

// removeLeft removes a file that a launch left outside of the workspace. The file must be
// among the agent's own, be named after the launch and hold what the launch put there;
// any other file is someone's work.
func (l *Leftovers) removeLeft(agent inject.Agent, id string, f registry.LeftFile) error {
	info, err := os.Lstat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || !strings.Contains(filepath.Base(f.Path), id) || !l.amongOwn(agent, f.Path) {
		return fmt.Errorf("%s is not where %s keeps files of a launch: it stays; delete it if it is not needed", f.Path, agent.Name())
	}
	b, err := os.ReadFile(f.Path)
	switch {
	case err != nil:
		return err
	case f.Untouched(b):
		return os.Remove(f.Path)
	case f.Session:
		return nil // the agent continued in it
	}
	return fmt.Errorf("%s has changed since the launch wrote it: it stays; delete it if it is not needed", f.Path)
}

// amongOwn reports whether a file is in one of the agent's own folders: a folder with its
// sessions, or the parent of such a folder.
func (l *Leftovers) amongOwn(agent inject.Agent, file string) bool {
	if !filepath.IsAbs(file) {
		return false
	}
	return slices.ContainsFunc(agent.Stores(l.ws.Env.Machine), func(s inject.Store) bool {
		return isBelow(s.Dir, file) || isBelow(filepath.Dir(s.Dir), file)
	})
}

// isBelow reports whether a file is below a folder once symbolic links are resolved.
func isBelow(dir, file string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	at, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, at)
	return err == nil && filepath.IsLocal(rel)
}

// Sync is [capture.Capture.Sync] after cleaning up killed launches.
func (l *Leftovers) Sync(ctx context.Context, o capture.SyncOptions) (*capture.SyncResult, error) {
	return l.cleanedUp(ctx, func() (*capture.SyncResult, error) { return l.capture.Sync(ctx, o) })
}

// Discover is [capture.Capture.Discover] after cleaning up killed launches.
func (l *Leftovers) Discover(ctx context.Context) (*capture.SyncResult, error) {
	return l.cleanedUp(ctx, func() (*capture.SyncResult, error) { return l.capture.Discover(ctx) })
}

// cleanedUp cleans up killed launches, then runs sync, and reports what either could not do.
func (l *Leftovers) cleanedUp(ctx context.Context, sync func() (*capture.SyncResult, error)) (*capture.SyncResult, error) {
	failed := l.cleanUp(context.WithoutCancel(ctx))
	out, err := sync()
	if out != nil {
		out.Errors = append(failed, out.Errors...)
	}
	return out, err
}
