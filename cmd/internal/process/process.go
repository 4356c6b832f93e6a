// Package process runs the command line as a process, for cortext and cortext-picker.
package process

import (
	"context"
	"database/sql"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"syscall"

	"cortext/cmd/internal/cli"
	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/hook"
	"cortext/cmd/internal/interrupt"
	"cortext/cmd/internal/picker"
	"cortext/cmd/internal/remotesql"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
)

// Main runs the command line that the process was started with and exits. pick is nil in a
// program without the picker.
func Main(pick picker.Picker) {
	sql.Register(opencode.Driver, &remotesql.Driver{Command: companion.DatabaseCommand})
	ctx, cancel := context.WithCancel(context.Background())
	interrupts := interrupt.New(cancel, os.Exit)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as with nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	go interrupts.Handle(signals)
	os.Exit(cli.Main(ctx, cli.Process{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Agents: Agents(), Machine: Machine(), Interrupts: interrupts, Now: clock(), Pick: pick,
	}))
}

// Agents returns the agents that cortext works with, in detection order.
func Agents() []inject.Agent {
	return []inject.Agent{claude.Agent(), opencode.Agent(), gemini.Agent()}
}

// Machine describes the machine that the process runs on.
func Machine() inject.Machine {
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) { // without HOME, a relative path would be in the work tree
		home = hook.Nowhere
		if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
			home = u.HomeDir
		}
	}
	return inject.Machine{Home: home, Getenv: os.Getenv}
}
