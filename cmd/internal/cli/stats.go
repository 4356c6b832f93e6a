package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/stats"
	"cortext/store"
)

func statsCommand(a *app) *cobra.Command {
	var by string
	var all bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count conversations, turns, tokens and tool calls",
		Long: `Counts the conversations of the workspace, including archived ones: turns,
tokens in and out as reported by the agents, tool calls and their failures, and the files
written most often. A conversation that falls into several groups counts in each. Days are
in local time. With --all, a conversation that several workspaces have, such as clones,
counts once.`,
		Example: "  cortext stats --by model",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runStats(cmd, a, stats.By(strings.ToLower(by)), all)
		},
	}
	cmd.Flags().StringVar(&by, "by", "", "group by `WHAT`: type, agent, model, tag or day")
	cmd.Flags().BoolVar(&all, "all", false, "count the conversations of all workspaces on this machine")
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the counts as JSON")
	return cmd
}

// filesShown is the number of files in the text output. JSON has up to filesListed.
const (
	filesShown  = 10
	filesListed = 100
)

func runStats(cmd *cobra.Command, a *app, by stats.By, all bool) error {
	if by != "" {
		if err := knownWord("--by", string(by), names(stats.Groupings)); err != nil {
			return err
		}
	}
	sel := selection{named: all}
	if err := sel.open(a, cmd); err != nil {
		return err
	}
	defer sel.close(cmd.Context(), a)
	s := stats.Stats{Absolute: all}
	err := addAll(cmd.Context(), a.screen, &s, by, sel.workspaces)
	a.screen.clearLine()
	if err := cmd.Context().Err(); err != nil {
		return err // what was counted so far is not what was asked for
	}
	err = a.screen.warnNotFetched(err, "counted")
	if a.screen.asJSON {
		s.Finish(by, filesListed)
		return cmp.Or(err, a.screen.json(s))
	}
	s.Finish(by, filesShown)
	var b bytes.Buffer
	printStats(&b, s, by)
	width := widthOf(a.screen.out)
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimSuffix(line, "\n"); width > 0 {
			line = cutRight(line, width) // a name is last
		}
		fmt.Fprintln(a.screen.out, line)
	}
	printWritten(a.screen.out, s.Files, width)
	return err
}

// addAll adds the conversations of some workspaces, each once.
func addAll(ctx context.Context, on screen, s *stats.Stats, by stats.By, workspaces []*opened) error {
	var errs []error
	counted := map[string]bool{}
	for _, w := range workspaces {
		list, err := w.Store.Outlines()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = slices.DeleteFunc(list, func(e store.Entry) bool { return e.Session.ID != "" && counted[e.Session.ID] })
		for _, e := range list {
			counted[e.Session.ID] = true
		}
		errs = append(errs, s.Add(ctx, w.Workspace, by, list, func(done, total int) {
			if done%50 == 0 {
				on.progress("counting: %d of %d conversations", done, total)
			}
		}))
	}
	return errors.Join(errs...)
}

func printStats(w io.Writer, s stats.Stats, by stats.By) {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "convs\tturns\tmsgs\tin\tout\tcalls\tfailed\t  %s\n", by)
	row := func(name string, c stats.Counts) {
		fmt.Fprintf(tw, "%d\t%d\t%d\t%s\t%s\t%d\t%d\t  %s\n", c.Conversations, c.Turns, c.Messages, short(c.TokensIn), short(c.TokensOut), c.ToolCalls, c.Failures, name)
	}
	for _, g := range s.Groups {
		name := oneLine(g.Key)
		if name == "" {
			name = "(none)"
		}
		row(name, g.Counts)
	}
	total := "total"
	if by == "" {
		total = ""
	}
	row(total, s.Total)
	tw.Flush()
}

// printWritten prints the files written most. On a terminal, it cuts the beginning of paths
// that are wider.
func printWritten(w io.Writer, files []stats.File, width int) {
	if len(files) > 0 {
		fmt.Fprintln(w, "\nfiles written most:")
	}
	for _, f := range files {
		line, name := fmt.Sprintf("%5d  ", f.Calls), oneLine(f.Path)
		if width > 0 {
			name = cutLeft(name, width-len(line))
		}
		fmt.Fprintln(w, line+name)
	}
}

// short shortens a large number: 950, 12.3k, 4.5M.
func short(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
