package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"cortext/store/internal/lines"
)

// maxFile is the size, in bytes, of the largest file that is read as a whole. Settings,
// prompts and metadata are kilobytes; the bound keeps a hostile clone from using up all
// memory.
const maxFile = 64 << 20

var errTooLarge = fmt.Errorf("more than the %d bytes that are read of such a file", maxFile)

// ReadFile returns a file of the workspace: settings, a command's prompt, a
// conversation's markdown, a summary. name is relative to the workspace, with slashes.
// The error is [ErrNotFound] if the file does not exist.
func (s *Store) ReadFile(name string) ([]byte, error) {
	if err := checkPath(name); err != nil {
		return nil, err
	}
	b, err := s.readRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("file %q: %w", name, ErrNotFound)
	}
	return b, explain(err)
}

// readRegular reads a regular file of bounded size.
func (s *Store) readRegular(name string) ([]byte, error) { return readRegular(s.root, name) }

func readRegular(root lines.Folder, name string) ([]byte, error) {
	f, info, _, err := lines.Open(root, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%q has %d bytes: %w", name, info.Size(), errTooLarge)
	}
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // read it in one go
	n, err := b.ReadFrom(io.LimitReader(f, maxFile+1))
	if err == nil && n > maxFile {
		err = fmt.Errorf("%q: %w", name, errTooLarge)
	}
	return b.Bytes(), err
}

// WriteFile atomically replaces a file of the workspace, or creates it and its parent
// folders. Do not use it for the files of a conversation that cortext itself keeps: see
// [Conversation.Append], [Conversation.Edit] and [Conversation.WriteSummary].
func (s *Store) WriteFile(name string, data []byte) error {
	if err := checkPath(name); err != nil {
		return err
	}
	if isSummary(name) || slices.Contains([]string{sessionFile, messagesFile, toolsFile}, path.Base(name)) &&
		slices.Contains(strings.Split(name, "/"), sessionDir) {
		return fmt.Errorf("%q is kept by cortext and not written as a whole", name)
	}
	perm := fileMode(name)
	if info, err := s.root.Lstat(name); err == nil && !private(name) {
		perm = info.Mode().Perm()
	}
	if strings.HasPrefix(name, localDir+"/") {
		if err := s.makeLocal(path.Dir(name)); err != nil {
			return err
		}
	} else if _, err := s.makeDirs(path.Dir(name)); err != nil {
		return explain(err)
	}
	return s.replace(name, data, perm)
}

// Exists reports whether the workspace has a regular file of that name.
func (s *Store) Exists(name string) (bool, error) {
	if err := checkPath(name); err != nil {
		return false, err
	}
	info, err := s.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}

// missing reports whether nothing at all has that name.
func (s *Store) missing(name string) (bool, error) {
	_, err := s.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}
