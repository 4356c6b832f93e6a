package store

import "time"

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
