package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/resume"
)

func (a *app) compactCommand() *cobra.Command {
	var apply, asJSON bool
	cmd := &cobra.Command{
		Use:   "compact <id>",
		Short: "Preview payload sizes and summarize old messages",
		Long: `Shows how much of a conversation several budgets would include, and which ranges of old
messages have a summary. It changes nothing, unless you give --apply: then it makes the
missing summaries. The "summarizer" setting chooses how: extractive (without a model),
agent (the agent that the conversation was held in) or openai (an endpoint set in the
environment). The messages themselves never change.`,
		Example: "  cortext compact \"api design\" --apply",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, list []string) error {
			e, err := w.Pick(strings.Join(list, " "))
			if err != nil {
				return err
			}
			done := a.showSumming(w)
			out, err := w.Compact(cmd.Context(), e, apply)
			done()
			if errors.Is(err, context.Canceled) {
				return errors.New("stopped: the summaries that were made are kept, the same command goes on from there")
			}
			if err != nil {
				return err
			}
			for _, d := range out.Damage {
				a.warn(d.Error())
			}
			target, err := w.Target(e, flow.LaunchOptions{})
			if err != nil {
				return err
			}
			payloads, err := w.Budgets(cmd.Context(), e, target, flow.CompactBudgets()...)
			if err != nil {
				return err
			}
			for _, err := range out.Failed {
				a.report(err)
			}
			if err := a.printCompacted(out, payloads, asJSON); err != nil {
				return err
			}
			if len(out.Failed) > 0 {
				return errSilent
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "make the missing summaries")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// showSumming shows on a terminal which messages a model is summarizing; done clears the
// line.
func (a *app) showSumming(w *flow.Workspace) (done func()) {
	if !isTerminal(a.errw) {
		return func() {}
	}
	w.Summing = func(first, last, of int) {
		fmt.Fprintf(a.errw, "\r\x1b[Ksumming up messages %d to %d of %d", first, last, of)
	}
	return func() { fmt.Fprint(a.errw, "\r\x1b[K") }
}

func (a *app) printCompacted(out *flow.Compacted, payloads []*resume.Payload, asJSON bool) error {
	type budget struct {
		Budget   int    `json:"budget"`
		Tokens   int    `json:"tokens"`
		Strategy string `json:"strategy"`
		Included int    `json:"included"`
		Partly   int    `json:"partly"`
	}
	type span struct {
		First        int    `json:"first"`
		Last         int    `json:"last"`
		SourceTokens int64  `json:"source_tokens"`
		Tokens       int    `json:"tokens"`
		Method       string `json:"method"`
		Made         bool   `json:"made"`
		Why          string `json:"why"`
	}
	budgets, spans := []budget{}, []span{}
	for _, p := range payloads {
		b := budget{Budget: p.Budget, Tokens: p.Tokens, Strategy: p.Strategy, Included: p.Included}
		for _, l := range p.LeftOut {
			if l.What == resume.PartsOfMessages {
				b.Partly = l.Count
			}
		}
		budgets = append(budgets, b)
	}
	for _, r := range out.Ranges {
		spans = append(spans, span(r))
	}
	if asJSON {
		return a.printJSON(map[string]any{"messages": out.Messages, "budgets": budgets, "summaries": spans})
	}
	fmt.Fprintf(a.out, "%d messages\n\n%9s  %8s  %-20s  %s\n", out.Messages, "budget", "tokens", "strategy", "messages included")
	for _, b := range budgets {
		fmt.Fprintf(a.out, "%9d  %8d  %-20s  %d", b.Budget, b.Tokens, b.Strategy, b.Included)
		if b.Partly > 0 {
			fmt.Fprintf(a.out, ", %d of them in part", b.Partly)
		}
		fmt.Fprintln(a.out)
	}
	if len(spans) == 0 {
		fmt.Fprintln(a.out, "\nno range is to be summed up: the conversation is short")
		return nil
	}
	fmt.Fprintln(a.out, "\nsummaries, for --strategy recent-plus-summary:")
	for _, s := range spans {
		switch {
		case s.Why != "":
			fmt.Fprintf(a.out, "  messages %d to %d: none (%s)\n", s.First, s.Last, oneLine(s.Why))
		case s.Tokens == 0:
			fmt.Fprintf(a.out, "  messages %d to %d: none yet\n", s.First, s.Last)
		default:
			fmt.Fprintf(a.out, "  messages %d to %d: %d tokens for %d (%s)\n", s.First, s.Last, s.Tokens, s.SourceTokens, oneLine(s.Method))
		}
	}
	return nil
}
