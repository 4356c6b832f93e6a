package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// MessagesLog is the path of the log of messages within a conversation's folder.
const MessagesLog = sessionDir + "/" + messagesFile

// LogSize returns the length in bytes of the log of messages in a conversation's folder,
// without reading it. The error is [ErrNotFound] if there is none.
func (s *Store) LogSize(folder string) (int64, error) {
	name := path.Join(folder, MessagesLog)
	if err := checkConversationPath(folder); err != nil {
		return 0, err
	}
	info, err := s.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return 0, fmt.Errorf("file %q: %w", name, ErrNotFound)
	}
	if err != nil {
		return 0, explain(err)
	}
	return info.Size(), nil
}

// HasRecords reports whether one of the logs in a conversation's folder is not empty.
func (s *Store) HasRecords(folder string) bool {
	return checkConversationPath(folder) == nil && s.isFolder(folder+"/"+sessionDir) && !s.emptied(folder+"/"+sessionDir)
}

// LookAt describes the state of the logs in a conversation's folder and those of its
// sub-agents: file identity, length and time of change. It opens none of them. The result
// is "" if messages.jsonl or session.json is missing, and is only useful for comparison
// with another result.
func (s *Store) LookAt(name string) string {
	var b strings.Builder
	look := func(dir string) bool {
		for _, log := range []string{messagesFile, toolsFile} {
			l, there := s.lookAt(dir + "/" + log)
			if !there && log == messagesFile {
				return false
			}
			fmt.Fprintln(&b, l)
		}
		return true
	}
	dir := name + "/" + sessionDir
	if _, there := s.lookAt(dir + "/" + sessionFile); !there || checkConversationPath(name) != nil || !look(dir) {
		return ""
	}
	if _, there := s.lookAt(dir + "/" + subagentsDir); !there {
		return b.String()
	}
	entries, err := s.readDir(dir + "/" + subagentsDir)
	for _, e := range entries {
		if e.IsDir() {
			fmt.Fprintf(&b, "%s\n", e.Name())
			_ = look(dir + "/" + subagentsDir + "/" + e.Name())
		}
	}
	if err != nil {
		return ""
	}
	return b.String()
}
