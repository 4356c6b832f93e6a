package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"

	"cortext/schema"
	"cortext/store/internal/lines"
)

// A merge moves everything from the other folders of a conversation into its own, as part
// of a write: some records wait below .workspace/local/kept, and a merge of two clones
// may have created two folders for one conversation, called twins. It holds the locks of
// all folders. It appends and syncs before it removes anything, so a crash may leave
// records twice, which readers count once, but loses none.
type merge struct {
	tx       *Tx
	sources  []*source
	appended bool // their records were appended
}

// A source is another folder of the conversation, as a conversation of its own.
type source struct {
	*Tx
	damaged map[string]bool // its logs, and session.json, that have something unreadable
}

// moveOthers moves the records of the other folders into the current one.
func (c *Conversation) moveOthers() error {
	return c.Update(func(*Tx, *schema.Session) error { return nil })
}

// lock waits for the locks of the other folders.
func (m *merge) lock() error {
	c := m.tx.c
	if c.base != "" {
		return nil
	}
	known := c.others()
	if f := c.at(waitingDir + "/" + c.dir); !c.has(f.dir) && c.isIn(f) {
		known = append(slices.Clone(known), f)
	}
	var folders []sessionFolder
	for _, f := range known {
		if !f.exists() {
			continue // another process moved it
		}
		lock, err := f.conversation(c.isSub()).lock()
		if err != nil {
			return fmt.Errorf("%q: %w", f.dir, err)
		}
		folders = append(folders, f)
		m.sources = append(m.sources, &source{Tx: newTx(lock), damaged: map[string]bool{}})
	}
	c.setOthers(folders)
	return nil
}

// release releases the locks of the other folders.
func (m *merge) release() {
	for _, from := range m.sources {
		from.undo()
		from.writeLock.release()
		_ = from.c.Close()
	}
	m.sources = nil
}

// append appends the records of the other folders, before any new records.
func (m *merge) append() error {
	if m.appended || len(m.sources) == 0 {
		return nil
	}
	for _, from := range m.sources {
		if err := m.appendFrom(from); err != nil {
			return err
		}
	}
	m.appended = true
	return nil
}

// flushAt is how many bytes are collected before they are written.
const flushAt = 4 << 20

// appendFrom appends the records of one folder, calls first, and notes which logs hold
// something unreadable.
func (m *merge) appendFrom(from *source) error {
	known, err := m.tx.knows()
	if err != nil {
		return err
	}
	var p pending
	write := func() error {
		r, err := m.tx.logs.write(&p)
		m.tx.result.Moved += r.Tools + r.Appended
		return err
	}
	for t, err := range readIn(&from.c.Reader, from.c.sessionFolder, toolLog()) {
		if isDamage(err) {
			from.damaged[toolsFile] = true
			continue
		}
		if known != nil && err == nil {
			var r record
			r, _, err = known.record(toolRecord(t))
			t = *r.tool
		}
		if p.addTool(t); err == nil && p.size > flushAt {
			err = write()
		}
		if err != nil {
			return err
		}
	}
	for msg, err := range readIn(&from.c.Reader, from.c.sessionFolder, messageLog()) {
		if isDamage(err) {
			from.damaged[messagesFile] = true
			continue
		}
		if known != nil && err == nil {
			var r record
			r, _, err = known.record(messageRecord(msg))
			msg = *r.message
		}
		if p.addMessage(msg); err == nil && p.size > flushAt {
			err = write()
		}
		if err != nil {
			return err
		}
	}
	return write()
}

// moveFiles moves everything but the logs out of the other folders, and counts the
// records again. The caller must then write session.json and empty the folders.
func (m *merge) moveFiles() error {
	if len(m.sources) == 0 {
		return nil
	}
	tx := m.tx
	for _, from := range m.sources {
		if err := m.moveSubagents(from.c); err != nil {
			return err
		}
		move := m.moveSummaries
		if from.c.base != "" {
			move = m.moveWaiting
		}
		if err := move(from.c); err != nil {
			return err
		}
	}
	tx.doc.mend = true
	err := counter{&tx.c.Reader}.recount(tx.doc.session, tx.c.sessionFolder)
	if tx.result.Moved > 0 && !tx.counted {
		tx.doc.session.CountedBytes = 0 // its summary does not cover all messages
	}
	return err
}

// moveSubagents moves the sub-agents' conversations out of a folder.
func (m *merge) moveSubagents(from *Conversation) error {
	names, err := from.sessionFolder.subagents()
	for _, name := range names {
		f := from.sessionFolder.subagent(name)
		if !within(keptDir, f.dir) && f.emptied() {
			continue
		}
		sub := m.tx.c.subagent(name)
		sub.setOthers([]sessionFolder{f})
		if err := errors.Join(sub.moveOthers(), sub.Close()); err != nil {
			return fmt.Errorf("sub-agent %s: %w", name, err)
		}
	}
	return err
}

// moveWaiting moves the other files of a waiting folder: summaries and documents.
func (m *merge) moveWaiting(from *Conversation) error {
	c := m.tx.c
	if !c.isSub() {
		if err := moveFiles(c.s.Files, path.Dir(from.dir), c.path, sessionDir); err != nil {
			return err
		}
	}
	coming, _ := from.summaries()
	have, _ := c.summaries()
	for _, sum := range coming {
		for _, old := range have {
			if name := old.FileName(); old.First == sum.First && name != sum.FileName() { // sum replaces it
				if err := c.s.RemoveFile(c.file(summariesDir + "/" + name)); err != nil {
					return err
				}
			}
		}
	}
	return moveFiles(c.s.Files, from.dir, c.dir, toolsFile, messagesFile, sessionFile, subagentsDir)
}

// moveSummaries takes from a twin the summaries and attachments that c lacks, and nothing
// else: documents there belong to people.
func (m *merge) moveSummaries(from *Conversation) error {
	return errors.Join(m.moveLacking(from, summariesDir), m.moveLacking(from, attachmentsDir))
}

// moveLacking takes from a folder of a twin the files that c lacks.
func (m *merge) moveLacking(from *Conversation, dir string) error {
	c := m.tx.c
	for _, name := range c.s.ListFiles(from.file(dir)) {
		to := c.file(dir + "/" + name)
		if is, err := c.s.missing(to); err != nil {
			return err
		} else if !is {
			continue
		}
		if _, err := c.s.makeDirs(c.file(dir)); err != nil {
			return err
		}
		if err := c.s.files.RenameIn(c.s.root, from.file(dir+"/"+name), to); err != nil {
			return err
		}
		// A power cut must not lose the file between the two folders.
		if err := c.s.files.SyncDir(c.s.root, c.file(dir)); err != nil {
			return err
		}
	}
	return nil
}

// leave empties the other folders, now that their records are in c's logs and
// session.json.
func (m *merge) leave() error {
	for _, from := range m.sources {
		leave := from.empty
		if from.c.base != "" {
			leave = from.remove
		}
		if err := leave(); err != nil {
			return err
		}
		from.made = nil
	}
	if len(m.sources) > 0 {
		m.tx.c.setOthers(nil)
	}
	return nil
}

// empty takes the records out of a twin. Its folder, session.json and documents stay,
// because git can merge an emptied file with one that another clone has appended to.
func (from *source) empty() error {
	c := from.c
	sess, _, err := from.Session()
	if err != nil {
		return err
	}
	sess.MessageCount, sess.Tokens, sess.CountedBytes, sess.Usage = 0, 0, 0, nil
	if from.Written() {
		if _, err := from.doc.write(); err != nil {
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
		if from.damaged[name] {
			_, err = keeper{c.s.Files}.copy("damaged/"+c.file(name), f)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if info.Size() == 0 {
			continue
		}
		l := c.messages
		if name == toolsFile {
			if err := from.logs.openTools(); err != nil {
				return err
			}
			l = c.tools
		}
		if err := l.Cut(0); err != nil {
			return err
		}
	}
	return nil
}

// remove removes the files of a waiting folder whose records were moved, and the folders
// that are then empty. It keeps logs with unreadable content aside as they are. The lock
// goes last: a writer waiting for it starts another folder.
func (from *source) remove() error {
	c := from.c
	st, err := c.read()
	if err != nil {
		return err
	}
	from.damaged[sessionFile] = len(st.damage) > 0
	if runtime.GOOS == "windows" { // it cannot remove an open file
		_ = c.drop()
	}
	for _, name := range []string{toolsFile, sessionFile, messagesFile} {
		file := c.file(name)
		if is, err := c.s.missing(file); err != nil {
			return err
		} else if is {
			continue
		}
		if from.damaged[name] {
			err = keeper{c.s.Files}.move(file, c.path+"/"+name)
		} else {
			err = c.s.root.Remove(file)
		}
		if err != nil {
			return err
		}
	}
	_ = c.drop() // where an open file stays in its folder, see [Conversation.deleteFolder]
	c.s.sessions.forget(c.file(sessionFile))
	_ = c.s.root.Remove(c.file(subagentsDir))
	for dir := c.dir; dir != c.base && within(c.base, dir); dir = path.Dir(dir) {
		if c.s.files.RemoveIn(c.s.root, dir) != nil {
			break // something else waits there
		}
	}
	return nil
}

// moveFiles moves the files of a folder below waitingDir, except some, to their place in
// the work tree. Existing files stay and the moved one is kept aside, unless it is a
// summary, which is newer.
func moveFiles(s *Files, from, to string, but ...string) error {
	entries, err := s.readDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	moved := false
	for _, e := range entries {
		source, target := from+"/"+e.Name(), to+"/"+e.Name()
		info, err := s.root.Lstat(target)
		free := errors.Is(err, fs.ErrNotExist)
		switch {
		case slices.Contains(but, e.Name()):
		case e.IsDir() && (free || err == nil && info.IsDir()):
			if _, err := s.makeDirs(target); err != nil {
				return err
			}
			if err := moveFiles(s, source, target); err != nil {
				return err
			}
			_ = s.root.Remove(source)
		case err != nil && !free:
			return err
		case e.Type().IsRegular() && (free || isSummary(target) && replaceable(s, target)):
			if err := s.files.RenameIn(s.root, source, target); err != nil {
				return err
			}
			moved = true
		case e.Type().IsRegular() && same(s, source, target):
			if err := s.root.Remove(source); err != nil {
				return err
			}
		default:
			if err := (keeper{s}).move(source, target); err != nil {
				return err
			}
		}
	}
	if !moved {
		return nil
	}
	return s.files.SyncDir(s.root, to) // before the caller removes the folder from
}

// replaceable reports whether a summary may be replaced.
func replaceable(s *Files, name string) bool {
	_, d := readSummary(s, name)
	return d == nil || d.Kind != Newer && d.Kind != NotRegular
}

// same reports whether two files have the same bytes.
func same(s *Files, a, b string) bool {
	x, errX := s.readRegular(a)
	y, errY := s.readRegular(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
