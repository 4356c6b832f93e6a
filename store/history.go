package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"

	"cortext/schema"
)

// A Limit restricts [Reader.History] to the end of the conversation. A zero field
// sets no limit. If several are set, the first one reached applies.
type Limit struct {
	Messages int // the maximum number of messages
	Tokens   int // going back, stop after the message that exceeds this many tokens, calls included

	After string // only messages after the one with this id; no limit if there is none

	End string // read the branch up to the message with this id, instead of the one that a resume continues
}

// History returns the messages of the branch that a resume continues, in order, with the
// calls that they made, and the damage in what it read. Damage hides no whole record.
//
// With a limit, History reads only the end of the logs, whatever their length, if the end
// is one thread and nothing newer precedes it, as far as session.json and samples show.
// Otherwise, as after a merge, it reads the log once from the start and keeps only the
// links between messages outside the end.
//
// The error is a [*schema.VersionError] if a later cortext wrote the conversation, and
// [ErrNotFound] if limit.End is not in the logs.
func (r *Reader) History(limit Limit) (schema.History, []Damage, error) {
	if _, err := r.load(); err != nil {
		return schema.History{}, nil, err
	}
	h := historyReader{r, limit}
	if !r.written.isHeld() && limit != (Limit{}) && limit.End == "" && len(r.others()) == 0 {
		read, damage, ok, err := h.end()
		if err != nil || ok {
			return read, damage, err
		}
	}
	return h.whole()
}

// A historyReader reads the messages within a limit, in one of three ways, the fastest
// that suffices: tail, branch or whole.
type historyReader struct {
	*Reader
	limit Limit
}

// end reads the end of the conversation. ok is false if everything must be read.
func (r historyReader) end() (h schema.History, damage []Damage, ok bool, err error) {
	info, err := r.s.root.Lstat(r.file(messagesFile))
	if err != nil {
		return h, nil, false, nil
	}
	if r.s.branch.get(r.file(messagesFile), info) == nil { // otherwise the end of the file was not enough
		if h, damage, ok, err = r.tail(); ok || err != nil {
			return h, damage, ok, err
		}
	}
	return r.branch()
}

// whole reads everything.
func (r historyReader) whole() (schema.History, []Damage, error) {
	var damage []Damage
	msgs := newest[schema.Message]{logKind: messageLog()}
	tools := newest[schema.Tool]{logKind: toolLog()}
	folders := r.folders()
	for i, f := range folders {
		for m, err := range readIn(r.Reader, f, messageLog()) {
			if err == nil {
				msgs.add(m.ID, m, i)
			} else if damage, err = noteDamage(damage, err); err != nil {
				return schema.History{}, damage, err
			}
		}
	}
	h := schema.History{Tools: map[string]schema.Tool{}}
	total := len(msgs.list)
	if r.limit.End == "" {
		h.Messages, _ = schema.Branch(msgs.list)
		schema.Number(h.Messages, msgs.list, total)
	} else {
		schema.NumberAll(msgs.list)
		if h.Messages = schema.PathTo(msgs.list, r.limit.End); h.Messages == nil {
			return schema.History{}, damage, fmt.Errorf("message %q of %q: %w", r.limit.End, r.path, ErrNotFound)
		}
	}
	wanted := callIDs(h.Messages)
	for i, f := range folders {
		for t, err := range readIn(r.Reader, f, toolLog()) {
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
	if cut(&h, r.limit); len(h.Messages) == n {
		h.Aside = total - n
	} else {
		setCounts(&h, total)
	}
	return h, damage, nil
}

// callIDs returns the ids of the calls that messages made.
func callIDs(msgs []schema.Message) map[string]bool {
	ids := map[string]bool{}
	for i := range msgs {
		for _, call := range msgs[i].ToolCalls {
			ids[call.ID] = true
		}
	}
	return ids
}

// A newest keeps one record for each id: the one that counts, at the position of the
// first.
type newest[R any] struct {
	logKind[R]
	list   []R
	folder []int // folder of each record in list
	at     map[string]int
}

// add adds a record from a folder, given by number.
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
	if both, ok := n.combine(&r, &n.list[i]); ok {
		n.list[i] = both
		return
	}
	old, now := n.rank(&n.list[i]), n.rank(&r)
	counts := now.compare(old) > 0
	if folder > n.folder[i] { // the writer did not see the revs of the earlier folders
		more := now.marks() - old.marks()
		counts = more > 0 || more == 0 && !bytes.Equal(now.line, old.line) && !n.less(&r, &n.list[i])
	}
	if counts {
		n.list[i], n.folder[i] = r, folder
	}
}

// cut removes from h what a limit excludes.
func cut(h *schema.History, limit Limit) {
	from := len(h.Messages)
	for b := (budget{limit: limit}); from > 0 && !b.spent; from-- {
		m := &h.Messages[from-1]
		if b.reached(m) {
			break
		}
		_ = b.take(m, func(id string) (*schema.Tool, error) {
			if t, ok := h.Tools[id]; ok {
				return &t, nil
			}
			return nil, nil
		})
	}
	if from == 0 {
		return
	}
	h.Messages = h.Messages[from:]
	wanted := callIDs(h.Messages)
	maps.DeleteFunc(h.Tools, func(id string, _ schema.Tool) bool { return !wanted[id] })
}

// setCounts sets how many of a conversation's messages precede those of h, and how many of
// those after the first message of h are on abandoned branches.
func setCounts(h *schema.History, total int) {
	if len(h.Messages) > 0 {
		h.Earlier = h.Messages[0].Number - 1
	}
	h.Aside = max(total-h.Earlier-len(h.Messages), 0)
}

// A budget determines when a limit is reached, going backwards.
type budget struct {
	limit    Limit
	messages int
	tokens   int
	spent    bool
}

// reached reports whether the limit excludes m and everything before it.
func (b *budget) reached(m *schema.Message) bool { return b.limit.After != "" && m.ID == b.limit.After }

// take counts a message with its calls.
func (b *budget) take(m *schema.Message, find func(id string) (*schema.Tool, error)) error {
	b.messages++
	b.tokens += messageTokens(m)
	for _, call := range m.ToolCalls {
		t, err := find(call.ID)
		if err != nil {
			return err
		}
		if t != nil {
			b.tokens += toolTokens(t)
		}
	}
	b.spent = b.limit.Messages > 0 && b.messages >= b.limit.Messages || b.limit.Tokens > 0 && b.tokens > b.limit.Tokens
	return nil
}

// noteDamage appends err to damage if it is damage; otherwise it returns err.
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
