// Package cli implements the command line: it turns arguments into calls of package flow,
// and results into text and exit codes. Only this package prints.
package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/find"
	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/openai"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume"
	"cortext/store"
)

// Exit codes, the same for every command.
const (
	exitFailed    = 1 // also: no workspace
	exitUsage     = 2
	exitNotFound  = 3
	exitAmbiguous = 4
)

const exitCodes = "Exit codes: 0 success, 1 failure, 2 usage error, 3 not found, 4 ambiguous, 130 SIGINT, 143 SIGTERM."

// A Process is the environment the program was started with.
type Process struct {
	Args       []string
	In         io.Reader
	Out, Err   io.Writer
	Agents     []inject.Agent
	Interrupts *Interrupts      // ends the program on signals
	Now        func() time.Time // time.Now
}

// app holds what every command needs.
type app struct {
	in         io.Reader
	out        io.Writer
	errw       io.Writer
	dir        string // -C
	agents     []inject.Agent
	interrupts *Interrupts
	now        func() time.Time
}

// Main runs the command line and returns the exit code. A command that fails after a
// signal returns the signal's exit code, unless it was asking a question: there Ctrl-C
// means no, with exit code 1.
func Main(ctx context.Context, p Process) int {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // otherwise the user has set one
		debug.SetMemoryLimit(softMemory)
	}
	a := &app{in: p.In, out: p.Out, errw: p.Err, agents: p.Agents, interrupts: p.Interrupts, now: p.Now}
	root := a.rootCommand(p.Args)
	root.SetArgs(p.Args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	code := a.interrupts.code()
	switch {
	case err == nil:
		return 0
	case code == 0 || errors.Is(err, errSilent):
		a.report(err)
		return exitCode(err)
	case !errors.Is(err, context.Canceled):
		a.report(err)
	}
	return code
}

// softMemory is the number of bytes above which garbage is collected more often: a
// transcript may have a line of 100 MB, and several copies of it exist at a time.
const softMemory = 384 << 20

// rootCommand builds the command line, with the command that args name or with all
// commands.
func (a *app) rootCommand(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "cortext",
		Short: "Keep conversations with AI coding agents and resume them",
		Long: `cortext saves every conversation with an AI coding agent as plain, append-only,
git-friendly files next to your code. It can resume any of them, in the same agent
or another one, within a token budget.`,
		Example:       "  cortext list\n  cortext resume \"api design\"",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
	}
	version := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case *version:
			return a.printVersion(false)
		case len(args) == 0:
			return cmd.Help()
		}
		var names []string
		for _, c := range root.Commands() {
			names = append(names, c.Name())
		}
		return &usageError{fmt.Sprintf("there is no command %q", args[0]), near("cortext ", find.NearestWord(names, args[0]), "run cortext --help for the commands")}
	}
	root.PersistentFlags().StringVarP(&a.dir, "directory", "C", "", "run as if started in `DIR`")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{err.Error(), "run " + cmd.CommandPath() + " --help"}
	})
	root.SetHelpFunc(help)
	root.SetUsageFunc(func(cmd *cobra.Command) error { help(cmd, nil); return nil })
	root.SetHelpCommand(&cobra.Command{Use: "help [command]", Hidden: true, Run: func(cmd *cobra.Command, args []string) {
		target, _, err := root.Find(args)
		if err != nil || target == nil {
			target = root
		}
		help(target, nil)
	}})
	only := commandIn(args)
	for _, c := range commands {
		if only == "" || only == c.name {
			root.AddCommand(c.make(a))
		}
	}
	return root
}

// help prints the help of a command. The example comes last, closest to the prompt.
func help(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	fmt.Fprintf(w, "%s\n\nUsage:\n", strings.TrimSpace(text))
	if cmd.Runnable() && cmd.HasParent() {
		fmt.Fprintf(w, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s <command> [flags]\n\nCommands:\n", cmd.CommandPath())
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-12s %s\n", c.Name(), c.Short)
			}
		}
	}
	if flags := cmd.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\nFlags:\n%s", flags.FlagUsages())
	}
	if flags := cmd.Root().PersistentFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\nGlobal flags:\n%s", flags.FlagUsages())
	}
	fmt.Fprintf(w, "\n%s\n", exitCodes)
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExample:\n%s\n", cmd.Example)
	}
}

// usageError is an invalid command line.
type usageError struct{ text, hint string }

func (e *usageError) Error() string { return e.text }

// near returns a hint with a likely spelling, or with what else to do.
func near(before, word, otherwise string) string {
	if word != "" {
		return fmt.Sprintf("did you mean %s%s?", before, word)
	}
	return otherwise
}

// args checks the number of arguments as cobra does, but returns a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		if err := check(cmd, list); err != nil {
			return &usageError{err.Error(), "usage: " + cmd.UseLine()}
		}
		return nil
	}
}

func exitCode(err error) int {
	var usage *usageError
	var typ *workspace.TypeError
	var agent *capture.AgentError
	var title *workspace.TitleError
	var missing *workspace.NotFoundError
	var number *flow.NumberError
	var ambiguous *workspace.AmbiguousError
	switch {
	case errors.As(err, &usage), errors.As(err, &typ), errors.As(err, &agent), errors.As(err, &title), errors.Is(err, resume.ErrBudget):
		return exitUsage
	case errors.As(err, &missing), errors.As(err, &number), errors.Is(err, workspace.ErrNoConversation):
		return exitNotFound
	case errors.As(err, &ambiguous):
		return exitAmbiguous
	}
	return exitFailed
}

// errSilent ends a command with exit code 1 if it has already printed everything.
var errSilent = errors.New("")

// report prints an error and what to do next.
func (a *app) report(err error) {
	if errors.Is(err, errSilent) {
		return
	}
	fmt.Fprintf(a.errw, "cortext: error: %s\n", visible(err.Error()))
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(a.errw, "cortext: hint: %s\n", visible(hint))
	}
	var missing *workspace.NotFoundError
	var ambiguous *workspace.AmbiguousError
	switch {
	case errors.As(err, &missing) && len(missing.Near) > 0:
		fmt.Fprintln(a.errw, "the nearest are:")
		a.table(a.errw, missing.Near)
	case errors.As(err, &ambiguous):
		a.table(a.errw, ambiguous.Candidates)
	}
}

func hintFor(err error) string {
	var usage *usageError
	var typ *workspace.TypeError
	var ambiguous *workspace.AmbiguousError
	var missing *workspace.NotFoundError
	var stopped *inject.PreflightError
	switch {
	case errors.As(err, &usage):
		return usage.hint
	case errors.As(err, &typ):
		return near("", typ.Near, "")
	case errors.Is(err, store.ErrNoWorkspace):
		return "run cortext init in the folder that your work is in, or name it with -C"
	case errors.As(err, &ambiguous):
		return "name one by its id or folder"
	case errors.As(err, &missing):
		return "cortext list shows all of them"
	case errors.Is(err, workspace.ErrNoConversation):
		return "name one: cortext list shows all of them"
	case errors.As(err, &stopped):
		return stopped.Fix
	case errors.Is(err, fs.ErrPermission):
		return "the folder and its files must be writable by you"
	}
	return ""
}

// warn prints warnings, one per line.
func (a *app) warn(texts ...string) {
	for _, t := range texts {
		fmt.Fprintf(a.errw, "cortext: warning: %s\n", visible(t))
	}
}

// folder returns the absolute folder that the command works in.
func (a *app) folder() (string, error) {
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s is not a folder", dir)
	}
	return dir, err
}

// file resolves a file named on the command line, relative to -C.
func (a *app) file(name string) string {
	if a.dir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.dir, name)
}

// open opens the command's workspace and prints what failed in hooks since the last
// command. cmd tells other processes who holds a lock.
func (a *app) open(cmd *cobra.Command) (*flow.Workspace, error) {
	w, err := a.openQuietly(cmd)
	if err == nil {
		for _, text := range a.hooks().TakeUntold(w) {
			a.warn("a hook failed: " + text)
		}
	}
	return w, err
}

// openQuietly is open for commands that agents and cortext itself call, where no user
// would read what failed in hooks.
func (a *app) openQuietly(cmd *cobra.Command) (*flow.Workspace, error) {
	dir, err := a.folder()
	if err != nil {
		return nil, err
	}
	w, err := openFlow(a.env(cmd, dir))
	if err != nil {
		return nil, err
	}
	a.warn(w.Warnings...)
	a.relink()
	return w, nil
}

// openFlow opens a workspace that can call a model endpoint.
func openFlow(env workspace.Env) (*flow.Workspace, error) {
	w, err := flow.Open(env)
	if err == nil {
		w.Endpoint = func(url, model, key string) flow.Summarizer {
			return openai.Endpoint{BaseURL: url, Model: model, Key: key}
		}
	}
	return w, err
}

// A command runs in an open workspace.
type command func(cmd *cobra.Command, w *flow.Workspace, args []string) error

// within runs a command in the workspace of the current folder.
func (a *app) within(run command) func(*cobra.Command, []string) error {
	return a.runIn(a.open, run)
}

// quietlyWithin is within for commands whose output no user reads.
func (a *app) quietlyWithin(run command) func(*cobra.Command, []string) error {
	return a.runIn(a.openQuietly, run)
}

func (a *app) runIn(open func(*cobra.Command) (*flow.Workspace, error), run command) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, list []string) error {
		w, err := open(cmd)
		if err != nil {
			return err
		}
		defer a.close(cmd.Context(), w)
		err = run(cmd, w, list)
		a.warn(w.TakeWarnings()...)
		return err
	}
}

// env returns the environment for package flow, as seen from dir.
func (a *app) env(cmd *cobra.Command, dir string) workspace.Env {
	return workspace.Env{
		Dir:     dir,
		Machine: a.machine(),
		Now:     a.now,
		Rand:    rand.Reader,
		Holder:  fmt.Sprintf("%s, pid %d", cmd.CommandPath(), os.Getpid()),
		Agents:  a.agents,
	}
}
