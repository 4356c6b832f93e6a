package cli

import (
	"cmp"
	"context"
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
		if at := cmd.ArgsLenAtDash(); at >= 0 {
			list, o.args = list[:at], list[at:]
		}
		o.headless = cmd.Flags().Changed("prompt")
		return runFork(cmd, a, w, strings.Join(list, " "), o)
	})
	f := cmd.Flags()
	f.StringVar(&o.At, "at", "", "end the copy at this `MESSAGE`: a number, as shown by cortext show, or an id")
	f.IntVar(&o.Branch, "branch", 0, "copy branch `N`, as shown by cortext show (default: the one that resume continues)")
	f.StringVar(&o.Title, "title", "", "the `TITLE` of the new conversation (default: the old title)")
	f.BoolVar(&o.noResume, "no-resume", false, "do not start an agent")
	f.StringVarP(&o.prompt, "prompt", "p", "", "send `TEXT`, run one turn without a terminal, and print the answer")
	f.StringVar(&o.agent, "agent", "", "the `AGENT` to resume in: claude, opencode, gemini (default: the last one used)")
	f.BoolVar(&o.json, "json", false, "print the new conversation as JSON; implies --no-resume")
	return cmd
}

func runFork(cmd *cobra.Command, a *app, w *opened, query string, o forkOptions) error {
	switch {
	case cmd.Flags().Changed("at") && o.At == "":
		return &usageError{"--at names no message", "cortext show numbers the messages"}
	case o.At != "" && o.Branch != 0:
		return &usageError{"--at and --branch cannot be combined", "--at finds a message on any branch"}
	case o.Branch < 0 || o.Branch == 0 && cmd.Flags().Changed("branch"):
		return &usageError{"--branch is a number from 1, as cortext show numbers them", ""}
	case cmd.Flags().Changed("title") && strings.TrimSpace(o.Title) == "":
		return &usageError{"the title is empty", ""}
	case !o.noResume && !o.json && !o.headless && !a.terminal.present():
		return &usageError{"there is no terminal for the agent", "use --no-resume to start no agent, or -p TEXT to run one turn without a terminal"}
	case o.headless && (o.noResume || o.json):
		return &usageError{"--prompt needs an agent: leave out --no-resume and --json", ""}
	}
	ctx := cmd.Context()
	if err := a.discover(ctx, w); err != nil {
		return err
	}
	e, err := w.Pick(query)
	if err != nil {
		return err
	}
	if err := a.fetched(ctx, w, e); err != nil {
		return err
	}
	if e, err = w.launcher().CatchUp(ctx, e); err != nil {
		a.screen.warn(err.Error())
	}
	resumes := !o.noResume && !o.json
	if resumes {
		if err := a.canLaunch(ctx, w.launcher(), e, o.resumeOptions); err != nil {
			return err
		}
	}
	forked, err := a.fork(w, w, e, o.Options)
	if err != nil {
		return err
	}
	switch {
	case o.json:
		return a.screen.json(rowOf(w.Workspace, forked))
	case resumes:
		return runLaunch(ctx, a, w, forked, o.resumeOptions)
	}
	fmt.Fprintln(a.screen.out, visible(forked.Path))
	a.notices(w).waiting(forked)
	return nil
}

// startFork forks a conversation and starts an agent on the new one.
func (a *app) startFork(ctx context.Context, w *opened, e store.Entry, at history.Choice, o resumeOptions) error {
	e, err := w.launcher().CatchUp(ctx, e)
	if err != nil {
		a.screen.warn(err.Error())
	}
	if err := a.canLaunch(ctx, w.launcher(), e, o); err != nil {
		return err
	}
	if e, err = a.fork(w, w, e, fork.Options{Choice: at}); err != nil {
		return err
	}
	return runLaunch(ctx, a, w, e, o)
}

// canLaunch reports what would prevent an agent from starting, before a conversation is
// created for it. It changes nothing on disk.
func (a *app) canLaunch(ctx context.Context, l *launch.Launcher, e store.Entry, o resumeOptions) error {
	if !o.headless && !a.terminal.present() {
		return &usageError{"there is no terminal for the agent", "-p TEXT runs one turn without a terminal"}
	}
	_, err := l.Plan(ctx, e, o.launchOptions())
	return err
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
	if o.print {
		built, err := o.build(ctx, w, e)
		if err != nil {
			return err
		}
		a.notices(w).built(built)
		return printPayload(a.screen, built.Payload, o.json)
	}
	there := launch.New(into.Workspace, into.capture, w.payloads) // reads payloads here, launches there
	if o.dryRun {
		return a.dryRun(ctx, w, there, e, o)
	}
	if err := a.confirmCompleted(ctx, e); err != nil {
		return err
	}
	if e, err = w.launcher().CatchUp(ctx, e); err != nil {
		a.screen.warn(err.Error())
	}
	if err := a.canLaunch(ctx, there, e, o); err != nil {
		return err
	}
	forked, err := a.fork(w, into, e, fork.Options{Choice: history.Choice{Branch: o.Branch}})
	if err != nil {
		return err
	}
	o.into, o.Branch, o.Quiet = "", 0, !o.sinceThen
	return runLaunch(ctx, a, into, forked, o)
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

// fork forks a conversation into the same or another workspace, and prints the result.
func (a *app) fork(from, to *opened, e store.Entry, o fork.Options) (store.Entry, error) {
	f, err := fork.From(from.Workspace, to.Workspace, e, o)
	if err != nil {
		return store.Entry{}, err
	}
	a.screen.warn(f.Warnings...)
	a.screen.paused(f.Paused)
	s := f.Entry.Session
	fmt.Fprintf(a.screen.errw, "cortext: forked: %s, with %s of %s\n", oneLine(s.DisplayTitle()), count(f.Messages, "message"), oneLine(e.Session.DisplayTitle()))
	if f.Prompt != "" {
		fmt.Fprintf(a.screen.errw, "cortext: it ends before your prompt: %s\n", cut(oneLine(f.Prompt), 200))
	}
	return f.Entry, nil
}
