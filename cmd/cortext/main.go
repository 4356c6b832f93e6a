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
	code := cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, []inject.Agent{claude.Agent(), opencode.Agent(), gemini.Agent()})
	stop()
	os.Exit(code)
}
