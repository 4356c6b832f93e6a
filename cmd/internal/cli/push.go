package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/removal"
	"cortext/cmd/internal/settings"
)

func pushCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "push",
		Short: "Push committed conversations to the upstream branch",
		Long: `Pushes the current branch with your own git, to where git push sends it. If someone else
pushed first, it merges their changes and tries again, as often as necessary. It merges only
conversations: if the upstream has changes to other files, it stops and you must run git
pull yourself. It does not push uncommitted changes.

With "commit: ref" it commits every conversation that is not active to the ref of this
clone, and pushes that ref. Your branches stay as they are.`,
		Example: "  cortext push",
		Args:    args(cobra.NoArgs),
		RunE:    a.exchanges(pushBranch, pushRef),
	}
}

// exchanges returns a command that exchanges conversations with other clones: in the current
// branch or, with "commit: ref", in the ref of the clone. A git hook that the exchange runs may
// call the command again, which then does nothing.
func (a *app) exchanges(branch, ref func(context.Context, *app, *opened) error) func(*cobra.Command, []string) error {
	return a.within(func(cmd *cobra.Command, w *opened, _ []string) error {
		switch {
		case git.Exchanging(w.Store.Root()):
			fmt.Fprintln(a.screen.out, "cortext is already pushing or pulling here")
			return nil
		case w.Config.Commit == settings.CommitRef:
			return ref(cmd.Context(), a, w)
		}
		return branch(cmd.Context(), a, w)
	})
}

// pushBranch pushes the current branch.
func pushBranch(ctx context.Context, a *app, w *opened) error {
	x := exchangeOf(w)
	before, _ := git.Head(x.Root)
	races, err := x.Push(ctx)
	if races > 0 {
		changed, _, _ := git.ChangedFrom(ctx, x.Root, x.Folders[0], before.Commit) // it is merged, whatever git says
		a.dropRedacted(w, changed)
	}
	if err != nil {
		return err
	}
	if races == 0 {
		fmt.Fprintln(a.screen.out, "pushed")
	} else {
		fmt.Fprintf(a.screen.out, "pushed, after others were faster %s\n", count(races, "time"))
	}
	return nil
}

// pushRef commits what changed to the ref of the clone, and pushes it.
func pushRef(ctx context.Context, a *app, w *opened) error {
	if err := w.Repository.CommitChanged(ctx); err != nil {
		return err
	}
	sent, err := w.Repository.Ref().Push(ctx)
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

// exchangeOf returns the exchange for a workspace's conversations.
func exchangeOf(w *opened) git.Exchange {
	return git.Exchange{
		Root: w.Store.Root(), Folders: []string{"conversations", removal.Dir}, Now: w.Env.Now,
		Jitter: func(most time.Duration) time.Duration { return rand.N(most) },
	}
}
