package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// MessagesLog is the name of the log of messages in a conversation's folder, with that
// of the folder it is in.
const MessagesLog = sessionDir + "/" + messagesFile

// LogSize returns the length of the log of messages in a conversation's folder, without
// reading it. The error is [ErrNotFound] if there is none.
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
