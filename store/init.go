package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cortext/store/atomicfile"
	"cortext/store/internal/folders"
	"cortext/store/internal/lines"
)

const (
	attributesFile = ".gitattributes"
	ignoreFile     = localDir + "/.gitignore"
)

// attributes let git merge the logs, session.json and summaries of two clones by
// keeping the lines of both, and leave their line ends alone.
const (
	attributesLogs    = conversationsDir + "/**/" + sessionDir + "/**/*.jsonl merge=union -text"
	attributesSession = conversationsDir + "/**/" + sessionDir + "/**/" + sessionFile + " merge=union -text"
	attributesSummary = conversationsDir + "/**/" + sessionDir + "/**/" + summariesDir + "/*" + summarySuffix + " merge=union -text"
)

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
	r, err := folders.Open(dir)
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
	if made, err := s.ignoreLocal(); err != nil {
		return created, err
	} else if made {
		created = append(created, ignoreFile)
	}
	old, err := s.readRegular(attributesFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return created, err
	}
	text := old
	for _, line := range missingAttributes(old) {
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		text = append(text, line+"\n"...)
	}
	if len(text) == len(old) {
		return created, nil
	}
	if err := s.WriteFile(attributesFile, text); err != nil {
		return created, err
	}
	return append(created, attributesFile), nil
}

// missingAttributes returns the lines that .gitattributes lacks.
func missingAttributes(text []byte) (missing []string) {
	for _, want := range []string{attributesLogs, attributesSession, attributesSummary} {
		if !slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool { return string(bytes.TrimSpace(line)) == want }) {
			missing = append(missing, want)
		}
	}
	return missing
}

// HasAttributes reports whether the folder's .gitattributes has the lines that
// Init adds.
func HasAttributes(root string) (bool, error) {
	b, err := os.ReadFile(filepath.Join(root, attributesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && len(missingAttributes(b)) == 0, explain(err)
}

// ignoreLocal keeps .workspace/local out of git without a line in anybody's
// .gitignore, and reports whether that was new. The file is made before anything else,
// at once if possible, else in place: git would see a temporary file until it has its
// name. To a file that ignores less, of a person or of a repository that brought one, a
// line is added.
func (s *Store) ignoreLocal() (made bool, err error) {
	const everything = "*\n"
	b, err := s.readRegular(ignoreFile)
	if err == nil && ignoresAll(b) {
		return false, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err != nil && atomicfile.Create(s.root, ignoreFile, []byte(everything), privateFileMode) == nil {
		return true, nil
	}
	f, _, _, err := lines.Open(s.root, ignoreFile, os.O_WRONLY|os.O_CREATE, privateFileMode)
	if errors.Is(err, fs.ErrExist) {
		return false, nil // another process makes it
	}
	if err != nil {
		return false, err
	}
	line := everything
	if len(b) > 0 && b[len(b)-1] != '\n' {
		line = "\n" + line
	}
	_, err = f.WriteAt([]byte(line), int64(len(b)))
	return true, errors.Join(err, f.Close())
}

// ignoresAll reports whether the text of a .gitignore ignores all that is beside it:
// it has the line "*", and no line after that takes anything back.
func ignoresAll(text []byte) (all bool) {
	for line := range bytes.Lines(text) {
		switch line = bytes.TrimRight(line, " \r\n"); {
		case string(line) == "*":
			all = true
		case bytes.HasPrefix(line, []byte("!")):
			all = false
		}
	}
	return all
}
