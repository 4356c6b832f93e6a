package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cortext/store/atomicfile"
	"cortext/store/internal/lines"
)

// AttributesFile, in a workspace's folder, tells git how to merge the files of conversations. It
// may have other lines.
const AttributesFile = ".gitattributes"

const ignoreFile = localDir + "/.gitignore"

// attributes make git merge the logs, session.json and summaries of two clones by keeping
// the lines of both, without touching their line endings, nor those of attachments.
const (
	attributesLogs    = conversationsDir + "/**/" + sessionDir + "/**/*.jsonl merge=union -text"
	attributesSession = conversationsDir + "/**/" + sessionDir + "/**/" + sessionFile + " merge=union -text"
	attributesSummary = conversationsDir + "/**/" + sessionDir + "/**/" + summariesDir + "/*" + summarySuffix + " merge=union -text"
	// Without merge=union, which would bring back a text that one side redacted.
	attributesAttachments = conversationsDir + "/**/" + sessionDir + "/**/" + attachmentsDir + "/* -text"
)

func attributes() []string {
	return []string{attributesLogs, attributesSession, attributesSummary, attributesAttachments}
}

// MergedFiles returns patterns, as in a .gitattributes in the workspace's folder, of the
// files that a merge combines: logs, session.json, summaries and attachments.
func MergedFiles() (patterns []string) {
	for _, line := range attributes() {
		pattern, _, _ := strings.Cut(line, " ")
		patterns = append(patterns, pattern)
	}
	return patterns
}

// Init turns the folder root into a workspace, creating it if necessary, and opens it
// with zero [Options]. created lists what it created or changed, relative to root. It
// changes nothing in a complete workspace. Lines that others added to .gitattributes
// stay.
func Init(root string) (s *Store, created []string, err error) {
	if err := os.MkdirAll(root, 0o777); err != nil {
		return nil, nil, explain(err)
	}
	if s, err = OpenFolder(root); err != nil {
		return nil, nil, err
	}
	created, err = initialize(s.Files)
	if err != nil {
		return nil, created, errors.Join(fmt.Errorf("make a workspace of %q: %w", root, explain(err)), s.Close())
	}
	return s, created, nil
}

func initialize(s *Files) (created []string, err error) {
	created, err = s.makeDirs(localDir)
	if err != nil {
		return created, err
	}
	if made, err := ignoreLocal(s); err != nil {
		return created, err
	} else if made {
		created = append(created, ignoreFile)
	}
	old, err := s.readRegular(AttributesFile)
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
	if err := s.WriteFile(AttributesFile, text); err != nil {
		return created, err
	}
	return append(created, AttributesFile), nil
}

// missingAttributes returns the lines missing from .gitattributes.
func missingAttributes(text []byte) (missing []string) {
	for _, want := range attributes() {
		if !slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool { return string(bytes.TrimSpace(line)) == want }) {
			missing = append(missing, want)
		}
	}
	return missing
}

// MissingAttributes returns the lines that Init would add to the folder's .gitattributes, and
// reports whether it has others that Init adds.
func MissingAttributes(root string) (missing []string, some bool, err error) {
	b, err := os.ReadFile(filepath.Join(root, AttributesFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, explain(err)
	}
	missing = missingAttributes(b)
	return missing, len(missing) < len(attributes()), nil
}

// ignoreLocal keeps .workspace/local out of git without adding to anyone's .gitignore,
// and reports whether that was new. It creates its file before anything else, atomically
// where possible and otherwise in place, because git would see a temporary file before
// its rename. If a file that ignores less exists, from a person or a repository, it adds
// a line.
func ignoreLocal(s *Files) (made bool, err error) {
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
		return false, nil // another process is creating it
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

// ignoresAll reports whether a .gitignore ignores everything in its folder: it has the
// line "*", and no later line re-includes anything.
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
