package capture

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/cmd/internal/worktrees"
	"cortext/inject"
)

// A location is where the workspace is on this machine, and where it was before. The
// earlier places come from the user's state, never from the repository alone.
type location struct {
	ws    *workspace.Workspace
	noted bool // the registry has the current folder
}

// markName is the file with a mark that identifies this workspace among the user's
// workspaces after a move. It moves with the workspace and is not committed. The user's
// state records the folders that the workspace has been in, so a mark that comes with a
// repository maps to none.
const markName = ".workspace/local/kept/mark"

// previous returns the earlier locations of this workspace.
func (l *location) previous() []string { return l.ws.Registry.Workspaces.Places(l.mark()) }

// mark returns the mark of this workspace, or "" if it has none.
func (l *location) mark() string {
	b, err := l.ws.Store.ReadFile(markName)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// note records the current location of the workspace. A mark unknown to the user's
// state is not this user's, so the workspace gets a new one. If the state cannot be
// written, sync reports the old folder of sessions after a move.
func (l *location) note() error {
	if l.noted {
		return nil
	}
	here := registry.RealDir(l.ws.Store.Root())
	mark := l.mark()
	known := l.ws.Registry.Workspaces.Places(mark)
	if l.noted = slices.Contains(known, here); l.noted {
		return nil
	}
	if len(known) == 0 {
		random := make([]byte, 16)
		if _, err := io.ReadFull(cmp.Or[io.Reader](l.ws.Env.Rand, rand.Reader), random); err != nil {
			return fmt.Errorf("make a mark: %w", err)
		}
		mark = hex.EncodeToString(random)
		if err := l.ws.Store.WriteFile(markName, []byte(mark+"\n")); err != nil {
			return err
		}
	}
	_ = l.ws.Registry.Workspaces.NotePlace(mark, here)
	return nil
}

// holds reports whether a folder is in this work tree and not in a nested workspace.
// It returns true for an unknown folder.
func (l *location) holds(dir string) bool {
	return dir == "" || worktrees.Within(l.ws.Store.Root(), dir)
}

// owns reports whether a session was held in this work tree.
func (l *location) owns(n inject.SessionRef) bool {
	within := func(dir string) bool {
		rel, err := filepath.Rel(l.ws.Here.Workspace(), dir)
		return err == nil && filepath.IsLocal(rel)
	}
	return n.Dir == "" || within(n.Dir) || within(registry.RealDir(n.Dir))
}
