//go:build !unix

package launch

import "os"

// runs reports whether a process with the given id exists.
func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
