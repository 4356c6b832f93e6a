// Package stats counts what happened in conversations: turns, tokens, tool calls and written
// files.
package stats

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/workspace"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/store"
)

// Counts are numbers of one conversation or of several.
type Counts struct {
	Conversations int   `json:"conversations"`
	Turns         int   `json:"turns"` // user prompts
	Messages      int   `json:"messages"`
	TokensIn      int64 `json:"tokens_in"`  // read by models, cached or not, as the agents reported
	TokensOut     int64 `json:"tokens_out"` // written by models, as the agents reported
	ToolCalls     int   `json:"tool_calls"`
	Failures      int   `json:"failures"` // tool calls that failed
}

func (c *Counts) add(o Counts) {
	c.Conversations += o.Conversations
	c.Turns += o.Turns
	c.Messages += o.Messages
	c.TokensIn += o.TokensIn
	c.TokensOut += o.TokensOut
	c.ToolCalls += o.ToolCalls
	c.Failures += o.Failures
}

// A File is a file that tool calls wrote.
type File struct {
	Path  string `json:"path"` // relative to the workspace if inside it
	Calls int    `json:"calls"`
}

// A Group is the counts of the records that share a value, for example a model. A
// conversation in several groups counts in each.
type Group struct {
	Key string `json:"key"` // empty: unknown
	Counts
}

// A By says how to group counts.
type By string

// The groupings.
const (
	ByType  By = "type"
	ByAgent By = "agent"
	ByModel By = "model"
	ByTag   By = "tag"
	ByDay   By = "day" // in local time
)

// Groupings lists the groupings.
var Groupings = []By{ByType, ByAgent, ByModel, ByTag, ByDay}

// Stats are the counts of the conversations of one or more workspaces.
type Stats struct {
	Total  Counts  `json:"total"`
	Groups []Group `json:"groups"` // grouped by day: in order of time; otherwise the most turns first
	Files  []File  `json:"files"`  // the most written first

	Absolute bool `json:"-"` // whether all paths of files are absolute

	groups map[string]*Group
	files  map[string]int
}

// A cell holds the counts of the messages of one conversation that have the same properties.
type cell struct {
	Agent, Model, Day string
	Counts
}

// A tally is what the logs of one conversation hold.
type tally struct {
	State string         `json:"look"` // state of the counted logs, see stateOf
	Cells []cell         `json:"cells"`
	Files map[string]int `json:"files"` // number of calls that wrote each file
}

// Add counts conversations of a workspace. progress is called before each, and may be nil.
// Logs that have not changed since they were counted last are not read again. Damaged lines do
// not count. A conversation whose logs cannot be read is an error, but does not stop the
// others from being counted.
func (s *Stats) Add(ctx context.Context, w *workspace.Workspace, by By, entries []store.Entry, progress func(done, total int)) error {
	if s.groups == nil {
		s.groups, s.files = map[string]*Group{}, map[string]int{}
	}
	known := readTallies(w.Store)
	var errs []error
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if progress != nil {
			progress(i, len(entries))
		}
		t, err := known.of(w, e)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.count(by, e.Session, t)
		for file, n := range t.Files {
			if s.Absolute && !path.IsAbs(file) && !filepath.IsAbs(file) {
				file = filepath.ToSlash(filepath.Join(w.Here.Workspace(), file))
			}
			s.files[file] += n
		}
	}
	known.write(w.Store)
	return errors.Join(errs...)
}

func (s *Stats) count(by By, session *schema.Session, t tally) {
	seen := map[string]bool{}
	in := func(name string, c Counts) {
		key := name
		if by == ByTag {
			key = strings.ToLower(name) // tags that differ only in case are one
		}
		g := s.groups[key]
		if g == nil {
			g = &Group{Key: name}
			s.groups[key] = g
		}
		if !seen[key] {
			seen[key] = true
			g.Conversations++
		}
		g.add(c)
	}
	s.Total.Conversations++
	if len(t.Cells) == 0 {
		t.Cells = []cell{{Agent: session.AgentConfig.Agent, Model: session.AgentConfig.Model, Day: dayOf(session.CreatedAt)}}
	}
	for _, c := range t.Cells {
		s.Total.add(c.Counts)
		switch by {
		case ByType:
			in(session.ConversationType, c.Counts)
		case ByAgent:
			in(c.Agent, c.Counts)
		case ByModel:
			in(c.Model, c.Counts)
		case ByDay:
			in(c.Day, c.Counts)
		case ByTag:
			for i, tag := range session.Tags {
				same := func(t string) bool { return strings.EqualFold(t, tag) }
				if !slices.ContainsFunc(session.Tags[:i], same) { // a merge keeps the spellings of both sides
					in(tag, c.Counts)
				}
			}
			if len(session.Tags) == 0 {
				in("", c.Counts)
			}
		}
	}
}

// Finish sorts the groups, and keeps only the given number of files, those written most often.
func (s *Stats) Finish(by By, files int) {
	s.Groups, s.Files = []Group{}, []File{}
	for _, g := range s.groups {
		s.Groups = append(s.Groups, *g)
	}
	slices.SortFunc(s.Groups, func(a, b Group) int {
		if by == ByDay {
			return strings.Compare(a.Key, b.Key)
		}
		return cmp.Or(b.Turns-a.Turns, b.Conversations-a.Conversations, strings.Compare(a.Key, b.Key))
	})
	for name, n := range s.files {
		s.Files = append(s.Files, File{name, n})
	}
	slices.SortFunc(s.Files, func(a, b File) int { return cmp.Or(b.Calls-a.Calls, strings.Compare(a.Path, b.Path)) })
	s.Files = s.Files[:min(files, len(s.Files))]
}

// dayOf returns the local date of a time.
func dayOf(t schema.Time) string {
	if at := t.Time(); !at.IsZero() {
		return at.Local().Format("2006-01-02")
	}
	return ""
}

// tallyOf counts the logs of a conversation, each record once, in its last revision.
func tallyOf(w *workspace.Workspace, e store.Entry) (t tally, err error) {
	c, err := w.Open(e)
	if err != nil {
		return t, err
	}
	defer c.Close()
	n := counter{session: e.Session, cells: map[string]*cell{}, at: map[string]*cell{}}
	messages, err := history.Messages(c.Messages())
	if err != nil {
		return t, err
	}
	for i := range messages {
		n.message(&messages[i])
	}
	tools, err := history.Calls(c.Tools())
	if err != nil {
		return t, err
	}
	t.Files = map[string]int{}
	for _, call := range tools {
		n.tool(&call)
		for _, name := range notes.Written(call) {
			t.Files[within(w.Store.Root(), name)]++
		}
	}
	for _, c := range n.cells {
		t.Cells = append(t.Cells, *c)
	}
	slices.SortFunc(t.Cells, func(a, b cell) int {
		return cmp.Or(strings.Compare(a.Day, b.Day), strings.Compare(a.Agent, b.Agent), strings.Compare(a.Model, b.Model))
	})
	return t, nil
}

// within makes a path relative to the workspace if it is inside.
func within(root, name string) string {
	if rel, err := filepath.Rel(root, name); err == nil && filepath.IsAbs(name) && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path.Clean(name)
}

// A counter counts the records of one conversation.
type counter struct {
	session *schema.Session
	cells   map[string]*cell
	at      map[string]*cell // by message id
	model   string           // the last model that answered; messages without a model count for it
}

func (n *counter) message(m *schema.Message) {
	if m.Role == schema.Assistant && m.Model != "" && m.Model != schema.SyntheticModel {
		n.model = m.Model
	}
	model := cmp.Or(n.model, n.session.AgentConfig.Model)
	c := n.cell(n.session.AgentOf(m.Source), model, dayOf(m.Timestamp))
	n.at[m.ID] = c
	c.Messages++
	if m.Role == schema.User {
		c.Turns++
	}
	if m.Usage != nil {
		c.TokensIn += m.Usage.PromptTokens
		c.TokensOut += m.Usage.CompletionTokens
	}
}

func (n *counter) tool(t *schema.Tool) {
	c := n.at[t.MessageID]
	if c == nil {
		c = n.cell(n.session.AgentConfig.Agent, n.session.AgentConfig.Model, dayOf(t.Timestamp))
	}
	c.ToolCalls++
	if t.Failed() {
		c.Failures++
	}
}

func (n *counter) cell(agent, model, day string) *cell {
	key := agent + "\n" + model + "\n" + day
	if n.cells[key] == nil {
		n.cells[key] = &cell{Agent: agent, Model: model, Day: day}
	}
	return n.cells[key]
}
