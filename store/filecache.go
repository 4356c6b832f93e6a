package store

import (
	"io/fs"
	"sync"
	"time"
)

// A fileCache keeps the content of files, so that a command that lists, picks and edits
// reads each session.json only once.
type fileCache struct {
	mu    sync.Mutex
	files map[string]seenFile
}

// A seenFile is the state of a file when it was read.
type seenFile struct {
	info fs.FileInfo
	raw  []byte
}

const (
	remembered = 256 // files

	// unsettled is how long after its last change a file may change again without getting
	// a new time, given the resolution of file times.
	unsettled = 10 * time.Millisecond
)

func (f *fileCache) get(name string, info fs.FileInfo) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	have, ok := f.files[name]
	return have.raw, ok && sameState(info, have.info)
}

func (f *fileCache) put(name string, info fs.FileInfo, raw []byte) {
	if settledAt(info.ModTime(), time.Now()) {
		f.keep(name, info, raw)
	}
}

// keep stores a file like put, for a caller that knows that info and raw match.
func (f *fileCache) keep(name string, info fs.FileInfo, raw []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files == nil || len(f.files) >= remembered {
		f.files = map[string]seenFile{}
	}
	f.files[name] = seenFile{info, raw}
}

// move follows a renamed file.
func (f *fileCache) move(from, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if have, ok := f.files[from]; ok {
		delete(f.files, from)
		f.files[to] = have
	}
}

func (f *fileCache) forget(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.files, name)
}
