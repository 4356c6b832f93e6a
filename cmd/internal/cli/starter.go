package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"cortext/cmd/internal/fork"
	"cortext/cmd/internal/history"
	"cortext/cmd/internal/launch"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/shell"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A starter starts an agent with a conversation of a workspace, or says how it would.
type starter struct {
	app      *app
	w        *opened
	launcher *launch.Launcher
	options  resumeOptions
}

func newStarter(a *app, w *opened, o resumeOptions) starter {
	return starter{a, w, w.launcher(), o}
}

// resume resumes a conversation in an agent.
func (s starter) resume(ctx context.Context, e store.Entry) error {
	a := s.app
	if !s.options.headless && !a.terminal.present() {
		return noTerminal()
	}
	if err := confirmCompleted(ctx, a.terminal, e); err != nil {
		return err
	}
	if err := pauseIdle(ctx, a, s.w); err != nil {
		return err
	}
	e, err := s.launcher.CatchUp(ctx, e)
	if err != nil {
		a.screen.warn(err.Error())
	}
	say := a.notices(s.w)
	say.lost(ctx, e)
	p, err := s.launcher.Plan(ctx, e, s.options.launchOptions())
	if err != nil {
		return err
	}
	say.built(p.Built)
	printStarting(a.screen, p)
	closed := make(chan os.Signal, 1) // if the terminal closes, still save what the agent did
	signal.Notify(closed, syscall.SIGHUP)
	defer signal.Stop(closed)
	ctx = context.WithoutCancel(ctx)
	run, err := s.launcher.Prepare(ctx, p, launch.Program{In: a.In, Out: a.Out, Err: a.Err, Environ: environ(), Interrupts: a.Interrupts})
	if err != nil {
		return err
	}
	a.screen.paused(run.Paused)
	after, err := run.Start(ctx)
	if after == nil {
		return err
	}
	printLaunched(a.screen, p.Agent.Name(), after)
	say.waiting(after.Entry)
	return errors.Join(err, unsaved(after.Entry, after.Unsaved))
}

// start starts a conversation in an agent. It creates nothing if the agent cannot start.
func (s starter) start(ctx context.Context, chat newChat) error {
	with := s.options.launchOptions()
	with.Agent = cmp.Or(s.options.agent, s.w.caller().Agent())
	if err := s.launcher.Ready(with); err != nil {
		return err
	}
	e, paused, err := s.w.caller().Start(chat.typ, chat.topic)
	if err != nil {
		return err
	}
	s.app.screen.paused(paused)
	fmt.Fprintln(s.app.screen.errw, visible(e.Path))
	if err := s.resume(ctx, e); err != nil {
		return errors.Join(err, s.w.Pause(e.Path)) // no agent has it open
	}
	return nil
}

// fork forks a conversation and starts an agent on the new one.
func (s starter) fork(ctx context.Context, e store.Entry, at history.Choice) error {
	e, err := s.launcher.CatchUp(ctx, e)
	if err != nil {
		s.app.screen.warn(err.Error())
	}
	if err := s.ready(ctx, e); err != nil {
		return err
	}
	if e, err = makeFork(s.app.screen, s.w, s.w, e, fork.Options{Choice: at}); err != nil {
		return err
	}
	return s.resume(ctx, e)
}

// ready reports what would prevent an agent from starting, before a conversation is
// created for it. It changes nothing on disk.
func (s starter) ready(ctx context.Context, e store.Entry) error {
	if !s.options.headless && !s.app.terminal.present() {
		return &usageError{"there is no terminal for the agent", "-p TEXT runs one turn without a terminal"}
	}
	_, err := s.launcher.Plan(ctx, e, s.options.launchOptions())
	return err
}

// preview prints what a launch would send, or with --dry-run also how.
func (s starter) preview(ctx context.Context, e store.Entry) error {
	s.app.notices(s.w).lost(ctx, e)
	if n := s.launcher.Behind(e); n > 0 {
		s.app.screen.warn(fmt.Sprintf("the end of %s is not captured yet: run cortext stop, or cortext resume without --print", count(n, "transcript")))
	}
	if s.options.dryRun {
		return s.dryRun(ctx, e)
	}
	return s.print(ctx, e)
}

// print prints the payload.
func (s starter) print(ctx context.Context, e store.Entry) error {
	built, err := s.options.build(ctx, s.w, e)
	if err != nil {
		return err
	}
	s.app.notices(s.w).built(built)
	return printPayload(s.app.screen, built.Payload)
}

// dryRun prints what a launch would deliver and how. If the launch is not possible, it
// returns the reason after printing everything else.
func (s starter) dryRun(ctx context.Context, e store.Entry) error {
	plan, planErr := s.launcher.Plan(ctx, e, s.options.launchOptions())
	if planErr != nil && !errors.As(planErr, new(*inject.PreflightError)) {
		return planErr
	}
	var built *payload.Built
	if plan != nil {
		built = plan.Built
	} else {
		var err error
		if built, err = s.options.build(ctx, s.w, e); err != nil {
			return err
		}
	}
	s.app.notices(s.w).built(built)
	if s.app.screen.asJSON {
		return errors.Join(s.app.screen.json(plannedOf(rowOf(s.w.Workspace, built.Entry), built, plan)), planErr)
	}
	printPlan(s.app.screen, built, plan)
	return planErr
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
	history := fmt.Sprintf("%d of %s, %d tokens of at most %d (%s)", got.Included, count(got.Original, "message"), got.Tokens, got.Budget, got.Strategy)
	if got.Original == 0 {
		history = "no messages yet"
	}
	fmt.Fprintf(on.errw, "Starting %s on %s / %s: %s\n", p.Agent.Name(), oneLine(s.ConversationType), oneLine(s.DisplayTitle()), history)
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
	fmt.Fprintf(on.errw, "%s: %s (%s, %s). Resume it with: %s\n", done, oneLine(s.DisplayTitle()), s.Status, count(s.MessageCount, "message"), commandToResume(s))
}

// commandToResume returns what the user types to resume a conversation.
func commandToResume(s *schema.Session) string { return shell.Quote("cortext", "resume", s.ID) }
