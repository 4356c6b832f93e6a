package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/resume"
)

func (a *app) contextCommand() *cobra.Command {
	var o resumeOptions
	var sent bool
	cmd := &cobra.Command{
		Use:   "context <id>",
		Short: "Preview the payload of a resume, part by part",
		Long: `Shows the parts of the payload that cortext resume would send to an agent, with the
tokens of each and the reason it is included; then what is left out, with the command
that shows it. With --sent, it shows the payload that was sent last. It changes
nothing.

A history that fits is included whole. Otherwise these are included in order, as far as
there is room: your request and the last answer of every turn (older ones are shortened
before any is dropped); the other messages; the latest failed tool calls, each with the
line that says why; tool output that reads like prose; lines of the latest tool calls;
and lines with names that the next turns are likely to need. Text that an edit replaced
comes last.`,
		Example: "  cortext context \"api design\" --budget 2000",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			if err := o.check(cmd, a.now()); err != nil {
				return err
			}
			if sent && slices.ContainsFunc([]string{"budget", "window", "strategy", "last", "since", "agent"}, cmd.Flags().Changed) {
				return &usageError{"--sent cannot be combined with --budget, --window, --strategy, --last, --since or --agent", ""}
			}
			w, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer w.Close()
			e, err := w.Pick(strings.Join(list, " "))
			if err != nil {
				return err
			}
			if sent {
				s, err := w.LastSent(e)
				if err != nil {
					return err
				}
				if !o.json {
					fmt.Fprintf(a.out, "sent to %s at %s\n", oneLine(s.Agent), s.At)
				}
				return a.printContext(s, o.json)
			}
			if o.ResumeOptions, err = w.Target(e, o.LaunchOptions); err != nil {
				return err
			}
			r, err := w.Resume(cmd.Context(), e, o.ResumeOptions)
			if err != nil {
				return err
			}
			a.warnResumed(r)
			return a.printContext(flow.SentOf(o.For, r.Payload), o.json)
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.Agent, "agent", "", "preview for `AGENT`: claude, opencode, gemini (default: the last one used)")
	f.BoolVar(&sent, "sent", false, "show the payload that was sent last")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// contextPart is an entry of parts in context --json.
type contextPart struct {
	What    string `json:"what"`
	Message int    `json:"message"`
	Tokens  int    `json:"tokens"`
	Whole   bool   `json:"whole"`
	Why     string `json:"why"`
}

// printContext prints the parts of a payload, with runs of whole messages on one line.
func (a *app) printContext(s *flow.Sent, asJSON bool) error {
	if asJSON {
		parts := make([]contextPart, len(s.Parts))
		for i, p := range s.Parts {
			parts[i] = contextPart(p)
		}
		return a.printJSON(map[string]any{"at": s.At, "agent": s.Agent, "strategy": s.Strategy, "tokens": s.Tokens, "budget": s.Budget, "factor": s.Factor,
			"utilization_percent": float64(s.Tokens*1000/max(s.Budget, 1)) / 10, "original": s.Original, "included": s.Included, "summarized": s.Summarized,
			"parts": parts, "left_out": leftOutOf(&resume.Payload{LeftOut: s.LeftOut})})
	}
	fmt.Fprintf(a.out, "%d of %d tokens%s, %s\n", s.Tokens, s.Budget, estimate(s.Factor), s.Strategy)
	fmt.Fprintf(a.out, "%d of %d messages, %d in summaries\n\n", s.Included, s.Original, s.Summarized)
	fmt.Fprintf(a.out, "%8s  %-9s  %-32s  %s\n", "tokens", "message", "what", "why")
	for i := 0; i < len(s.Parts); {
		n := run(s.Parts[i:])
		printPart(a.out, s.Parts[i:i+n])
		i += n
	}
	if len(s.LeftOut) > 0 {
		fmt.Fprintln(a.out)
	}
	a.printLeftOut(s.LeftOut)
	return nil
}

// run returns how many parts at the beginning of list share one line: whole messages of
// the end, if there are many.
func run(list []resume.Part) int {
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

func printPart(w io.Writer, parts []resume.Part) {
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
	fmt.Fprintf(w, "%8d  %-9s  %-32s  %s\n", tokens, message, what, oneLine(first.Why))
}
