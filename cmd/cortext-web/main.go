// Command cortext-web does the work of cortext that needs large libraries: it writes
// conversations as pages, and asks models over HTTP. cortext starts it with one argument, the
// job. It is a program of its own because a program sets up its libraries at every start,
// used or not.
package main

import (
	"context"
	"fmt"
	"os"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/export"
	"cortext/cmd/internal/export/page/markdown"
	"cortext/cmd/internal/openai"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", companion.Web, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	word := ""
	if len(args) > 0 {
		word = args[0]
	}
	switch {
	case len(args) != 1:
	case word == companion.PageWord:
		return export.RenderPage(os.Stdin, os.Stdout, markdown.New().Append)
	case word == companion.AskWord:
		return openai.Reply(context.Background(), os.Stdin, os.Stdout)
	}
	return fmt.Errorf("does not know %q: cortext starts this program", args)
}
