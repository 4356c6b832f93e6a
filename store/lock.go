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

	"cortext/schema"
	"cortext/store/internal/filelock"
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

// A hold is the right to write to a conversation: the lock of its messages.jsonl.
// The conversation's mutex is held with it.
type hold struct {
	c      *Conversation
	made   []string // folders and files that taking the lock made, from the top
	unlock func() error
}

// lock waits for the right to write. The lock is on messages.jsonl itself, which
// is made if it is missing; git replaces files, so once the lock is there the
// name must still lead to the file that is locked.
func (c *Conversation) lock() (*hold, error) {
	c.mu.Lock()
	h := &hold{c: c}
	if err := h.take(); err != nil {
		h.undo()
		h.release()
		return nil, explain(err)
	}
	return h, nil
}

// lockTries bounds how often a lock is taken anew because the file was replaced
// meanwhile.
const lockTries = 100

func (h *hold) take() error {
	c := h.c
	deadline := time.Now().Add(c.s.opts.LockWait)
	for range lockTries {
		if c.messages == nil {
			err := h.open()
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
			h.unlock = unlock
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

// open opens messages.jsonl, making it and its folder if they are missing.
func (h *hold) open() error {
	c := h.c
	made, err := c.s.makeDirs(c.dir)
	h.made = append(h.made, made...)
	if err != nil {
		return err
	}
	if err := errors.Join(c.checkVersion(), h.fixDirMode()); err != nil {
		return err
	}
	l, created, err := c.openLog(messagesFile)
	if err != nil {
		return err
	}
	if created {
		h.made = append(h.made, c.file(messagesFile))
	}
	c.messages = l
	return nil
}

// checkVersion refuses to write to a conversation of a later major version.
func (c *Conversation) checkVersion() error {
	raw, err := c.s.readRegular(c.file(sessionFile))
	if err != nil {
		return nil // who needs it says so
	}
	_, err = schema.ParseSession(raw)
	if version := (*schema.VersionError)(nil); errors.As(err, &version) {
		return fmt.Errorf("%q: %w", c.file(sessionFile), err)
	}
	return nil
}

// openLog opens a log for writing and makes its name durable if it is new.
func (c *Conversation) openLog(name string) (l *logFile, created bool, err error) {
	f, created, err := lines.OpenAppend(c.s.root, c.file(name), privateFileMode, c.s.logs)
	if err != nil {
		return nil, false, err
	}
	if created {
		if err := c.s.files.SyncDir(c.s.root, c.dir); err != nil {
			return nil, false, errors.Join(err, f.Close(), c.s.root.Remove(c.file(name)))
		}
	}
	return &logFile{File: f, name: c.file(name), kept: c.path + "/" + name}, created, nil
}

// fixDirMode gives the folder the mode of what is private: a clone has git's.
func (h *hold) fixDirMode() error {
	c := h.c
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
func (h *hold) release() {
	if h.unlock != nil && h.c.messages != nil {
		if h.unlock() != nil {
			_ = h.c.drop() // closing the file ends the lock
		}
	}
	h.c.mu.Unlock()
}

// undo removes what taking the lock made, where nothing came of it. The log is
// removed under the lock only: else another may be writing to it.
func (h *hold) undo() {
	for _, name := range slices.Backward(h.made) {
		if name == h.c.file(messagesFile) {
			if h.unlock == nil || h.c.messages == nil || h.c.messages.Size() > 0 {
				return
			}
		}
		_ = h.c.s.root.Remove(name) // a folder only if it is empty
	}
	h.made = nil
}

func holderFile(name string) string { return locksDir + "/" + digest([]byte(name)) }

// sayHolder writes down who holds the lock of the conversation. It is a courtesy:
// nothing depends on it, and no failure matters.
func (c *Conversation) sayHolder() {
	if c.holder == nil {
		if c.s.makeLocal(locksDir) != nil {
			return
		}
		f, _, _, err := lines.Open(c.s.root, holderFile(c.path), os.O_RDWR|os.O_CREATE, privateFileMode)
		if err != nil {
			return
		}
		c.holder = f
	}
	ours := []byte(c.s.opts.Holder + "\n")
	there := make([]byte, len(ours))
	if _, err := c.holder.ReadAt(there, 0); err != nil || !bytes.Equal(there, ours) {
		_, _ = c.holder.WriteAt(ours, 0)
	}
}

// readHolder returns who holds the lock of name, as far as is known.
func (s *Store) readHolder(name string) string {
	b, err := s.readRegular(holderFile(name))
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return strings.ToValidUTF8(string(line[:min(len(line), 200)]), "")
}

// lockWorkspace waits for the right to make conversations.
func (s *Store) lockWorkspace() (unlock func(), err error) {
	if err := s.makeLocal(locksDir); err != nil {
		return nil, err
	}
	name := path.Join(locksDir, "workspace")
	f, _, _, err := lines.Open(s.root, name, os.O_RDWR|os.O_CREATE, privateFileMode)
	if errors.Is(err, fs.ErrExist) {
		f, _, _, err = lines.Open(s.root, name, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, err
	}
	release, err := filelock.Lock(f, s.opts.LockWait)
	if err != nil {
		if errors.Is(err, filelock.ErrHeld) {
			line := make([]byte, 200)
			n, _ := f.ReadAt(line, 0)
			holder, _, _ := bytes.Cut(line[:n], []byte("\n"))
			err = &LockedError{Path: conversationsDir, Holder: string(holder)}
		}
		return nil, errors.Join(err, f.Close())
	}
	_, _ = f.WriteAt([]byte(s.opts.Holder+"\n"), 0)
	return func() { _ = release(); _ = f.Close() }, nil
}
