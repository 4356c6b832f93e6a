//go:build !unix

package store

import (
	"os"
	"path/filepath"
)

// lookAt looks at a file of the workspace; ok is false where there is none.
func (s *Store) lookAt(name string) (l look, ok bool) {
	info, err := os.Lstat(filepath.Join(s.dir, filepath.FromSlash(name)))
	if err != nil {
		return l, false
	}
	l = look{size: info.Size(), written: info.ModTime().UnixNano()}
	switch {
	case info.IsDir():
		l.kind = folderKind
	case info.Mode().IsRegular():
		l.kind = regularKind
	}
	return l, true
}
