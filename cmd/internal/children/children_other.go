//go:build !unix

package children

import "os/exec"

// Group leaves the command unchanged: ending it ends only the program.
func Group(*exec.Cmd) {}

// Kill does nothing.
func Kill(*exec.Cmd) {}
