// Command cortext keeps conversations with AI coding agents as plain files in the work
// tree and resumes them.
package main

import (
	"context"
	"database/sql"
	"os"
	"os/signal"
	"syscall"

	"cortext/cmd/internal/cli"
	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/interrupt"
	"cortext/cmd/internal/remotesql"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
)

func main() {
	sql.Register(opencode.Driver, &remotesql.Driver{Command: companion.DatabaseCommand})
	ctx, cancel := context.WithCancel(context.Background())
	interrupts := interrupt.New(cancel, os.Exit)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go interrupts.Handle(signals)
	os.Exit(cli.Main(ctx, cli.Process{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Agents: agents(), Interrupts: interrupts, Now: clock(),
	}))
}

// agents returns the agents that cortext works with, in detection order.
func agents() []inject.Agent {
	return []inject.Agent{claude.Agent(), opencode.Agent(), gemini.Agent()}
}
