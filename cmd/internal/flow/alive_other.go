//go:build !unix

package flow

import "os"

// runs reports whether there is a process with an id.
func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
