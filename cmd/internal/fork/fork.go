// Package fork starts a conversation from a point in another one, in the same workspace or a
// different one, and links the two.
//
// The new conversation holds copies of the messages and calls up to the point. A link alone
// would be shorter, but the new conversation would lose its past if the old one were removed
// or redacted, and in workspaces and clones that lack the old one. Search, export and every
// reader would also have to read two conversations as one. A copy is a log like any other.
//
// A copy keeps the message's id. This is safe because only the id in session.json identifies a
// conversation: merges, checks and the search for twins never compare records of different
// conversations. A copy drops the source, or a rebuilt session.json, a capture or a removal
// would take the old conversation's native sessions for the new one's. It also drops the
// usage, which statistics would count twice.
package fork

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/schema/clip"
	"cortext/store"
)

// Options control a fork.
type Options struct {
	history.Choice
	Title string // default: the old conversation's title
}

// A Forked is a conversation that was forked from another.
type Forked struct {
	Entry    store.Entry
	Paused   []string // titles of the conversations that the fork paused
	Messages int      // number of copied messages
	Prompt   string   // start of the prompt that the fork precedes; empty if the user named none
	Warnings []string
}

// An EmptyError reports a fork before the first message.
type EmptyError struct{ Type string }

func (e *EmptyError) Error() string {
	return fmt.Sprintf("no message precedes that point: to start an empty conversation, run cortext new %s", e.Type)
}

// From forks conversation e of workspace from into workspace to, which may be the same
// workspace. The new conversation appears complete or not at all. If a kill leaves the old
// conversation without its link, the next fork of that conversation adds the link.
func From(from, to *workspace.Workspace, e store.Entry, o Options) (*Forked, error) {
	point, err := history.PointOf(from.Conversations, e, o.Choice)
	if err != nil {
		return nil, err
	}
	typ := e.Session.ConversationType
	if len(point.Path) == 0 {
		return nil, &EmptyError{typ}
	}
	f := &Forked{Messages: len(point.Path), Prompt: workspace.Plain(point.Prompt.Content)}
	title, err := titleIn(to, e, o.Title)
	if err != nil {
		return nil, err
	}
	s, err := session(from, to, e, point)
	if err != nil {
		return nil, err
	}
	s.Title = title
	if typ = store.Slug(typ); typ == "" {
		typ = "chat"
	}
	old, err := from.Open(e)
	if err != nil {
		return nil, err
	}
	defer old.Close()
	c, err := to.Store.Stage(typ, title, s, []byte(workspace.DocumentOf(s)))
	if err != nil {
		return nil, err
	}
	if err := fill(to, c, old, point.Path, f); err != nil {
		c.Discard()
		return nil, fmt.Errorf("fork %q: %w", e.Path, err)
	}
	if f.Entry, f.Paused, err = to.Start(c); err != nil {
		return nil, err
	}
	if err := Link(from, e, f.Entry.Session.ID); err != nil {
		f.Warnings = append(f.Warnings, fmt.Sprintf("the old conversation does not name the new one: %v (the next fork of it adds the link)", err))
	}
	return f, nil
}

// session describes the new conversation.
func session(from, to *workspace.Workspace, e store.Entry, point history.Point) (*schema.Session, error) {
	old, now := e.Session, to.Env.Now()
	s := &schema.Session{
		Version:          schema.Version,
		ConversationType: old.ConversationType,
		Status:           schema.Active,
		CreatedAt:        schema.NewTime(now),
		LastActive:       schema.NewTime(now),
		Description:      old.Description,
		AgentConfig:      old.Clone().AgentConfig,
		Tags:             slices.Clone(old.Tags),
		Git:              to.Tree.Head(),
		Links:            &schema.Links{Parent: old.ID},
	}
	var entropy [10]byte
	if _, err := io.ReadFull(to.Env.Entropy(), entropy[:]); err != nil {
		return nil, err
	}
	s.ID = schema.NewID(now, entropy)
	for _, m := range point.Path {
		if m.ID != "" {
			s.Links.MessageID = m.ID
		}
		if agent := old.AgentOf(m.Source); agent != "" && agent != s.AgentConfig.Agent {
			s.AgentConfig.Agent, s.AgentConfig.Model, s.AgentConfig.Provider, s.AgentConfig.Modes = agent, "", nil, nil
		}
	}
	if from.Store.Root() == to.Store.Root() {
		s.WorkingDir = old.WorkingDir
	}
	return s, nil
}

// titleIn returns the title of the new conversation: the user's choice or the old title. If
// the workspace already has that title, titleIn numbers it.
func titleIn(to *workspace.Workspace, e store.Entry, chosen string) (string, error) {
	if chosen != "" {
		return workspace.CleanTitle(chosen)
	}
	list, err := to.Listing(nil)
	if err != nil {
		return "", err
	}
	defer list.Close()
	taken := map[string]bool{}
	for i := range list.Len() {
		r := list.Row(i)
		taken[strings.ToLower(r.Title)] = true
	}
	const room = 250 // bytes; leaves room for the number
	plain := clip.Head(e.Session.DisplayTitle(), room)
	if at := strings.LastIndex(plain, " (fork"); at > 0 && strings.HasSuffix(plain, ")") && e.Session.Links != nil && e.Session.Links.MessageID != "" {
		plain = plain[:at] // a fork of a fork
	}
	if strings.TrimSpace(plain) == "" {
		plain = "untitled"
	}
	title := plain
	for n := 1; taken[strings.ToLower(title)]; n++ {
		if title = plain + " (fork)"; n > 1 {
			title = fmt.Sprintf("%s (fork %d)", plain, n)
		}
	}
	return workspace.CleanTitle(title)
}

// flushBytes is how much is buffered before a write: a log may be larger than memory.
const flushBytes = 8 << 20

// fill copies the messages of a path and their calls to a staged conversation.
func fill(to *workspace.Workspace, c, old *store.Conversation, path []schema.Message, f *Forked) error {
	tx, err := c.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	write := func(b schema.Batch) error { // once there are flushBytes, to the disk
		if err := tx.Append(b); err != nil || tx.Size() < flushBytes {
			return err
		}
		return tx.Flush()
	}
	if err := newCopies(path, write, f).from(old); err != nil {
		return err
	}
	if err := to.FinishIn(tx, c, workspace.Finishing{Save: true}); err != nil {
		return err
	}
	return tx.Commit()
}

// copies writes copies of records.
type copies struct {
	write     func(schema.Batch) error
	parent    map[string]string // id of the preceding message, by the id of each message to copy
	anonymous int               // messages without id
	calls     map[string]bool   // ids of the calls that the messages name
	forked    *Forked
}

// newCopies returns what copies the messages of a path, and their calls.
func newCopies(path []schema.Message, write func(schema.Batch) error, f *Forked) *copies {
	k := &copies{write: write, parent: map[string]string{}, calls: map[string]bool{}, forked: f}
	above := ""
	for _, m := range path {
		if m.ID == "" {
			k.anonymous++
			continue
		}
		k.parent[m.ID], above = above, m.ID
	}
	return k
}

// from copies from a conversation.
func (k *copies) from(old *store.Conversation) error {
	if err := k.messages(old); err != nil {
		return err
	}
	return k.tools(old)
}

func (k *copies) messages(old *store.Conversation) error {
	with := false // whether the previous line was copied
	seen := map[string]bool{}
	first := true
	for m, err := range old.Settled().Messages() {
		if err := k.damaged(err); err != nil {
			return err
		}
		if err != nil {
			continue
		}
		if m.ID == "" {
			if with = with || first && k.anonymous > 0; !with || k.anonymous == 0 {
				continue
			}
			first = false
			k.anonymous--
		} else {
			first = false
			parent, ok := k.parent[m.ID]
			if !seen[m.ID] {
				seen[m.ID], with = true, ok
			}
			if !ok {
				continue
			}
			m.ParentID = parent
		}
		m.Source, m.Usage, m.Rev = "", nil, 0
		for _, call := range m.ToolCalls {
			k.calls[call.ID] = true
		}
		if err := k.write(schema.Batch{Messages: []schema.Message{m}}); err != nil {
			return err
		}
	}
	return nil
}

func (k *copies) tools(old *store.Conversation) error {
	for t, err := range old.Settled().Tools() {
		if err := k.damaged(err); err != nil {
			return err
		}
		_, made := k.parent[t.MessageID]
		if err != nil || !k.calls[t.ID] && !(made && t.MessageID != "") {
			continue
		}
		t.Rev = 0
		if err := k.write(schema.Batch{Tools: []schema.Tool{t}}); err != nil {
			return err
		}
	}
	return nil
}

// damaged turns damage, which a copy leaves out, into a warning. It returns other errors.
func (k *copies) damaged(err error) error {
	var damage *store.Damage
	if !errors.As(err, &damage) {
		return err
	}
	k.forked.Warnings = append(k.forked.Warnings, damage.Error()+": the new conversation lacks it")
	return nil
}
