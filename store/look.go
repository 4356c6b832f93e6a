package store

import (
	"fmt"
	"path/filepath"
	"time"
)

// A look is what the file system says of a file without opening it.
type look struct {
	kind    int64
	inode   uint64
	size    int64
	written int64 // when its content changed last, in nanoseconds
	changed int64 // when anything of it did, where that is known: no program sets this back
}

// The kinds that matter.
const (
	otherKind = iota
	folderKind
	regularKind
)

// settled reports whether the file cannot change any more without another look.
func (l look) settled() bool {
	return time.Since(time.Unix(0, max(l.written, l.changed))) >= unsettled
}

// LookAt tells how a file on this machine looks without opening it; ok is false where it is
// none, or was written just now, so that it may change without looking another way.
func LookAt(file string) (text string, ok bool) {
	l, ok := lookAt(file)
	if !ok || l.kind != regularKind || !l.settled() {
		return "", false
	}
	return fmt.Sprintf("%d %d %d %d", l.inode, l.size, l.written, l.changed), true
}

// lookAt looks at a file of the workspace; ok is false where there is none.
func (s *Store) lookAt(name string) (l look, ok bool) {
	return lookAt(filepath.Join(s.dir, filepath.FromSlash(name)))
}
