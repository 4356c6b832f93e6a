// Package companion starts the programs that link the large libraries: [Web], [Zstd],
// [Server], [OpenCode] and [Picker]. A library initializes at every start of a program that links it,
// used or not: those for HTTP, Markdown, zstd, SQLite and full screens would make every start
// of cortext half as long again.
package companion

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// A Program is a program by its file name. It is installed beside cortext.
type Program string

// The programs.
const (
	Web    Program = "cortext-web"   // writes pages and asks models: its only argument is [PageWord] or [AskWord]
	Zstd   Program = "cortext-zstd"  // compresses bundles: its only argument is [CompressWord] or [DecompressWord]
	Server Program = "cortext-serve" // takes a [Serving] as its only argument, and serves until it is ended
	// OpenCode handles the hook calls of OpenCode, and with the argument [DatabaseWord] it
	// reads databases (see package remotesql).
	OpenCode Program = "cortext-opencode"
	Picker   Program = "cortext-picker" // is cortext with the picker, and takes the same arguments
)

// The arguments that say what a program should do.
const (
	PageWord       = "page"       // reads a conversation, writes a page
	AskWord        = "ask"        // reads a [Question], writes an [Answer]
	CompressWord   = "compress"   // compresses with zstd
	DecompressWord = "decompress" // decompresses zstd
)

// DatabaseWord is the argument that makes [OpenCode] read databases.
const DatabaseWord = "database"

// A Serving says what to serve, as JSON.
type Serving struct {
	Root  string   `json:"root"`  // the workspace, absolute, without symbolic links
	Addr  string   `json:"addr"`  // to listen on, with a port
	Hosts []string `json:"hosts"` // names that clients may use besides localhost
	Open  bool     `json:"open"`  // open the page in a browser
	JSON  bool     `json:"json"`  // print the addresses and the token as a JSON object
}

// Find returns the program's path. The error is a [*MissingError].
func (p Program) Find() (string, error) {
	found, err := Beside(string(p))
	if err != nil {
		return "", &MissingError{p}
	}
	return found, nil
}

// Beside returns the path of a program that is installed beside this one or on the PATH.
func Beside(name string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return exec.LookPath(name)
}

// A MissingError means that a program is not installed.
type MissingError struct{ Program Program }

func (e *MissingError) Error() string {
	return string(e.Program) + " is not installed: go install ./cmd/... installs it beside cortext"
}

// Command returns a command that starts the program with an argument. The error is a
// [*MissingError].
func (p Program) Command(ctx context.Context, word string) (*exec.Cmd, error) {
	program, err := p.Find()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, program, word), nil
}

// DatabaseCommand returns a command that starts [OpenCode] to read databases. The error is a
// [*MissingError].
func DatabaseCommand() (*exec.Cmd, error) {
	return OpenCode.Command(context.Background(), DatabaseWord)
}
