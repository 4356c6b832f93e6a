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
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"cortext/store/atomicfile"
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

// A writeLock is the right to write to a conversation, for one goroutine of one process.
// The lock is on messages.jsonl itself, which is created if it is missing. Git replaces
// files, so once the lock is held the name must still lead to the locked file.
type writeLock struct {
	c      *Conversation
	made   []string // folders and files created by taking the lock, from the top
	unlock func() error
}

// lock waits for the write lock, and for the conversation's mutex.
func (c *Conversation) lock() (*writeLock, error) {
	c.mu.Lock()
	l := &writeLock{c: c}
	if err := l.take(); err != nil {
		l.undo()
		l.release()
		return nil, explain(err)
	}
	return l, nil
}

// lockTries bounds how often a lock is retried because the file was replaced.
const lockTries = 100

func (l *writeLock) take() error {
	c := l.c
	deadline := time.Now().Add(c.s.opts.LockWait)
	for range lockTries {
		if c.messages == nil {
			err := l.open()
			if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
				continue // another process created or removed it
			}
			if err != nil {
				return err
			}
		}
		unlock, err := filelock.Lock(c.messages.File.File(), time.Until(deadline))
		if errors.Is(err, filelock.ErrHeld) {
			return &LockedError{Path: c.path, Holder: c.s.locks.holder(c.path)}
		}
		if err != nil {
			return err
		}
		info, err := c.messages.look(c.s.Files)
		if err == nil && c.messages.Is(info) {
			l.unlock = unlock
			if !c.staged() { // nobody waits for it before
				c.s.locks.sayHolder(&c.holder, c.path)
			}
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

// open opens messages.jsonl and creates it and .session/ if they are missing. It does not
// recreate a conversation's folder that is gone from the work tree.
func (l *writeLock) open() error {
	c := l.c
	if c.base == "" {
		if err := c.s.checkConversation(c.top()); err != nil {
			return err
		}
	} else if err := c.s.makeLocal(c.base); err != nil {
		return err
	}
	made, err := c.s.makeDirs(c.dir)
	l.made = append(l.made, made...)
	if err != nil {
		return err
	}
	log, created, err := c.openLog(messagesFile)
	if err != nil {
		return err
	}
	if created {
		l.made = append(l.made, log.name)
		if c.staged() {
			c.written = newWritten(c)
		}
	}
	c.messages = log
	return nil
}

// fixDirMode gives the folder the private mode: a clone has git's.
func (l *writeLock) fixDirMode() error {
	c := l.c
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
// us write to it, or its file system has no modes.
func fixMode(f *os.File, info fs.FileInfo, mode fs.FileMode) error {
	if info.Mode().Perm() == mode || runtime.GOOS == "windows" {
		return nil
	}
	if err := f.Chmod(mode); !atomicfile.KeepsMode(err) {
		return err
	}
	return nil
}

// undo removes empty files and folders that were created under the lock, if nothing was
// written. Without the lock another process may be writing to the log.
func (l *writeLock) undo() {
	root := l.c.s.root
	for _, name := range slices.Backward(l.made) {
		info, err := root.Lstat(name)
		if err != nil || info.Mode().IsRegular() && (l.unlock == nil || info.Size() > 0) || root.Remove(name) != nil {
			break
		}
	}
	l.made = nil
}

func (l *writeLock) release() {
	if l.unlock != nil && l.c.messages != nil {
		if l.unlock() != nil {
			_ = l.c.drop() // closing the file releases the lock
		}
	}
	l.c.mu.Unlock()
}

// locks are the files below locksDir that processes lock. Beside each there may be a file
// that says who holds the lock. That is a courtesy, so failures are ignored. The file's time is
// that of the last write, see [Store.Written].
type locks struct {
	files *Files
	us    string // how other processes see this one
	now   func() time.Time
}

// lock locks a file, and creates it if it is missing. The error is [filelock.ErrHeld] if
// another process held the lock for all of wait.
func (l locks) lock(name string, wait time.Duration) (unlock func(), err error) {
	root := l.files.root
	if err := l.files.makeLocal(locksDir); err != nil {
		return nil, err
	}
	f, _, _, err := lines.Open(root, name, os.O_RDWR|os.O_CREATE, privateFileMode)
	if errors.Is(err, fs.ErrExist) { // another process just created it
		f, _, _, err = lines.Open(root, name, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, err
	}
	release, err := filelock.Lock(f, wait)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = errors.Join(release(), f.Close()) }, nil
}

func holderFile(name string) string { return locksDir + "/" + digest([]byte(name)) }

// sayHolder records that this process holds the lock of name. It opens the file once.
func (l locks) sayHolder(f **os.File, name string) {
	if *f == nil {
		if l.files.makeLocal(locksDir) != nil {
			return
		}
		file, _, _, err := lines.Open(l.files.root, holderFile(name), os.O_RDWR|os.O_CREATE, privateFileMode)
		if err != nil {
			return
		}
		*f = file
	}
	_, _ = (*f).WriteAt([]byte(l.us+"\n"), 0)
	if info, err := (*f).Stat(); err == nil && l.now().Sub(info.ModTime()).Abs() > clockDrift {
		_ = l.files.root.Chtimes(holderFile(name), l.now(), l.now())
	}
}

// clockDrift is how far the clock of a file system (of a server, or of the host of a virtual
// machine) may be from ours. Beyond it, the file beside a lock gets the time of our clock,
// with which the times of messages are compared.
const clockDrift = time.Second

// Written returns the time at which a process last wrote to a conversation in this work tree.
// What git brings from elsewhere does not count. The time is zero if it is unknown.
func (s *Store) Written(path string) time.Time {
	info, err := s.root.Lstat(holderFile(path))
	if err != nil || info.ModTime().Equal(unwritten) {
		return time.Time{}
	}
	return info.ModTime()
}

// unwritten is the time of the file beside the lock of a conversation that has not been written yet.
var unwritten = time.Unix(0, 0)

// KeepWritten makes [Store.Written] return again what it returned before a change that is not
// part of a conversation, such as a tag.
func (s *Store) KeepWritten(path string, was time.Time) {
	if was.IsZero() {
		was = unwritten
	}
	_ = s.root.Chtimes(holderFile(path), was, was)
}

// holder returns who holds the lock of name, if known.
func (l locks) holder(name string) string {
	b, err := l.files.readRegular(holderFile(name))
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

// workspace waits for the lock that guards the creation of conversations.
func (l locks) workspace(wait time.Duration) (unlock func(), err error) {
	release, err := l.lock(path.Join(locksDir, "workspace"), wait)
	if errors.Is(err, filelock.ErrHeld) {
		err = &LockedError{Path: conversationsDir, Holder: l.holder(conversationsDir)}
	}
	if err != nil {
		return nil, err
	}
	var holder *os.File
	l.sayHolder(&holder, conversationsDir)
	return func() {
		release()
		_ = closeFile(&holder)
	}, nil
}
