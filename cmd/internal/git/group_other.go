//go:build !unix

package git

import "os/exec"

// inSession leaves the command as it is: ending it ends git alone.
func inSession(*exec.Cmd) {}

// inForeground leaves the command as it is.
func inForeground(*exec.Cmd) {}
