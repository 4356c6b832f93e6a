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

// TakenPaths lists the conversations of which something is kept that git took, sorted.
func (s *Store) TakenPaths() []string { return s.pathsBelow(takenDir) }

// TakeBack lets the next write put back into the logs what git took while the folder of
// the conversation had that name.
func (c *Conversation) TakeBack(name string) {
	if dir := takenDir + "/" + name + "/" + sessionDir; c.base == "" && c.waitsIn(dir) && !slices.Contains(c.others(), dir) {
		c.setOthers(append(slices.Clone(c.others()), dir))
	}
}

// HasMore reports whether the next write moves records into the logs: what waits for the
// conversation, what git took and [Conversation.TakeBack] asked back, or what is in a
// second folder.
func (c *Conversation) HasMore() bool { return len(c.others()) > 0 && c.base == "" }

// Waits reports whether the next write moves records into the logs that wait for it.
func (c *Conversation) Waits() bool {
	return c.base == "" && slices.ContainsFunc(c.others(), func(dir string) bool { return within(waitingDir, dir) })
}

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

// LogMissing reports whether any of session.json and the two logs is missing.
func (c *Conversation) LogMissing() bool {
	missing, err := c.s.missing(c.file(toolsFile))
	return missing || err != nil || c.LogsAbsent()
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
// tree, with what waits for it; records may then be delivered to it. Where another
// conversation has the folder of that name now, it makes one with another name.
func (s *Store) MakeFolder(name, id string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	free := s.nameFor("", name, id)
	if _, err := s.makeDirs(free); err != nil {
		return nil, fmt.Errorf("put %q back: %w", name, explain(err))
	}
	if from := waitingDir + "/" + name; free != name && s.isFolder(from) && isSame(id, s.idIn(from+"/"+sessionDir, name)) {
		if err := s.files.RenameIn(s.root, from, waitingDir+"/"+free); err != nil {
			return nil, fmt.Errorf("put %q back: %w", name, explain(err))
		}
	}
	return s.Conversation(free)
}

// DeleteWaiting deletes what waits for a conversation, or was taken from it; what is
// in the work tree stays.
func (c *Conversation) DeleteWaiting() error {
	for _, base := range []string{waitingDir, takenDir} {
		folder := base + "/" + c.path
		if !c.s.isFolder(folder) || !isSame(c.s.idIn(c.dir, c.path), c.s.idIn(folder+"/"+sessionDir, c.path)) {
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
