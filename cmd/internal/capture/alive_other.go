//go:build !unix

package capture

import "os"

// Runs reports whether a process with the given id exists.
func Runs(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
