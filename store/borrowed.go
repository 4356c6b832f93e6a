package store

import (
	"path"
	"slices"
)

// In a sparse checkout, git has logs that are not in the work tree. A conversation may
// borrow them: they are read as a part of it, from memory, and never moved into a log.

// borrowedDir begins the names of such files. No folder of the workspace is below it.
const borrowedDir = "git:"

// Borrow adds what git has of the conversation's files, by their names (messages.jsonl,
// tools.jsonl, session.json), to what is read. It is for readers, and for writers of a
// conversation that waits.
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

// borrowedFile returns a file that was borrowed.
func (s *Store) borrowedFile(name string) ([]byte, bool) {
	content, ok := s.borrowed.Load(name)
	if !ok {
		return nil, false
	}
	return content.([]byte), true
}
