// Package companion starts cortext-page, which does what cortext needs large libraries for.
// A library sets itself up at every start of a program that links it, used or not: those for
// HTTP, Markdown and zstd would make every start of cortext half as long again.
package companion

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Program is the name of the program. It is installed beside cortext.
const Program = "cortext-page"

// The words that the program is started with.
const (
	PageWord       = "page"       // reads a conversation, writes a page
	CompressWord   = "compress"   // with zstd
	DecompressWord = "decompress" // what was compressed with zstd
	AskWord        = "ask"        // reads a [Question], writes an [Answer]
)

// Find finds the program.
func Find() (file string, ok bool) {
	name := Program
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, true
		}
	}
	found, err := exec.LookPath(name)
	return found, err == nil
}

// ErrMissing means that the program is not installed.
var ErrMissing = errors.New(Program + " is not installed: go install ./cmd/... installs it beside cortext")

// Command returns a command that starts the program with a word. The error is
// [ErrMissing].
func Command(ctx context.Context, word string) (*exec.Cmd, error) {
	program, ok := Find()
	if !ok {
		return nil, ErrMissing
	}
	return exec.CommandContext(ctx, program, word), nil
}
