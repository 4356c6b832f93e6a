package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/payload"
	"cortext/resume"
)

type contextOptions struct {
	payloadFlags
	agent string
	sent  bool
}

func contextCommand(a *app) *cobra.Command {
	var o contextOptions
	cmd := &cobra.Command{
		Use:   "context <id>",
		Short: "Preview the payload of a resume, part by part",
		Long: `Shows the parts of the payload that cortext resume would send to an agent, with
the tokens of each and the reason it is included, and then what is left out, with the
command that shows it. With --sent, it shows the last payload that was sent. It changes
nothing.

A history that fits is included whole. Otherwise the payload includes these in order, as far
as there is room: your request and the last answer of every turn (older ones are shortened
before any is dropped); the other messages; the latest failed tool calls, each with the
line that says why; tool output that reads like prose; lines of the latest tool calls;
and lines with names that the next turns are likely to need. Text that an edit replaced
comes last.`,
		Example: "  cortext context \"api design\"\n  cortext context \"api design\" --budget 2000\n  cortext context \"api design\" --strategy minimal-state --json",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return runContext(a, cmd, strings.Join(list, " "), o)
		},
	}
	o.define(cmd)
	f := cmd.Flags()
	f.StringVar(&o.agent, "agent", "", "preview for `AGENT`: claude, opencode, gemini (default: the last one used)")
	f.BoolVar(&o.sent, "sent", false, "show the last payload that was sent")
	f.BoolVar(&a.screen.asJSON, "json", false, "print JSON")
	return cmd
}

func runContext(a *app, cmd *cobra.Command, query string, o contextOptions) error {
	if err := o.check(cmd, a.Now()); err != nil {
		return err
	}
	if o.sent && slices.ContainsFunc([]string{"budget", "window", "strategy", "last", "since", "agent", "branch"}, cmd.Flags().Changed) {
		return &usageError{"--sent cannot be combined with --budget, --window, --strategy, --last, --since, --agent or --branch", ""}
	}
	w, err := a.open(cmd)
	if err != nil {
		return err
	}
	defer w.Close()
	e, err := w.Pick(query)
	if err != nil {
		return err
	}
	if o.sent {
		s, err := w.payloads.LastSent(e)
		if err != nil {
			return err
		}
		if !a.screen.asJSON {
			fmt.Fprintf(a.screen.out, "sent to %s at %s\n", oneLine(s.Agent), s.At)
		}
		return printContext(a.screen, s)
	}
	target, err := w.payloads.Target(e, payload.Recipient{Agent: o.agent}, o.Options)
	if err != nil {
		return err
	}
	built, err := w.payloads.Build(cmd.Context(), e, target)
	if err != nil {
		return err
	}
	a.notices(w).built(built)
	return printContext(a.screen, payload.SentOf(target.For, built.Payload))
}

// printContext prints the parts of a payload, with runs of whole messages on one line.
func printContext(on screen, s *payload.Sent) error {
	if on.asJSON {
		return on.json(map[string]any{"at": s.At, "agent": s.Agent, "strategy": s.Strategy, "tokens": s.Tokens, "budget": s.Budget, "factor": s.Factor,
			"utilization_percent": float64(s.Tokens*1000/max(s.Budget, 1)) / 10, "original": s.Original, "included": s.Included, "summarized": s.Summarized,
			"parts": emptyNotNull(s.Parts), "left_out": emptyNotNull(s.LeftOut)})
	}
	fmt.Fprintf(on.out, "%d of %d tokens%s, %s\n", s.Tokens, s.Budget, estimate(s.Factor), s.Strategy)
	fmt.Fprintf(on.out, "%d of %d messages, %d in summaries\n\n", s.Included, s.Original, s.Summarized)
	on.printParts(s.Parts, widthOf(on.out))
	if len(s.LeftOut) > 0 {
		fmt.Fprintln(on.out)
	}
	printLeftOut(on, s.LeftOut)
	return nil
}

// wholeRun returns how many parts at the start of list to print on one line: consecutive
// whole messages, if there are many.
func wholeRun(list []resume.Part) int {
	const many = 4
	n := 0
	for n < len(list) && list[n].Message > 0 && list[n].Whole && list[n].Why == list[0].Why {
		n++
	}
	if n < many {
		return 1
	}
	return n
}

// leastWhy is the minimum width of the column that says why a part is in a payload.
const leastWhy = 12

// printParts prints the parts of a payload as a table for a terminal of the given width; 0 is no
// limit. It breaks the last column, or puts it below the third on a narrow terminal.
func (s screen) printParts(parts []resume.Part, width int) {
	rows := [][4]string{{"tokens", "message", "what", "why"}}
	for len(parts) > 0 {
		n := wholeRun(parts)
		rows = append(rows, cellsOf(parts[:n]))
		parts = parts[n:]
	}
	longest := 0
	for _, r := range rows {
		longest = max(longest, textWidth(r[2]))
	}
	const third = 8 + gap + 9 + gap
	at := third + longest + gap
	below := width > 0 && width-at < leastWhy
	if below {
		at = third
	}
	if width > 0 {
		width = max(width-at, leastWhy)
	}
	indent := strings.Repeat(" ", at)
	for _, r := range rows {
		what, why := r[2]+strings.Repeat(" ", longest-textWidth(r[2])+gap), reflow(r[3], width, indent)
		if below {
			what, why = r[2], "\n"+indent+why
		}
		fmt.Fprintf(s.out, "%8s  %-9s  %s%s\n", r[0], r[1], what, why)
	}
}

// cellsOf returns the line of a part, or of a run of whole messages.
func cellsOf(parts []resume.Part) [4]string {
	first, last, tokens := parts[0], parts[len(parts)-1], 0
	for _, p := range parts {
		tokens += p.Tokens
	}
	message, what := "", oneLine(first.What)
	if first.Message > 0 {
		message = fmt.Sprint(first.Message)
	}
	if len(parts) > 1 {
		message, what = fmt.Sprintf("%d–%d", first.Message, last.Message), "whole messages"
	} else if !first.Whole {
		what += ", in part"
	}
	return [4]string{fmt.Sprint(tokens), message, what, oneLine(first.Why)}
}
