package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/commits"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
	"cortext/schema"
)

func whyCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why <commit>|<file>[:<line>]",
		Short: "Show the conversation that led to a commit or to a line of a file",
		Long: `Shows the conversation that led to a commit, and your last message before it.
For a file it uses the last commit that changed the file, for a line the commit that the
line comes from. Lines are counted as in the last commit.

If the commit names its conversation (cortext init --link-commits), the answer is certain.
Otherwise it is a guess, marked as such, based on the output of commands, the files that
both changed, the time and the branch.`,
		Example: "  cortext why HEAD~2\n  cortext why src/cache.go:12",
		Args:    args(cobra.ExactArgs(1)),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			return runWhy(cmd, a, w, list[0], asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// why is the JSON of an answer; its fields are stable.
type why struct {
	Commit       loggedRow `json:"commit"`
	Conversation row       `json:"conversation"`
	Message      int       `json:"message,omitempty"` // the number of the prompt, as in cortext show
	Prompt       string    `json:"prompt,omitempty"`
	Guess        bool      `json:"guess"`
	Because      []string  `json:"because,omitempty"`
}

// loggedRow is the JSON of a commit; its fields are stable.
type loggedRow struct {
	ID      string      `json:"id"`
	At      schema.Time `json:"at"`
	Subject string      `json:"subject"`
}

func loggedRowOf(c git.Logged) loggedRow { return loggedRow{c.ID, schema.NewTime(c.At), c.Subject} }

func runWhy(cmd *cobra.Command, a *app, w *opened, what string, asJSON bool) error {
	dir, err := a.folder()
	if err != nil {
		return err
	}
	within, err := filepath.Rel(w.Here.Workspace(), registry.RealDir(dir))
	if err != nil {
		return err
	}
	known := commits.Of(w.Workspace)
	commit, err := known.Resolve(cmd.Context(), filepath.ToSlash(within), what)
	if err != nil {
		return err
	}
	r, err := known.Why(cmd.Context(), commit)
	if err != nil {
		return err
	}
	if asJSON {
		return a.screen.json(why{Commit: loggedRowOf(commit), Conversation: rowOf(w.Workspace, r.Entry), Message: r.Prompt.Number, Prompt: r.Prompt.Content, Guess: len(r.Guesses) > 0, Because: r.Guesses})
	}
	out := a.screen.out
	fmt.Fprintf(out, "%.12s  %s  %s\n", commit.ID, a.screen.agoTime(commit.At), oneLine(commit.Subject))
	certain := ""
	if len(r.Guesses) > 0 {
		certain = "a guess: "
	}
	fmt.Fprintf(out, "%s%s  %s\n", certain, oneLine(r.Entry.Session.DisplayTitle()), oneLine(strings.TrimPrefix(r.Entry.Path, "conversations/")))
	for _, g := range r.Guesses {
		fmt.Fprintf(out, "  %s\n", oneLine(g))
	}
	if r.Prompt.ID != "" {
		fmt.Fprintf(out, "message %d:\n%s\n", r.Prompt.Number, visible(cut(r.Prompt.Content, 2000)))
	}
	return nil
}

func logCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "log [<id>]",
		Short: "List the commits of a conversation",
		Long: `Lists the commits, of all branches, that name a conversation: those made while it was
active, if cortext init --link-commits was run in the clone, and those of the conversation
itself. Without an id it lists those of the current conversation.`,
		Example: "  cortext log \"api design\"",
		Args:    args(cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			return runLog(cmd, a, w, strings.Join(list, " "), asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runLog(cmd *cobra.Command, a *app, w *opened, query string, asJSON bool) error {
	e, err := w.caller().PickOrCurrent(query)
	if err != nil {
		return err
	}
	all, err := commits.Of(w.Workspace).Log(cmd.Context(), e)
	if err != nil {
		return err
	}
	if asJSON {
		rows := []loggedRow{}
		for _, c := range all {
			rows = append(rows, loggedRowOf(c))
		}
		return a.screen.json(rows)
	}
	for _, c := range all {
		fmt.Fprintf(a.screen.out, "%.12s  %s  %s\n", c.ID, a.screen.agoTime(c.At), oneLine(c.Subject))
	}
	if len(all) == 0 {
		a.screen.hint("no commit names this conversation: cortext init --link-commits makes commits name their conversations")
	}
	return nil
}

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
		RunE: a.quietlyWithin(func(cmd *cobra.Command, w *opened, list []string) error {
			return runLinkCommit(cmd, a, w, list)
		}),
	}
}

func runLinkCommit(cmd *cobra.Command, a *app, w *opened, list []string) error {
	ctx, root := cmd.Context(), w.Store.Root()
	file, err := filepath.Abs(list[1]) // not relative to -C, because git runs hooks at the top of the work tree
	if err != nil {
		return err
	}
	switch {
	case list[0] == "end":
		return commits.Unname(ctx, root, file)
	case list[0] != "begin":
		return &usageError{fmt.Sprintf("%q is not begin or end", list[0]), "git calls this command itself"}
	case len(list) > 2 && (list[2] == "merge" || list[2] == "squash"):
		return nil
	}
	if op := git.Operation(root); op != "" && op != "bisect" {
		return nil // an older commit is being amended or rewritten
	}
	e, err := w.caller().Listed()
	if err != nil || a.Now().Sub(e.Session.LastActive.Time()) > commits.Stale {
		return nil // no conversation or several
	}
	return commits.Name(ctx, root, file, e.Session.ID)
}
