//go:build unix

package lifecycle

import (
	"os/exec"
	"syscall"
)

// inGroup runs the program and what it starts in a group of their own, so that
// all of it can be ended.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
