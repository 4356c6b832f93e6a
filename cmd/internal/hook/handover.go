package hook

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
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
	path, err := companion.Beside("cortext")
	if err != nil {
		return "", fmt.Errorf("cortext is neither beside cortext-hook nor in the PATH: go install ./cmd/... installs both: %w", err)
	}
	return path, nil
}

// RunSmall handles a hook call in a small program, which is installed beside cortext because
// agents wait for their hooks. It handles the turns of those agents that have hooks, and hands
// everything else to cortext. A user without a home directory is also left to cortext, which
// looks further for one.
func RunSmall(name string, words []string, agents ...inject.Agent) {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) {
		home = Nowhere
		for i, agent := range agents {
			agents[i] = inject.Elsewhere(agent.Name())
		}
	}
	Program{
		Name: name, In: os.Stdin, Out: os.Stdout, Agents: agents,
		Machine: inject.Machine{Home: home, Getenv: os.Getenv}, Now: time.Now,
		Cortext: Beside, Small: true,
	}.Run(ctx, words)
}
