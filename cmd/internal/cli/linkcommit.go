package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/commits"
	"cortext/cmd/internal/git"
	"cortext/store"
)

func linkCommitCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "link-commit {begin FILE [SOURCE [COMMIT]] | end FILE}",
		Short: "Name the conversation in a commit's message (called by git's hooks)",
		Long: `Adds the current conversation to a commit's message as a trailer, while the
commit is being made. After cortext init --link-commits, git's hooks prepare-commit-msg and
commit-msg call it.`,
		Example: "  cortext link-commit begin .git/COMMIT_EDITMSG",
		Hidden:  true,
		Args:    args(cobra.RangeArgs(2, 4)),
		RunE: func(cmd *cobra.Command, list []string) error {
			err := a.quietlyWithin(func(cmd *cobra.Command, w *opened, list []string) error {
				return runLinkCommit(cmd, a, w, list)
			})(cmd, list)
			if errors.Is(err, store.ErrNoWorkspace) || errors.Is(err, fs.ErrNotExist) {
				return nil // another branch, or another repository with the same hooks
			}
			return err
		},
	}
}

func runLinkCommit(cmd *cobra.Command, a *app, w *opened, list []string) error {
	ctx, root := cmd.Context(), w.Store.Root()
	file, err := filepath.Abs(list[1]) // not relative to -C, because git runs hooks at the top of the work tree
	if err != nil {
		return err
	}
	source := ""
	if len(list) > 2 {
		source = list[2]
	}
	switch {
	case list[0] == "end":
		return commits.Unname(ctx, root, file)
	case list[0] != "begin":
		return &usageError{fmt.Sprintf("%q is not begin or end", list[0]), "git calls this command itself"}
	case source == "merge" && a.Machine.Getenv("GIT_REFLOG_ACTION") != "revert", source == "squash", git.Prepared(root, file):
		return nil // others made what is committed, even if the user gives another message
	}
	if op := git.Operation(root); op != "" && op != "bisect" {
		return nil // an older commit is being amended or rewritten
	}
	e, err := w.caller().Here()
	if err != nil || a.Now().Sub(e.Session.LastActive.Time()) > commits.Stale {
		return nil // no conversation or several
	}
	return commits.Name(ctx, root, file, source, e.Session.ID)
}
