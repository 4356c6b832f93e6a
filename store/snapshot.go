package store

import (
	"errors"
	"slices"

	"cortext/schema"
	"cortext/store/secrets"
)

// A Snapshot records what the logs of a conversation held at one moment. A writer that
// puts records elsewhere for now uses it to find those that the logs lack.
type Snapshot struct {
	// Checkpoint names where the logs in the conversation's own folder ended.
	Checkpoint Checkpoint

	s               *Store
	messages, tools []indexedLog
}

type indexedLog struct {
	heldLog
	index index
}

// Snapshot takes a snapshot of all folders of the conversation. The caller must close it.
func (c *Conversation) Snapshot() (*Snapshot, error) {
	cp, err := c.CheckpointKnown()
	if err != nil {
		return nil, err
	}
	n := &Snapshot{Checkpoint: cp, s: c.s}
	for _, dir := range slices.Backward(c.dirs()) { // in the order in which readers open them
		n.messages = append(n.messages, indexedLog{c.hold(dir, messagesFile), index{}})
		n.tools = append(n.tools, indexedLog{c.hold(dir, toolsFile), index{}})
	}
	for _, l := range n.logs() {
		err := l.err
		if err == nil {
			err = l.index.scan(l.r, 0, l.size)
		}
		if err != nil {
			return nil, errors.Join(err, n.Close())
		}
	}
	n.Checkpoint.Held = len(n.messages[len(n.messages)-1].index) // those of its own folder
	return n, nil
}

func (n *Snapshot) logs() []indexedLog { return slices.Concat(n.messages, n.tools) }

// Close closes the logs.
func (n *Snapshot) Close() error {
	var errs []error
	for _, l := range n.logs() {
		errs = append(errs, l.close())
	}
	return errors.Join(errs...)
}

// Held says how much of a record the logs have.
type Held int

// The values of Held.
const (
	Nothing Held = iota // no line has its id
	Part                // the record says more than the lines with its id
	Whole               // a line says everything the record says
)

// Message reports how much of m the logs have.
func (n *Snapshot) Message(m schema.Message) (Held, error) {
	ready, err := n.s.prepareMessage(m, secrets.Counts{})
	if err != nil {
		return Nothing, err
	}
	return held(n.messages, messageRecord(ready))
}

// Tool reports how much of t the logs have.
func (n *Snapshot) Tool(t schema.Tool) (Held, error) {
	ready, err := n.s.prepareTool(t, secrets.Counts{})
	if err != nil {
		return Nothing, err
	}
	return held(n.tools, toolRecord(ready))
}

func held(logs []indexedLog, r record) (Held, error) {
	var stored [][]byte
	for _, l := range logs {
		lines, err := l.index.at(l.r, r.id())
		if err != nil {
			return Nothing, err
		}
		stored = append(stored, lines...)
	}
	if len(stored) == 0 {
		return Nothing, nil
	}
	if _, isNew := r.revise(stored); isNew {
		return Part, nil
	}
	return Whole, nil
}
