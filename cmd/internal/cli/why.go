package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/commits"
	"cortext/cmd/internal/registry"
)

func whyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "why <commit>|<file>[:<line>]",
		Short: "Show the conversation that led to a commit or to a line of a file",
		Long: `Shows the conversation that led to a commit, and your last message before it.
For a file it uses the last commit that changed the file, for a line the commit that the
line comes from. Lines are counted as in the last commit.

If the commit names its conversation (cortext init --link-commits), the answer is certain.
Otherwise it is a guess, marked as such, based on the output of commands, the files that
both changed, the time and the branch. It is also a guess if a squash or an amended commit
names several conversations, if the name is in the middle of the message, which may quote
another one, or if another of your messages may have led to it.`,
		Example: "  cortext why HEAD~2\n  cortext why src/cache.go:12",
		Args:    args(cobra.ExactArgs(1)),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			return runWhy(cmd, a, w, list[0])
		}),
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print JSON")
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

func runWhy(cmd *cobra.Command, a *app, w *opened, what string) error {
	dir, err := a.folder()
	if err != nil {
		return err
	}
	within, err := filepath.Rel(w.Here.Workspace(), registry.RealDir(dir))
	if err != nil {
		return err
	}
	if filepath.IsAbs(what) {
		real := filepath.Join(registry.RealDir(filepath.Dir(what)), filepath.Base(what))
		if what, err = filepath.Rel(w.Here.Workspace(), real); err != nil {
			return err
		}
		within, what = ".", "./"+filepath.ToSlash(what) // no commit has such a name
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
	if r.Latest && notSaved(cmd.Context(), w, r) {
		r.Guesses = append(r.Guesses, "the agent's transcript has a later message that is not saved yet: cortext sync saves it")
	}
	if a.screen.asJSON {
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

// notSaved reports whether the transcripts of a conversation may have a prompt that came between
// the answer and the commit, and that is not saved yet: agents call hooks at the end of a turn.
func notSaved(ctx context.Context, w *opened, r *commits.Reason) bool {
	if w.launcher().Behind(r.Entry) == 0 {
		return false
	}
	recorded, _, err := w.capture.Recorded(ctx, r.Entry, nil)
	for _, rec := range recorded {
		if asked := commits.PromptBefore(rec.Batch.Messages, r.Commit.At); asked.Timestamp.Time().After(r.Prompt.Timestamp.Time()) {
			return true
		}
	}
	return err != nil
}
