//go:build unix

package flow

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// runs reports whether there is a process with an id. It may be another one than it
// was: then what is left of that waits a little longer.
func runs(pid int) bool {
	err := syscall.Kill(pid, 0)
	if err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	// One that has ended and that nobody waits for is still there (Linux, proc(5)).
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !bytes.Contains(stat, []byte(") Z "))
}
