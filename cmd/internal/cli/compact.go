package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/payload"
	"cortext/resume"
)

func compactCommand(a *app) *cobra.Command {
	var o compactOptions
	cmd := &cobra.Command{
		Use:   "compact <id>",
		Short: "Preview payload sizes and summarize old messages",
		Long: `Shows how much of a conversation several budgets would include, and which ranges of old
messages have a summary. It changes nothing unless you give --apply, which makes the missing
summaries. The "summarizer" setting chooses how: extractive (without a model),
agent (the agent that the conversation was held in) or openai (an endpoint set in the
environment). In .workspace/config.yaml, agent and openai apply to you only after cortext
trust. The messages themselves never change.`,
		Example: "  cortext compact \"api design\" --apply",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			return runCompact(cmd.Context(), a, w, strings.Join(list, " "), o)
		}),
	}
	cmd.Flags().BoolVar(&o.apply, "apply", false, "make the missing summaries")
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print JSON")
	return cmd
}

type compactOptions struct{ apply bool }

func runCompact(ctx context.Context, a *app, w *opened, query string, o compactOptions) error {
	e, err := w.Pick(query)
	if err != nil {
		return err
	}
	showCompacting(a.screen, w.compact)
	var out *compact.Result
	if o.apply {
		out, err = w.compact.Compact(ctx, e)
	} else {
		out, err = w.compact.Preview(e)
	}
	a.screen.clearLine()
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped: finished summaries are kept, run the same command to continue")
	}
	if err != nil {
		return err
	}
	for _, d := range out.Damage {
		a.screen.warn(d.Error())
	}
	target, err := w.payloads.Target(e, payload.Recipient{}, payload.Options{})
	if err != nil {
		return err
	}
	payloads, err := w.payloads.Budgets(ctx, e, target)
	if err != nil {
		return err
	}
	for _, err := range out.Failed {
		a.screen.report(err)
	}
	if err := printCompacted(a.screen, out, payloads); err != nil {
		return err
	}
	if len(out.Failed) > 0 {
		return errSilent
	}
	return nil
}

// showCompacting shows which messages a model is summarizing. The caller clears the line.
func showCompacting(on screen, c *compact.Compactor) {
	c.Progress = func(first, last, of int) { on.progress("summarizing messages %d to %d of %d", first, last, of) }
}

func printCompacted(on screen, out *compact.Result, payloads []*resume.Payload) error {
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
	if on.asJSON {
		return on.json(map[string]any{"messages": out.Messages, "budgets": budgets, "summaries": spans})
	}
	fmt.Fprintf(on.out, "%d messages\n\n%9s  %8s  %-20s  %s\n", out.Messages, "budget", "tokens", "strategy", "messages included")
	for _, b := range budgets {
		fmt.Fprintf(on.out, "%9d  %8d  %-20s  %d", b.Budget, b.Tokens, b.Strategy, b.Included)
		if b.Partly > 0 {
			fmt.Fprintf(on.out, ", %d of them in part", b.Partly)
		}
		fmt.Fprintln(on.out)
	}
	if len(spans) == 0 {
		fmt.Fprintln(on.out, "\nnothing to summarize: the conversation is too short")
		return nil
	}
	fmt.Fprintln(on.out, "\nsummaries, for --strategy recent-plus-summary:")
	for _, s := range spans {
		switch {
		case s.Why != "":
			fmt.Fprintf(on.out, "  messages %d to %d: none (%s)\n", s.First, s.Last, oneLine(s.Why))
		case s.Tokens == 0:
			fmt.Fprintf(on.out, "  messages %d to %d: none yet\n", s.First, s.Last)
		default:
			fmt.Fprintf(on.out, "  messages %d to %d: %d tokens for %d (%s)\n", s.First, s.Last, s.Tokens, s.SourceTokens, oneLine(s.Method))
		}
	}
	return nil
}
