package folders

import (
	"errors"
	"os"
)

// rename is never called on Windows, where no folder is kept open.
func rename(_, _ *os.File, _, _ string) error { return errors.ErrUnsupported }
