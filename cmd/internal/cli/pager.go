package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"cortext/cmd/internal/interrupt"
)

// A pager shows long output on a terminal.
type pager struct {
	screen     screen
	interrupts *interrupt.Interrupts
	off        bool // --no-pager
}

// show calls print with standard output. On a terminal, it pipes the output through
// $CORTEXT_PAGER, $PAGER or, unless the terminal is dumb, less, which exits at once if everything
// fits on the screen.
func (p *pager) show(print func(io.Writer) error) error {
	command := p.command()
	if command == "" {
		return print(p.screen.out)
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdout, cmd.Stderr = behind(p.screen.out).(io.Writer), p.screen.errw
	if os.Getenv("LESS") == "" {
		cmd.Env = append(os.Environ(), "LESS=FRX")
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	done, ok := p.interrupts.Yield() // the pager handles Ctrl-C
	if !ok {
		return context.Canceled
	}
	defer done()
	if err := cmd.Start(); err != nil {
		return print(p.screen.out)
	}
	err = print(pagerPipe{in, p.screen.out})
	_ = in.Close()
	var ended *exec.ExitError
	if errors.As(cmd.Wait(), &ended) && (ended.ExitCode() >= notStarted || !parses(command)) {
		return print(p.screen.out)
	}
	if errors.Is(err, syscall.EPIPE) { // the user quit the pager early
		return nil
	}
	return err
}

// notStarted is the lowest exit code by which a shell reports that it cannot start a
// program.
const notStarted = 126

// parses reports whether the shell understands a command.
func parses(command string) bool { return exec.Command("sh", "-n", "-c", command).Run() == nil }

// A pagerPipe is the input of a pager, which writes to a terminal.
type pagerPipe struct {
	io.Writer
	terminal io.Writer
}

// behind returns the terminal behind a pager, or the stream itself.
func behind(stream any) any {
	switch s := stream.(type) {
	case pagerPipe:
		return behind(s.terminal)
	case *printed:
		return s.Writer
	}
	return stream
}

// command returns the command of the pager, or "" for none.
func (p *pager) command() string {
	if p.off || !isTerminal(p.screen.out) {
		return ""
	}
	for _, name := range []string{"CORTEXT_PAGER", "PAGER"} {
		if command, ok := os.LookupEnv(name); ok {
			if command = strings.TrimSpace(command); command == "cat" {
				command = ""
			}
			return command
		}
	}
	if _, err := exec.LookPath("less"); err != nil || !obeys(p.screen.out) { // less asks before it shows anything there
		return ""
	}
	return "less"
}
