//go:build !linux

package atomicfile

import (
	"errors"
	"io/fs"
)

// Create works only on Linux: elsewhere a file has a name before it has content.
func Create(Folder, string, []byte, fs.FileMode) error { return errors.ErrUnsupported }
