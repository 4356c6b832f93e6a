package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"cortext/store/internal/lines"
)

// explain adds to a file system error what to do about it.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: make room on the disk and run it again", err)
	case errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%w: raise the limit for file sizes (ulimit -f) and run it again", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: the workspace is mounted read-only", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: give yourself permission to write there", err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: raise the limit for open files (ulimit -n) and run it again", err)
	case errors.Is(err, lines.ErrNotRegular):
		return fmt.Errorf("%w: move it away", err)
	}
	return err
}
