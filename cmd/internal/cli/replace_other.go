//go:build !unix

package cli

import (
	"errors"
	"os"
	"os/exec"
)

// replaceProgram runs another program to its end, and exits as it did. Ctrl-C reaches both.
func replaceProgram(program string, args, environ []string) error {
	cmd := exec.Command(program, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, environ
	err := cmd.Run()
	if err == nil || errors.As(err, new(*exec.ExitError)) {
		os.Exit(cmd.ProcessState.ExitCode())
	}
	return err
}
