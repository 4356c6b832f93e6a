package store

import (
	"errors"
	"slices"

	"cortext/schema"
)

// A Snapshot records what the logs of a conversation held at one moment. A writer that
// stores records elsewhere for now uses it to find those that the logs lack.
type Snapshot struct {
	// Checkpoint names where the logs in the conversation's own folder ended.
	Checkpoint Checkpoint

	s               *Store
	known           *known // what the user redacted in the conversation
	messages, tools []indexedLog
}

type indexedLog struct {
	*logReader
	index index
}

// Snapshot takes a snapshot of all folders of the conversation. The caller must close it.
func (r *Reader) Snapshot() (*Snapshot, error) {
	known, err := r.knownTexts()
	if err != nil {
		return nil, err
	}
	n := &Snapshot{s: r.s, known: known}
	for _, f := range slices.Backward(r.folders()) { // in the order in which readers open them
		messages := indexedLog{r.openIn(f, messagesFile), index{}}
		tools := indexedLog{r.openIn(f, toolsFile), index{}}
		n.messages, n.tools = append(n.messages, messages), append(n.tools, tools)
		err := errors.Join(messages.scan(), tools.scan())
		if f == r.sessionFolder && err == nil {
			n.Checkpoint, err = checkpointOf(messages.logReader, tools.logReader)
			n.Checkpoint.Held = len(messages.index)
		}
		if err != nil {
			return nil, errors.Join(err, n.Close())
		}
	}
	return n, nil
}

func (l indexedLog) scan() error {
	if l.err != nil {
		return l.err
	}
	_, err := l.index.scan(l, 0, l.size)
	return err
}

// checkpointOf names the ends of two logs, for a writer that found all of its records in
// them but does not know where.
func checkpointOf(messages, tools *logReader) (cp Checkpoint, err error) {
	if messages.file != nil {
		cp.Messages, err = messages.checkpoint(0)
	}
	if tools.file != nil && err == nil {
		cp.Tools, err = tools.checkpoint(0)
	}
	return cp, err
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

// Held says how much of a record is in the logs.
type Held int

// The values of Held.
const (
	Nothing Held = iota // no line has its id
	Partly              // the record says more than the lines with its id
	Whole               // a line says everything the record says
)

// Message reports how much of m is in the logs.
func (n *Snapshot) Message(m schema.Message) (Held, error) {
	ready, err := n.s.policy.redactor(nil).knowing(n.known).message(m)
	if err != nil {
		return Nothing, err
	}
	return n.held(n.messages, messageRecord(ready))
}

// Tool reports how much of t is in the logs.
func (n *Snapshot) Tool(t schema.Tool) (Held, error) {
	ready, err := n.s.policy.redactor(nil).knowing(n.known).tool(t)
	if err != nil {
		return Nothing, err
	}
	return n.held(n.tools, toolRecord(ready))
}

func (n *Snapshot) held(logs []indexedLog, r record) (Held, error) {
	var stored [][]byte
	for _, l := range logs {
		lines, err := l.index.at(l, r.id())
		if err != nil {
			return Nothing, err
		}
		stored = append(stored, lines...)
	}
	if len(stored) == 0 {
		return Nothing, nil
	}
	if !r.inherit(stored, n.known) {
		return Whole, nil
	}
	if _, isNew := r.revise(stored); isNew {
		return Partly, nil
	}
	return Whole, nil
}
