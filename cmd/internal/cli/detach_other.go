//go:build !unix

package cli

import "os/exec"

// detach leaves the command as it is: a child outlives its parent here.
func detach(*exec.Cmd) {}
