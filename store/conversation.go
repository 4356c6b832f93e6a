package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"cortext/schema"
	"cortext/store/atomicfile"
	"cortext/store/internal/lines"
)

// A Conversation is the folder of a conversation, or of a sub-agent in one. Several
// goroutines may use it. It opens no file until the first write.
type Conversation struct {
	Reader

	mu       sync.Mutex // guards the fields below
	messages *logFile   // nil before the first write
	tools    *logFile
	holder   *os.File // tells waiting writers who holds the lock
}

// at returns the conversation of a folder below base without looking at it.
func (s *Store) at(base, name string) *Conversation {
	c := new(Conversation)
	c.s = s
	c.move(base, name)
	return c
}

// Conversation opens the conversation in a folder, named relative to the workspace:
// conversations/2025-11-22/1030-brainstorm-api-design-hv37. The error is [ErrNotFound] if
// there is none. It also opens a folder whose .session/ is missing. Records that wait
// below .workspace/local/kept are read as part of the conversation, and the next write
// moves them into its logs.
func (s *Store) Conversation(name string) (*Conversation, error) {
	return s.Open(Entry{Path: name})
}

// Open opens a conversation of a list, even if its folder is not in the work tree or if
// it is in several folders. Their records are read together. The next write moves them
// into the logs of the first folder and empties the logs of the others; documents stay
// where they are.
func (s *Store) Open(e Entry) (*Conversation, error) {
	c, err := s.OpenDamaged(e)
	if err != nil || e.Waiting {
		return c, err
	}
	if info, err := s.root.Lstat(c.dir); err == nil && !info.IsDir() {
		return nil, notFolder(c.dir, info)
	}
	return c, nil
}

// OpenDamaged is Open for a repair: it also opens a conversation whose .session/ is
// not a folder.
func (s *Store) OpenDamaged(e Entry) (*Conversation, error) {
	if e.Waiting {
		return s.Kept().Waiting(e.Path, e.Session.ID)
	}
	if err := s.checkConversation(e.Path); err != nil {
		return nil, err
	}
	c := s.at("", e.Path)
	c.findOthers(e.Twins)
	return c, nil
}

// Subagent returns the conversation of a sub-agent by the agent's id for it. It need not
// exist: the first Append creates it.
func (c *Conversation) Subagent(nativeID string) (*Conversation, error) {
	name := schema.PathElement(nativeID)
	sub := c.subagent(name)
	for _, dir := range []string{c.dir, path.Dir(sub.dir), sub.dir} {
		info, err := c.s.root.Lstat(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil && !info.IsDir() {
			return nil, notFolder(dir, info)
		}
	}
	sub.setOthers(c.othersOf(name))
	return sub, nil
}

// othersOf returns the folders of a sub-agent in the other folders of the conversation.
func (c *Conversation) othersOf(name string) (list []sessionFolder) {
	for _, f := range c.others() {
		if f := f.subagent(name); f.exists() {
			list = append(list, f)
		}
	}
	return list
}

// subagent returns the Conversation of a sub-agent's folder without looking at it.
func (c *Conversation) subagent(name string) *Conversation {
	sub := new(Conversation)
	sub.sessionFolder, sub.base = c.sessionFolder.subagent(name), c.base
	sub.path = strings.TrimPrefix(sub.dir, c.base+"/")
	return sub
}

// conversation returns a folder as a separate conversation, to merge or repair its records.
// sub means that the conversation is a sub-agent's.
func (f sessionFolder) conversation(sub bool) *Conversation {
	c := new(Conversation)
	c.sessionFolder, c.path = f, f.dir
	for _, base := range []string{waitingDir, takenDir} {
		if within(base, f.dir) {
			c.base, c.path = base, strings.TrimPrefix(f.dir, base+"/")
		}
	}
	if !sub {
		c.path = path.Dir(c.path)
	}
	return c
}

// Close closes the files that writing opened. The conversation stays usable.
func (c *Conversation) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.drop(), closeFile(&c.holder))
}

// drop closes the logs and discards what is known about them.
func (c *Conversation) drop() error {
	if c.staged() {
		c.unpublished = nil
	}
	var errs []error
	for _, l := range []**logFile{&c.messages, &c.tools} {
		if *l != nil {
			errs = append(errs, (*l).Close())
			*l = nil
		}
	}
	return errors.Join(errs...)
}

func closeFile(f **os.File) error {
	if *f == nil {
		return nil
	}
	err := (*f).Close()
	*f = nil
	return err
}

// openLog opens a log for writing and makes its name durable if it is new.
func (c *Conversation) openLog(name string) (l *logFile, created bool, err error) {
	f, created, err := lines.OpenAppend(c.s.root, c.file(name), privateFileMode, c.logCalls())
	if err != nil {
		return nil, false, err
	}
	if created {
		if err := c.calls().SyncDir(c.s.root, c.dir); err != nil {
			return nil, false, errors.Join(err, f.Close(), c.s.root.Remove(c.file(name)))
		}
	}
	if says := standIn(f.File(), f.Size()); says != "" {
		return nil, false, errors.Join(&StandInError{c.file(name), says}, f.Close())
	}
	l = &logFile{File: f, name: c.file(name), kept: c.path + "/" + name}
	if c.staged() {
		if c.unpublished == nil {
			c.unpublished = map[string]*logFile{}
		}
		c.unpublished[name] = l
	}
	return l, created, nil
}

// logCalls and calls return the calls that change the conversation's logs and its other
// files. They do not sync what has not been published yet.
func (c *Conversation) logCalls() lines.Calls {
	calls := c.s.logs
	if c.staged() {
		calls.Sync = func(*os.File) error { return nil }
	}
	return calls
}

func (c *Conversation) calls() atomicfile.Calls {
	calls := c.s.files
	calls.NoSync = c.staged()
	return calls
}

// writeNew creates a file, and makes its content durable unless the conversation is
// staged.
func (c *Conversation) writeNew(name string, data []byte, perm fs.FileMode) error {
	f, created, err := lines.OpenAppend(c.s.root, name, perm, c.logCalls())
	if err != nil {
		return err
	}
	if !created {
		err = fmt.Errorf("%q: %w", name, ErrExist)
	} else if len(data) > 0 {
		if err = f.Append(data); err == nil {
			err = f.Sync()
		}
	}
	return errors.Join(err, f.Close())
}

// Delete removes the conversation with its folder, its document and everything else in
// it, even if it is in several folders or waiting. The index of lists keeps its title and
// first prompt until it is rebuilt or removed with [Cache.ForgetListed].
func (c *Conversation) Delete() error {
	tx, err := c.Begin()
	if err != nil {
		return fmt.Errorf("remove %q: %w", c.path, err)
	}
	defer tx.Rollback()
	tx.made = nil
	if err := c.s.Kept().Delete(c); err != nil {
		return err
	}
	for _, f := range slices.Backward(c.folders()) {
		folder := path.Dir(f.dir)
		if !c.s.isFolder(folder) {
			continue // it was waiting, or git has it and the work tree does not
		}
		if err := c.deleteFolder(folder); err != nil {
			return fmt.Errorf("remove %q: %w", folder, explain(err))
		}
	}
	_ = c.s.root.Remove(backupFile(c.path))
	return c.drop()
}

// deleteFolder removes a folder of the conversation, and the day's folder if it is then
// empty.
func (c *Conversation) deleteFolder(folder string) error {
	s := c.s
	err := s.files.RemoveAllIn(s.root, folder)
	if errors.Is(err, syscall.ENOTEMPTY) {
		// NFS and FUSE keep a removed file under another name while it is open, as the log
		// is under the lock.
		_ = c.drop()
		err = s.files.RemoveAllIn(s.root, folder)
	}
	if err != nil {
		return err
	}
	if checkConversationPath(folder) == nil { // it was not waiting
		s.ChangeList().note(folder)
	}
	day := path.Dir(folder)
	if s.root.Remove(day) == nil {
		day = path.Dir(day)
	}
	return s.files.SyncDir(s.root, day) // a power cut must not bring the folder back
}

// Rename renames the conversation's folder as if it had been created with other words;
// see [Store.Stage]. The error is [ErrExist] if that name is taken. A process waiting for
// the conversation's lock meanwhile finds no folder under the old name.
func (c *Conversation) Rename(words string) error {
	tx, err := c.Begin()
	if err == nil {
		err = tx.rename(words)
		tx.Rollback()
	}
	if err != nil {
		return fmt.Errorf("rename %q: %w", c.path, explain(err))
	}
	return nil
}

func (tx *Tx) rename(words string) error {
	c := tx.c
	words, err := c.s.policy.rules.Text(words, nil)
	if err != nil {
		return err
	}
	sess, _, err := tx.Session()
	if err != nil {
		return err
	}
	to := path.Dir(c.path) + "/" + path.Base(FolderName(sess, sess.ConversationType, words))
	unlock, err := c.s.locks.workspace(c.s.opts.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	if free, err := c.s.missing(to); err != nil || !free {
		if err == nil {
			err = ErrExist
		}
		return err
	}
	if err := c.s.files.RenameIn(c.s.root, c.path, to); err != nil {
		return err
	}
	_ = c.drop() // the logs are reopened under their new names
	_ = c.s.root.Remove(backupFile(c.path))
	old, from := c.file(sessionFile), c.path
	c.move("", to)
	c.s.sessions.move(old, c.file(sessionFile))
	_ = closeFile(&c.holder)
	_ = c.s.root.Rename(holderFile(from), holderFile(to)) // see Store.Written
	c.s.ChangeList().note(from, to)
	return c.s.syncNames(path.Dir(to))
}
