package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"cortext/cmd/internal/picker"
)

// A terminal asks the user questions, if the program has one.
type terminal struct {
	in  io.Reader
	out io.Writer
}

// present reports whether a user can be asked.
func (t terminal) present() bool { return isTerminal(t.in) && isTerminal(t.out) }

// ask asks a yes-or-no question at the terminal. No answer means no.
func (t terminal) ask(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(t.out, "%s [y/N] ", question)
	line, err := t.line(ctx)
	line = strings.ToLower(line)
	return line == "y" || line == "yes", err
}

// line reads a line from the user at the terminal, without surrounding space. Ctrl-C ends
// the wait and the command.
func (t terminal) line(ctx context.Context) (string, error) {
	typed := make(chan string, 1)
	go func() {
		var b [1]byte
		var line []byte
		for { // byte by byte, because the rest of the input is for the agent
			n, err := t.in.Read(b[:])
			if n == 0 && err != nil || b[0] == '\n' {
				break
			}
			line = append(line, b[:n]...)
		}
		typed <- strings.TrimSpace(string(line))
	}()
	select {
	case line := <-typed:
		return line, nil
	case <-ctx.Done():
		fmt.Fprintln(t.out)
		return "", errSilent
	}
}

// fits reports whether the picker fits on the terminal.
func (t terminal) fits() bool {
	f, ok := t.out.(*os.File)
	if !ok || !t.present() || os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" {
		return false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return err == nil && width >= picker.MinWidth && height >= picker.MinHeight
}
