package store

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"cortext/store/filelock"
)

// A Cache holds files below .workspace/local/cache, named relative to it. They only make
// things faster, and anyone may delete them at any time: they are not synced, callers
// need not fail if a write fails, and an unreadable file counts as missing.
type Cache struct{ in *Files }

// ReadCache returns a file of the cache. ok is false if there is no readable file.
func (c Cache) ReadCache(name string) (b []byte, ok bool) {
	if checkPath(name) != nil {
		return nil, false
	}
	b, err := c.in.readRegular(cacheDir + "/" + name)
	return b, err == nil
}

// OpenCache opens a file of the cache for reading. ok is false if there is no readable
// file.
func (c Cache) OpenCache(name string) (f *os.File, size int64, ok bool) {
	name = cacheDir + "/" + name
	before, ok := lookAt(filepath.Join(c.in.dir, filepath.FromSlash(name)))
	if !ok || before.kind != regularKind {
		return nil, 0, false
	}
	f, err := openShared(c.in, name)
	if err != nil {
		return nil, 0, false
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && inode(info) == before.inode {
		return f, info.Size(), true
	}
	_ = f.Close()
	return nil, 0, false
}

// LookCache describes the state of a file of the cache, as [LookAt] does. It returns "" if
// LookAt reports false.
func (c Cache) LookCache(name string) string {
	text, _ := LookAt(filepath.Join(c.in.dir, filepath.FromSlash(cacheDir), filepath.FromSlash(name)))
	return text
}

// WriteCache replaces a file of the cache. A reader sees either the old content or the
// new.
func (c Cache) WriteCache(name string, data []byte) error {
	if err := checkPath(name); err != nil {
		return err
	}
	name = cacheDir + "/" + name
	if err := c.in.makeLocal(path.Dir(name)); err != nil {
		return err
	}
	return c.in.replaceUnsynced(name, data)
}

// RemoveCache removes a file of the cache, if it exists.
func (c Cache) RemoveCache(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	err := c.in.root.Remove(cacheDir + "/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ListCache returns the names of the regular files in a folder of the cache, sorted.
func (c Cache) ListCache(dir string) []string {
	if checkPath(dir) != nil {
		return nil
	}
	return c.in.ListFiles(cacheDir + "/" + dir)
}

// CanLockCache reports whether LockCache would succeed now. It reports false if somebody
// postponed what the lock is for; see [Cache.Postpone].
func (c Cache) CanLockCache(name string) bool {
	info, err := c.in.root.Lstat(holderFile("cache/" + name))
	if err == nil {
		if left := time.Until(info.ModTime()); 0 < left && left <= postponement {
			return false
		}
	}
	unlock, err := c.LockCache(name, 0)
	if err == nil {
		unlock()
	}
	return err == nil
}

// postponement is how long [Cache.Postpone] postpones something.
const postponement = time.Minute

// Postpone makes [Cache.CanLockCache] report false for a minute, because what the lock is for
// failed. The file of the lock gets a time in the future, which needs no room on the disk.
func (c Cache) Postpone(name string) error {
	until := time.Now().Add(postponement)
	return c.in.root.Chtimes(holderFile("cache/"+name), until, until)
}

// LockCache keeps other processes from using the part of the cache that name stands for,
// until the caller calls unlock or the process ends. The error is a [*LockedError] if
// another process held the lock for all of wait.
func (c Cache) LockCache(name string, wait time.Duration) (unlock func(), err error) {
	unlock, err = locks{files: c.in}.lock(holderFile("cache/"+name), wait)
	if errors.Is(err, filelock.ErrHeld) {
		err = &LockedError{Path: cacheDir + "/" + name}
	}
	return unlock, explain(err)
}

// ListedCache is the cache file with what a list shows of each conversation.
const ListedCache = "listing"

// ForgetListed removes the index of lists, which holds titles and first prompts. The next
// list reads all conversations.
func (c Cache) ForgetListed() { _ = c.RemoveCache(ListedCache) }
