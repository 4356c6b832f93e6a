package cli

import (
	"path"
	"strings"
	"time"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// A row is a conversation in a list. Templates of --format use the names of its fields.
type row struct {
	listing.Listed
	damaged bool
	active  time.Time // LastActive
}

func rowOf(w *workspace.Workspace, e store.Entry) row { return rowsOf(w, []store.Entry{e})[0] }

// rowsOf describes conversations for --json.
func rowsOf(w *workspace.Workspace, entries []store.Entry) []row {
	rows := plainRows(entries)
	waiting, _ := w.Waiting(entries...) // the notices report what cannot be counted
	for i, e := range entries {
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
		Listed: listing.Listed{
			ID: s.ID, ConversationID: s.ConversationID, Path: e.Path, Title: s.DisplayTitle(), Type: s.ConversationType,
			Status: workspace.ShownStatus(e), Archived: s.Archived, Agent: s.AgentConfig.Agent, LastAgent: s.LastAgent(), CreatedAt: s.CreatedAt, LastActive: s.LastActive,
			MessageCount: s.MessageCount, Tokens: s.Tokens, Summary: s.ContextSummary, Tags: emptyNotNull(s.Tags), Model: s.AgentConfig.Model, Description: s.Description,
		},
		damaged: len(e.Damage) > 0 && !e.IsNewer(), active: s.LastActive.Time(),
	}
	if p := s.AgentConfig.Provider; p != nil {
		r.Provider = p.Type
	}
	return r
}

// plainRows describes conversations without counting waiting messages.
func plainRows(entries []store.Entry) []row {
	rows := make([]row, len(entries))
	for i, e := range entries {
		rows[i] = plainRow(e)
	}
	return rows
}

// short returns the shortest name that usually finds the conversation.
func (r *row) short() string { return shortName(r.Path) }

// shortName returns the shortest name that usually finds the conversation in a folder: the
// end of the folder's name, or its day and number. The name contains no words of the
// title.
func shortName(folder string) string {
	day, name := path.Split(folder)
	number := len(name) - len(strings.TrimLeft(name, "0123456789"))
	if number == 0 || number == len(name) || name[number] != '-' {
		return strings.TrimPrefix(folder, "conversations/")
	}
	if end := strings.LastIndexByte(name, '-'); number == 4 && end > number && len(name)-end == 5 && isLowerID(name[end+1:]) {
		return name[end+1:]
	}
	return path.Base(day) + "/" + name[:number]
}

// isLowerID reports whether s could be part of an id: lower-case letters and digits.
func isLowerID(s string) bool {
	return strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// state returns the status, with marks for archived and damaged conversations.
func (r *row) state() string {
	state := r.Status
	if r.Archived {
		state += ", archived"
	}
	if r.damaged {
		state += ", damaged"
	}
	return state
}
