//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// detach lets a process outlive this one and its terminal.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}
