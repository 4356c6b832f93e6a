//go:build unix

package children

import (
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// grace is how long programs may run after SIGTERM: some have to end others, as cortext push ends
// git, which has a group of its own.
const grace = 300 * time.Millisecond

// Group runs a program and its children in a process group of their own. If the command's
// context ends, all of them get SIGTERM and, soon afterwards, SIGKILL.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		for until := time.Now().Add(grace); err == nil && time.Now().Before(until); time.Sleep(grace / 30) {
			err = syscall.Kill(-cmd.Process.Pid, 0)
		}
		if errors.Is(err, syscall.ESRCH) { // all of them have ended
			return nil
		}
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// Kill kills what a program in a group of its own left running.
func Kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
