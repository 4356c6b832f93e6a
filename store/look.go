package store

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"time"
)

// A fileLook is what the file system knows about a file without opening it.
type fileLook struct {
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
func (l fileLook) settled() bool {
	return settledAt(time.Unix(0, max(l.written, l.changed)), time.Now())
}

// settledAt reports whether a file that was last changed at the given time would get
// another one if it changed after now. Where file times are whole seconds, and even ones on
// a FAT, that takes longer: such times have no fraction.
func settledAt(changed, now time.Time) bool {
	if changed.Nanosecond() == 0 {
		return now.Sub(changed) >= 2*time.Second
	}
	return now.Sub(changed) >= unsettled
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

// lookAt looks at a file. ok is false if there is none.
func lookAt(name string) (l fileLook, ok bool) {
	l, err := lookFor(name)
	return l, err == nil
}

// lookAt looks at a file of the workspace. ok is false if there is none.
func (s *Files) lookAt(name string) (l fileLook, ok bool) {
	return lookAt(filepath.Join(s.dir, filepath.FromSlash(name)))
}

// A Look is the state of the files that decide how a list describes a conversation. Two
// equal looks mean that nothing changed in between, if the first was settled.
type Look struct{ dir, session, messages fileLook }

// LookBytes is the length of an encoded Look.
const LookBytes = 3 * 40

// Settled reports whether any change after the given time would change the look.
func (l Look) Settled(at time.Time) bool {
	last := max(l.session.written, l.session.changed, l.messages.written, l.messages.changed)
	return settledAt(time.Unix(0, last), at)
}

// whole reports whether the look covers all that the entry depends on: session.json and the
// log are files where they belong.
func (l Look) whole() bool {
	return l.dir.kind == folderKind && l.session.kind == regularKind && (l.messages.kind == regularKind || l.messages == fileLook{})
}

// AppendTo appends the encoded look, always of [LookBytes] bytes.
func (l Look) AppendTo(b []byte) []byte {
	for _, k := range []fileLook{l.dir, l.session, l.messages} {
		b = k.appendTo(b)
	}
	return b
}

func (l fileLook) appendTo(b []byte) []byte {
	for _, n := range [...]uint64{uint64(l.kind), l.inode, uint64(l.size), uint64(l.written), uint64(l.changed)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// DecodeLook decodes what AppendTo made.
func DecodeLook(b []byte) Look {
	return Look{decodeLook(b), decodeLook(b[40:]), decodeLook(b[80:])}
}

func decodeLook(b []byte) fileLook {
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return fileLook{int64(n(0)), n(1), int64(n(2)), int64(n(3)), int64(n(4))}
}
