// Command cortext-zstd compresses and decompresses bundles, from standard input to standard
// output. cortext starts it with one argument. It is a program of its own because nothing else
// needs the library, which would slow down every other program's start.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/export/bundle/zstd"
)

// garbagePercent lets garbage grow to five times what is in use: the compressor needs little.
const garbagePercent = 400

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", companion.Zstd, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	debug.SetGCPercent(garbagePercent)
	switch {
	case len(args) != 1:
	case args[0] == companion.CompressWord:
		return zstd.CompressAll(os.Stdout, os.Stdin)
	case args[0] == companion.DecompressWord:
		return zstd.DecompressAll(os.Stdout, os.Stdin)
	}
	return fmt.Errorf("does not know %q: cortext starts this program", args)
}
