package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const (
	attributesFile = ".gitattributes"
	ignoreFile     = localDir + "/.gitignore"
)

// attributesLine lets git merge the logs of two clones by keeping the lines of
// both, and leaves their line ends alone. session.json is not for such a merge.
const attributesLine = conversationsDir + "/**/" + sessionDir + "/**/*.jsonl merge=union -text"

// Init makes a workspace of the folder root, which is made too if it is missing,
// and opens it with zero [Options]. created names what it made or changed, relative to root; on a
// workspace that is complete it changes nothing. Lines that others put into
// .gitattributes stay.
func Init(root string) (s *Store, created []string, err error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, nil, explain(err)
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, explain(err)
	}
	s = newStore(r, dir, Options{})
	created, err = s.initialize()
	if err != nil {
		return nil, created, errors.Join(fmt.Errorf("make a workspace of %q: %w", root, explain(err)), s.Close())
	}
	return s, created, nil
}

func (s *Store) initialize() (created []string, err error) {
	created, err = s.makeDirs(localDir)
	if err != nil {
		return created, err
	}
	if ok, err := s.Exists(ignoreFile); err != nil {
		return created, err
	} else if !ok {
		if err := s.ignoreLocal(); err != nil {
			return created, err
		}
		created = append(created, ignoreFile)
	}
	old, err := s.readRegular(attributesFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return created, err
	}
	if hasAttributes(old) {
		return created, nil
	}
	if len(old) > 0 && old[len(old)-1] != '\n' {
		old = append(old, '\n')
	}
	if err := s.WriteFile(attributesFile, append(old, attributesLine+"\n"...)); err != nil {
		return created, err
	}
	return append(created, attributesFile), nil
}

func hasAttributes(text []byte) bool {
	return slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool {
		return string(bytes.TrimSpace(line)) == attributesLine
	})
}

// HasAttributes reports whether the folder's .gitattributes has the line that Init
// adds.
func HasAttributes(root string) (bool, error) {
	b, err := os.ReadFile(filepath.Join(root, attributesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return hasAttributes(b), explain(err)
}

// ignoreLocal keeps .workspace/local out of git without a line in anybody's
// .gitignore.
func (s *Store) ignoreLocal() error {
	if _, err := s.makeDirs(tmpDir); err != nil {
		return err
	}
	return s.files.Replace(s.root, ignoreFile, []byte("*\n"), privateFileMode, tmpDir)
}
