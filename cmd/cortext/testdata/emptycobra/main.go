// Command emptycobra is the baseline for cortext's start-up time: a cobra program with
// one command that does nothing.
package main

import (
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "emptycobra"}
	root.AddCommand(&cobra.Command{Use: "version", Run: func(*cobra.Command, []string) {}})
	if root.Execute() != nil {
		os.Exit(1)
	}
}
