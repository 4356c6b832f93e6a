package store

import (
	"fmt"
	"slices"
	"time"

	"cortext/schema"
)

// Records that git took from a conversation's logs are kept below
// .workspace/local/kept/taken until someone asks for them, so that they outlive the
// agent's transcript. Readers do not see them.

// Taken returns the place where such records of a conversation are kept. It need not
// exist; the first write creates it.
func (s *Store) Taken(name string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	c := s.conversation(name)
	c.base, c.dir = takenDir, takenDir+"/"+c.dir
	return c, nil
}

// TakenPaths lists the conversations with records that git took, sorted.
func (s *Store) TakenPaths() []string { return s.pathsBelow(takenDir) }

// TakeBack makes the next write restore to the logs the records that git took while the
// conversation's folder had that name.
func (c *Conversation) TakeBack(name string) {
	if dir := takenDir + "/" + name + "/" + sessionDir; c.base == "" && c.waitsIn(dir) && !slices.Contains(c.others(), dir) {
		c.setOthers(append(slices.Clone(c.others()), dir))
	}
}

// HasMore reports whether the next write moves records into the logs: waiting records,
// those that [Conversation.TakeBack] asked for, or those in a second folder.
func (c *Conversation) HasMore() bool { return len(c.others()) > 0 && c.base == "" }

// Waits reports whether the next write moves waiting records into the logs.
func (c *Conversation) Waits() bool {
	return c.base == "" && slices.ContainsFunc(c.others(), func(dir string) bool { return within(waitingDir, dir) })
}

// LogsAbsent reports whether session.json or messages.jsonl is missing: the folder is new
// to cortext, or git or a person removed them.
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

// FirstTime returns the time of the first message, or "" if none has a time. It first
// writes the collected records.
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

// WrittenAt returns when session.json was last replaced; the zero time if there is none.
func (tx *Tx) WrittenAt() time.Time {
	info, err := tx.c.s.root.Lstat(tx.c.file(sessionFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// MakeFolder recreates the folder of a conversation that git took from the work tree,
// with its waiting records. The caller may then deliver records to it. If another
// conversation now has that folder name, it creates a folder with another name.
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

// DeleteWaiting deletes the records that wait for a conversation or were taken from it.
// The work tree is not changed.
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
