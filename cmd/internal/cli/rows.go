package cli

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/store"
)

// row is a conversation in the listings of --json; its fields are stable. Templates of
// --format use their Go names.
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
	Model          string      `json:"model"`
	Provider       string      `json:"provider"`
	Description    string      `json:"description"`         // the first message of the user, shortened
	Workspace      string      `json:"workspace,omitempty"` // the absolute path of its folder, with --all

	damaged bool
	active  time.Time // LastActive
}

// append adds the row to b as a JSON object, as encoding/json writes it without escaping
// HTML. It is much faster, and a list may have 100,000 rows.
func (r *row) append(b []byte) []byte {
	text := func(name, value string) {
		b = append(append(b, `,"`...), name...)
		b = rawjson.AppendQuote(append(b, `":`...), value)
	}
	b = rawjson.AppendQuote(append(b, `{"id":`...), r.ID)
	text("conversation_id", r.ConversationID)
	text("path", r.Path)
	text("title", r.Title)
	text("type", r.Type)
	text("status", r.Status)
	b = strconv.AppendBool(append(b, `,"archived":`...), r.Archived)
	text("agent", r.Agent)
	text("created_at", string(r.CreatedAt))
	text("last_active", string(r.LastActive))
	b = strconv.AppendInt(append(b, `,"message_count":`...), int64(r.MessageCount), 10)
	b = strconv.AppendInt(append(b, `,"tokens":`...), r.Tokens, 10)
	text("summary", r.Summary)
	b = append(b, `,"tags":[`...)
	for i, tag := range r.Tags {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendQuote(b, tag)
	}
	b = strconv.AppendInt(append(b, `],"waiting":`...), int64(r.Waiting), 10)
	text("model", r.Model)
	text("provider", r.Provider)
	text("description", r.Description)
	if r.Workspace != "" {
		text("workspace", r.Workspace)
	}
	return append(b, '}')
}

// MarshalJSON returns what append adds.
func (r row) MarshalJSON() ([]byte, error) { return r.append(nil), nil }

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
		MessageCount: s.MessageCount, Tokens: s.Tokens, Summary: s.ContextSummary, Tags: s.Tags, Model: s.AgentConfig.Model, Description: s.Description,
		damaged: len(e.Damage) > 0 && !isNewer(e), active: s.LastActive.Time(),
	}
	if p := s.AgentConfig.Provider; p != nil {
		r.Provider = p.Type
	}
	if r.Tags == nil {
		r.Tags = []string{}
	}
	return r
}

// listedRow describes a conversation of a listing. It shares the listing's strings.
func listedRow(l *listing.Row) row {
	r := row{
		ID: l.ID, ConversationID: path.Base(l.Path), Path: l.Path, Title: l.Title, Type: l.Type, Status: l.Status, Archived: l.Archived,
		Agent: l.Agent, CreatedAt: schema.NewTime(l.Created), LastActive: schema.NewTime(l.LastActive), MessageCount: l.Messages, Tokens: l.Tokens,
		Summary: l.Summary, Tags: l.Tags, Model: l.Model, Provider: l.Provider, Description: l.Description, damaged: l.Damaged, active: l.LastActive,
	}
	if r.Tags == nil {
		r.Tags = []string{}
	}
	return r
}

// plainRows describes conversations without what waits for them.
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
// end of the folder's name, or its day and number. It does not repeat the title.
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

// state returns the status with what else is to be known.
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
