//go:build unix

package cli

import (
	"fmt"
	"syscall"
)

// replaceProgram replaces this process with another program, which gets its signals.
func replaceProgram(program string, args, environ []string) error {
	if err := syscall.Exec(program, args, environ); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	return nil
}
