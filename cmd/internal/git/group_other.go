//go:build !unix

package git

import "os/exec"

// inSession leaves the command unchanged: ending it ends only git.
func inSession(*exec.Cmd) {}

// inForeground leaves the command unchanged.
func inForeground(*exec.Cmd) {}
