package history

import (
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// An Overview says in a few numbers what a conversation consists of.
type Overview struct {
	LastMessage schema.Time   `json:"last_message"` // when it was written; empty if unknown
	Summary     string        `json:"-"`            // where the conversation stands after the last message
	Roles       Roles         `json:"roles"`
	Calls       int           `json:"tool_calls"`
	Usage       *schema.Usage `json:"-"`
	Modes       *schema.Modes `json:"-"`
	Files       []File        `json:"files"` // that the agent changed, the most recently changed last
}

// Roles counts the messages of all branches by role.
type Roles struct {
	User      int `json:"user"`
	Assistant int `json:"assistant"`
	System    int `json:"system"`
}

// A File is what the agent did to a file.
type File struct {
	Path   string `json:"path"`
	Action string `json:"action"` // created, modified or deleted
	Times  int    `json:"times"`
}

// Describe returns the overview of a conversation.
func Describe(w *workspace.Workspace, e store.Entry) (*Overview, error) {
	c, err := w.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	o := &Overview{Usage: e.Session.Usage, Modes: e.Session.AgentConfig.Modes, Files: []File{}}
	calls := map[string]int{} // by message: a later line may have more
	for m, err := range c.Messages() {
		if err != nil {
			continue // the messages themselves are reported with it
		}
		if at := m.Timestamp; at.Time().After(o.LastMessage.Time()) {
			o.LastMessage = at
		}
		before, again := calls[m.ID]
		if again && m.ID != "" {
			o.Calls += max(len(m.ToolCalls)-before, 0)
			calls[m.ID] = max(len(m.ToolCalls), before)
			continue
		}
		calls[m.ID] = len(m.ToolCalls)
		o.Calls += len(m.ToolCalls)
		switch m.Role {
		case schema.User:
			o.Roles.User++
		case schema.Assistant:
			o.Roles.Assistant++
		default:
			o.Roles.System++
		}
	}
	state, err := w.Notes.Of(c, workspace.ReadNotes)
	if err != nil {
		return nil, err
	}
	if o.Summary = e.Session.ContextSummary; !workspace.SummaryIsCurrent(e.Session, c) {
		o.Summary = state.Summary()
	}
	for _, f := range state.Files {
		o.Files = append(o.Files, File{f.Path, f.Action, f.Times})
	}
	return o, nil
}
