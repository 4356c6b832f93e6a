//go:build unix

package cli

import (
	"fmt"
	"syscall"
)

// replaceProgram goes on as another program, which gets the signals of this one.
func replaceProgram(program string, args, environ []string) error {
	if err := syscall.Exec(program, args, environ); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	return nil
}
