//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// inSession runs git and its children in their own session, without a terminal. A child
// that wants to ask fails at once instead of being stopped.
func inSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return end(-cmd.Process.Pid) }
}

// inForeground runs git where it can use our terminal, so that Ctrl-C reaches it, too.
func inForeground(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return end(cmd.Process.Pid) }
}

// end ends a process, or a process group, as a user would, so that git removes its locks.
// A stopped process must be continued first.
func end(pid int) error {
	err := syscall.Kill(pid, syscall.SIGTERM)
	_ = syscall.Kill(pid, syscall.SIGCONT)
	return err
}
