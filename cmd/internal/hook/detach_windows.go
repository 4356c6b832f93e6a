package hook

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach makes a process outlive this one and its console: Windows ends the programs of a
// console that is closed, and Ctrl-C reaches all of them. The process gets a console without
// a window, which the programs that it starts share; without any, each would open a window.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
}

func terminate(p *os.Process) error { return p.Kill() }
