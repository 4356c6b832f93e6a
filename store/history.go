package store

import (
	"bytes"
	"errors"

	"cortext/schema"
)

// A Limit bounds what [Conversation.History] returns to the end of the
// conversation. A zero value does not bound; of two the first that is reached
// does.
type Limit struct {
	Messages int // the last so many
	Tokens   int // back to the message with which these, calls included, are exceeded

	After string // the messages that follow the one with this id; where there is none, it does not bound
}

// History returns the messages of the branch that is resumed, in their order,
// with the calls that they made, and what is damaged in what was read. Damage
// hides nothing that is whole.
//
// With a limit only the end of the logs is read, whatever their length, where the end is
// one thread and nothing newer stands above it, as far as session.json and samples tell.
// Else, as after a merge, the log is read through once, and of all messages but those of the
// end only what ties them together is kept.
//
// The error is a [*schema.VersionError] if a later cortext wrote it.
func (c *Conversation) History(limit Limit) (schema.History, []Damage, error) {
	if _, err := c.load(); err != nil {
		return schema.History{}, nil, err
	}
	if limit != (Limit{}) && len(c.others()) == 0 {
		h, damage, ok, err := c.end(limit)
		if err != nil || ok {
			return h, damage, err
		}
	}
	return c.whole(limit)
}

// end reads the end of the conversation. ok is false where everything must be read.
func (c *Conversation) end(limit Limit) (h schema.History, damage []Damage, ok bool, err error) {
	info, err := c.s.root.Lstat(c.file(messagesFile))
	if err != nil {
		return h, nil, false, nil
	}
	if c.s.branch.get(c.file(messagesFile), info) == nil { // else the end of the file did not do
		if h, damage, ok, err = c.tail(limit); ok || err != nil {
			return h, damage, ok, err
		}
	}
	return c.branch(limit)
}

// whole reads everything.
func (c *Conversation) whole(limit Limit) (schema.History, []Damage, error) {
	var damage []Damage
	msgs := newest[schema.Message]{rank: messageRank, less: saysLess}
	tools := newest[schema.Tool]{rank: toolRank, less: hasLessOutcome}
	for i, dir := range c.dirs() {
		for m, err := range readHeld(c.hold(dir, messagesFile), schema.ParseMessage) {
			if err == nil {
				msgs.add(m.ID, m, i)
			} else if damage, err = noteDamage(damage, err); err != nil {
				return schema.History{}, damage, err
			}
		}
	}
	h := schema.History{Tools: map[string]schema.Tool{}}
	h.Messages, _ = schema.Branch(msgs.list)
	total := len(msgs.list)
	schema.Number(h.Messages, msgs.list, total)
	wanted := map[string]bool{}
	for i := range h.Messages {
		for _, call := range h.Messages[i].ToolCalls {
			wanted[call.ID] = true
		}
	}
	for i, dir := range c.dirs() {
		for t, err := range readHeld(c.hold(dir, toolsFile), schema.ParseTool) {
			if err == nil && wanted[t.ID] {
				tools.add(t.ID, t, i)
			} else if damage, err = noteDamage(damage, err); err != nil {
				return schema.History{}, damage, err
			}
		}
	}
	for _, t := range tools.list {
		h.Tools[t.ID] = t
	}
	n := len(h.Messages)
	if cut(&h, limit); len(h.Messages) == n {
		h.Aside = total - n
	} else {
		counted(&h, total)
	}
	return h, damage, nil
}

// newest keeps of the records with one id the one that counts, in the place of the
// first.
type newest[R any] struct {
	rank func(*R) rank
	less func(r, than *R) bool

	list   []R
	folder []int // that each of list is from
	at     map[string]int
}

// add takes a record from the folder of that number.
func (n *newest[R]) add(id string, r R, folder int) {
	i, ok := n.at[id]
	if id == "" || !ok {
		if n.at == nil {
			n.at = map[string]int{}
		}
		n.at[id] = len(n.list)
		n.list, n.folder = append(n.list, r), append(n.folder, folder)
		return
	}
	old, now := n.rank(&n.list[i]), n.rank(&r)
	counts := now.compare(old) > 0
	if folder > n.folder[i] { // it was written without regard to the revs of the others
		counts = !bytes.Equal(now.line, old.line) && !n.less(&r, &n.list[i])
	}
	if counts {
		n.list[i], n.folder[i] = r, folder
	}
}

// cut takes from h what a limit leaves out.
func cut(h *schema.History, limit Limit) {
	from := len(h.Messages)
	for b := (budget{limit: limit}); from > 0 && !b.spent; from-- {
		m := &h.Messages[from-1]
		if b.reached(m) {
			break
		}
		b.take(m, func(id string) *schema.Tool {
			if t, ok := h.Tools[id]; ok {
				return &t
			}
			return nil
		})
	}
	if from == 0 {
		return
	}
	h.Messages = h.Messages[from:]
	wanted := map[string]bool{}
	for i := range h.Messages {
		for _, call := range h.Messages[i].ToolCalls {
			wanted[call.ID] = true
		}
	}
	for id := range h.Tools {
		if !wanted[id] {
			delete(h.Tools, id)
		}
	}
}

// counted notes how many of a conversation's messages stand before those of h, and how many
// behind the first of these are on branches that were left.
func counted(h *schema.History, total int) {
	if len(h.Messages) > 0 {
		h.Earlier = h.Messages[0].Number - 1
	}
	h.Aside = max(total-h.Earlier-len(h.Messages), 0)
}

// A budget says when a limit is reached, going backwards.
type budget struct {
	limit    Limit
	messages int
	tokens   int
	spent    bool
}

// reached reports whether m is the message that the limit leaves out with all
// before it.
func (b *budget) reached(m *schema.Message) bool { return b.limit.After != "" && m.ID == b.limit.After }

// take counts a message with its calls.
func (b *budget) take(m *schema.Message, tool func(id string) *schema.Tool) {
	b.messages++
	b.tokens += messageTokens(m)
	for _, call := range m.ToolCalls {
		if t := tool(call.ID); t != nil {
			b.tokens += toolTokens(t)
		}
	}
	b.spent = b.limit.Messages > 0 && b.messages >= b.limit.Messages || b.limit.Tokens > 0 && b.tokens > b.limit.Tokens
}

// noteDamage appends err to damage if it is damage; else it returns it.
func noteDamage(damage []Damage, err error) ([]Damage, error) {
	if err == nil {
		return damage, nil
	}
	var d *Damage
	if errors.As(err, &d) {
		return append(damage, *d), nil
	}
	return damage, err
}
