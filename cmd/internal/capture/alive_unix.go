//go:build unix

package capture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Runs reports whether a process with the given id exists. The id may have been reused;
// then cleaning up after the old process waits a little longer.
func Runs(pid int) bool {
	err := syscall.Kill(pid, 0)
	if err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	// A zombie, which has ended but was not waited for, still exists (Linux, proc(5)).
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !bytes.Contains(stat, []byte(") Z "))
}
