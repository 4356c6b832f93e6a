package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/search"
	"cortext/cmd/internal/stop"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

func rmCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm <id>...",
		Short: "Remove conversations",
		Long: `Deletes the folders of conversations, with their documents and everything else in
them. cortext does not capture these conversations again, in any work tree or clone on
this machine, even if the agents still have the transcripts. Commit .workspace/removed
to make that hold on other machines. To get a conversation back, import its transcript.
Commits that contain a conversation stay in git.

With --yes, each argument must name a conversation: by its id, four or more characters of
the start of its id, its folder, or whole words of its title. Without it, any words that
match one conversation are enough.`,
		Example: "  cortext rm 1030-brainstorm-api-design-hv37",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			entries, err := pickMany(w, list)
			if err != nil {
				return err
			}
			if yes {
				err = unasked(w, list, entries)
			} else {
				yes, err = confirmRemoval(cmd.Context(), a.terminal, entries)
			}
			if err != nil || !yes {
				return err
			}
			return remove(cmd.Context(), a.screen, w, entries)
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

// listedFirst is the maximum number of conversations, or files, that a question or a report lists.
const listedFirst = 10

// confirmRemoval asks whether conversations may be removed.
func confirmRemoval(ctx context.Context, t terminal, entries []store.Entry) (bool, error) {
	what := oneLine(entries[0].Session.DisplayTitle())
	if len(entries) > 1 {
		what = count(len(entries), "conversation")
	}
	if !t.present() {
		return false, &usageError{"removing " + what + " must be confirmed, and there is no terminal to ask on", "--yes removes without asking"}
	}
	if len(entries) == 1 {
		e := entries[0]
		return t.ask(ctx, fmt.Sprintf("Remove %s, %s, with the folder %s?", what, count(e.Session.MessageCount, "message"), visible(e.Path)))
	}
	for i, e := range entries {
		if i == listedFirst {
			fmt.Fprintf(t.out, "  and %d more\n", len(entries)-i)
			break
		}
		fmt.Fprintf(t.out, "  %s, %s (%s)\n", oneLine(e.Session.DisplayTitle()), count(e.Session.MessageCount, "message"), visible(e.Path))
	}
	return t.ask(ctx, fmt.Sprintf("Remove these %s with their folders?", what))
}

// remove removes conversations and prints which of them git still has. It continues after a
// failure.
func remove(ctx context.Context, on screen, w *opened, entries []store.Entry) error {
	var errs []error
	var inGit []string
	if len(entries) > 1 {
		if err := w.Removed.ReadResumed(); err != nil {
			return err
		}
	}
	var folders []string
	for _, e := range entries {
		folders = append(folders, e.Path)
	}
	known, _ := w.Repository.KnownAmong(ctx, folders) // only for the message below
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			errs = append(errs, err)
			break
		}
		if len(entries) > progressFrom {
			on.progress("%d of %d conversations", i, len(entries))
		}
		if err := stop.Remove(ctx, w.Workspace, w.capture, e); err != nil {
			errs = append(errs, err)
			continue
		}
		if known[e.Path] {
			inGit = append(inGit, e.Path)
		}
		on.clearLine()
		fmt.Fprintf(on.out, "removed %s (%s)\n", oneLine(e.Session.DisplayTitle()), visible(e.Path))
	}
	on.clearLine()
	errs = append(errs, forgetRemoved(w.Workspace, on.examined))
	switch len(inGit) {
	case 0:
	case 1:
		fmt.Fprintf(on.errw, "git still has it: git log --all -- %s lists the commits\n", visible(inGit[0]))
	default:
		fmt.Fprintf(on.errw, "git still has %d of them, for example %s\n", len(inGit), visible(strings.TrimPrefix(inGit[0], "conversations/")))
	}
	return errors.Join(errs...)
}

// forgetRemoved deletes everything about removed conversations from the indexes of lists and
// searches.
func forgetRemoved(w *workspace.Workspace, progress func(done, of int)) error {
	return errors.Join(w.ForgetRemoved(progress), search.Forget(w.Store))
}
