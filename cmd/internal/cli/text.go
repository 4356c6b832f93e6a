package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/shown"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// visible, oneLine and cut make text from files safe for a terminal.
func visible(s string) string       { return shown.Text(s) }
func oneLine(s string) string       { return shown.Line(s) }
func cut(s string, most int) string { return shown.Cut(s, most) }

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// bold formats a heading on a terminal, unless NO_COLOR is set.
func bold(w io.Writer, s string) string {
	if !isTerminal(w) || os.Getenv("NO_COLOR") != "" {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

// printJSON prints v on one line.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// ago says when a conversation was last active.
func (a *app) ago(s *schema.Session) string {
	if t := s.LastActive.Time(); !t.IsZero() {
		return resume.Ago(a.now(), t)
	}
	return ""
}

// table prints conversations, one per line.
func (a *app) table(w io.Writer, entries []store.Entry) {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, e := range entries {
		s := e.Session
		status := workspace.ShownStatus(e)
		if s.Archived {
			status += ", archived"
		}
		if len(e.Damage) > 0 && !isNewer(e) {
			status += ", damaged"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d messages\t%s\t%s\n", oneLine(strings.TrimPrefix(e.Path, "conversations/")), oneLine(status), a.ago(s), s.MessageCount, oneLine(s.ConversationType), oneLine(s.DisplayTitle()))
	}
	tw.Flush()
}

// row is a conversation in the listings of --json; its fields are stable.
type row struct {
	ID             string      `json:"id"`
	ConversationID string      `json:"conversation_id"`
	Path           string      `json:"path"`
	Title          string      `json:"title"`
	Type           string      `json:"type"`
	Status         string      `json:"status"` // "newer" if a later cortext wrote it
	Archived       bool        `json:"archived"`
	Agent          string      `json:"agent"`
	CreatedAt      schema.Time `json:"created_at"`
	LastActive     schema.Time `json:"last_active"`
	MessageCount   int         `json:"message_count"`
	Tokens         int64       `json:"tokens"`
	Summary        string      `json:"summary"`
	Tags           []string    `json:"tags"`
	Waiting        int         `json:"waiting"` // messages that are not in the work tree's log yet
}

// isNewer reports whether a later cortext wrote a conversation's session.json.
func isNewer(e store.Entry) bool {
	return slices.ContainsFunc(e.Damage, func(d store.Damage) bool { return d.Kind == store.Newer })
}

func rowOf(w *flow.Workspace, e store.Entry) row { return rowsOf(w, []store.Entry{e})[0] }

// rowsOf describes conversations for --json.
func rowsOf(w *flow.Workspace, entries []store.Entry) []row {
	rows := make([]row, len(entries))
	waiting, _ := w.Waiting(entries...) // warnings report what cannot be counted
	for i, e := range entries {
		rows[i] = plainRow(e)
		for _, found := range waiting {
			if found.Entry.Path == e.Path {
				rows[i].Waiting += found.Messages
			}
		}
	}
	return rows
}

func plainRow(e store.Entry) row {
	s := e.Session
	r := row{
		ID: s.ID, ConversationID: s.ConversationID, Path: e.Path, Title: s.DisplayTitle(), Type: s.ConversationType,
		Status: workspace.ShownStatus(e), Archived: s.Archived, Agent: s.AgentConfig.Agent, CreatedAt: s.CreatedAt, LastActive: s.LastActive,
		MessageCount: s.MessageCount, Tokens: s.Tokens, Summary: s.ContextSummary, Tags: s.Tags,
	}
	if r.Tags == nil {
		r.Tags = []string{}
	}
	return r
}
