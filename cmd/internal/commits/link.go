package commits

import (
	"context"
	"errors"
	"time"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
)

// Stale is how long after its last message an active conversation no longer leads to
// commits: its user has gone on to something else.
const Stale = 8 * time.Hour

const mark = "# cortext: link commits to conversations"

// parts are our parts of two hooks, for the workspace at root. They do nothing for people who do not have cortext, and never prevent a commit.
func parts(root string) []git.HookPart {
	program := `(PATH="$PATH:${XDG_STATE_HOME:-$HOME/.local/state}/cortext/bin"; if command -v cortext >/dev/null; then cortext `
	if within := registry.At(root).Place().Within; within != "" && within != "." {
		program += shell.Quote("-C", within) + " "
	}
	program += "link-commit "
	return []git.HookPart{
		{Hook: "prepare-commit-msg", Mark: mark, Command: program + `begin "$@"; fi) || :`},
		{Hook: "commit-msg", Mark: mark, Command: program + `end "$@"; fi) || :`},
	}
}

// Link makes git name the conversation in each commit of root's clone. It returns the
// files of the hooks that it changed.
func Link(ctx context.Context, root string) (changed []string, err error) {
	for _, p := range parts(root) {
		file, is, addErr := p.Add(ctx, root)
		if is && addErr == nil {
			changed = append(changed, file)
		}
		err = errors.Join(err, addErr)
	}
	return changed, err
}

// Unlink removes what Link added and reports whether there was anything.
func Unlink(ctx context.Context, root string) (changed bool, err error) {
	for _, p := range parts(root) {
		is, removeErr := p.Remove(ctx, root)
		changed, err = changed || is, errors.Join(err, removeErr)
	}
	return changed, err
}

// Name adds the conversation with an id to the message of a commit that is being made.
// file has the message.
func Name(ctx context.Context, root, file, id string) error {
	return git.AddTrailer(ctx, root, file, workspace.SessionTrailer+": "+id)
}

// Unname empties the message of a commit if it has nothing but our trailer, so that git
// gives up the commit, as it does if the user writes no message.
func Unname(ctx context.Context, root, file string) error {
	return git.DropLoneTrailer(ctx, root, file, workspace.SessionTrailer)
}
