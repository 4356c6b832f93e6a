//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// inSession runs git and what it runs in a session of their own. They have no
// terminal there: one that wants to ask fails at once instead of being stopped.
func inSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return end(-cmd.Process.Pid) }
}

// inForeground runs git where it can use our terminal, whose Ctrl-C then reaches it,
// too.
func inForeground(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return end(cmd.Process.Pid) }
}

// end ends a process, or a group of them, as a user would: git then removes its
// locks. A stopped one must be continued for that.
func end(pid int) error {
	err := syscall.Kill(pid, syscall.SIGTERM)
	_ = syscall.Kill(pid, syscall.SIGCONT)
	return err
}
