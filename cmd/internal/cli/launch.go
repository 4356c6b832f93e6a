package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// pick returns the conversation that query matches. If several match and the user is at a
// terminal, it asks: a numbered list needs only a line of input, and works with a screen
// reader.
func (a *app) pick(ctx context.Context, w *flow.Workspace, query string) (store.Entry, error) {
	var candidates []store.Entry
	if query == "" {
		all, err := w.Listed()
		if err != nil {
			return store.Entry{}, err
		}
		if len(all) == 0 {
			return store.Entry{}, workspace.ErrNoConversation
		}
		candidates = all
	} else {
		e, err := w.Pick(query)
		var ambiguous *workspace.AmbiguousError
		if !errors.As(err, &ambiguous) {
			return e, err
		}
		candidates = ambiguous.Candidates
	}
	if !isTerminal(a.out) || !isTerminal(a.in) {
		return store.Entry{}, &workspace.AmbiguousError{Query: query, Candidates: candidates}
	}
	for {
		a.choices(candidates)
		fmt.Fprintf(a.out, "Which one? (1-%d, or words; nothing to leave) ", len(candidates))
		line, err := a.line(ctx)
		if err != nil {
			return store.Entry{}, err
		}
		if line == "" {
			return store.Entry{}, errSilent
		}
		var n int
		if _, err := fmt.Sscanf(line, "%d", &n); err == nil && fmt.Sprint(n) == line && n >= 1 && n <= len(candidates) {
			return candidates[n-1], nil
		}
		e, err := w.Pick(line)
		var ambiguous *workspace.AmbiguousError
		switch {
		case err == nil:
			return e, nil
		case errors.As(err, &ambiguous):
			candidates = ambiguous.Candidates
		default:
			fmt.Fprintln(a.out, visible(err.Error()))
		}
	}
}

// choices prints a numbered list: type, title, when, status, summary.
func (a *app) choices(entries []store.Entry) {
	for i, e := range entries {
		s := e.Session
		fmt.Fprintf(a.out, "%3d  %s / %s  (%s, %s)\n", i+1, oneLine(s.ConversationType), bold(a.out, oneLine(s.DisplayTitle())), workspace.ShownStatus(e), a.ago(s))
		if s.ContextSummary != "" {
			fmt.Fprintf(a.out, "     %s\n", cut(oneLine(s.ContextSummary), 110))
		}
	}
}

// confirmCompleted asks before resuming a completed conversation.
func (a *app) confirmCompleted(ctx context.Context, e store.Entry) error {
	if e.Session.Status != schema.Completed {
		return nil
	}
	title := oneLine(e.Session.DisplayTitle())
	if !isTerminal(a.out) || !isTerminal(a.in) {
		return fmt.Errorf("%s is completed: %s opens it again", title, shell.Quote("cortext", "status", e.Session.ID, "active"))
	}
	yes, err := a.ask(ctx, fmt.Sprintf("%s is completed. Take it up again?", title))
	if err == nil && !yes {
		err = errSilent
	}
	return err
}

// ask asks the user at the terminal; no answer means no.
func (a *app) ask(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(a.out, "%s [y/N] ", question)
	line, err := a.line(ctx)
	line = strings.ToLower(line)
	return line == "y" || line == "yes", err
}

// line reads a line from the user at the terminal, without surrounding space. Ctrl-C ends
// the wait and the command.
func (a *app) line(ctx context.Context) (string, error) {
	typed := make(chan string, 1)
	go func() {
		var b [1]byte
		var line []byte
		for { // byte by byte: the rest is for the agent
			n, err := a.in.Read(b[:])
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
		fmt.Fprintln(a.out)
		return "", errSilent
	}
}

// launch resumes a conversation in an agent.
func (a *app) launch(ctx context.Context, w *flow.Workspace, e store.Entry, o resumeOptions) error {
	if !o.Headless && (!isTerminal(a.in) || !isTerminal(a.out)) {
		return &usageError{"there is no terminal for the agent", "-p TEXT runs one turn without a terminal, --print writes what the agent would get"}
	}
	if err := a.confirmCompleted(ctx, e); err != nil {
		return err
	}
	if err := a.pauseIdle(ctx, w); err != nil {
		return err
	}
	e, err := w.CatchUpWith(ctx, e)
	if err != nil {
		a.warn(err.Error())
	}
	a.warnLost(ctx, w, e)
	p, err := w.Plan(ctx, e, o.LaunchOptions)
	if err != nil {
		return err
	}
	a.warnResumed(p.Resumed)
	if isTerminal(a.errw) {
		r := p.Resumed
		fmt.Fprintf(a.errw, "Starting %s on %s / %s: %d of %d messages, %d tokens of at most %d (%s)\n", p.Agent.Name(), oneLine(e.Session.ConversationType), oneLine(e.Session.DisplayTitle()),
			r.Payload.Included, r.Payload.Original, r.Payload.Tokens, r.Payload.Budget, r.Payload.Strategy)
	}
	closed := make(chan os.Signal, 1) // the terminal closed: still save what the agent did
	signal.Notify(closed, syscall.SIGHUP)
	defer signal.Stop(closed)
	after, err := w.Run(context.WithoutCancel(ctx), p, a.prepare, func(p *flow.Planned) error {
		a.sayPaused(p.Paused)
		return a.start(p, e, o.Headless)
	})
	if after == nil {
		return err
	}
	for _, warning := range after.Warnings {
		a.warn(warning.Error())
	}
	if after.Unsaved == nil && isTerminal(a.errw) {
		s, done := after.Entry.Session, "Saved"
		if after.Unused {
			done = "Nothing was said in " + p.Agent.Name()
		}
		fmt.Fprintf(a.errw, "%s: %s (%s, %d messages). Take it up again with: %s\n", done, oneLine(s.DisplayTitle()), s.Status, s.MessageCount, shell.Quote("cortext", "resume", s.ID))
	}
	a.sayWaiting(w, after.Entry)
	return errors.Join(err, a.unsaved(after))
}

// prepare runs the agent's program with the launch's preparation arguments. Its output is
// shown only if it fails.
func (a *app) prepare(p *flow.Planned) error {
	defer a.interrupts.finish()() // otherwise an interrupt would leave the files it creates
	cmd := exec.Command(p.Launch.Program, p.Launch.Import...)
	cmd.Dir, cmd.Env = p.Dir, environment(p)
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", p.Launch.Program, strings.Join(p.Launch.Import, " "), err, cut(oneLine(strings.TrimSpace(string(said))), 500))
	}
	return nil
}

// environment returns our environment without the variables that the program must not
// inherit, and with cortext on the PATH for the agent's tools.
func environment(p *flow.Planned) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == capture.LaunchedFor || slices.Contains(p.Launch.Unset, name)
	})
	self, err := os.Executable()
	if _, notFound := exec.LookPath("cortext"); err == nil && notFound != nil {
		env = append(env, "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(self))
	}
	return env
}

// start runs the agent to its end. Ctrl-C from the terminal goes to the agent only;
// signals that others send to us are passed on.
func (a *app) start(p *flow.Planned, e store.Entry, headless bool) error {
	cmd := exec.Command(p.Launch.Program, p.Launch.Args...)
	cmd.Dir = p.Dir
	cmd.Env = append(environment(p), capture.LaunchedFor+"="+e.Session.ID)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, a.out, a.errw
	if headless {
		cmd.Stdin = strings.NewReader(p.Launch.Stdin)
	}
	done, ok := a.interrupts.yield()
	if !ok {
		return &flow.StartError{Err: context.Canceled}
	}
	defer func() {
		a.interrupts.finish() // what the agent did is saved next
		done()
	}()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	restore := a.terminalNow()
	if err := cmd.Start(); err != nil {
		return &flow.StartError{Err: fmt.Errorf("%s cannot be started: %w", p.Launch.Program, err)}
	}
	p.Started(cmd.Process.Pid)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil && !headless {
				restore()
			}
			if err != nil && (headless || !leftByKey(err)) {
				return fmt.Errorf("%s ended with an error: %w", p.Agent.Name(), err)
			}
			return nil
		case s := <-signals:
			if s != os.Interrupt || headless {
				_ = cmd.Process.Signal(s)
			}
		}
	}
}

// normalTerminal resets the screen, mouse, paste and keyboard modes that a program set,
// shows the cursor, and starts a new line.
const normalTerminal = "\x1b[?1047l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[<u\x1b[>4m\x1b[0m\x1b[?25h\r\n"

// terminalNow returns a function that restores the current terminal state, after an agent
// was killed and could not do so.
func (a *app) terminalNow() (restore func()) {
	in, ok := a.in.(*os.File)
	if !ok || !isTerminal(in) || !isTerminal(a.out) {
		return func() {}
	}
	state, err := term.GetState(int(in.Fd()))
	return func() {
		if err == nil {
			_ = term.Restore(int(in.Fd()), state)
		}
		_, _ = io.WriteString(a.out, normalTerminal)
	}
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
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT || exit.ExitCode() == exitSignal+int(syscall.SIGINT)
}

func (a *app) tidyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "tidy",
		Short:   "Remove unused agent sessions (called by cortext)",
		Long:    "Asks the agents to remove sessions that cortext started and that you never used. cortext runs it by itself.",
		Example: "  cortext tidy",
		Hidden:  true,
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := a.openQuietly(cmd)
			if err != nil {
				return err
			}
			defer w.Close() // not a.close, which calls this
			for _, err := range w.RemoveUnused(cmd.Context()) {
				a.hooks().Failed(w, "", "tidy", err)
			}
			return nil
		},
	}
}
