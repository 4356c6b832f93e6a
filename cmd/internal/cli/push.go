package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/removal"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

func pushCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "push",
		Short: "Push committed conversations to the upstream branch",
		Long: `Pushes the current branch to its upstream with your own git. If someone else
pushed first, it merges their changes and tries again, as often as necessary. It merges only
conversations: if the upstream has changes to other files, it stops and you must run git
pull yourself. It does not push uncommitted changes.

With "commit: ref" it commits every conversation that is not active to the ref of this
clone, and pushes that ref. Your branches stay as they are.`,
		Example: "  cortext push",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, _ []string) error {
			if w.Config.Commit == settings.CommitRef {
				return pushRef(cmd.Context(), a, w)
			}
			races, err := exchangeOf(w).Push(cmd.Context())
			if err != nil {
				return err
			}
			if races == 0 {
				fmt.Fprintln(a.screen.out, "pushed")
			} else {
				fmt.Fprintf(a.screen.out, "pushed, after %s in which others were faster\n", count(races, "time"))
			}
			return nil
		}),
	}
}

func pullCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "pull",
		Short: "Merge conversations from the upstream branch",
		Long: `Fetches the upstream of the current branch with your own git, and merges it
if only conversations changed there. If it has changes to other files, it stops and you must
run git pull yourself.

If one side deleted a conversation that the other continued, as the revert of the commit
that created it does, the conversation stays. In the middle of a merge, rebase or cherry-pick
with such a conflict, pull resolves it and leaves git --continue to you, unless it was all
that was left of a merge.

With "commit: ref" it fetches the refs of all clones, and merges them into the conversations
of this work tree. Your branches, the index and other files stay as they are.`,
		Example: "  cortext pull",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, _ []string) error {
			if w.Config.Commit == settings.CommitRef {
				return pullRef(cmd.Context(), a, w)
			}
			x := exchangeOf(w)
			kept, done, err := x.KeepChanged(cmd.Context())
			for _, name := range kept {
				a.screen.warn(visible(name) + " was removed on one side of the merge and continued on the other: it stays")
			}
			if err == nil && len(kept) > 0 && !done {
				a.screen.hint("resolve what else git status names, then finish: git " + w.Tree.Operation() + " --continue")
				return nil
			}
			if err != nil {
				return err
			}
			merged, err := x.Pull(cmd.Context())
			merged = merged || len(kept) > 0
			switch {
			case err != nil:
				return err
			case merged:
				fmt.Fprintln(a.screen.out, "merged")
			default:
				fmt.Fprintln(a.screen.out, "there is nothing new")
			}
			return nil
		}),
	}
}

// pushRef commits what changed to the ref of the clone, and pushes it.
func pushRef(ctx context.Context, a *app, w *opened) error {
	if err := w.CommitChanged(ctx); err != nil {
		return err
	}
	sent, err := w.Ref().Push(ctx)
	switch {
	case err != nil:
		return err
	case sent:
		fmt.Fprintln(a.screen.out, "pushed")
	default:
		fmt.Fprintln(a.screen.out, "there is nothing to push")
	}
	return nil
}

// pullRef merges the conversations in the refs of all clones into this one.
func pullRef(ctx context.Context, a *app, w *opened) error {
	changed, err := w.Ref().Pull(ctx)
	switch {
	case err != nil:
		return err
	case len(changed) > 0:
		fmt.Fprintf(a.screen.out, "merged %s\n", count(len(changed), "conversation"))
	default:
		fmt.Fprintln(a.screen.out, "there is nothing new")
	}
	return nil
}

// exchangeOf returns the exchange for a workspace's conversations.
func exchangeOf(w *opened) git.Exchange {
	return git.Exchange{
		Root: w.Store.Root(), Folders: []string{"conversations", removal.Dir}, Now: w.Env.Now,
		Jitter: func(most time.Duration) time.Duration { return rand.N(most) },
	}
}

func cloneCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "clone <url> [<dir>]",
		Short: "Clone a repository and set up its conversations",
		Long: `Clones a repository with your own git, and makes cortext the merge driver of the clone,
as cortext init does. Nothing in the work tree changes.`,
		Example: "  cortext clone git@example.com:team/app.git",
		Args:    args(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return runClone(cmd, a, list)
		},
	}
}

func runClone(cmd *cobra.Command, a *app, list []string) error {
	ctx := cmd.Context()
	name := strings.TrimSuffix(path.Base(strings.TrimRight(filepath.ToSlash(list[0]), "/")), ".git")
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	if len(list) > 1 {
		name = list[1]
	}
	dir, err := filepath.Abs(a.file(name))
	if err != nil {
		return err
	}
	if err := git.Clone(ctx, list[0], dir); err != nil {
		return err
	}
	fmt.Fprintf(a.screen.out, "cloned into %s\n", visible(dir))
	root, err := store.Find(dir)
	if errors.Is(err, store.ErrNoWorkspace) || err == nil && root != dir {
		a.screen.hint("it has no workspace at its top: cortext init makes one")
		return nil
	}
	if err != nil {
		return err
	}
	if err := a.links().make(); err != nil {
		a.screen.warn("the hooks find cortext on the PATH only: " + err.Error())
	}
	d, err := a.driver()
	if err == nil {
		err = d.Set(ctx, dir)
	}
	if err != nil {
		return fmt.Errorf("git's merge driver is not set up: %w", err)
	}
	fmt.Fprintln(a.screen.out, "set merge.cortext in this clone's git configuration")
	w, err := workspace.Open(a.env(cmd, dir))
	if err != nil {
		return err
	}
	if w.Config.Commit == settings.CommitRef {
		a.screen.hint("its conversations are in no branch: cortext pull brings them")
	}
	return w.Close()
}
