// Package companion starts cortext-web, the program that links the large libraries. A library
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

// Program is the file name of cortext-web, which is installed beside cortext.
const Program = "cortext-web"

// The first argument of cortext-web: what it should do.
const (
	PageWord       = "page"       // reads a conversation, writes a page
	CompressWord   = "compress"   // compresses with zstd
	DecompressWord = "decompress" // decompresses zstd
	AskWord        = "ask"        // reads a [Question], writes an [Answer]
	ServeWord      = "serve"      // takes a [Serving] as its only argument, and serves until it is ended
)

// A Serving says what to serve, as JSON.
type Serving struct {
	Root  string   `json:"root"`  // the workspace, absolute, without symbolic links
	Addr  string   `json:"addr"`  // to listen on, with a port
	Hosts []string `json:"hosts"` // names that clients may use besides localhost
	Open  bool     `json:"open"`  // open the page in a browser
	JSON  bool     `json:"json"`  // print the addresses and the token as a JSON object
}

// Find returns the path of cortext-web.
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

// ErrMissing means that cortext-web is not installed.
var ErrMissing = errors.New(Program + " is not installed: go install ./cmd/... installs it beside cortext")

// Command returns a command that starts cortext-web with one of the words. The error is
// [ErrMissing].
func Command(ctx context.Context, word string) (*exec.Cmd, error) {
	program, ok := Find()
	if !ok {
		return nil, ErrMissing
	}
	return exec.CommandContext(ctx, program, word), nil
}
