package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"cortext/cmd/internal/launch"
	"cortext/cmd/internal/shell"
	"cortext/store"
)

// runLaunch resumes a conversation in an agent.
func runLaunch(ctx context.Context, a *app, w *opened, e store.Entry, o resumeOptions) error {
	if !o.headless && !a.terminal.present() {
		return noTerminal()
	}
	if err := a.confirmCompleted(ctx, e); err != nil {
		return err
	}
	if err := a.pauseIdle(ctx, w); err != nil {
		return err
	}
	l := w.launcher()
	e, err := l.CatchUp(ctx, e)
	if err != nil {
		a.screen.warn(err.Error())
	}
	a.notices(w).lost(ctx, e)
	p, err := l.Plan(ctx, e, o.launchOptions())
	if err != nil {
		return err
	}
	a.notices(w).built(p.Built)
	printStarting(a.screen, p)
	closed := make(chan os.Signal, 1) // if the terminal closes, still save what the agent did
	signal.Notify(closed, syscall.SIGHUP)
	defer signal.Stop(closed)
	ctx = context.WithoutCancel(ctx)
	run, err := l.Prepare(ctx, p, launch.Program{In: a.In, Out: a.Out, Err: a.Err, Environ: environ(), Interrupts: a.Interrupts})
	if err != nil {
		return err
	}
	a.screen.paused(run.Paused)
	after, err := run.Start(ctx)
	if after == nil {
		return err
	}
	printLaunched(a.screen, p.Agent.Name(), after)
	a.notices(w).waiting(after.Entry)
	return errors.Join(err, unsaved(after.Entry, after.Unsaved))
}

// noTerminal is the error of a launch that would need a terminal.
func noTerminal() error {
	return &usageError{"there is no terminal for the agent", "-p TEXT runs one turn without a terminal, --print prints the payload"}
}

// environ returns our environment, with cortext on the PATH for the agent's tools.
func environ() []string {
	env := os.Environ()
	self, err := os.Executable()
	if _, notFound := exec.LookPath("cortext"); err == nil && notFound != nil {
		env = append(env, "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(self))
	}
	return env
}

// printStarting prints on a terminal what the agent will get.
func printStarting(on screen, p *launch.Plan) {
	if !isTerminal(on.errw) {
		return
	}
	s, got := p.Built.Entry.Session, p.Built.Payload
	fmt.Fprintf(on.errw, "Starting %s on %s / %s: %d of %s, %d tokens of at most %d (%s)\n", p.Agent.Name(), oneLine(s.ConversationType), oneLine(s.DisplayTitle()),
		got.Included, count(got.Original, "message"), got.Tokens, got.Budget, got.Strategy)
}

// printLaunched prints on a terminal how the conversation ended.
func printLaunched(on screen, agent string, after *launch.Result) {
	if after.Unsaved != nil || !isTerminal(on.errw) {
		return
	}
	s, done := after.Entry.Session, "Saved"
	if after.Unused {
		done = "No new messages in " + agent
	}
	fmt.Fprintf(on.errw, "%s: %s (%s, %s). Resume it with: %s\n", done, oneLine(s.DisplayTitle()), s.Status, count(s.MessageCount, "message"), shell.Quote("cortext", "resume", s.ID))
}
