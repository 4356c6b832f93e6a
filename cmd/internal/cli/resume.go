package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume"
	"cortext/store"
)

type resumeOptions struct {
	flow.LaunchOptions
	print, dryRun, list, json, latest, here bool
	since                                   string
	sinceThen                               bool
}

func (a *app) resumeCommand() *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:   "resume [query] [-- arguments for the agent]",
		Short: "Resume a conversation in an agent",
		Long: `Starts the agent with the conversation's command, a block that says where it stopped,
and its history, within a token budget. Nothing is sent to a model until you type. The
agent's session is captured into the same conversation. The query is an id, a folder,
or words from the title or the summary.`,
		Example: "  cortext resume \"api design\"\n  cortext resume \"api design\" -p \"what is left to do?\"\n  cortext resume \"api design\" --print --budget 8000",
		Args:    args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, list []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				list, o.Args = list[:at], list[at:]
			}
			o.Headless = cmd.Flags().Changed("prompt")
			return a.runResume(cmd, strings.Join(list, " "), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.print, "print", false, "print the payload instead of starting the agent; changes nothing")
	f.BoolVar(&o.dryRun, "dry-run", false, "describe the payload and the launch; changes nothing")
	f.BoolVar(&o.list, "list", false, "list the conversations that match the query")
	f.BoolVar(&o.here, "here", false, "for agents: print the conversation for the session that runs this command; without a query, list conversations")
	f.BoolVarP(&o.latest, "continue", "c", false, "resume the most recently active conversation")
	f.StringVarP(&o.Prompt, "prompt", "p", "", "send `TEXT`, run one turn without a terminal, and print the answer")
	f.StringVar(&o.Agent, "agent", "", "the `AGENT` to resume in: claude, opencode, gemini (default: the last one used)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	o.flags(cmd)
	return cmd
}

// flags defines the flags that control how much is included.
func (o *resumeOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.Budget, "budget", 0, "limit the payload to `N` tokens (default: the model's context window, minus what the agent needs)")
	f.IntVar(&o.Window, "window", 0, "the model's context window is `N` tokens (default: the known size)")
	f.StringVar(&o.Strategy, "strategy", "", "how to shorten a history that does not fit: `NAME` is one of "+strings.Join(resume.Strategies(), ", ")+" (default: ranked)")
	f.IntVar(&o.Last, "last", 0, "include only the last `N` messages")
	f.StringVar(&o.since, "since", "", "include only messages since `WHEN`: 2h, 3d, 2025-11-22, or an RFC 3339 time")
	f.BoolVar(&o.sinceThen, "since-then", true, "list commits and changed files since the last message")
}

// check rejects invalid flags.
func (o *resumeOptions) check(cmd *cobra.Command, now time.Time) error {
	switch {
	case o.Last < 0:
		return &usageError{"--last must not be negative", ""}
	case o.Window < 0:
		return &usageError{"--window must not be negative", ""}
	case cmd.Flags().Changed("budget") && o.Budget < resume.MinBudget:
		return &usageError{fmt.Sprintf("--budget %d is too small: %d tokens hold the least there is to say", o.Budget, resume.MinBudget), ""}
	case o.Strategy != "" && !slices.Contains(resume.Strategies(), o.Strategy):
		return &usageError{fmt.Sprintf("--strategy %q is none of %s", o.Strategy, strings.Join(resume.Strategies(), ", ")), ""}
	}
	o.Quiet = !o.sinceThen
	if o.since == "" {
		return nil
	}
	at, err := parseSince(o.since, now)
	if err != nil {
		return err
	}
	o.Since = at
	return nil
}

// parseSince parses a time in the past: a number of minutes, hours, days or weeks ago, a
// date, or a time.
func parseSince(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	if n, err := strconv.Atoi(text[:len(text)-1]); err == nil && n > 0 && n < 100_000 {
		unit, ok := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[text[len(text)-1]]
		if ok {
			return now.Add(-time.Duration(n) * unit), nil
		}
	}
	return time.Time{}, &usageError{fmt.Sprintf("--since %q is not of the form 2h, 3d, 2025-11-22 or 2025-11-22T10:00:00Z", text), ""}
}

func (a *app) runResume(cmd *cobra.Command, query string, o resumeOptions) error {
	if err := o.check(cmd, a.now()); err != nil {
		return err
	}
	w, err := a.open(cmd)
	if err != nil {
		return err
	}
	defer a.close(cmd.Context(), w)
	if o.here {
		return a.resumeHere(cmd.Context(), w, query)
	}
	if o.list {
		return a.listMatches(w, query, o)
	}
	if !o.print && !o.dryRun {
		if err := a.discover(cmd.Context(), w); err != nil {
			return err
		}
	}
	e, err := a.choose(cmd.Context(), w, query, o)
	if err != nil {
		return err
	}
	if err := a.fetched(cmd.Context(), w, e); err != nil {
		return err
	}
	if !o.print && !o.dryRun {
		return a.launch(cmd.Context(), w, e, o)
	}
	a.warnLost(cmd.Context(), w, e)
	if n := w.Behind(e); n > 0 {
		a.warn(fmt.Sprintf("%d transcripts of this conversation have more than is captured: cortext resume without --print captures it first, cortext stop does too", n))
	}
	if o.dryRun {
		return a.dryRun(cmd.Context(), w, e, o)
	}
	if o.ResumeOptions, err = w.Target(e, o.LaunchOptions); err != nil {
		return err
	}
	r, err := w.Resume(cmd.Context(), e, o.ResumeOptions)
	if err != nil {
		return err
	}
	a.warnResumed(r)
	switch {
	case o.json:
		return a.printPayload(r.Payload)
	case isTerminal(a.out):
		_, err = io.WriteString(a.out, visible(r.Payload.Text))
	default:
		_, err = io.WriteString(a.out, r.Payload.Text)
	}
	return err
}

// resumeHere prints the payload for the agent that ran the command.
func (a *app) resumeHere(ctx context.Context, w *flow.Workspace, query string) error {
	if err := a.discover(ctx, w); err != nil {
		return err
	}
	say, err := w.Here(ctx, query)
	if err == nil {
		_, err = fmt.Fprintln(a.out, say)
	}
	return err
}

// choose returns the conversation to resume, and asks if several match.
func (a *app) choose(ctx context.Context, w *flow.Workspace, query string, o resumeOptions) (store.Entry, error) {
	if !o.latest {
		return a.pick(ctx, w, query)
	}
	if query != "" {
		return store.Entry{}, &usageError{"--continue means the conversation that was active last: it goes without a query", ""}
	}
	all, err := w.Store.List()
	if err == nil && len(all) == 0 {
		err = workspace.ErrNoConversation
	}
	if err != nil {
		return store.Entry{}, err
	}
	return all[0], nil
}

// warnResumed prints warnings about a payload.
func (a *app) warnResumed(r *flow.Resumed) {
	for _, d := range r.Damage {
		a.warn(d.Error())
	}
	for _, warning := range r.Payload.Warnings {
		a.warn(warning.Text)
	}
	a.warn(r.Warnings...)
}

// listMatches prints the conversations that a query matches.
func (a *app) listMatches(w *flow.Workspace, query string, o resumeOptions) error {
	var matches []store.Entry
	var err error
	if query == "" {
		matches, err = w.Listed()
	} else {
		var e store.Entry
		var ambiguous *workspace.AmbiguousError
		if e, err = w.Pick(query); errors.As(err, &ambiguous) {
			matches, err = ambiguous.Candidates, nil
		} else {
			matches = []store.Entry{e}
		}
	}
	if err != nil {
		return err
	}
	if o.json {
		return a.printJSON(rowsOf(w, matches))
	}
	a.table(a.out, matches)
	return nil
}

// leftOut is an entry of left_out in resume --json.
type leftOut struct {
	What   string `json:"what"`
	Count  int    `json:"count"`
	Tokens int    `json:"tokens"`
	Show   string `json:"show"`
}

func leftOutOf(p *resume.Payload) []leftOut {
	list := make([]leftOut, len(p.LeftOut))
	for i, l := range p.LeftOut {
		list[i] = leftOut(l)
	}
	return list
}

func warningsOf(p *resume.Payload) []string {
	list := make([]string, len(p.Warnings))
	for i, w := range p.Warnings {
		list[i] = w.Text
	}
	return list
}

func (a *app) printPayload(p *resume.Payload) error {
	return a.printJSON(struct {
		Payload    string    `json:"payload"`
		Tokens     int       `json:"tokens"`
		Budget     int       `json:"budget"`
		Strategy   string    `json:"strategy"`
		Included   int       `json:"included"`
		Summarized int       `json:"summarized"`
		LeftOut    []leftOut `json:"left_out"`
		Warnings   []string  `json:"warnings"`
		Estimate   bool      `json:"estimate"`
		Factor     float64   `json:"factor"`
	}{p.Text, p.Tokens, p.Budget, p.Strategy, p.Included, p.Summarized, leftOutOf(p), warningsOf(p), p.Estimate, p.Factor})
}

// plannedLaunch is a launch in resume --dry-run --json; its fields are stable.
type plannedLaunch struct {
	Agent      string        `json:"agent"`
	Road       string        `json:"road"`
	Program    string        `json:"program"`
	Import     []string      `json:"import"` // arguments of a run before the launch; empty: none
	Args       []string      `json:"args"`
	Dir        string        `json:"dir"`
	Files      []plannedFile `json:"files"`
	StdinBytes int           `json:"stdin_bytes"`
}

type plannedFile struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}

// dryRun prints what a launch would deliver, and how. What prevents the launch is
// returned as an error after printing everything else.
func (a *app) dryRun(ctx context.Context, w *flow.Workspace, e store.Entry, o resumeOptions) error {
	var launch *plannedLaunch
	p, planErr := w.Plan(ctx, e, o.LaunchOptions)
	var stopped *inject.PreflightError
	if planErr != nil && !errors.As(planErr, &stopped) {
		return planErr
	}
	var r *flow.Resumed
	if p != nil {
		r = p.Resumed
		launch = &plannedLaunch{p.Agent.Name(), p.Launch.Method, p.Launch.Program, append([]string{}, p.Launch.Import...), p.Launch.Args, p.Dir, []plannedFile{}, len(p.Launch.Stdin)}
		for _, f := range p.Launch.Files {
			launch.Files = append(launch.Files, plannedFile{f.Path, len(f.Data)})
		}
	} else {
		var err error
		if o.ResumeOptions, err = w.Target(e, o.LaunchOptions); err != nil {
			return err
		}
		if r, err = w.Resume(ctx, e, o.ResumeOptions); err != nil {
			return err
		}
	}
	a.warnResumed(r)
	if o.json {
		q := r.Payload
		err := a.printJSON(struct {
			Conversation row            `json:"conversation"`
			Launch       *plannedLaunch `json:"launch"` // null if something prevents it
			Bytes        int            `json:"bytes"`
			Tokens       int            `json:"tokens"`
			Budget       int            `json:"budget"`
			Strategy     string         `json:"strategy"`
			Included     int            `json:"included"`
			LeftOut      []leftOut      `json:"left_out"`
			Warnings     []string       `json:"warnings"`
		}{rowOf(w, r.Entry), launch, len(q.Text), q.Tokens, q.Budget, q.Strategy, q.Included, leftOutOf(q), append(warningsOf(q), r.Warnings...)})
		return errors.Join(err, planErr)
	}
	a.printPlan(r)
	if launch != nil {
		fmt.Fprintf(a.out, "agent         %s, in %s\n", launch.Agent, visible(launch.Dir))
		fmt.Fprintf(a.out, "road          %s\n", launch.Road)
		fmt.Fprintf(a.out, "program       %s\n", visible(launch.Program))
		if len(launch.Import) > 0 {
			fmt.Fprintf(a.out, "before it     %s\n", oneLine(strings.Join(launch.Import, " ")))
		}
		for _, arg := range launch.Args {
			fmt.Fprintf(a.out, "argument      %s\n", oneLine(arg))
		}
		for _, f := range launch.Files {
			fmt.Fprintf(a.out, "file          %s, %d bytes\n", visible(f.Path), f.Bytes)
		}
		if launch.StdinBytes > 0 {
			fmt.Fprintf(a.out, "input         %d bytes\n", launch.StdinBytes)
		}
	}
	return planErr
}

// estimate says how an o200k_base count relates to the model's own count, or returns ""
// if they are equal.
func estimate(factor float64) string {
	if factor == 0 || factor == 1 {
		return ""
	}
	return fmt.Sprintf(" of o200k_base (this model counts up to %.2g times as many)", factor)
}

// printPlan prints what a payload contains.
func (a *app) printPlan(r *flow.Resumed) {
	p := r.Payload
	fmt.Fprintf(a.out, "conversation  %s (%s)\n", oneLine(r.Entry.Session.DisplayTitle()), oneLine(r.Entry.Path))
	fmt.Fprintf(a.out, "payload       %d bytes, %d tokens%s, budget %d\n", len(p.Text), p.Tokens, estimate(p.Factor), p.Budget)
	fmt.Fprintf(a.out, "strategy      %s, %d messages\n", p.Strategy, p.Included)
	a.printLeftOut(p.LeftOut)
}

func (a *app) printLeftOut(left []resume.LeftOut) {
	for _, l := range left {
		fmt.Fprintf(a.out, "left out      %s", oneLine(l.What))
		if l.Count > 0 {
			fmt.Fprintf(a.out, ": %d", l.Count)
		}
		if l.Tokens > 0 {
			fmt.Fprintf(a.out, ", about %d tokens", l.Tokens)
		}
		fmt.Fprintf(a.out, " (%s)\n", oneLine(l.Show))
	}
}
