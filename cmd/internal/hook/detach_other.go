//go:build !unix

package hook

import (
	"os"
	"os/exec"
)

// detach leaves the command unchanged: here a child outlives its parent.
func detach(*exec.Cmd) {}

func terminate(p *os.Process) error { return p.Kill() }
