package hook

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"cortext/inject"
)

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
