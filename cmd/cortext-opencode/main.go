// Command cortext-opencode does what needs OpenCode's database: it handles the hooks of
// OpenCode's turns, as cortext-hook does for other agents, and reads databases for cortext.
// Our plugin in OpenCode and cortext start it. It is a program of its own because a program sets up
// its libraries at every start, used or not.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/hook"
	"cortext/cmd/internal/remotesql"
	"cortext/inject"
	"cortext/inject/opencode"
)

func main() {
	args := os.Args[1:]
	switch {
	case len(args) == 1 && args[0] == companion.DatabaseWord:
		if err := serveDatabase(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", companion.OpenCode, err)
			os.Exit(1)
		}
	case len(args) == 3 && args[0] == "hook":
		handle(args[1:])
	default:
		fmt.Fprintf(os.Stderr, "%s: does not know %q: cortext starts this program\n", companion.OpenCode, args)
		os.Exit(1)
	}
}

// serveDatabase reads databases until standard input ends.
func serveDatabase() error {
	signal.Ignore(os.Interrupt) // a terminal sends it to cortext, too, which decides
	db, err := sql.Open("sqlite", "")
	if err != nil {
		return err
	}
	return remotesql.Serve(os.Stdin, os.Stdout, db.Driver())
}

// handle handles a hook call.
func handle(words []string) {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	home, _ := os.UserHomeDir()
	agents := []inject.Agent{inject.Elsewhere("claude"), opencode.Agent(), inject.Elsewhere("gemini")}
	if !filepath.IsAbs(home) { // cortext finds another one, and gets all hooks
		home = hook.Nowhere
		agents[1] = inject.Elsewhere(opencode.Name)
	}
	hook.Program{
		Name: string(companion.OpenCode), In: os.Stdin, Out: os.Stdout, Agents: agents,
		Machine: inject.Machine{Home: home, Getenv: os.Getenv}, Now: time.Now,
		Cortext: hook.Beside, Small: true,
	}.Run(ctx, words)
}
