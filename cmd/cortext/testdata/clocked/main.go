// Command clocked is cortext with a clock that a test sets: CORTEXT_CLOCK is the time, in
// RFC 3339.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"cortext/cmd/internal/cli"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
)

func main() {
	begun, now := time.Now(), time.Now
	if at, err := time.Parse(time.RFC3339Nano, os.Getenv("CORTEXT_CLOCK")); err == nil {
		now = func() time.Time { return at.Add(time.Since(begun)) }
	}
	ctx, cancel := context.WithCancel(context.Background())
	interrupts := cli.NewInterrupts(cancel, os.Exit)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go interrupts.Handle(signals)
	os.Exit(cli.Main(ctx, cli.Process{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Now: now, Interrupts: interrupts,
		Agents: []inject.Agent{claude.Agent(), opencode.Agent(), gemini.Agent()},
	}))
}
