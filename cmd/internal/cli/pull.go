package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/git"
	"cortext/store"
)

func pullCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "pull",
		Short: "Merge conversations from the upstream branch",
		Long: `Fetches the upstream of the current branch with your own git, and merges it
if only conversations changed there. If it has changes to other files, it stops and you must
run git pull yourself. It also stops, and changes nothing, if the upstream changed a file that
has uncommitted changes here, if the merge needs a commit while something else is staged, or
if history was rewritten, in the upstream or here after you had pushed it: a merge would bring
back what was removed.

If one side deleted a conversation that the other continued, as the revert of the commit
that created it does, the conversation stays. If both sides renamed its folder, both folders
stay until the next stop. In the middle of a merge, rebase or cherry-pick with such a
conflict, pull resolves it. If nothing else is left of a merge, pull also commits the merge;
otherwise you run git's --continue, or git commit after merge --squash, cherry-pick -n or
stash pop.

With "commit: ref" it fetches the refs of all clones, and merges them into the conversations
of this work tree. Your branches, the index and other files stay as they are.`,
		Example: "  cortext pull",
		Args:    args(cobra.NoArgs),
		RunE:    a.exchanges(pullBranch, pullRef),
	}
}

// pullBranch merges the upstream of the current branch.
func pullBranch(ctx context.Context, a *app, w *opened) error {
	p, err := exchangeOf(w).Pull(ctx)
	for _, f := range p.Kept.OneSided {
		a.screen.warn(visible(f.Path) + " was removed on one side of the merge and continued on the other: it stays")
	}
	for _, r := range p.Kept.Renamed {
		a.screen.warn(visible(r.Ours) + " has another name on the other side of the merge, " + visible(r.Theirs) + ": both stay, until the next stop merges them")
	}
	switch {
	case err != nil:
		return err
	case p.Open != "":
		a.screen.hint("resolve the other conflicts that git status lists, then run git " + p.Open)
	case p.Merged:
		a.merged(w, p)
	default:
		fmt.Fprintln(a.screen.out, "there is nothing new")
	}
	return nil
}

// merged prints how many conversations a pull changed, and which are gone. It drops cached
// copies of texts that were redacted in another clone.
func (a *app) merged(w *opened, p git.Pulled) {
	on := a.screen
	a.dropRedacted(w, p.Changed)
	if n := len(p.Changed) + len(p.Removed); n > 0 {
		fmt.Fprintf(on.out, "merged %s\n", count(n, "conversation"))
	} else {
		fmt.Fprintln(on.out, "merged")
	}
	for _, name := range p.Removed {
		fmt.Fprintf(on.out, "%s was removed in another clone\n", visible(name))
	}
}

// dropRedacted drops the cached copies of texts that were redacted in another clone.
func (a *app) dropRedacted(w *opened, conversations []string) {
	for _, path := range conversations {
		if err := w.DropRedacted(path); err != nil && !errors.Is(err, store.ErrNotFound) {
			a.screen.warn(err.Error())
		}
	}
}

// pullRef merges the conversations in the refs of all clones into this one.
func pullRef(ctx context.Context, a *app, w *opened) error {
	changed, err := w.Repository.Ref().Pull(ctx)
	switch {
	case err != nil:
		return err
	case len(changed) > 0:
		a.merged(w, pulledInto(w, changed))
	default:
		fmt.Fprintln(a.screen.out, "there is nothing new")
	}
	return nil
}

// pulledInto tells the conversations that a pull changed from those that are gone. One that moved to
// another day has changed.
func pulledInto(w *opened, folders []string) (p git.Pulled) {
	for _, folder := range folders {
		if is, err := w.Store.Folders().HasSession(folder); is || err != nil || w.Store.HasRecords(folder) {
			p.Changed = append(p.Changed, folder)
		} else {
			p.Removed = append(p.Removed, folder)
		}
	}
	p.Removed = slices.DeleteFunc(p.Removed, func(gone string) bool {
		return slices.ContainsFunc(p.Changed, func(folder string) bool { return path.Base(folder) == path.Base(gone) })
	})
	return p
}
