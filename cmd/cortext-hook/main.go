// Command cortext-hook is a small version of cortext hook, because agents wait for their
// hooks. It starts without what only other commands need, handles the turns of the agents
// it knows, and hands everything else to cortext, which is installed beside it.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"cortext/cmd/internal/hook"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
)

func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	home, _ := os.UserHomeDir()
	agents := []inject.Agent{claude.Agent(), inject.Elsewhere("opencode"), gemini.Agent()}
	if !filepath.IsAbs(home) { // cortext finds another one, and gets all hooks
		home = hook.Nowhere
		for i, a := range agents {
			agents[i] = inject.Elsewhere(a.Name())
		}
	}
	hook.Program{
		Name: "cortext-hook", In: os.Stdin, Out: os.Stdout, Agents: agents,
		Machine: inject.Machine{Home: home, Getenv: os.Getenv}, Now: time.Now,
		Cortext: hook.Beside, Small: true,
	}.Run(ctx, os.Args[1:])
}
