package store

import (
	"errors"
	"slices"

	"cortext/schema"
	"cortext/store/secrets"
)

// A Snapshot is what the logs of a conversation held at one moment. A writer that
// puts records somewhere else for now learns from it which of them the logs lack.
type Snapshot struct {
	// Checkpoint names where the logs of the conversation's own folder ended.
	Checkpoint Checkpoint

	s               *Store
	messages, tools []indexedLog
}

type indexedLog struct {
	heldLog
	index index
}

// Snapshot takes a snapshot of all folders of the conversation. Its user closes it.
func (c *Conversation) Snapshot() (*Snapshot, error) {
	cp, err := c.CheckpointKnown()
	if err != nil {
		return nil, err
	}
	n := &Snapshot{Checkpoint: cp, s: c.s}
	for _, dir := range slices.Backward(c.dirs()) { // as a reader does
		n.messages = append(n.messages, indexedLog{c.s.hold(dir + "/" + messagesFile), index{}})
		n.tools = append(n.tools, indexedLog{c.s.hold(dir + "/" + toolsFile), index{}})
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

// LacksMessage reports whether the logs have no line that says what m says.
func (n *Snapshot) LacksMessage(m schema.Message) (bool, error) {
	ready, err := n.s.prepareMessage(m, secrets.Counts{})
	if err != nil {
		return false, err
	}
	return lacks(n.messages, messageRecord(ready))
}

// LacksTool reports whether the logs have no line that says what t says.
func (n *Snapshot) LacksTool(t schema.Tool) (bool, error) {
	ready, err := n.s.prepareTool(t, secrets.Counts{})
	if err != nil {
		return false, err
	}
	return lacks(n.tools, toolRecord(ready))
}

func lacks(logs []indexedLog, r record) (bool, error) {
	var stored [][]byte
	for _, l := range logs {
		lines, err := l.index.at(l.r, r.id())
		if err != nil {
			return false, err
		}
		stored = append(stored, lines...)
	}
	_, isNew := r.revise(stored)
	return isNew, nil
}
