package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// maxMergedFile is the size, in bytes, of the largest file that is merged in memory.
const maxMergedFile = 1 << 30

// A Merger returns what a file of a conversation becomes. It gets the file's name, relative
// to the conversation's folder, and its content: nil if it is missing. A file for which it
// returns nil is removed.
type Merger func(name string, ours []byte) ([]byte, error)

// MergeFiles replaces files of the conversation in a folder with what merge makes of them,
// because another clone has other versions of them. It creates the folder if it is missing.
// merge is called under the write lock of the conversation or of the sub-agent that the file
// belongs to. Logs are replaced first, and session.json last.
func (s *Store) MergeFiles(folder string, names []string, merge Merger) error {
	if err := checkConversationPath(folder); err != nil {
		return err
	}
	if _, err := s.makeDirs(folder); err != nil {
		return explain(err)
	}
	c, err := s.Conversation(folder)
	if err != nil {
		return err
	}
	parts := map[string][]string{} // by sub-agent
	for _, name := range names {
		sub := ""
		if rest, ok := strings.CutPrefix(name, sessionDir+"/"+subagentsDir+"/"); ok {
			sub, _, _ = strings.Cut(rest, "/")
		}
		parts[sub] = append(parts[sub], name)
	}
	for _, sub := range slices.Sorted(maps.Keys(parts)) {
		part := c
		if sub != "" {
			part = c.subagent(sub)
		}
		err = errors.Join(err, part.mergeFiles(parts[sub], merge))
		if part != c {
			err = errors.Join(err, part.Close())
		}
	}
	return errors.Join(err, c.Close())
}

func (c *Conversation) mergeFiles(names []string, merge Merger) error {
	tx, err := c.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	rank := func(name string) int {
		switch path.Base(name) {
		case toolsFile:
			return 0
		case messagesFile:
			return 1
		case sessionFile:
			return 3
		}
		return 2
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	for _, name := range names {
		if err := tx.mergeFile(name, merge); err != nil {
			return fmt.Errorf("%s/%s: %w", c.top(), name, explain(err))
		}
	}
	return nil
}

// mergeFile replaces one file with what merge makes of it.
func (tx *Tx) mergeFile(name string, merge Merger) error {
	c := tx.c
	file := c.top() + "/" + name
	old, err := c.s.readBounded(file, maxMergedFile)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = nil, nil
	} else if old == nil {
		old = []byte{}
	}
	if err != nil {
		return err
	}
	text, err := merge(name, old)
	if err != nil || bytes.Equal(text, old) && (text == nil) == (old == nil) {
		return err
	}
	tx.written = true
	var l *logFile
	switch {
	case text == nil:
		return c.s.RemoveFile(file)
	case file == c.file(messagesFile):
		l = c.messages
	case file == c.file(toolsFile):
		if err := tx.logs.openTools(); err != nil {
			return err
		}
		l = c.tools
	default:
		if _, err := c.s.makeDirs(path.Dir(file)); err != nil {
			return err
		}
		return c.s.replace(file, text, fileMode(file))
	}
	if err := tx.logs.replace(l, func(out io.Writer) error { _, err := out.Write(text); return err }); err != nil {
		return err
	}
	tx.made = nil // the log stays, even if it is empty
	return nil
}
