package hook

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"cortext/cmd/internal/workspace"
)

// A call is a hook call.
type call struct {
	agent, event string
	input        []byte
}

// handOver runs another program for a call that this one cannot handle. w is nil if no
// workspace was opened.
func (p Program) handOver(ctx context.Context, w *workspace.Workspace, find func() (string, error), c call) {
	program, err := find()
	if err == nil {
		cmd := exec.CommandContext(ctx, program, "hook", c.agent, c.event)
		cmd.Stdin, cmd.Stdout = bytes.NewReader(c.input), p.Out
		cmd.Cancel = func() error { return terminate(cmd.Process) }
		err = cmd.Run()
	}
	if err != nil && ctx.Err() == nil { // otherwise that program has reported why itself
		p.Failed(w, hookDir(), c.event, fmt.Errorf("cortext hook %s %s: %w", c.agent, c.event, err))
	}
}

// Beside returns the path of cortext, which is installed beside this program or on the
// PATH.
func Beside() (string, error) {
	name := "cortext"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("cortext is neither beside cortext-hook nor in the PATH: go install ./cmd/... installs both: %w", err)
	}
	return path, nil
}
