// Command cortext-page writes a conversation as a page. cortext export --format html starts
// it: it is a program of its own so that cortext does not link what renders Markdown, which
// would make every start slower.
package main

import (
	"fmt"
	"os"

	"cortext/cmd/internal/export"
	"cortext/cmd/internal/export/page/markdown"
)

func main() {
	if err := export.RenderPage(os.Stdin, os.Stdout, markdown.New().Append); err != nil {
		fmt.Fprintf(os.Stderr, "cortext-page: %v\n", err)
		os.Exit(1)
	}
}
