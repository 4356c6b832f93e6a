package store

import (
	"errors"
	"hash/crc64"
	"io"
)

// A LogState identifies the content of a log on this machine: as long as a known state
// stays the same, so does the content.
type LogState struct {
	Known            bool
	Inode            uint64
	Size             int64
	Written, Changed int64 // nanoseconds
}

// state returns the state of the file that was looked at. It is not known if another change
// might go unnoticed.
func (l fileLook) state() LogState {
	if l.kind != regularKind || !l.settled() {
		return LogState{}
	}
	return LogState{true, l.inode, l.size, l.written, l.changed}
}

// State returns the state of the log that is open.
func (l *Log) State() LogState {
	if l.file == nil {
		return LogState{}
	}
	found, ok := lookAtOpen(l.file)
	if !ok || found.size != l.size { // it grew meanwhile
		return LogState{}
	}
	return found.state()
}

// Sum returns a checksum of samples of the first bytes of the log, and of all of the last
// of these. It recognizes content to which something was appended; git cannot be expected
// to put another content there that only differs elsewhere.
func (l *Log) Sum(first int64) (sum uint64, err error) {
	const samples, length, tail = 32, 64, 4 << 10
	buf, table := make([]byte, tail), crc64.MakeTable(crc64.ECMA)
	for i := range int64(samples) {
		n := min(length, first)
		if _, err := l.ReadAt(buf[:n], (first-n)/samples*i); err != nil && !errors.Is(err, io.EOF) {
			return 0, explain(err)
		}
		sum = crc64.Update(sum, table, buf[:n])
	}
	n := min(tail, first)
	if _, err := l.ReadAt(buf[:n], first-n); err != nil {
		return 0, explain(err)
	}
	return crc64.Update(sum, table, buf[:n]), nil
}
