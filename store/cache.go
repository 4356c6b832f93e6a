package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"cortext/store/filelock"
	"cortext/store/internal/lines"
)

// Files below .workspace/local/cache make things faster and may be deleted at
// any time. So they are not synced, a failed write is no failure of the caller,
// and what cannot be read is not there.

// ReadCache returns a file of the cache, named relative to it; ok is false where
// there is none that can be read.
func (s *Store) ReadCache(name string) (b []byte, ok bool) {
	if checkPath(name) != nil {
		return nil, false
	}
	b, err := s.readRegular(cacheDir + "/" + name)
	return b, err == nil
}

// WriteCache replaces a file of the cache. A reader sees the old content or the
// new.
func (s *Store) WriteCache(name string, data []byte) error {
	if err := checkPath(name); err != nil {
		return err
	}
	name = cacheDir + "/" + name
	if err := s.makeLocal(path.Dir(name)); err != nil {
		return err
	}
	return s.replaceUnsynced(name, data)
}

// replaceUnsynced replaces a file that can be made again: a reader sees the old content
// or the new, and after a power cut perhaps none.
func (s *Store) replaceUnsynced(name string, data []byte) error {
	if err := s.makeLocal(tmpDir); err != nil {
		return err
	}
	calls := s.files
	calls.NoSync = true
	_, err := calls.Replace(s.root, name, data, fileMode(name), tmpDir)
	return explain(err)
}

// readWhole reads a file of the cache, however long it is.
func (s *Store) readWhole(name string) ([]byte, error) {
	f, info, _, err := lines.Open(s.root, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, info.Size())
	n, err := io.ReadFull(f, b)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// appendUnsynced appends to a file that can be made again. What another process appends at
// the same time stands before or behind it.
func (s *Store) appendUnsynced(name string, data []byte) error {
	f, _, _, err := lines.Open(s.root, name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return explain(err)
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// RemoveCache removes a file of the cache, if it is there.
func (s *Store) RemoveCache(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	err := s.root.Remove(cacheDir + "/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ListCache returns the names of the regular files in a folder of the cache,
// sorted.
func (s *Store) ListCache(dir string) []string {
	if checkPath(dir) != nil {
		return nil
	}
	return s.ListFiles(cacheDir + "/" + dir)
}

// ListFiles returns the names of the regular files in a folder of the workspace,
// sorted; none if there is no such folder.
func (s *Store) ListFiles(dir string) []string {
	names, _ := s.FilesIn(dir)
	return names
}

// FilesIn is ListFiles for a caller that must know if the folder cannot be read.
func (s *Store) FilesIn(dir string) (names []string, err error) {
	if err := checkPath(dir); err != nil {
		return nil, err
	}
	entries, err := s.readDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, explain(err)
}

// RemoveFile removes a file of the workspace that is not a conversation's, and
// makes that durable; it is no error if it is not there.
func (s *Store) RemoveFile(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	info, err := s.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return notRegularFile(name, info)
	}
	if err := s.root.Remove(name); err != nil {
		return explain(err)
	}
	return s.files.SyncDir(s.root, path.Dir(name))
}

func notRegularFile(name string, info fs.FileInfo) error {
	return &fs.PathError{Op: "remove", Path: name, Err: errors.New("is " + lines.Kind(info.Mode()))}
}

// LockCache keeps other processes off what name stands for in the cache, until
// unlock is called or the process ends. The error is a [*LockedError] if another
// held it for all of wait.
func (s *Store) LockCache(name string, wait time.Duration) (unlock func(), err error) {
	if err := s.makeLocal(locksDir); err != nil {
		return nil, err
	}
	file := holderFile("cache/" + name)
	f, _, _, err := lines.Open(s.root, file, os.O_RDWR|os.O_CREATE, privateFileMode)
	if errors.Is(err, fs.ErrExist) { // made by another just now
		f, _, _, err = lines.Open(s.root, file, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, explain(err)
	}
	release, err := filelock.Lock(f, wait)
	if errors.Is(err, filelock.ErrHeld) {
		err = &LockedError{Path: cacheDir + "/" + name}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = errors.Join(release(), f.Close()) }, nil
}
