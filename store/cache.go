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

// Files below .workspace/local/cache only make things faster, and anyone may delete them
// at any time. So they are not synced, callers need not fail if a write fails, and an
// unreadable file counts as missing.

// ReadCache returns a file of the cache, named relative to it. ok is false if there is no
// readable file.
func (s *Store) ReadCache(name string) (b []byte, ok bool) {
	if checkPath(name) != nil {
		return nil, false
	}
	b, err := s.readRegular(cacheDir + "/" + name)
	return b, err == nil
}

// WriteCache replaces a file of the cache. A reader sees either the old content or the
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

// replaceUnsynced replaces a file that can be rebuilt. A reader sees either the old
// content or the new; after a power cut the file may be missing.
func (s *Store) replaceUnsynced(name string, data []byte) error {
	if err := s.makeLocal(tmpDir); err != nil {
		return err
	}
	calls := s.files
	calls.NoSync = true
	_, err := calls.Replace(s.root, name, data, fileMode(name), tmpDir)
	return explain(err)
}

// readWhole reads a file of the cache of any length.
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

// appendUnsynced appends to a file that can be rebuilt. If another process appends at the
// same time, its data comes before or after this, never in between.
func (s *Store) appendUnsynced(name string, data []byte) error {
	f, _, _, err := lines.Open(s.root, name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return explain(err)
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// RemoveCache removes a file of the cache, if it exists.
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

// ListFiles returns the names of the regular files in a folder of the workspace, sorted.
// It returns none if there is no such folder.
func (s *Store) ListFiles(dir string) []string {
	names, _ := s.FilesIn(dir)
	return names
}

// FilesIn is ListFiles for a caller that must know whether the folder can be read.
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

// RemoveFile durably removes a file of the workspace that belongs to no conversation. A
// missing file is not an error.
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

// LockCache keeps other processes from using what name stands for in the cache, until the
// caller calls unlock or the process ends. The error is a [*LockedError] if another
// process held the lock for all of wait.
func (s *Store) LockCache(name string, wait time.Duration) (unlock func(), err error) {
	if err := s.makeLocal(locksDir); err != nil {
		return nil, err
	}
	file := holderFile("cache/" + name)
	f, _, _, err := lines.Open(s.root, file, os.O_RDWR|os.O_CREATE, privateFileMode)
	if errors.Is(err, fs.ErrExist) { // another process just created it
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
