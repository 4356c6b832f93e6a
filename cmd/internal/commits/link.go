package commits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
)

// Stale is the idle time after which an active conversation is no longer named in commits: its
// user has moved on.
const Stale = 8 * time.Hour

// within returns the workspace's folder in its clone.
func within(root string) string { return registry.At(root).Place().Within }

const mark = "# cortext: link commits to conversations"

// parts returns the lines to add to two git hooks, for the workspace at root. They do nothing
// where cortext is not installed, and never prevent a commit.
func parts(root string) []git.HookPart {
	program := `(PATH="$PATH:${XDG_STATE_HOME:-$HOME/.local/state}/cortext/bin"; if command -v cortext >/dev/null; then cortext `
	own, old := mark, ""
	if within := within(root); within != "" && within != "." {
		place := shell.Quote("-C", within)
		program += place + " "
		own, old = mark+" ("+place+")", mark // the clone may have other workspaces
	}
	program += "link-commit "
	return []git.HookPart{
		{Hook: "prepare-commit-msg", Mark: own, Old: old, Command: program + `begin "$@"; fi) || :`},
		{Hook: "commit-msg", Mark: own, Old: old, Command: program + `end "$@"; fi) || :`},
	}
}

// Link makes git name the conversation in each commit of root's clone. It returns the hook
// files that it changed.
func Link(ctx context.Context, root string) (changed []string, err error) {
	// The rest of the name would be commands: the mark is a comment, which a line break ends.
	if within := within(root); strings.Contains(within, "\n") {
		return nil, fmt.Errorf("the name of the folder %q has a line break, which git hooks cannot hold: rename it", within)
	}
	for _, p := range parts(root) {
		file, is, addErr := p.Add(ctx, root)
		if is && addErr == nil {
			changed = append(changed, file)
		}
		err = errors.Join(err, addErr)
	}
	return changed, err
}

// Unlink removes what Link added and reports whether it found anything.
func Unlink(ctx context.Context, root string) (changed bool, err error) {
	for _, p := range parts(root) {
		is, removeErr := p.Remove(ctx, root)
		changed, err = changed || is, errors.Join(err, removeErr)
	}
	return changed, err
}

// Name adds a conversation's id to the message of a commit that is being made. The message
// is in file; source says where the message comes from, as git tells its hook. A new
// message that already names a conversation, as a stop's does, stays as it is.
func Name(ctx context.Context, root, file, source, id string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if source == "message" && bytes.Contains(text, []byte("\n"+workspace.SessionTrailer+": ")) {
		return nil
	}
	given := source == "message" || source == "commit" || source == "merge" // a revert that the user edits
	return git.AddTrailer(ctx, root, file, workspace.SessionTrailer+": "+id, given)
}

// Unname empties a commit message that has nothing but our trailer. Git then aborts the
// commit, as it does if the user writes no message.
func Unname(ctx context.Context, root, file string) error {
	return git.DropLoneTrailer(ctx, root, file, workspace.SessionTrailer)
}
