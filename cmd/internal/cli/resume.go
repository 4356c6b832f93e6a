package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/resume"
	"cortext/store"
)

type resumeOptions struct {
	flow.ResumeOptions
	print, dryRun, list, json bool
}

func (a *app) resumeCommand() *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:   "resume [query]",
		Short: "Bring a conversation back",
		Long: `Brings a conversation back: prints what an agent needs to go on, which is the
conversation's command, the resume block and the history, within a token budget.
The query is an id, a folder, or words of the title or the summary.`,
		Example: "  cortext resume \"api design\" --print --budget 8000",
		Args:    args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, list []string) error {
			return a.runResume(cmd, strings.Join(list, " "), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.print, "print", false, "write the whole payload to standard output; changes nothing")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be told to the agent, and how much; changes nothing")
	f.BoolVar(&o.list, "list", false, "list the conversations that the query matches")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.IntVar(&o.Budget, "budget", 0, "at most `N` tokens; default: the model's window less what the agent needs")
	f.IntVar(&o.Last, "last", 0, "only the last `N` messages")
	return cmd
}

func (a *app) runResume(cmd *cobra.Command, query string, o resumeOptions) error {
	if o.Last < 0 {
		return &usageError{"--last must not be negative", ""}
	}
	if cmd.Flags().Changed("budget") && o.Budget < resume.MinBudget {
		return &usageError{fmt.Sprintf("--budget %d is too small: %d tokens hold the least there is to say", o.Budget, resume.MinBudget), ""}
	}
	w, err := a.open(cmd)
	if err != nil {
		return err
	}
	defer w.Close()
	if o.list || query == "" {
		return a.listMatches(w, query, o)
	}
	e, err := w.Pick(query)
	if err != nil {
		return err
	}
	if !o.print && !o.dryRun {
		return fmt.Errorf("launching an agent is not built yet: cortext resume %s --print writes what to give it", e.Session.ID)
	}
	r, err := w.Resume(e, o.ResumeOptions)
	if err != nil {
		return err
	}
	for _, d := range r.Damage {
		a.warn(d.Error())
	}
	for _, warning := range r.Payload.Warnings {
		a.warn(warning.Text)
	}
	switch {
	case o.dryRun:
		return a.printPlan(r, o.json)
	case o.json:
		return a.printPayload(r.Payload)
	case isTerminal(a.out):
		_, err = io.WriteString(a.out, visible(r.Payload.Text))
	default:
		_, err = io.WriteString(a.out, r.Payload.Text)
	}
	return err
}

// listMatches prints what a query matches. Where none was given a person must
// choose: that is exit code 4 unless --list asked for it.
func (a *app) listMatches(w *flow.Workspace, query string, o resumeOptions) error {
	var matches []store.Entry
	var err error
	if query == "" {
		matches, err = w.Store.List()
	} else {
		var e store.Entry
		var ambiguous *flow.AmbiguousError
		if e, err = w.Pick(query); errors.As(err, &ambiguous) {
			matches, err = ambiguous.Candidates, nil
		} else {
			matches = []store.Entry{e}
		}
	}
	if err != nil {
		return err
	}
	if !o.list {
		if len(matches) == 0 {
			return &flow.NotFoundError{}
		}
		return &flow.AmbiguousError{Candidates: matches}
	}
	if o.json {
		return a.printJSON(rowsOf(matches))
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
	}{p.Text, p.Tokens, p.Budget, p.Strategy, p.Included, p.Summarized, leftOutOf(p), warningsOf(p), p.Estimate})
}

// printPlan says what a launch would deliver.
func (a *app) printPlan(r *flow.Resumed, asJSON bool) error {
	p := r.Payload
	if asJSON {
		return a.printJSON(struct {
			Conversation row       `json:"conversation"`
			Launch       any       `json:"launch"` // null until there is one
			Bytes        int       `json:"bytes"`
			Tokens       int       `json:"tokens"`
			Budget       int       `json:"budget"`
			Strategy     string    `json:"strategy"`
			Included     int       `json:"included"`
			LeftOut      []leftOut `json:"left_out"`
			Warnings     []string  `json:"warnings"`
		}{rowOf(r.Entry), nil, len(p.Text), p.Tokens, p.Budget, p.Strategy, p.Included, leftOutOf(p), warningsOf(p)})
	}
	count := "tokens"
	if p.Estimate {
		count = "tokens of o200k_base, an estimate for this model"
	}
	fmt.Fprintf(a.out, "conversation  %s (%s)\n", oneLine(r.Entry.Session.DisplayTitle()), oneLine(r.Entry.Path))
	fmt.Fprintf(a.out, "payload       %d bytes, %d %s, budget %d\n", len(p.Text), p.Tokens, count, p.Budget)
	fmt.Fprintf(a.out, "strategy      %s, %d messages\n", p.Strategy, p.Included)
	for _, l := range p.LeftOut {
		fmt.Fprintf(a.out, "left out      %s", oneLine(l.What))
		if l.Count > 0 {
			fmt.Fprintf(a.out, ": %d", l.Count)
		}
		if l.Tokens > 0 {
			fmt.Fprintf(a.out, ", about %d tokens", l.Tokens)
		}
		fmt.Fprintf(a.out, " (%s)\n", oneLine(l.Show))
	}
	fmt.Fprintf(a.out, "launch        none yet: cortext resume %s --print writes the payload\n", r.Entry.Session.ID)
	return nil
}
