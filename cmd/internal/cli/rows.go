package cli

import (
	"slices"

	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

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

func rowOf(w *workspace.Workspace, e store.Entry) row { return rowsOf(w, []store.Entry{e})[0] }

// rowsOf describes conversations for --json.
func rowsOf(w *workspace.Workspace, entries []store.Entry) []row {
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
