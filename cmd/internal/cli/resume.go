package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cortext/cmd/internal/launch"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/slash"
	"cortext/store"
)

type resumeOptions struct {
	payloadFlags
	candidates filterFlags
	agent      string
	prompt     string
	headless   bool     // one turn with prompt
	args       []string // arguments for the agent
	session    string   // id from --session
	into       string   // folder of another workspace

	print, dryRun, list, latest, here, fresh bool
}

func (o *resumeOptions) launchOptions() launch.Options {
	return launch.Options{Options: o.Options, Agent: o.agent, Headless: o.headless, Prompt: o.prompt, Args: o.args, Into: o.into}
}

func resumeCommand(a *app) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:   "resume [query] [-- arguments for the agent]",
		Short: "Resume a conversation in an agent",
		Long: `Starts the agent with the conversation's command, a block that says where it
stopped, and its history, within a token budget. Nothing is sent to a model until you type.
The agent's session is captured into the same conversation. The query is an id, a folder, or
words from the title or the summary. If the id belongs to another workspace, the
conversation is resumed there.

With --into, the conversation continues in another workspace: a new one there begins with
copies of its messages, and the two link to each other.`,
		Example: "  cortext resume \"api design\"\n  cortext resume \"api design\" -p \"what is left to do?\"\n  cortext resume \"api design\" --print --budget 8000\n  cortext resume --type brainstorm --since \"3 days ago\" --list\n  cortext resume \"api design\" --into ../client",
		Args:    args(cobra.ArbitraryArgs),
	}
	o.define(a, cmd)
	return cmd
}

// define defines the flags of resume, and what the command runs.
func (o *resumeOptions) define(a *app, cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.print, "print", false, "print the payload instead of starting the agent; changes nothing")
	f.BoolVar(&o.dryRun, "dry-run", false, "describe the payload and the launch; changes nothing")
	f.BoolVar(&o.list, "list", false, "list the conversations that match the query")
	f.BoolVar(&o.here, "here", false, "for agents: print the conversation for the session that runs this command; without a query, list conversations")
	defineStart(f, &o.latest)
	o.defineLaunch(f)
	o.candidates.defineCommon(cmd, "any")
	f.StringVar(&o.into, "into", "", "continue in the workspace in `DIR`, in a new conversation there")
	f.BoolVar(&a.screen.asJSON, "json", false, "print JSON")
	o.payloadFlags.define(cmd)
	cmd.RunE = func(cmd *cobra.Command, list []string) error {
		words, err := o.start(cmd, o.launchArgs(cmd, list))
		switch {
		case err != nil:
			return err
		case o.fresh:
			return runFresh(a, cmd, words, *o)
		}
		return runResume(a, cmd, strings.Join(words, " "), *o)
	}
}

// defineLaunch defines the flags that fork also has.
func (o *resumeOptions) defineLaunch(f *pflag.FlagSet) {
	f.StringVarP(&o.prompt, "prompt", "p", "", "send `TEXT`, run one turn without a terminal, and print the answer")
	f.StringVar(&o.agent, "agent", "", "the `AGENT` to resume in: claude, opencode, gemini (default: the last one used)")
}

// launchArgs takes the agent's arguments, which follow --, and returns the others.
func (o *resumeOptions) launchArgs(cmd *cobra.Command, list []string) []string {
	o.headless = cmd.Flags().Changed("prompt")
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		list, o.args = list[:at], list[at:]
	}
	return list
}

func runResume(a *app, cmd *cobra.Command, query string, o resumeOptions) error {
	if err := o.check(cmd, a.Now()); err != nil {
		return err
	}
	only, err := o.only(a.Now())
	if err != nil {
		return err
	}
	if query == "" && !o.latest && !o.here && !o.list && a.Pick == nil && a.fullScreen() {
		return a.goOnWithPicker() // now, so that the screen appears sooner and warnings only once
	}
	w, err := a.open(cmd)
	if err != nil {
		id, err := a.goThere(cmd, query, err)
		if err != nil {
			return err
		}
		if w, err = a.open(cmd); err != nil {
			return err
		}
		query = id
	}
	ctx := cmd.Context()
	defer func() { a.close(ctx, w) }()
	switch {
	case cmd.Flags().Changed("into") && (o.here || o.list):
		return &usageError{"--into cannot be combined with --here or --list", ""}
	case o.here:
		return resumeHere(ctx, a, w, query)
	case o.list:
		list, err := matching(w, query, only)
		if err != nil {
			return err
		}
		return listMatches(a.screen, w, recent(list, o.Since))
	}
	starts := !o.print && !o.dryRun
	if starts && (query != "" || o.latest || !a.fullScreen()) { // the picker does this in the background
		if err := discover(ctx, a.screen, w); err != nil {
			return err
		}
	}
	chosen, err := chooser{a, w}.toResume(ctx, query, only, o)
	e := chosen.Entry
	o.agent = cmp.Or(chosen.agent, o.agent)
	if err != nil || chosen.dir != "" {
		id := ""
		if err == nil {
			a.dir, id = chosen.dir, e.Session.ID
		} else if id, err = a.goThere(cmd, query, err); err != nil {
			return err
		}
		there, err := a.open(cmd)
		if err != nil {
			return err
		}
		a.close(ctx, w)
		w = there
		if e, err = w.Pick(id); err != nil {
			return err
		}
	}
	if chosen.fresh != nil || chosen.fork != nil {
		if !starts || cmd.Flags().Changed("into") {
			return &usageError{"a new conversation cannot be started with --print, --dry-run or --into", ""}
		}
		if chosen.fresh != nil {
			return newStarter(a, w, o).start(ctx, *chosen.fresh)
		}
		return newStarter(a, w, o).fork(ctx, e, *chosen.fork)
	}
	if err := fetched(ctx, a.terminal, w, e); err != nil {
		return err
	}
	if starts && o.Branch == 0 {
		if o.Branch, err = (chooser{a, w}).branch(ctx, e); err != nil {
			return err
		}
	}
	if cmd.Flags().Changed("into") {
		return resumeInto(cmd, a, w, e, o)
	}
	if starts {
		return newStarter(a, w, o).resume(ctx, e)
	}
	return newStarter(a, w, o).preview(ctx, e)
}

// build builds the payload for the agent that the options name.
func (o *resumeOptions) build(ctx context.Context, w *opened, e store.Entry) (*payload.Built, error) {
	target, err := w.payloads.Target(e, payload.Recipient{Agent: o.agent, Args: o.args}, o.Options)
	if err != nil {
		return nil, err
	}
	return w.payloads.Build(ctx, e, target)
}

// resumeHere prints the payload for the agent that ran the command.
func resumeHere(ctx context.Context, a *app, w *opened, query string) error {
	if err := discover(ctx, a.screen, w); err != nil {
		return err
	}
	say, err := slash.New(w.Workspace, w.capture, w.payloads, w.compact).Here(ctx, query)
	if err == nil {
		_, err = fmt.Fprintln(a.screen.out, say)
	}
	return err
}

// listMatches prints conversations that match.
func listMatches(on screen, w *opened, matches []store.Entry) error {
	if on.asJSON {
		return on.json(rowsOf(w.Workspace, matches))
	}
	on.table(matches)
	return nil
}

// matching returns the conversations that match a query and the flags. Without either it
// returns all of them but archived ones, completed ones last.
func matching(w *opened, query string, only *listing.Filter) ([]store.Entry, error) {
	if query == "" && only == nil {
		return w.Choices()
	}
	return w.Matching(query, only)
}
