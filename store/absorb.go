package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/store/internal/lines"
)

// The records of a conversation may be in several folders: some wait below
// .workspace/local/kept, and a merge of two clones may have created two folders for one
// conversation, called twins. The next write moves all records into one folder. It holds
// the locks of all folders. It appends and syncs before it removes anything, so a crash
// may leave records twice, which readers count once, but loses none.

// lockOthers waits for the locks of the other folders of the conversation.
func (tx *Tx) lockOthers() error {
	c := tx.c
	if c.base != "" {
		return nil
	}
	known := c.others()
	if dir := waitingDir + "/" + c.dir; !slices.Contains(known, dir) && c.waitsIn(dir) {
		known = append(slices.Clone(known), dir)
	}
	var dirs []string
	for _, dir := range known {
		if !c.s.isFolder(dir) {
			continue // another process moved it
		}
		other, err := c.folderAt(dir).lock()
		if err != nil {
			return fmt.Errorf("%q: %w", dir, err)
		}
		dirs = append(dirs, dir)
		tx.from = append(tx.from, other)
	}
	c.setOthers(dirs)
	return nil
}

// folderAt returns another folder of the conversation as a Conversation of its own.
func (c *Conversation) folderAt(dir string) *Conversation {
	other := &Conversation{s: c.s, path: dir, dir: dir}
	for _, base := range []string{waitingDir, takenDir} {
		if within(base, dir) {
			other.base, other.path = base, strings.TrimPrefix(dir, base+"/")
		}
	}
	if !c.isSub() {
		other.path = path.Dir(other.path)
	}
	return other
}

// releaseOthers releases the locks of the other folders.
func (tx *Tx) releaseOthers() {
	for _, other := range tx.from {
		other.undo()
		other.release()
		_ = other.c.Close()
	}
	tx.from = nil
}

// appendOthers appends the records of the other folders, before any new records.
func (tx *Tx) appendOthers() error {
	if tx.absorbed {
		return nil
	}
	tools, messages, size := tx.tools, tx.messages, tx.size
	tx.tools, tx.messages, tx.size = nil, nil, 0
	before := tx.result
	for _, other := range tx.from {
		if err := tx.appendFrom(other); err != nil {
			return err
		}
	}
	moved := tx.result.Appended + tx.result.Tools - before.Appended - before.Tools
	tx.result.Appended, tx.result.Tools, tx.result.Skipped, tx.result.Moved = before.Appended, before.Tools, before.Skipped, moved
	tx.tools, tx.messages, tx.size = tools, messages, size
	tx.absorbed = true
	return nil
}

// flushAt is how many bytes are collected before they are written.
const flushAt = 4 << 20

// appendFrom appends the records of one folder, calls first, and notes which logs hold
// something unreadable.
func (tx *Tx) appendFrom(other *Tx) error {
	other.damaged = map[string]bool{}
	add := func(name string, r record, size int, err error) error {
		if err != nil && isDamage(err) {
			other.damaged[name] = true
			return nil
		}
		if err != nil {
			return err
		}
		if r.tool != nil {
			tx.tools = append(tx.tools, r)
		} else {
			tx.messages = append(tx.messages, r)
		}
		if tx.size += size; tx.size > flushAt {
			return tx.write()
		}
		return nil
	}
	for t, err := range readHeld(other.c.hold(other.c.dir, toolsFile), schema.ParseTool) {
		if err := add(toolsFile, toolRecord(t), len(t.Input)+len(t.Output), err); err != nil {
			return err
		}
	}
	for m, err := range readHeld(other.c.hold(other.c.dir, messagesFile), schema.ParseMessage) {
		if err := add(messagesFile, messageRecord(m), len(m.Content)+len(m.Reasoning), err); err != nil {
			return err
		}
	}
	return tx.write()
}

// absorb moves everything but the logs out of the other folders, and counts what it
// moved. The caller still has to write session.json and then to empty the folders.
func (tx *Tx) absorb() error {
	if len(tx.from) == 0 {
		return nil
	}
	for _, other := range tx.from {
		if err := tx.c.absorbSubagents(other.c.dir); err != nil {
			return err
		}
		if err := tx.c.moveFilesFrom(other.c); err != nil {
			return err
		}
	}
	tx.stored.mend = true
	err := tx.c.recount(tx.stored.session, []string{tx.c.dir})
	if tx.result.Moved > 0 && !tx.counted {
		tx.stored.session.CountedBytes = 0 // its summary does not cover all messages
	}
	return err
}

// absorbSubagents moves the sub-agents' conversations out of a folder.
func (c *Conversation) absorbSubagents(dir string) error {
	entries, err := c.s.readDir(dir + "/" + subagentsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		from := dir + "/" + subagentsDir + "/" + e.Name()
		if !e.IsDir() || !within(keptDir, from) && c.s.emptied(from) {
			continue
		}
		sub := c.subagent(e.Name())
		sub.setOthers([]string{from})
		err := sub.Update(func(*Tx, *schema.Session) error { return nil })
		if err = errors.Join(err, sub.Close()); err != nil {
			return fmt.Errorf("sub-agent %s: %w", e.Name(), err)
		}
	}
	return nil
}

// moveFilesFrom moves the other files of a waiting folder: summaries and documents. From
// a twin it takes only the summaries that c lacks: documents there belong to people.
func (c *Conversation) moveFilesFrom(from *Conversation) error {
	if from.base != "" {
		if !c.isSub() {
			if err := c.s.moveFiles(path.Dir(from.dir), c.path, sessionDir); err != nil {
				return err
			}
		}
		if err := c.dropReplaced(from.file(summariesDir)); err != nil {
			return err
		}
		return c.s.moveFiles(from.dir, c.dir, toolsFile, messagesFile, sessionFile, subagentsDir)
	}
	for _, name := range c.s.ListFiles(from.file(summariesDir)) {
		to := c.file(summariesDir + "/" + name)
		if is, err := c.s.missing(to); err != nil {
			return err
		} else if !is {
			continue
		}
		if _, err := c.s.makeDirs(c.file(summariesDir)); err != nil {
			return err
		}
		if err := c.s.files.RenameIn(c.s.root, from.file(summariesDir+"/"+name), to); err != nil {
			return err
		}
		if err := c.s.files.SyncDir(c.s.root, c.file(summariesDir)); err != nil {
			return err
		}
	}
	return nil
}

// dropReplaced removes the summaries that the summaries in dir replace.
func (c *Conversation) dropReplaced(dir string) error {
	coming, _ := c.s.summariesIn(dir)
	have, _ := c.s.summariesIn(c.file(summariesDir))
	for _, sum := range coming {
		for _, old := range have {
			if name := old.FileName(); old.First == sum.First && name != sum.FileName() {
				if err := c.s.RemoveFile(c.file(summariesDir + "/" + name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// leaveOthers empties the other folders, now that their records are in c's logs and
// session.json.
func (tx *Tx) leaveOthers() error {
	for _, other := range tx.from {
		leave := other.empty
		if other.c.base != "" {
			leave = other.leaveWaiting
		}
		if err := leave(); err != nil {
			return err
		}
		other.made = nil
	}
	if len(tx.from) > 0 {
		tx.c.setOthers(nil)
	}
	return nil
}

// empty takes the records out of a twin. Its folder, session.json and documents stay,
// because git can merge an emptied file with one that another clone has appended to.
func (tx *Tx) empty() error {
	c := tx.c
	sess, _, err := tx.Session()
	if err != nil {
		return err
	}
	sess.MessageCount, sess.Tokens, sess.CountedBytes, sess.Usage = 0, 0, 0, nil
	if tx.stored.raw != nil {
		if _, err := tx.writeSession(); err != nil {
			return err
		}
	}
	for _, name := range []string{toolsFile, messagesFile} {
		f, info, _, err := lines.Open(c.s.root, c.file(name), os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if tx.damaged[name] {
			_, err = c.s.keep(fmt.Sprintf("damaged/%s", c.file(name)), f)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if info.Size() == 0 {
			continue
		}
		l := tx.c.messages
		if name == toolsFile {
			if err := tx.openTools(); err != nil {
				return err
			}
			l = tx.c.tools
		}
		if err := l.Cut(0); err != nil {
			return err
		}
	}
	return nil
}

// emptied reports whether the folder of a twin, or of a sub-agent in one, has nothing
// left to move.
func (s *Store) emptied(dir string) bool {
	for _, name := range []string{messagesFile, toolsFile} {
		if info, err := os.Lstat(s.dir + "/" + dir + "/" + name); err == nil && info.Size() > 0 {
			return false
		}
	}
	st, err := s.readStored(dir)
	if err != nil || st.session != nil && (st.mend || st.session.MessageCount > 0 || st.session.CountedBytes > 0) {
		return false
	}
	entries, err := s.readDir(dir + "/" + subagentsDir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	for _, e := range entries {
		if e.IsDir() && !s.emptied(dir+"/"+subagentsDir+"/"+e.Name()) {
			return false
		}
	}
	return true
}
