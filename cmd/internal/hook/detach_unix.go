//go:build unix

package hook

import (
	"os"
	"os/exec"
	"syscall"
)

// detach makes a process outlive this one and its terminal.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
