// Package listing lists, filters, sorts and ranks the conversations of a workspace.
package listing

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/find"
	"cortext/schema"
	"cortext/store"
)

// A Row describes a conversation in a listing.
type Row struct {
	ID             string // the global id
	Path           string // path of its folder, relative to the workspace, with slashes
	ConversationID string // the name of its folder
	Title          string // never empty
	Type           string
	Status         string // a [schema.Status], or "newer" if a later cortext wrote it
	Archived       bool
	Agent          string // the one that the conversation began in
	Agents         string // all that held it, one per line, from Agent to the one last used
	Model          string
	Provider       string
	Created        time.Time
	LastActive     time.Time
	Messages       int
	Tokens         int64
	Summary        string
	Description    string // the first message of the user, shortened
	Tags           []string
	Damaged        bool
	Waiting        bool     // its folder is not in the work tree: its records wait
	Twins          []string // other folders of the same conversation
	Workspace      string   // the absolute path of its folder, in a list of several; otherwise empty
}

// Folder returns the date and the name of the conversation's folder:
// 2025-11-22/1030-brainstorm-api-design-hv37.
func (r *Row) Folder() string { return strings.TrimPrefix(r.Path, "conversations/") }

// Folders returns the paths of all folders of the conversation, Path first.
func (r *Row) Folders() []string { return append([]string{r.Path}, r.Twins...) }

// isIn reports whether a folder is the conversation's.
func (r *Row) isIn(folder string) bool { return r.Path == folder || slices.Contains(r.Twins, folder) }

// dayOf returns the day of a folder.
func dayOf(folder string) string {
	day, _, _ := strings.Cut(strings.TrimPrefix(folder, "conversations/"), "/")
	return day
}

// hasNotes reports whether the conversation needs a notice besides its row.
func (r *Row) hasNotes() bool {
	return r.Damaged || r.Status == "newer" || r.Waiting || len(r.Twins) > 0
}

func rowOf(e store.Entry) Row {
	s := e.Session
	r := Row{
		ID: s.ID, Path: e.Path, ConversationID: s.ConversationID, Title: s.DisplayTitle(), Type: s.ConversationType, Status: string(s.Status), Archived: s.Archived,
		Agents: agentsOf(s), Model: s.AgentConfig.Model, Created: s.CreatedAt.Time(), LastActive: s.LastActive.Time(),
		Messages: s.MessageCount, Tokens: s.Tokens, Summary: s.ContextSummary, Description: s.Description, Tags: s.Tags,
		Damaged: len(e.Damage) > 0, Waiting: e.Waiting, Twins: e.Twins,
	}
	r.Agent, _, _ = strings.Cut(r.Agents, "\n")
	if p := s.AgentConfig.Provider; p != nil {
		r.Provider = p.Type
	}
	if e.IsNewer() {
		r.Status, r.Damaged = "newer", false
	}
	return r
}

// agentsOf returns the agents that held a conversation, one per line. The one that it began
// in is the first line, and the one last used is the last line.
func agentsOf(s *schema.Session) string {
	var later []string
	for _, source := range s.Sources {
		later = append(slices.DeleteFunc(later, func(name string) bool { return name == source.Agent }), source.Agent)
	}
	began := s.AgentConfig.Agent
	if n := len(later); n > 0 && later[n-1] != began {
		later = slices.DeleteFunc(later, func(name string) bool { return name == began })
	}
	if len(later) == 1 && later[0] == began {
		return began
	}
	return strings.Join(append([]string{began}, later...), "\n")
}

// LastAgent returns the agent last used in the conversation.
func (r *Row) LastAgent() string {
	return cmp.Or(r.Agents[strings.LastIndexByte(r.Agents, '\n')+1:], r.Agent)
}

// A Filter selects conversations. The zero value selects those that are active or paused
// and not archived. Fields that are set narrow the selection.
type Filter struct {
	Types, Tags, Agents []string // any of each, ignoring case
	Models              []string // any of them, or of parts of their names; opus stands for each version of it
	Statuses            []string // any of; empty: active, paused and newer
	Words               []string // all of them in the title, folder, tags, first message or summary, in any case
	Since, Until        time.Time
	Archived            bool // also select archived conversations
	All                 bool // select every status
}

// Selects reports whether the filter selects a conversation.
func (f *Filter) Selects(r *Row) bool {
	return (f.Archived || !r.Archived) && anyOf(f.Types, r.Type) && f.hasAgent(r.Agents) && f.hasModel(r.Model) &&
		f.hasTime(r.LastActive) && f.hasStatus(r.Status) && f.hasTag(r.Tags) && f.hasWords(r)
}

// hasAgent reports whether the filter selects conversations that these agents held, one per
// line.
func (f *Filter) hasAgent(agents string) bool {
	if len(f.Agents) == 0 {
		return true
	}
	for name := range strings.SplitSeq(agents, "\n") {
		if anyOf(f.Agents, name) {
			return true
		}
	}
	return false
}

func (f *Filter) hasModel(model string) bool {
	return len(f.Models) == 0 || slices.ContainsFunc(f.Models, func(part string) bool {
		return model != "" && strings.Contains(strings.ToLower(model), strings.ToLower(part))
	})
}

func (f *Filter) hasWords(r *Row) bool {
	if len(f.Words) == 0 {
		return true
	}
	fold := func(text string) []byte { return find.AppendFold(nil, strings.ToLower(text)) } // İ is an i here
	text := fold(strings.Join(append([]string{r.Title, r.Path, r.Summary, r.Description}, r.Tags...), "\n"))
	return !slices.ContainsFunc(f.Words, func(w string) bool { return !bytes.Contains(text, fold(w)) })
}

func (f *Filter) hasTime(at time.Time) bool {
	return (f.Since.IsZero() || !at.Before(f.Since)) && (f.Until.IsZero() || at.Before(f.Until))
}

func (f *Filter) hasStatus(status string) bool {
	if len(f.Statuses) > 0 {
		return anyOf(f.Statuses, status)
	}
	return f.All || status != string(schema.Completed)
}

func (f *Filter) hasTag(tags []string) bool {
	return len(f.Tags) == 0 || slices.ContainsFunc(tags, func(tag string) bool { return anyOf(f.Tags, tag) })
}

// isZero reports whether the filter is the zero value.
func (f *Filter) isZero() bool {
	return len(f.Types)+len(f.Tags)+len(f.Agents)+len(f.Models)+len(f.Statuses)+len(f.Words) == 0 && f.Since.IsZero() && f.Until.IsZero() && !f.Archived && !f.All
}

// onlyActive reports whether the filter selects no conversation but active ones.
func (f *Filter) onlyActive() bool { return len(f.Statuses) == 1 && isActive(f.Statuses[0]) }

func isActive(status string) bool { return strings.EqualFold(status, string(schema.Active)) }

// ofAnyKind reports whether the filter hides no conversations but, perhaps, archived ones.
func (f *Filter) ofAnyKind() bool {
	rest := *f
	rest.All, rest.Archived = false, false
	return f.All && rest.isZero()
}

// selectsAll reports whether the filter selects every conversation.
func (f *Filter) selectsAll() bool { return f.Archived && f.ofAnyKind() }

func anyOf(list []string, value string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, value) })
}

// An Order is a sort order.
type Order string

// The orders. All but ByTitle put the newest or largest first.
const (
	ByLastActive Order = "last_active"
	ByCreated    Order = "created"
	ByTitle      Order = "title"
	ByMessages   Order = "messages"
	ByTokens     Order = "tokens"
)

// Orders lists the orders, for help and completion.
var Orders = []Order{ByLastActive, ByCreated, ByTitle, ByMessages, ByTokens}
