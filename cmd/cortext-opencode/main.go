// Command cortext-opencode does what needs OpenCode's database: it handles the hooks of
// OpenCode's turns, as cortext-hook does for other agents, and reads databases for cortext.
// Our plugin in OpenCode and cortext start it. It is a program of its own because a program sets up
// its libraries at every start, used or not.
package main

import (
	"database/sql"
	"fmt"
	"os"
	"os/signal"

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
		hook.RunSmall(string(companion.OpenCode), args[1:], inject.Elsewhere("claude"), opencode.Agent(), inject.Elsewhere("gemini"))
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
