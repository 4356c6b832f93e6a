// Package companion starts cortext-page, the program that links the large libraries. A library
// initializes at every start of a program that links it, used or not: those for HTTP, Markdown
// and zstd would make every start of cortext half as long again.
package companion

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Program is the file name of cortext-page, which is installed beside cortext.
const Program = "cortext-page"

// The first argument of cortext-page: what it should do.
const (
	PageWord       = "page"       // reads a conversation, writes a page
	CompressWord   = "compress"   // compresses with zstd
	DecompressWord = "decompress" // decompresses zstd
	AskWord        = "ask"        // reads a [Question], writes an [Answer]
)

// Find returns the path of cortext-page.
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

// ErrMissing means that cortext-page is not installed.
var ErrMissing = errors.New(Program + " is not installed: go install ./cmd/... installs it beside cortext")

// Command returns a command that starts cortext-page with one of the words. The error is
// [ErrMissing].
func Command(ctx context.Context, word string) (*exec.Cmd, error) {
	program, ok := Find()
	if !ok {
		return nil, ErrMissing
	}
	return exec.CommandContext(ctx, program, word), nil
}
