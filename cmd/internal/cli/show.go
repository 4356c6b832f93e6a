package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/schema"
)

func (a *app) showCommand() *cobra.Command {
	var asJSON, reasoning bool
	var last int
	var message string
	cmd := &cobra.Command{
		Use:     "show <id>",
		Short:   "Show a conversation",
		Long:    "Prints every message of a conversation, with its tool calls and their results.",
		Example: "  cortext show \"api design\" --last 5",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			if last < 0 {
				return &usageError{"--last must not be negative", ""}
			}
			if message != "" && last > 0 {
				return &usageError{"--message and --last cannot be combined", ""}
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
			ranges, err := messageRanges(message)
			if err != nil {
				return err
			}
			if err := a.fetched(cmd.Context(), w, e); err != nil {
				return err
			}
			shown, err := w.Show(e, flow.ShowOptions{Last: last, Ranges: ranges})
			if err != nil {
				return err
			}
			a.warnLost(cmd.Context(), w, e)
			a.sayRemoved(w.Removed.LeftoversAmong(e))
			for _, d := range shown.Damage {
				a.warn(d.Error())
			}
			if asJSON {
				return a.showJSON(shown)
			}
			return a.showText(shown, reasoning)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print {\"session\":…,\"messages\":[…],\"tools\":[…]}")
	cmd.Flags().BoolVar(&reasoning, "reasoning", false, "include the model's reasoning")
	cmd.Flags().StringVar(&message, "message", "", "show only message `N`, a range N-M, or a comma-separated list of these, numbered as in the payload")
	cmd.Flags().IntVar(&last, "last", 0, "show only the last `N` messages of the branch that resume would use")
	return cmd
}

// messageRanges parses ranges such as 12 or 12-15, in ascending order, separated by
// commas.
func messageRanges(text string) (ranges [][2]int, err error) {
	if text == "" {
		return nil, nil
	}
	last := 0
	for part := range strings.SplitSeq(text, ",") {
		from, to, ok := strings.Cut(part, "-")
		if !ok {
			to = from
		}
		first, err := strconv.Atoi(from)
		end, endErr := strconv.Atoi(to)
		if err != nil || endErr != nil || first <= last || end < first {
			return nil, &usageError{fmt.Sprintf("--message %q is not of the form 12, 12-15 or 3,12-15", text), ""}
		}
		last = end
		ranges = append(ranges, [2]int{first, end})
	}
	return ranges, nil
}

// showJSON prints the records as they are stored.
func (a *app) showJSON(shown *flow.Shown) error {
	out := struct {
		Session  json.RawMessage   `json:"session"`
		Messages []json.RawMessage `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
	}{shown.Entry.Session.AppendLine(nil), []json.RawMessage{}, []json.RawMessage{}}
	for i := range shown.Messages {
		out.Messages = append(out.Messages, schema.AppendMessage(nil, &shown.Messages[i]))
	}
	for i := range shown.Tools {
		out.Tools = append(out.Tools, schema.AppendTool(nil, &shown.Tools[i]))
	}
	return a.printJSON(out)
}

func (a *app) showText(shown *flow.Shown, reasoning bool) error {
	w := bufio.NewWriter(a.out)
	head := func(format string, args ...any) { fmt.Fprintln(w, bold(a.out, fmt.Sprintf(format, args...))) }
	s := shown.Entry.Session
	head("%s", oneLine(s.DisplayTitle()))
	fmt.Fprintf(w, "%s, %s, %s, %d messages\n", oneLine(shown.Entry.Path), oneLine(s.ConversationType), s.Status, s.MessageCount)
	if s.ContextSummary != "" {
		fmt.Fprintf(w, "%s\n", oneLine(s.ContextSummary))
	}
	tools := map[string]*schema.Tool{}
	for i := range shown.Tools {
		tools[shown.Tools[i].ID] = &shown.Tools[i]
	}
	for _, m := range shown.Messages {
		fmt.Fprintln(w)
		head("── %s %s", m.Role, oneLine(string(m.Timestamp)))
		if reasoning && m.Reasoning != "" {
			fmt.Fprintf(w, "[reasoning]\n%s\n[end of reasoning]\n", visible(m.Reasoning))
		}
		if m.Content != "" {
			fmt.Fprintln(w, visible(m.Content))
		}
		for _, at := range m.Attachments {
			fmt.Fprintf(w, "[attachment %s, %d bytes, %s]\n", oneLine(at.MediaType), at.Bytes, oneLine(at.Name))
		}
		for _, call := range m.ToolCalls {
			t := tools[call.ID]
			if t == nil {
				head("   %s (not in the log)", oneLine(call.Name))
				continue
			}
			head("   %s %s", oneLine(call.Name), outcome(t))
			fmt.Fprintln(w, visible(string(t.Input)))
			if t.Output != "" {
				fmt.Fprintln(w, visible(t.Output))
			}
		}
	}
	return w.Flush()
}

// outcome describes in a word how a call ended.
func outcome(t *schema.Tool) string {
	switch {
	case t.Success == nil:
		return "(no result)"
	case *t.Success:
		return "(ok)"
	case t.ExitCode != nil:
		return fmt.Sprintf("(failed, exit code %d)", *t.ExitCode)
	}
	return "(failed)"
}
