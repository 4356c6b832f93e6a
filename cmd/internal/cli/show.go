package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/organise"
	"cortext/resume"
	"cortext/schema"
)

func showCommand(a *app) *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:   "show <id>",
		Short: "Show a conversation",
		Long: `Prints every message of a conversation, with its tool calls and their results, below an
overview: the time of the last message, the number of messages by role, the usage that the
agent reported, its modes, and the files that it changed. --message omits the overview.`,
		Example: "  cortext show \"api design\"\n  cortext show \"api design\" --last 5\n  cortext show \"api design\" --message 3-5 --json",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return runShow(a, cmd, strings.Join(list, " "), o)
		},
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print {\"session\":…,\"messages\":[…],\"tools\":[…],\"overview\":…}")
	cmd.Flags().BoolVar(&o.reasoning, "reasoning", false, "include the model's reasoning")
	cmd.Flags().StringVar(&o.message, "message", "", "show only message `N`, a range N-M, or a comma-separated list of these, numbered as in the payload")
	cmd.Flags().IntVar(&o.around, "around", 0, "show message `N` with those before and after it")
	cmd.Flags().IntVar(&o.last, "last", 0, "show only the last `N` messages of the branch that resume would use, or of --branch")
	cmd.Flags().IntVar(&o.branch, "branch", 0, "show only branch `N`, with everything before it")
	return cmd
}

type showOptions struct {
	message              string
	last, around, branch int
	reasoning            bool
}

func runShow(a *app, cmd *cobra.Command, query string, o showOptions) error {
	if o.last < 0 {
		return &usageError{"--last must not be negative", ""}
	}
	if o.around < 0 || o.around == 0 && cmd.Flags().Changed("around") {
		return &usageError{"--around is a number from 1", ""}
	}
	if o.message != "" && o.last > 0 {
		return &usageError{"--message and --last cannot be combined", ""}
	}
	if o.around > 0 && (o.message != "" || o.last > 0) {
		return &usageError{"--around cannot be combined with --message or --last", ""}
	}
	if o.branch < 0 {
		return &usageError{"--branch is a number from 1", ""}
	}
	w, e, err := pickAnywhere(cmd, a, query)
	if err != nil {
		return err
	}
	defer w.Close()
	ranges, err := messageRanges(o.message)
	if err != nil {
		return err
	}
	if err := fetched(cmd.Context(), a.terminal, w, e); err != nil {
		return err
	}
	found, err := history.Show(w.Conversations, e, history.ShowOptions{Last: o.last, Branch: o.branch, Ranges: ranges, Around: o.around})
	if err != nil {
		return err
	}
	say := a.notices(w)
	say.lost(cmd.Context(), e)
	say.removed(w.Removed.LeftoversAmong(e))
	for _, d := range found.Damage {
		a.screen.warn(d.Error())
	}
	var about *history.Overview
	if o.message == "" { // agents read messages by number and know the rest
		if about, err = history.Describe(w.Workspace, found.Entry); err != nil {
			return err
		}
	}
	if a.screen.asJSON {
		return showJSON(a.screen, found, about)
	}
	return a.pager.show(func(out io.Writer) error {
		on := a.screen
		on.out = out
		return showText(on, found, about, o)
	})
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

// showJSON prints the records as stored.
func showJSON(on screen, found *history.Shown, about *history.Overview) error {
	out := struct {
		Session  json.RawMessage   `json:"session"`
		Messages []json.RawMessage `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
		Overview *history.Overview `json:"overview,omitempty"`
		Branches []history.Branch  `json:"branches,omitempty"`
	}{found.Entry.Session.AppendLine(nil), []json.RawMessage{}, []json.RawMessage{}, about, found.Branches}
	for i := range found.Messages {
		out.Messages = append(out.Messages, schema.AppendMessage(nil, &found.Messages[i]))
	}
	for i := range found.Tools {
		out.Tools = append(out.Tools, schema.AppendTool(nil, &found.Tools[i]))
	}
	return on.json(out)
}

func showText(on screen, found *history.Shown, about *history.Overview, o showOptions) error {
	w := bufio.NewWriter(on.out)
	head := func(format string, args ...any) { fmt.Fprintln(w, bold(on.out, fmt.Sprintf(format, args...))) }
	s := found.Entry.Session
	head("%s", oneLine(s.DisplayTitle()))
	fmt.Fprintf(w, "%s, %s, %s, %s\n", oneLine(found.Entry.Path), oneLine(s.ConversationType), s.Status, count(s.MessageCount, "message"))
	summary := s.ContextSummary
	if about != nil {
		summary = about.Summary
	}
	if summary != "" {
		fmt.Fprintf(w, "Summary: %s\n", oneLine(summary))
	}
	if about != nil {
		showOverview(w, on, s, about)
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
		if o.reasoning && m.Reasoning != "" {
			fmt.Fprintf(w, "[reasoning]\n%s\n[end of reasoning]\n", visible(m.Reasoning))
		}
		if m.Content != "" {
			fmt.Fprintln(w, visible(m.Content))
		}
		if end := m.Ending(); end != "" {
			fmt.Fprintf(w, "(%s)\n", oneLine(end))
		}
		attachments(w, m.Attachments)
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
			attachments(w, t.Attachments)
		}
	}
	return w.Flush()
}

// attachments prints what the attachments are, each on a line.
func attachments(w io.Writer, list []schema.Attachment) {
	for i := range list {
		fmt.Fprintln(w, oneLine(resume.Reference(&list[i])))
	}
}

// said prints what users recorded about a conversation: tags, values and notes.
func said(w io.Writer, s *schema.Session) {
	if len(s.Tags) > 0 {
		fmt.Fprintf(w, "Tags: %s\n", oneLine(strings.Join(s.Tags, ", ")))
	}
	for _, v := range organise.Values(s) {
		fmt.Fprintf(w, "%s: %s\n", oneLine(v.Key), oneLine(v.Text))
	}
	if s.Notes != "" {
		fmt.Fprintf(w, "Notes:\n%s\n", visible(s.Notes))
	}
}

// mostFiles is the maximum number of files in the overview.
const mostFiles = 12

// showOverview prints the overview of a conversation: times, roles, usage and files.
func showOverview(w io.Writer, on screen, s *schema.Session, o *history.Overview) {
	if at := o.LastMessage.Time(); !at.IsZero() {
		fmt.Fprintf(w, "Last message: %s (%s)\n", at.Format(time.RFC3339), resume.Ago(on.now(), at))
	}
	if r := o.Roles; r.User+r.Assistant+r.System > 0 {
		fmt.Fprintf(w, "Messages: %d user, %d assistant, %d system; %s\n", r.User, r.Assistant, r.System, count(o.Calls, "tool call"))
	}
	var parts []string
	for _, part := range []string{s.LastAgent(), s.AgentConfig.Model} {
		if part != "" {
			parts = append(parts, oneLine(part))
		}
	}
	if m := o.Modes; m != nil && m.Permission != "" {
		parts = append(parts, "permission mode "+oneLine(m.Permission))
	}
	if m := o.Modes; m != nil && m.Plan {
		parts = append(parts, "plan mode")
	}
	if len(parts) > 0 {
		fmt.Fprintf(w, "Agent: %s\n", strings.Join(parts, ", "))
	}
	if u := o.Usage; u != nil {
		fmt.Fprintf(w, "Usage: %d tokens read (%d from a cache), %d written\n", u.PromptTokens, u.CachedTokens, u.CompletionTokens)
	}
	if len(o.Files) == 0 {
		return
	}
	fmt.Fprintln(w, "Files:")
	files := slices.Clone(o.Files)
	slices.Reverse(files)
	for _, f := range files[:min(len(files), mostFiles)] {
		fmt.Fprintf(w, "  %s (%s)\n", oneLine(f.Path), oneLine(f.Action))
	}
	if rest := len(files) - mostFiles; rest > 0 {
		fmt.Fprintf(w, "  and %d more\n", rest)
	}
}

// outcome describes the result of a call in a word.
func outcome(t *schema.Tool) string {
	switch {
	case t.Failed() && t.ExitCode != nil:
		return fmt.Sprintf("(failed, exit code %d)", *t.ExitCode)
	case t.Failed():
		return "(failed)"
	case t.Success == nil:
		return "(no result)"
	}
	return "(ok)"
}
