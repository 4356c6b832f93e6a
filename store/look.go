package store

import (
	"fmt"
	"path/filepath"
	"time"
)

// A look is what the file system knows about a file without opening it.
type look struct {
	kind    int64
	inode   uint64
	size    int64
	written int64 // time of the last change of content, in nanoseconds
	changed int64 // time of the last change of any kind, if known; no program can set it back
}

// The kinds of file that matter.
const (
	otherKind = iota
	folderKind
	regularKind
)

// settled reports whether any further change to the file would change its look.
func (l look) settled() bool {
	return time.Since(time.Unix(0, max(l.written, l.changed))) >= unsettled
}

// LookAt describes the state of a file on this machine without opening it. ok is false if
// it is not a regular file, or was written so recently that it could change without a
// visible difference.
func LookAt(file string) (text string, ok bool) {
	l, ok := lookAt(file)
	if !ok || l.kind != regularKind || !l.settled() {
		return "", false
	}
	return fmt.Sprintf("%d %d %d %d", l.inode, l.size, l.written, l.changed), true
}

// LookAtLogs describes the state of the logs in a folder without opening them. ok is false
// if the folder has no messages.jsonl, or a log could change without a visible difference.
func (s *Files) LookAtLogs(folder string) (text string, ok bool) {
	dir := filepath.Join(s.dir, filepath.FromSlash(folder), sessionDir)
	text, ok = LookAt(filepath.Join(dir, messagesFile))
	tools, whole := LookAt(filepath.Join(dir, toolsFile))
	if _, there := lookAt(filepath.Join(dir, toolsFile)); there && !whole {
		return "", false
	}
	return text + "\n" + tools, ok
}

// lookAt looks at a file. ok is false if there is none.
func lookAt(name string) (l look, ok bool) {
	l, err := lookFor(name)
	return l, err == nil
}

// lookAt looks at a file of the workspace. ok is false if there is none.
func (s *Files) lookAt(name string) (l look, ok bool) {
	return lookAt(filepath.Join(s.dir, filepath.FromSlash(name)))
}
