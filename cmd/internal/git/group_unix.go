//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// inGroup runs git and what it runs in a group of their own, so that a terminal's
// Ctrl-C does not reach them, and ends all of it as a user would: git then removes
// its locks.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
