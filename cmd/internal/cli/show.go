package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/organise"
	"cortext/schema"
)

func showCommand(a *app) *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:     "show <id>",
		Short:   "Show a conversation",
		Long:    "Prints every message of a conversation, with its tool calls and their results.",
		Example: "  cortext show \"api design\" --last 5",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return runShow(a, cmd, strings.Join(list, " "), o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print {\"session\":…,\"messages\":[…],\"tools\":[…]}")
	cmd.Flags().BoolVar(&o.reasoning, "reasoning", false, "include the model's reasoning")
	cmd.Flags().StringVar(&o.message, "message", "", "show only message `N`, a range N-M, or a comma-separated list of these, numbered as in the payload")
	cmd.Flags().IntVar(&o.last, "last", 0, "show only the last `N` messages of the branch that resume would use, or of --branch")
	cmd.Flags().IntVar(&o.branch, "branch", 0, "show only branch `N`, with everything before it")
	return cmd
}

type showOptions struct {
	message         string
	last, branch    int
	reasoning, json bool
}

func runShow(a *app, cmd *cobra.Command, query string, o showOptions) error {
	if o.last < 0 {
		return &usageError{"--last must not be negative", ""}
	}
	if o.message != "" && o.last > 0 {
		return &usageError{"--message and --last cannot be combined", ""}
	}
	if o.branch < 0 {
		return &usageError{"--branch is a number from 1", ""}
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
	ranges, err := messageRanges(o.message)
	if err != nil {
		return err
	}
	if err := a.fetched(cmd.Context(), w, e); err != nil {
		return err
	}
	found, err := history.Show(w.Conversations, e, history.ShowOptions{Last: o.last, Branch: o.branch, Ranges: ranges})
	if err != nil {
		return err
	}
	say := a.notices(w)
	say.lost(cmd.Context(), e)
	say.removed(w.Removed.LeftoversAmong(e))
	for _, d := range found.Damage {
		a.screen.warn(d.Error())
	}
	if o.json {
		return showJSON(a.screen, found)
	}
	return showText(a.screen, found, o.reasoning)
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
func showJSON(on screen, found *history.Shown) error {
	out := struct {
		Session  json.RawMessage   `json:"session"`
		Messages []json.RawMessage `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
		Branches []history.Branch  `json:"branches,omitempty"`
	}{found.Entry.Session.AppendLine(nil), []json.RawMessage{}, []json.RawMessage{}, found.Branches}
	for i := range found.Messages {
		out.Messages = append(out.Messages, schema.AppendMessage(nil, &found.Messages[i]))
	}
	for i := range found.Tools {
		out.Tools = append(out.Tools, schema.AppendTool(nil, &found.Tools[i]))
	}
	return on.json(out)
}

func showText(on screen, found *history.Shown, reasoning bool) error {
	w := bufio.NewWriter(on.out)
	head := func(format string, args ...any) { fmt.Fprintln(w, bold(on.out, fmt.Sprintf(format, args...))) }
	s := found.Entry.Session
	head("%s", oneLine(s.DisplayTitle()))
	fmt.Fprintf(w, "%s, %s, %s, %s\n", oneLine(found.Entry.Path), oneLine(s.ConversationType), s.Status, count(s.MessageCount, "message"))
	if s.ContextSummary != "" {
		fmt.Fprintf(w, "%s\n", oneLine(s.ContextSummary))
	}
	said(w, s)
	branches(w, on, found)
	tools := map[string]*schema.Tool{}
	for i := range found.Tools {
		tools[found.Tools[i].ID] = &found.Tools[i]
	}
	for _, m := range found.Messages {
		fmt.Fprintln(w)
		head("── %d %s %s", m.Number, m.Role, oneLine(string(m.Timestamp)))
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

// said prints what people said about a conversation: its tags, values and notes.
func said(w io.Writer, s *schema.Session) {
	if len(s.Tags) > 0 {
		fmt.Fprintf(w, "tags: %s\n", oneLine(strings.Join(s.Tags, ", ")))
	}
	for _, v := range organise.Values(s) {
		fmt.Fprintf(w, "%s: %s\n", oneLine(v.Key), oneLine(v.Text))
	}
	if s.Notes != "" {
		fmt.Fprintf(w, "notes:\n%s\n", visible(s.Notes))
	}
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
