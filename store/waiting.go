package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"cortext/schema"
)

// While the work tree must not be written to (another branch without the folder is
// checked out, git is in the middle of a merge), records wait below
// .workspace/local/kept, in the same layout. A reader takes them for a part of their
// conversation, and the next write to it in the work tree moves them there.

// Waiting returns where the records of a conversation wait that cannot be written
// to the work tree now. It need not exist; the first write makes it. If the folder
// is in the work tree, that is read too.
func (s *Store) Waiting(name string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	c := s.conversation(name)
	tree := c.dir
	c.base, c.dir = waitingDir, within(waitingDir, c.dir)
	c.addMore(tree)
	return c, nil
}

// IsWaiting reports whether what is written to the conversation waits for its place
// in the work tree.
func (c *Conversation) IsWaiting() bool { return c.base == waitingDir }

// Taken returns where records are kept that git took from a conversation's logs and
// that nobody has asked back. Readers do not see them; see [Conversation.TakeBack].
func (s *Store) Taken(name string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	c := s.conversation(name)
	c.base, c.dir = takenDir, within(takenDir, c.dir)
	return c, nil
}

// TakeBack lets the next write put what git took back into the logs.
func (c *Conversation) TakeBack() {
	if c.base == "" {
		c.addMore(within(takenDir, c.dir))
	}
}

// HasMore reports whether the next write moves records into the logs that wait.
func (c *Conversation) HasMore() bool { return len(c.more) > 0 && c.base == "" }

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

// MessageIDs returns the ids of the messages in the logs.
func (c *Conversation) MessageIDs() (map[string]bool, error) {
	ids := map[string]bool{}
	for m, err := range c.Messages() {
		if err == nil {
			ids[m.ID] = true
		} else if !isDamage(err) {
			return nil, err
		}
	}
	return ids, nil
}

// WaitingPaths lists the conversations for which something waits, sorted.
func (s *Store) WaitingPaths() (names []string) {
	folders, _, err := s.foldersIn(waitingDir + "/" + conversationsDir)
	if err != nil {
		return nil
	}
	for _, name := range folders {
		if info, err := s.root.Lstat(name + "/" + sessionDir); err == nil && info.IsDir() {
			names = append(names, strings.TrimPrefix(name, waitingDir+"/"))
		}
	}
	return names
}

// WaitingCount counts the messages that wait for a conversation, and that its logs
// in the work tree do not have.
func (s *Store) WaitingCount(name string) (n int, err error) {
	have := map[string]bool{}
	if tree, err := s.Conversation(name); err == nil {
		tree.more = nil
		for m, err := range tree.Messages() {
			if err == nil {
				have[m.ID] = true
			}
		}
	}
	for m, err := range readLogFile(s, within(waitingDir, name)+"/"+sessionDir+"/"+messagesFile, schema.ParseMessage) {
		if err == nil && !have[m.ID] {
			have[m.ID] = true
			n++
		}
		if err != nil && !isDamage(err) {
			return n, err
		}
	}
	return n, nil
}

// PutBack moves what waits for a conversation into the work tree, making its folder
// again if that is gone.
func (s *Store) PutBack(name string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	if _, err := s.makeDirs(name); err != nil {
		return nil, explain(err)
	}
	c, err := s.Conversation(name)
	if err != nil {
		return nil, err
	}
	return c, c.Update(func(*Tx, *schema.Session) error { return nil })
}

// absorb moves the records of the conversation's other folders into its logs. It
// appends and syncs first, so that a crash leaves records twice, which are read once,
// and none lost.
func (tx *Tx) absorb() error {
	c := tx.c
	if len(c.more) == 0 || c.base != "" {
		return nil
	}
	damaged := map[string]bool{}
	for _, dir := range c.more {
		whole, err := tx.appendFrom(dir)
		if err != nil {
			return err
		}
		damaged[dir] = !whole
		if err := c.absorbSubagents(dir); err != nil {
			return err
		}
	}
	if err := c.recountWith(tx, nil); err != nil {
		return err
	}
	tx.stored.mend = true
	if _, err := tx.writeSession(); err != nil {
		return err
	}
	more := c.more
	c.more = nil
	for _, dir := range more {
		if err := c.s.leave(dir, damaged[dir]); err != nil {
			return err
		}
	}
	tx.before, tx.stored, tx.made = nil, stored{}, nil
	return nil
}

// recountWith counts the logs in the work tree alone.
func (c *Conversation) recountWith(tx *Tx, more []string) error {
	had := c.more
	c.more = more
	defer func() { c.more = had }()
	return tx.Recount()
}

// flushAt is how much is collected before it is written.
const flushAt = 4 << 20

// appendFrom appends the records of one folder, calls first. whole is false if
// something in its logs cannot be read.
func (tx *Tx) appendFrom(dir string) (whole bool, err error) {
	whole = true
	add := func(r record, size int, err error) error {
		switch {
		case err != nil && isDamage(err):
			whole = false
			return nil
		case err != nil:
			return err
		case r.tool != nil:
			tx.tools = append(tx.tools, r)
		default:
			tx.messages = append(tx.messages, r)
		}
		if tx.size += size; tx.size > flushAt {
			return tx.Flush()
		}
		return nil
	}
	for t, err := range readLogFile(tx.c.s, dir+"/"+toolsFile, schema.ParseTool) {
		if err := add(toolRecord(t), len(t.Input)+len(t.Output), err); err != nil {
			return whole, err
		}
	}
	for m, err := range readLogFile(tx.c.s, dir+"/"+messagesFile, schema.ParseMessage) {
		if err := add(messageRecord(m), len(m.Content)+len(m.Reasoning), err); err != nil {
			return whole, err
		}
	}
	return whole, tx.Flush()
}

// absorbSubagents moves the sub-agents' conversations of a folder.
func (c *Conversation) absorbSubagents(dir string) error {
	entries, err := c.s.readDir(dir + "/" + subagentsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		from := dir + "/" + subagentsDir + "/" + e.Name()
		to := c.file(subagentsDir) + "/" + e.Name()
		sub := &Conversation{s: c.s, path: to, dir: to, more: []string{from}}
		err := sub.Update(func(*Tx, *schema.Session) error { return nil })
		if err = errors.Join(err, sub.Close()); err != nil {
			return fmt.Errorf("sub-agent %s: %w", e.Name(), err)
		}
	}
	return nil
}

// leave removes a folder whose records were moved. One with lines that cannot be
// read is kept aside as it is.
func (s *Store) leave(dir string, damaged bool) error {
	top := waitingDir
	if strings.HasPrefix(dir, takenDir+"/") {
		top = takenDir
	} else if !strings.HasPrefix(dir, waitingDir+"/") {
		return nil
	}
	if damaged {
		to := fmt.Sprintf("%s/damaged/waiting-%s", keptDir, digest([]byte(dir)))
		if err := s.makeLocal(path.Dir(to)); err != nil {
			return err
		}
		_ = s.root.RemoveAll(to)
		return s.root.Rename(dir, to)
	}
	if err := s.root.RemoveAll(dir); err != nil {
		return explain(err)
	}
	for up := path.Dir(dir); up != top && strings.HasPrefix(up, top); up = path.Dir(up) {
		if s.root.Remove(up) != nil {
			break
		}
	}
	return nil
}
