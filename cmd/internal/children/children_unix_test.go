//go:build unix

package children

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestGroup: when its context ends, a program can end others that are in a group of their own,
// and one that does not end is killed with its children.
func TestGroup(t *testing.T) {
	for name, script := range map[string]string{
		"ends":   "trap 'touch ended; exit 0' TERM; touch begun; while :; do sleep 0.01; done",
		"stays":  "trap '' TERM; touch begun; while :; do sleep 0.01; done",
		"orphan": "(trap '' TERM; touch begun; while :; do sleep 0.01; done) & wait",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script)
		cmd.Dir, cmd.WaitDelay = t.TempDir(), time.Minute
		has := func(file string) bool {
			_, err := os.Stat(filepath.Join(cmd.Dir, file))
			return err == nil
		}
		Group(cmd)
		cmd.Stdout = &discarding{} // its children hold it open
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for !has("begun") {
			time.Sleep(time.Millisecond)
		}
		cancel()
		if err := cmd.Wait(); err == nil {
			t.Errorf("%s: no error", name)
		}
		if has("ended") != (name == "ends") {
			t.Errorf("%s: could end others: %t", name, has("ended"))
		}
	}
}

// discarding is a writer that is not a file, so that Wait waits until nobody can write to it.
type discarding struct{}

func (*discarding) Write(p []byte) (int, error) { return len(p), nil }
