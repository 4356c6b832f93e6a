package hook

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel    = windows.NewLazySystemDLL("kernel32.dll")
	alloc     = kernel.NewProc("AllocConsole")
	processes = kernel.NewProc("GetConsoleProcessList")
)

// TestDetach starts a child with and without our console.
func TestDetach(t *testing.T) {
	if os.Getenv("CORTEXT_TEST_CHILD") != "" {
		_, _ = os.Stdout.WriteString("ready\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent has looked
		return
	}
	_, _, _ = alloc.Call() // fails if there is one
	if n, _, err := processes.Call(uintptr(unsafe.Pointer(new(uint32))), 1); n == 0 {
		t.Skip("NOT RUN: there is no console:", err)
	}
	for _, detached := range []bool{false, true} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDetach$")
		if detached {
			detach(cmd)
		}
		cmd.Env = append(os.Environ(), "CORTEXT_TEST_CHILD=1")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		ids := make([]uint32, 100)
		n, _, err := processes.Call(uintptr(unsafe.Pointer(&ids[0])), uintptr(len(ids)))
		if n == 0 || int(n) > len(ids) {
			t.Errorf("%d programs in the console: %v", n, err)
		} else if with := slices.Contains(ids[:n], uint32(cmd.Process.Pid)); with == detached {
			t.Errorf("detached %t: in our console %t", detached, with)
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}
