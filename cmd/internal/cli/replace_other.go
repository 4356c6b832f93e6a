//go:build !unix

package cli

import (
	"os"
	"os/exec"
)

// replaceProgram runs another program to its end. Ctrl-C reaches both.
func replaceProgram(program string, args, environ []string) error {
	cmd := exec.Command(program, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, environ
	return cmd.Run()
}
