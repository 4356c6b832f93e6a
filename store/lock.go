package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"cortext/store/filelock"
	"cortext/store/internal/lines"
)

// A LockedError means that another process kept writing to the same place for as long as
// this one was willing to wait.
type LockedError struct {
	Path   string // relative to the workspace
	Holder string // who holds the lock, if known; may be empty
}

func (e *LockedError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "another process"
	}
	return fmt.Sprintf("%q is being written by %s: run it again when that is done", e.Path, holder)
}

// lock waits for the write lock. The lock is on messages.jsonl itself, which lock creates
// if it is missing. Git replaces files, so once the lock is held the name must still lead
// to the locked file. lock also holds the conversation's mutex.
func (c *Conversation) lock() (*Tx, error) {
	c.mu.Lock()
	tx := &Tx{c: c}
	if err := tx.take(); err != nil {
		tx.undo()
		tx.release()
		return nil, explain(err)
	}
	return tx, nil
}

// lockTries bounds how often a lock is retried because the file was replaced.
const lockTries = 100

func (tx *Tx) take() error {
	c := tx.c
	deadline := time.Now().Add(c.s.opts.LockWait)
	for range lockTries {
		if c.messages == nil {
			err := tx.open()
			if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
				continue // another process created or removed it
			}
			if err != nil {
				return err
			}
		}
		unlock, err := filelock.Lock(c.messages.File.File(), time.Until(deadline))
		if errors.Is(err, filelock.ErrHeld) {
			return &LockedError{Path: c.path, Holder: c.s.readHolder(c.path)}
		}
		if err != nil {
			return err
		}
		info, err := c.s.look(c.file(messagesFile), c.messages)
		if err == nil && c.messages.Is(info) {
			tx.unlock = unlock
			c.sayHolder()
			return fixMode(c.messages.File.File(), info, privateFileMode)
		}
		_ = unlock() // the file no longer belongs to the conversation
		_ = c.drop()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("%q is replaced again and again: run it again when nothing else works there", c.file(messagesFile))
}

// look returns the file info at name; hoped is the log that should be there, if open. It
// tries the path of the workspace first: looking is harmless wherever the path leads, and
// costs one call instead of two for each folder on the way.
func (s *Store) look(name string, hoped *logFile) (fs.FileInfo, error) {
	if hoped != nil {
		if info, err := os.Lstat(filepath.Join(s.dir, name)); err == nil && hoped.Is(info) {
			return info, nil
		}
	}
	return s.root.Lstat(name)
}

// open opens messages.jsonl and creates it and .session/ if they are missing. It does not
// recreate a conversation's folder that is gone from the work tree.
func (tx *Tx) open() error {
	c := tx.c
	if c.base == "" {
		if err := c.s.checkFolder(c.conversation()); err != nil {
			return err
		}
	} else if err := c.s.makeLocal(c.base); err != nil {
		return err
	}
	made, err := c.s.makeDirs(c.dir)
	tx.made = append(tx.made, made...)
	if err != nil {
		return err
	}
	l, created, err := c.openLog(messagesFile)
	if err != nil {
		return err
	}
	if created {
		tx.made = append(tx.made, c.file(messagesFile))
		if c.staged() {
			c.written = new(tally)
		}
	}
	c.messages = l
	return nil
}

// openLog opens a log for writing and makes its name durable if it is new.
func (c *Conversation) openLog(name string) (l *logFile, created bool, err error) {
	f, created, err := lines.OpenAppend(c.s.root, c.file(name), privateFileMode, c.logs())
	if err != nil {
		return nil, false, err
	}
	if created {
		if err := c.files().SyncDir(c.s.root, c.dir); err != nil {
			return nil, false, errors.Join(err, f.Close(), c.s.root.Remove(c.file(name)))
		}
	}
	return &logFile{File: f, name: c.file(name), kept: c.path + "/" + name}, created, nil
}

// fixDirMode gives the folder the private mode: a clone has git's.
func (tx *Tx) fixDirMode() error {
	c := tx.c
	info, err := c.s.root.Lstat(c.dir)
	if err != nil || info.Mode().Perm() == privateDirMode {
		return err
	}
	d, err := c.s.root.Open(c.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return fixMode(d, info, privateDirMode)
}

// fixMode sets the mode of an open file, unless the file belongs to another user who lets
// us write to it.
func fixMode(f *os.File, info fs.FileInfo, mode fs.FileMode) error {
	if info.Mode().Perm() == mode || runtime.GOOS == "windows" {
		return nil
	}
	if err := f.Chmod(mode); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// release releases the lock.
func (tx *Tx) release() {
	tx.done = true
	tx.releaseOthers()
	if tx.unlock != nil && tx.c.messages != nil {
		if tx.unlock() != nil {
			_ = tx.c.drop() // closing the file releases the lock
		}
	}
	tx.c.mu.Unlock()
}

// undo removes empty files and folders that were created under the lock, if the
// transaction failed. Without the lock another process may be writing to the log.
func (tx *Tx) undo() {
	for _, name := range slices.Backward(tx.made) {
		info, err := tx.c.s.root.Lstat(name)
		if err != nil || info.Mode().IsRegular() && (tx.unlock == nil || info.Size() > 0) {
			break
		}
		if tx.c.s.root.Remove(name) != nil {
			break
		}
	}
	tx.made = nil
}

func holderFile(name string) string { return locksDir + "/" + digest([]byte(name)) }

// sayHolder records who holds the lock of the conversation. It is a courtesy: nothing
// depends on it, so failures are ignored.
func (c *Conversation) sayHolder() {
	if c.staged() {
		return // nobody waits for it
	}
	if c.holder == nil {
		c.holder = c.s.openHolder(c.path)
	}
	c.s.writeHolder(c.holder)
}

func (s *Store) openHolder(name string) *os.File {
	if s.makeLocal(locksDir) != nil {
		return nil
	}
	f, _, _, err := lines.Open(s.root, holderFile(name), os.O_RDWR|os.O_CREATE, privateFileMode)
	if err != nil {
		return nil
	}
	return f
}

// writeHolder writes only if the content differs: a read is cheaper than a write.
func (s *Store) writeHolder(f *os.File) {
	if f == nil {
		return
	}
	ours := []byte(s.opts.Holder + "\n")
	there := make([]byte, len(ours))
	if _, err := f.ReadAt(there, 0); err != nil || !bytes.Equal(there, ours) {
		_, _ = f.WriteAt(ours, 0)
	}
}

// readHolder returns who holds the lock of name, if known.
func (s *Store) readHolder(name string) string {
	b, err := s.readRegular(holderFile(name))
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1 // a clone may hold anything, and this goes to a terminal
		}
		return r
	}, string(line[:min(len(line), 200)]))
}

// lockWorkspace waits for the right to make conversations.
func (s *Store) lockWorkspace() (unlock func(), err error) {
	if err := s.makeLocal(locksDir); err != nil {
		return nil, err
	}
	name := path.Join(locksDir, "workspace")
	f, _, _, err := lines.Open(s.root, name, os.O_RDWR|os.O_CREATE, privateFileMode)
	if errors.Is(err, fs.ErrExist) { // made by another just now
		f, _, _, err = lines.Open(s.root, name, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, err
	}
	release, err := filelock.Lock(f, s.opts.LockWait)
	if errors.Is(err, filelock.ErrHeld) {
		err = &LockedError{Path: conversationsDir, Holder: s.readHolder(conversationsDir)}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	holder := s.openHolder(conversationsDir)
	s.writeHolder(holder)
	return func() {
		_ = errors.Join(release(), f.Close(), closeFile(&holder))
	}, nil
}
