//go:build unix

package git

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestEndStopped: a stopped git can still remove its locks when it is ended, in its own
// session and in ours.
func TestEndStopped(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\ntrap 'rm lock; exit 1' TERM\ntouch lock\nkill -STOP $$\nexit 3\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, ours := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := command(ctx, dir, []string{"commit"})
		cmd.Dir = dir
		if ours {
			cmd.SysProcAttr = nil
			inForeground(cmd)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			t.Fatalf("it did not stop: %v, %v", status, err)
		}
		cancel()
		if err := cmd.Wait(); err == nil {
			t.Error("no error")
		}
		if exists(filepath.Join(dir, "lock")) {
			t.Errorf("in our session %t: its lock is left", ours)
		}
	}
}
