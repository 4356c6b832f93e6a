package live

import (
	"errors"
	"hash/maphash"
	"strconv"

	"cortext/cmd/internal/history"
	"cortext/schema"
	"cortext/store"
)

// known is what followers know about the logs: where they ended, and which records they
// held.
type known struct {
	at       store.Checkpoint
	seed     maphash.Seed
	messages map[string]version
	calls    map[string]version
}

// A version distinguishes lines with the same id.
type version struct {
	precedence int64
	sum        uint64
}

// readKnown reads what the logs hold now.
func readKnown(c *Opened) (*known, error) {
	k := &known{seed: maphash.MakeSeed(), messages: map[string]version{}, calls: map[string]version{}}
	_, err := k.update(c, nil)
	return k, err
}

// update brings k up to date and returns the new events. If encode is nil, it only reads.
func (k *known) update(c *Opened, encode Encode) ([]Event, error) {
	next, err := c.CheckpointNow() // before reading: what is written meanwhile is read again
	if err != nil {
		return nil, err
	}
	n := news{known: k, calls: map[string][]schema.Tool{}}
	ok, err := c.Since(k.at, func(line []byte) {
		if m, err := schema.ParseMessage(line); err == nil {
			n.message(m)
		}
	}, func(line []byte) {
		if t, err := schema.ParseTool(line); err == nil {
			n.call(t)
		}
	})
	if err != nil {
		return nil, err
	}
	if !ok { // git replaced the logs, or not all records are in them
		if err := n.all(c); err != nil {
			return nil, err
		}
	}
	k.at = next
	if encode == nil {
		return nil, nil
	}
	return n.events(encode), nil
}

// news are the records that are new since the last look.
type news struct {
	*known
	messages []schema.Message
	calls    map[string][]schema.Tool // by message
	order    []string                 // of the messages that calls are of
	reset    bool                     // something is gone, or was put before what was known
}

// message takes a message, unless it is known as it is.
func (n *news) message(m schema.Message) {
	if n.note(n.known.messages, m.ID, m.Precedence(), schema.AppendMessage(nil, &m)) {
		n.messages = append(n.messages, m)
	}
}

func (n *news) call(t schema.Tool) {
	if !n.note(n.known.calls, t.ID, t.Precedence(), schema.AppendTool(nil, &t)) {
		return
	}
	if n.calls[t.MessageID] == nil {
		n.order = append(n.order, t.MessageID)
	}
	n.calls[t.MessageID] = append(n.calls[t.MessageID], t)
}

// note remembers a line and reports whether it adds to what is known about its id. A line
// without an id, as the first Cortext wrote them, is known by its content.
func (k *known) note(in map[string]version, id string, precedence int64, line []byte) bool {
	v := version{precedence, maphash.Bytes(k.seed, line)}
	if id == "" {
		id = anonymous(v)
	}
	have, ok := in[id]
	if ok && (v.precedence < have.precedence || v == have) {
		return false
	}
	in[id] = v
	return true
}

func anonymous(v version) string { return "\n" + strconv.FormatUint(v.sum, 36) }

// all compares everything in the logs with what is known.
func (n *news) all(c *Opened) error {
	had := n.known.messages
	seen := make(map[string]bool, len(had))
	grown := false // a message that was not known was read
	for m, err := range c.Settled().Messages() {
		if isDamage(err) {
			continue
		}
		if err != nil {
			return err
		}
		id := m.ID
		if id == "" {
			id = anonymous(version{sum: maphash.Bytes(n.seed, schema.AppendMessage(nil, &m))})
		}
		_, old := had[id]
		n.reset = n.reset || old && grown && !seen[id]
		grown = grown || !old
		seen[id] = true
		n.message(m)
	}
	for id := range had {
		if !seen[id] {
			delete(had, id)
			n.reset = true
		}
	}
	for t, err := range c.Settled().Tools() {
		if isDamage(err) {
			continue
		}
		if err != nil {
			return err
		}
		n.call(t)
	}
	return nil
}

func isDamage(err error) bool { return errors.As(err, new(*store.Damage)) }

// events joins messages with the calls that came with them.
func (n *news) events(encode Encode) (events []Event) {
	for i := range n.messages {
		m := &n.messages[i]
		events = append(events, Event{MessageEvent, m.ID, encode(MessageEvent, m, n.calls[m.ID])})
		delete(n.calls, m.ID)
	}
	for _, id := range n.order {
		for _, t := range n.calls[id] {
			events = append(events, Event{CallEvent, id, encode(CallEvent, nil, []schema.Tool{t})})
		}
	}
	if n.reset {
		events = append(events, Event{Kind: ResetEvent, Data: encode(ResetEvent, nil, nil)})
	}
	return events
}

// after returns what follows the first line of a message in the logs, and the calls of that
// message, which may have outcomes now. found is false if the logs do not have it.
func (k *known) after(c *Opened, id string, encode Encode) (events []Event, found bool, err error) {
	if _, ok := k.messages[id]; !ok {
		return nil, false, nil
	}
	tools, err := history.Calls(c.Settled().Tools())
	if err != nil {
		return nil, false, err
	}
	calls := map[string][]schema.Tool{}
	for _, t := range tools {
		calls[t.MessageID] = append(calls[t.MessageID], t)
	}
	rest := func(yield func(schema.Message, error) bool) {
		for m, err := range c.Settled().Messages() {
			if err == nil && !found {
				found = m.ID == id
				continue
			}
			if !yield(m, err) {
				return
			}
		}
	}
	messages, err := history.Messages(rest)
	if err != nil {
		return nil, false, err
	}
	for _, t := range calls[id] {
		events = append(events, Event{CallEvent, id, encode(CallEvent, nil, []schema.Tool{t})})
	}
	for i := range messages {
		m := &messages[i]
		events = append(events, Event{MessageEvent, m.ID, encode(MessageEvent, m, calls[m.ID])})
	}
	return events, found, nil
}
