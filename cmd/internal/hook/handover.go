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

// handOver runs cortext for a call that this program cannot handle. w is nil if no
// workspace was opened.
func (p Program) handOver(ctx context.Context, w *workspace.Workspace, name, event string, input []byte) {
	program, err := p.Cortext()
	if err == nil {
		cmd := exec.CommandContext(ctx, program, "hook", name, event)
		cmd.Stdin, cmd.Stdout = bytes.NewReader(input), p.Out
		cmd.Cancel = func() error { return terminate(cmd.Process) }
		err = cmd.Run()
	}
	if err != nil && ctx.Err() == nil { // otherwise cortext has reported why itself
		p.Failed(w, hookDir(), event, fmt.Errorf("cortext hook %s %s: %w", name, event, err))
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
