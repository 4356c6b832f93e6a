//go:build !linux

package atomicfile

import (
	"errors"
	"io/fs"
)

// Create is for Linux: elsewhere a file has a name before it has content.
func Create(Folder, string, []byte, fs.FileMode) error { return errors.ErrUnsupported }
