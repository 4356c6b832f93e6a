package store

import (
	"fmt"
	"slices"
	"time"

	"cortext/schema"
)

// Where git took records from a conversation's logs and nobody asked them back, they
// are kept below .workspace/local/kept/taken, so that they outlive the agent's
// transcript. Readers do not see them.

// Taken returns where such records of a conversation are kept. It need not exist; the
// first write makes it.
func (s *Store) Taken(name string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	c := s.conversation(name)
	c.base, c.dir = takenDir, takenDir+"/"+c.dir
	return c, nil
}

// TakeBack lets the next write put what git took back into the logs.
func (c *Conversation) TakeBack() {
	if dir := takenDir + "/" + c.dir; c.base == "" && c.s.isFolder(dir) {
		c.setOthers(append(slices.Clone(c.others()), dir))
	}
}

// HasMore reports whether the next write moves records into the logs that wait.
func (c *Conversation) HasMore() bool { return len(c.others()) > 0 && c.base == "" }

// LogsAbsent reports whether session.json or messages.jsonl is missing: the folder
// is new to cortext, or git or somebody took them.
func (c *Conversation) LogsAbsent() bool {
	for _, name := range []string{sessionFile, messagesFile} {
		if missing, err := c.s.missing(c.file(name)); missing || err != nil {
			return true
		}
	}
	return false
}

// RecordIDs returns the ids of the messages and of the tool calls in the logs.
func (c *Conversation) RecordIDs() (messages, calls map[string]bool, err error) {
	messages, calls = map[string]bool{}, map[string]bool{}
	for t, err := range c.Tools() {
		if err == nil {
			calls[t.ID] = true
		} else if !isDamage(err) {
			return nil, nil, err
		}
	}
	for m, err := range c.Messages() {
		if err == nil {
			messages[m.ID] = true
		} else if !isDamage(err) {
			return nil, nil, err
		}
	}
	return messages, calls, nil
}

// FirstTime is when the first message was; empty if none has a time. What is
// collected is written first.
func (tx *Tx) FirstTime() (first schema.Time, err error) {
	if err := tx.Flush(); err != nil {
		return "", err
	}
	for m, err := range tx.c.Messages() {
		if err != nil && !isDamage(err) {
			return "", err
		}
		if err == nil && m.Timestamp != "" && (first == "" || m.Timestamp.Time().Before(first.Time())) {
			first = m.Timestamp
		}
	}
	return first, nil
}

// WrittenAt is when session.json was last replaced; the zero time if there is none.
func (tx *Tx) WrittenAt() time.Time {
	info, err := tx.c.s.root.Lstat(tx.c.file(sessionFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// MakeFolder makes the folder of a conversation again that git took from the work
// tree, with what waits for it; records may then be delivered to it.
func (s *Store) MakeFolder(name string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	if _, err := s.makeDirs(name); err != nil {
		return nil, fmt.Errorf("put %q back: %w", name, explain(err))
	}
	return s.Conversation(name)
}

// DeleteWaiting deletes what waits for a conversation, or was taken from it; what is
// in the work tree stays.
func (c *Conversation) DeleteWaiting() error {
	for _, base := range []string{waitingDir, takenDir} {
		folder := base + "/" + c.path
		if !c.s.isFolder(folder) {
			continue
		}
		if err := c.s.deleteFolder(folder); err != nil {
			return fmt.Errorf("remove %q: %w", folder, explain(err))
		}
	}
	return nil
}

// MessageIDs returns the ids of the messages in the logs.
func (c *Conversation) MessageIDs() (map[string]bool, error) {
	messages, _, err := c.RecordIDs()
	return messages, err
}
