// Command cortext keeps conversations with AI coding agents as plain files in
// the work tree and brings them back.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"cortext/cmd/internal/cli"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, agents())
	stop()
	os.Exit(code)
}

// agents are the agents that cortext works with, in the order in which they are
// asked.
func agents() []inject.Agent {
	return []inject.Agent{claude.Agent(), opencode.Agent(), gemini.Agent()}
}
