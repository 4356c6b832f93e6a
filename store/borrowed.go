package store

import (
	"path"
	"slices"
)

// In a sparse checkout, git has logs that are not in the work tree. A conversation may
// borrow them: it reads them from memory as its own and never moves them into a log.

// borrowedDir prefixes the names of borrowed files. No folder of the workspace has this
// name.
const borrowedDir = "git:"

// Borrow adds git's copies of the conversation's files, by name (messages.jsonl,
// tools.jsonl, session.json), to what is read. It is for readers, and for writers of a
// waiting conversation.
func (c *Conversation) Borrow(files map[string][]byte) {
	if len(files) == 0 {
		return
	}
	dir := borrowedDir + c.path + "/" + sessionDir
	for name, content := range files {
		c.s.borrowed.Store(dir+"/"+path.Base(name), content)
	}
	if others := c.others(); !slices.Contains(others, dir) {
		c.setOthers(append([]string{dir}, others...))
	}
}

// borrowedFile returns a borrowed file.
func (s *Store) borrowedFile(name string) ([]byte, bool) {
	content, ok := s.borrowed.Load(name)
	if !ok {
		return nil, false
	}
	return content.([]byte), true
}
