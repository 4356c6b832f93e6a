//go:build unix

package lifecycle

import (
	"os/exec"
	"syscall"
)

// inGroup runs the program and its children in their own process group, so that all of
// them can be ended.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
