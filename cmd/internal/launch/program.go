package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/interrupt"
	"cortext/cmd/internal/shown"
	"cortext/inject"
)

// A Program holds the streams and the environment in which the agents' programs run.
type Program struct {
	In         io.Reader
	Out, Err   io.Writer
	Environ    []string              // with cortext on its PATH, for the agent's tools
	Interrupts *interrupt.Interrupts // the agent gets the signals while it runs
}

// importSession runs the agent's program with the arguments that prepare the launch. Its
// output is shown only if it fails.
func (p Program) importSession(plan *Plan) error {
	defer p.Interrupts.Finish()() // otherwise an interrupt would leave the files it creates
	launch := plan.Launch
	cmd, err := inject.CommandOf(context.Background(), launch.Program, launch.Import...)
	if err != nil {
		return err
	}
	cmd.Dir, cmd.Env = plan.Dir, p.environment(plan)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", launch.Program, strings.Join(launch.Import, " "), err, shown.Cut(shown.Line(strings.TrimSpace(string(output))), 500))
	}
	return nil
}

// environment returns the environment without the variables that the program must not
// inherit, and with the folder that it runs in: OpenCode trusts PWD more than the system
// (1.18.33), and without a terminal it never ends if the two differ.
func (p Program) environment(plan *Plan) []string {
	env := slices.DeleteFunc(slices.Clone(p.Environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == capture.LaunchedFor || name == "PWD" || slices.Contains(plan.Launch.Unset, name)
	})
	return append(env, "PWD="+plan.Dir)
}

// run runs the agent to its end and calls started with the id of its process. Ctrl-C from
// the terminal goes to the agent only; signals that others send to us are passed on.
func (p Program) run(plan *Plan, started func(pid int)) error {
	headless := plan.request.Headless
	cmd, err := inject.CommandOf(context.Background(), plan.Launch.Program, plan.Launch.Args...)
	if err != nil {
		return &startError{err}
	}
	cmd.Dir = plan.Dir
	cmd.Env = append(p.environment(plan), capture.LaunchedFor+"="+plan.Built.Entry.Session.ID)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, p.Out, p.Err
	if headless {
		cmd.Stdin = strings.NewReader(plan.Launch.Stdin)
	}
	done, ok := p.Interrupts.Yield()
	if !ok {
		return &startError{context.Canceled}
	}
	defer func() {
		p.Interrupts.Finish() // what the agent did is saved next
		done()
	}()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	restore := p.terminalNow()
	if err := cmd.Start(); err != nil {
		return &startError{fmt.Errorf("%s cannot be started: %w", plan.Launch.Program, err)}
	}
	started(cmd.Process.Pid)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil && !headless {
				restore()
			}
			if err != nil && (headless || !leftByKey(err)) {
				return fmt.Errorf("%s ended with an error: %w", plan.Agent.Name(), err)
			}
			return nil
		case s := <-signals:
			if s != os.Interrupt || headless {
				_ = cmd.Process.Signal(s)
			}
		}
	}
}

// A startError reports that the program could not be started.
type startError struct{ Err error }

func (e *startError) Error() string { return e.Err.Error() }

func (e *startError) Unwrap() error { return e.Err }

// normalTerminal resets the screen, mouse, paste and keyboard modes that a program set,
// shows the cursor, and starts a new line.
const normalTerminal = "\x1b[?1047l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[<u\x1b[>4m\x1b[0m\x1b[?25h\r\n"

// terminalNow returns a function that restores the current terminal state, after an agent
// was killed and could not do so.
func (p Program) terminalNow() (restore func()) {
	in, ok := terminal(p.In)
	if _, out := terminal(p.Out); !ok || !out {
		return func() {}
	}
	state, err := term.GetState(in)
	return func() {
		if err == nil {
			_ = term.Restore(in, state)
		}
		_, _ = io.WriteString(p.Out, normalTerminal)
	}
}

// terminal returns the file descriptor of a stream if that is a terminal.
func terminal(stream any) (fd int, ok bool) {
	f, ok := stream.(*os.File)
	if !ok {
		return 0, false
	}
	return int(f.Fd()), term.IsTerminal(int(f.Fd()))
}

// leftByKey reports whether an agent ended because of Ctrl-C. If a second Ctrl-C comes
// while OpenCode draws its farewell, the terminal already turns it into a signal
// (1.18.33).
func leftByKey(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT || codeOfKey(exit.ExitCode())
}

// codeOfKey reports whether a program ends with the code because of Ctrl-C: as shells put it,
// or as Windows does (STATUS_CONTROL_C_EXIT).
func codeOfKey(code int) bool {
	return code == interrupt.ExitSignal+int(syscall.SIGINT) || uint32(code) == 0xC000013A
}
