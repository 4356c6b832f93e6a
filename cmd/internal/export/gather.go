// Package export exports conversations from a workspace as documents, and imports
// documents. The packages below it implement the formats.
package export

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"unicode/utf8"

	"cortext/cmd/internal/export/portable"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// Options select the parts of a conversation to export. The zero value selects everything
// but sub-agents and the content of attachments.
type Options struct {
	From, To    string // first and last message, by number or id; empty: no limit
	Only        schema.Role
	NoTools     bool
	NoReasoning bool
	Redact      bool // apply the current redaction rules again
	Subagents   bool
	Attachments bool // include the content of attachments that was kept
	NoData      bool // leave the data for an import out of a page
}

// filters reports whether the options drop messages or parts of them.
func (o Options) filters() bool {
	return o.From != "" || o.To != "" || o.Only != "" || o.NoTools || o.NoReasoning
}

// A Gathered is a conversation read for export.
type Gathered struct {
	portable.Conversation
	ID       string
	NoData   bool // a page holds no data for an import
	Unasked  int  // number of sub-agents left out because the options do not ask for them
	Warnings []string
}

// Size estimates the size of the exported text, in bytes.
func (g *Gathered) Size() int { return size(&g.Conversation) }

func size(c *portable.Conversation) (n int) {
	const more = 400 // estimate for the other fields of a record
	for i := range c.Messages {
		n += len(c.Messages[i].Content) + len(c.Messages[i].Reasoning) + more
	}
	for i := range c.Tools {
		n += len(c.Tools[i].Input) + len(c.Tools[i].Output) + more
	}
	if c.Lines != nil {
		for _, line := range slices.Concat(c.Lines.Messages, c.Lines.Tools) {
			n += len(line) + 20
		}
	}
	for i := range c.Attachments {
		n += 2 * len(c.Attachments[i].Data)
	}
	for i := range c.Subagents {
		n += size(&c.Subagents[i].Conversation)
	}
	return n + n/16
}

// A gatherer reads a conversation for export.
type gatherer struct {
	w           *workspace.Workspace
	entry       store.Entry
	options     Options
	lines       bool            // take the lines of the logs as they are
	attachments map[string]bool // those already gathered
	unasked     int
	warnings    []string
}

// gather reads the conversation.
func (g *gatherer) gather() (*Gathered, error) {
	w, e, o := g.w, g.entry, g.options
	c, err := w.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	out := &Gathered{}
	if err := g.conversation(c, &out.Conversation); err != nil {
		return nil, fmt.Errorf("export %q: %w", e.Path, err)
	}
	out.ID = out.Session.ID
	name := out.Session.ConversationType + ".md"
	if text, err := w.Store.ReadFile(c.Path() + "/" + name); err == nil && path.Base(name) == name && !o.filters() {
		if o.Redact {
			redacted, err := w.Store.Redact(string(text), out.ID)
			if err != nil {
				return nil, fmt.Errorf("export %q: %w", e.Path, err)
			}
			text = []byte(redacted)
		}
		out.Document = &portable.Document{Name: name, Text: string(text)}
	}
	if o.filters() {
		if err := choose(&out.Conversation, o); err != nil {
			return nil, err
		}
	}
	if o.Attachments {
		g.keptOf(&out.Conversation)
	}
	out.NoData = o.NoData
	out.Unasked, out.Warnings = g.unasked, g.warnings
	return out, nil
}

// conversation reads everything in a conversation's .session/.
func (g *gatherer) conversation(c *store.Conversation, out *portable.Conversation) error {
	s, damage, err := c.Session()
	if err != nil {
		return err
	}
	for _, d := range damage {
		g.warnings = append(g.warnings, d.Error())
	}
	if err := g.logs(c, out); err != nil {
		return err
	}
	if !g.options.filters() {
		out.Summaries, _ = c.Summaries()
	}
	if g.options.Redact {
		var b schema.Batch
		if b, _, err = g.w.Store.RedactCopies(schema.Batch{Messages: out.Messages, Tools: out.Tools}, s); err != nil {
			return err
		}
		out.Messages, out.Tools = b.Messages, b.Tools
		for _, sum := range out.Summaries {
			if sum.Content, err = g.w.Store.Redact(sum.Content, s.ID); err != nil {
				return err
			}
		}
	}
	out.Session = s
	number(out.Messages)
	return g.subagents(c, out)
}

func (g *gatherer) subagents(c *store.Conversation, out *portable.Conversation) error {
	names, err := c.Subagents()
	if err != nil {
		return err
	}
	if !g.options.Subagents {
		g.unasked += len(names)
		return nil
	}
	for _, name := range names {
		sub, err := c.Subagent(name)
		if err != nil {
			return err
		}
		one := portable.Subagent{NativeID: name}
		err = errors.Join(g.conversation(sub, &one.Conversation), sub.Close())
		if err != nil {
			return err
		}
		out.Subagents = append(out.Subagents, one)
	}
	return nil
}

// keptOf adds the kept content of a conversation's attachments.
func (g *gatherer) keptOf(c *portable.Conversation) {
	add := func(list []schema.Attachment) {
		for _, a := range list {
			if g.attachments[a.SHA256] {
				continue
			}
			g.attachments[a.SHA256] = true
			data, ok := g.w.Attachments.Read(g.entry, a.SHA256)
			if ok && g.options.Redact && utf8.Valid(data) {
				text, err := g.w.Store.Redact(string(data), c.Session.ID)
				data, ok = []byte(text), err == nil
			}
			if ok {
				c.Attachments = append(c.Attachments, portable.Attachment{SHA256: a.SHA256, Data: data})
			}
		}
	}
	for i := range c.Messages {
		add(c.Messages[i].Attachments)
	}
	for i := range c.Tools {
		add(c.Tools[i].Attachments)
	}
	for i := range c.Subagents {
		g.keptOf(&c.Subagents[i].Conversation)
	}
}

// countingMessages returns the current revision of each message, in the order of their first lines.
func countingMessages(lines []schema.Message) []schema.Message {
	return counting(lines, func(m *schema.Message) (string, int64) { return m.ID, m.Precedence() })
}

func counting[R any](lines []R, key func(*R) (string, int64)) (list []R) {
	at := map[string]int{}
	for i := range lines {
		id, precedence := key(&lines[i])
		if have, ok := at[id]; ok && id != "" {
			if _, best := key(&list[have]); precedence >= best {
				list[have] = lines[i]
			}
			continue
		}
		at[id] = len(list)
		list = append(list, lines[i])
	}
	return list
}

// MessageCount returns the number of messages.
func (g *Gathered) MessageCount() int {
	if g.Lines != nil {
		return count(g.Lines.Messages, portable.LineID)
	}
	return countMessages(g.Messages)
}

func countMessages(lines []schema.Message) int {
	return count(lines, func(m *schema.Message) string { return m.ID })
}

// count returns the number of records whose revisions are in lines.
func count[R any](lines []R, id func(*R) string) (n int) {
	seen := make(map[string]bool, len(lines))
	for i := range lines {
		if id := id(&lines[i]); id == "" || !seen[id] {
			seen[id] = true
			n++
		}
	}
	return n
}

// number numbers the messages as cortext show and payloads do.
func number(lines []schema.Message) {
	if countMessages(lines) == len(lines) {
		schema.NumberAll(lines)
		return
	}
	messages := countingMessages(lines)
	schema.NumberAll(messages)
	numbers := make(map[string]int, len(messages))
	for i := range messages {
		if messages[i].ID != "" {
			numbers[messages[i].ID] = messages[i].Number
		}
	}
	anonymous := slices.DeleteFunc(messages, func(m schema.Message) bool { return m.ID != "" })
	for i := range lines {
		if lines[i].ID != "" {
			lines[i].Number = numbers[lines[i].ID]
		} else if len(anonymous) > 0 {
			lines[i].Number, anonymous = anonymous[0].Number, anonymous[1:]
		}
	}
}

// historyOf returns the branch of a conversation that a resume continues, with the numbers of
// its messages.
func historyOf(c *portable.Conversation) schema.History {
	h := schema.History{Tools: map[string]schema.Tool{}}
	h.Messages, h.Aside = schema.Branch(countingMessages(c.Messages))
	for _, t := range counting(c.Tools, func(t *schema.Tool) (string, int64) { return t.ID, t.Precedence() }) {
		h.Tools[t.ID] = t
	}
	return h
}
