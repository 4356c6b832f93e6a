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

// A LockedError says that another process wrote to the same place for as long as
// this one would wait.
type LockedError struct {
	Path   string // relative to the workspace
	Holder string // who it is, as far as it said so; may be empty
}

func (e *LockedError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "another process"
	}
	return fmt.Sprintf("%q is being written by %s: run it again when that is done", e.Path, holder)
}

// lock waits for the right to write. The lock is on messages.jsonl itself, which
// is made if it is missing; git replaces files, so once the lock is there the
// name must still lead to the file that is locked. The conversation's mutex is
// held with it.
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

// lockTries bounds how often a lock is taken again because the file was replaced
// meanwhile.
const lockTries = 100

func (tx *Tx) take() error {
	c := tx.c
	deadline := time.Now().Add(c.s.opts.LockWait)
	for range lockTries {
		if c.messages == nil {
			err := tx.open()
			if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
				continue // another made or removed it meanwhile
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
		_ = unlock() // the file is not the conversation's any more
		_ = c.drop()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("%q is replaced again and again: run it again when nothing else works there", c.file(messagesFile))
}

// look returns what stands at a name, which is hoped to be the log, if that is
// open. It goes by the path of the workspace first: looking harms nothing wherever
// it leads, and costs one call instead of two for each folder on the way.
func (s *Store) look(name string, hoped *logFile) (fs.FileInfo, error) {
	if hoped != nil {
		if info, err := os.Lstat(filepath.Join(s.dir, name)); err == nil && hoped.Is(info) {
			return info, nil
		}
	}
	return s.root.Lstat(name)
}

// open opens messages.jsonl, making it and .session/ if they are missing. The folder
// of a conversation in the work tree that is gone is not made again.
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

// fixDirMode gives the folder the mode of what is private: a clone has git's.
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

// fixMode gives an open file a mode, unless it is another user's that we may
// write to.
func fixMode(f *os.File, info fs.FileInfo, mode fs.FileMode) error {
	if info.Mode().Perm() == mode || runtime.GOOS == "windows" {
		return nil
	}
	if err := f.Chmod(mode); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// release gives the right to write back.
func (tx *Tx) release() {
	tx.done = true
	tx.releaseOthers()
	if tx.unlock != nil && tx.c.messages != nil {
		if tx.unlock() != nil {
			_ = tx.c.drop() // closing the file ends the lock
		}
	}
	tx.c.mu.Unlock()
}

// undo removes what was made under the lock, where nothing came of it: files that
// are empty, folders that are. Without the lock another may be writing to the log.
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

// sayHolder writes down who holds the lock of the conversation. It is a courtesy:
// nothing depends on it, and no failure matters.
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

// writeHolder writes only what is not there: a read costs less than a write.
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

// readHolder returns who holds the lock of name, as far as is known.
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
