//go:build !unix

package hook

import (
	"os"
	"os/exec"
)

// detach leaves the command as it is: a child outlives its parent here.
func detach(*exec.Cmd) {}

func terminate(p *os.Process) error { return p.Kill() }
