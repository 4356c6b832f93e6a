package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/fork"
	"cortext/cmd/internal/history"
	"cortext/cmd/internal/launch"
	"cortext/cmd/internal/shell"
	"cortext/store"
)

type forkOptions struct {
	resumeOptions
	fork.Options
	noResume bool
}

func forkCommand(a *app) *cobra.Command {
	var o forkOptions
	cmd := &cobra.Command{
		Use:   "fork <id> [-- arguments for the agent]",
		Short: "Start a conversation from a point in another",
		Long: `Starts a new conversation with copies of the messages and tool calls of another one, up
to a message, and resumes it. The old conversation stays as it is. The two link to each
other.

MESSAGE is a number, as shown by cortext show, or an id. If it is a prompt, the new
conversation ends before it, so that you can ask something else there. Without --at, it
copies the whole branch that cortext resume would continue.`,
		Example: `  cortext fork "api design"
  cortext fork "api design" --at 12 --title "API design with gRPC"
  cortext fork "api design" --branch 1 --no-resume`,
		Args: args(func(cmd *cobra.Command, list []string) error {
			if n := cmd.ArgsLenAtDash(); len(list) == 0 || n == 0 {
				return fmt.Errorf("requires a conversation")
			}
			return nil
		}),
	}
	cmd.RunE = a.within(func(cmd *cobra.Command, w *opened, list []string) error {
		list = o.launchArgs(cmd, list)
		return runFork(cmd, a, w, strings.Join(list, " "), o)
	})
	f := cmd.Flags()
	f.StringVar(&o.At, "at", "", "end the copy at this `MESSAGE`: a number, as shown by cortext show, or an id")
	f.IntVar(&o.Branch, "branch", 0, "copy branch `N`, as shown by cortext show (default: the one that resume continues)")
	f.StringVar(&o.Title, "title", "", "the `TITLE` of the new conversation (default: the old title)")
	f.BoolVar(&o.noResume, "no-resume", false, "do not start an agent")
	o.defineLaunch(f)
	f.BoolVar(&a.screen.asJSON, "json", false, "print the new conversation as JSON; implies --no-resume")
	return cmd
}

func runFork(cmd *cobra.Command, a *app, w *opened, query string, o forkOptions) error {
	switch {
	case cmd.Flags().Changed("at") && o.At == "":
		return &usageError{"--at needs a message", "cortext show numbers the messages"}
	case o.At != "" && o.Branch != 0:
		return &usageError{"--at and --branch cannot be combined", "--at finds a message on any branch"}
	case o.Branch < 0 || o.Branch == 0 && cmd.Flags().Changed("branch"):
		return &usageError{"--branch is a number from 1, as cortext show numbers them", ""}
	case cmd.Flags().Changed("title") && strings.TrimSpace(o.Title) == "":
		return &usageError{"the title is empty", ""}
	case !o.noResume && !a.screen.asJSON && !o.headless && !a.terminal.present():
		return &usageError{"there is no terminal for the agent", "use --no-resume to start no agent, or -p TEXT to run one turn without a terminal"}
	case o.headless && (o.noResume || a.screen.asJSON):
		return &usageError{"--prompt needs an agent: leave out --no-resume and --json", ""}
	}
	ctx := cmd.Context()
	if err := discover(ctx, a.screen, w); err != nil {
		return err
	}
	e, err := w.Pick(query)
	if err != nil {
		return err
	}
	if err := fetched(ctx, a.terminal, w, e); err != nil {
		return err
	}
	if e, err = w.launcher().CatchUp(ctx, e); err != nil {
		a.screen.warn(err.Error())
	}
	resumes := !o.noResume && !a.screen.asJSON
	if resumes {
		if err := newStarter(a, w, o.resumeOptions).ready(ctx, e); err != nil {
			return err
		}
	}
	forked, err := makeFork(a.screen, w, w, e, o.Options)
	if err != nil {
		return err
	}
	switch {
	case a.screen.asJSON:
		return a.screen.json(rowOf(w.Workspace, forked))
	case resumes:
		return newStarter(a, w, o.resumeOptions).resume(ctx, forked)
	}
	fmt.Fprintln(a.screen.out, visible(forked.Path))
	a.notices(w).waiting(forked)
	return nil
}

// resumeInto continues a conversation in another workspace, in a new conversation that
// begins with copies of its messages.
func resumeInto(cmd *cobra.Command, a *app, w *opened, e store.Entry, o resumeOptions) error {
	if o.Branch == history.AllBranches {
		return &usageError{"--into takes one branch, not all of them", ""}
	}
	dir, err := filepath.Abs(a.file(o.into))
	if err != nil {
		return err
	}
	if info, err := os.Stat(filepath.Join(dir, ".workspace")); err != nil || !info.IsDir() {
		return &usageError{fmt.Sprintf("--into %s: there is no workspace in that folder", o.into), "cortext init -C " + shell.Quote(o.into) + " makes one"}
	}
	into, err := a.openIn(cmd, dir)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	defer a.close(ctx, into)
	if same, err := sameFolder(into.Store.Root(), w.Store.Root()); err != nil || same {
		return cmp.Or(err, error(&usageError{"--into names the conversation's own workspace", "cortext fork starts a new conversation in the same workspace"}))
	}
	o.into = into.Store.Root()
	o.Quiet = true // commits since then belong to another repository
	// Payloads are read here, and launched there.
	there := starter{a, w, launch.New(into.Workspace, into.capture, w.payloads), o}
	switch {
	case o.print:
		return there.print(ctx, e)
	case o.dryRun:
		return there.dryRun(ctx, e)
	}
	if err := confirmCompleted(ctx, a.terminal, e); err != nil {
		return err
	}
	if e, err = w.launcher().CatchUp(ctx, e); err != nil {
		a.screen.warn(err.Error())
	}
	if err := there.ready(ctx, e); err != nil {
		return err
	}
	forked, err := makeFork(a.screen, w, into, e, fork.Options{Choice: history.Choice{Branch: o.Branch}})
	if err != nil {
		return err
	}
	o.into, o.Branch, o.Quiet = "", 0, !o.sinceThen
	return newStarter(a, into, o).resume(ctx, forked)
}

// sameFolder reports whether two paths lead to the same folder.
func sameFolder(a, b string) (bool, error) {
	one, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two), err
}

// makeFork forks a conversation into the same or another workspace, and prints the result.
func makeFork(on screen, from, to *opened, e store.Entry, o fork.Options) (store.Entry, error) {
	f, err := fork.From(from.Workspace, to.Workspace, e, o)
	if err != nil {
		return store.Entry{}, err
	}
	on.warn(f.Warnings...)
	on.paused(f.Paused)
	s := f.Entry.Session
	fmt.Fprintf(on.errw, "cortext: forked: %s, with %s of %s\n", oneLine(s.DisplayTitle()), count(f.Messages, "message"), oneLine(e.Session.DisplayTitle()))
	if f.Prompt != "" {
		fmt.Fprintf(on.errw, "cortext: it ends before your prompt: %s\n", cut(oneLine(f.Prompt), 200))
	}
	return f.Entry, nil
}
