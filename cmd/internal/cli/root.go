// Package cli implements the command line: each command has a file, which turns arguments
// into calls of the packages that do the work, and results into text and exit codes. Only
// this package prints.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/find"
	"cortext/cmd/internal/interrupt"
	"cortext/inject"
)

// A Process is the environment the program was started with.
type Process struct {
	Args       []string
	In         io.Reader
	Out, Err   io.Writer
	Agents     []inject.Agent
	Interrupts *interrupt.Interrupts // ends the program on signals
	Now        func() time.Time      // time.Now
}

// An app is one run of the program.
type app struct {
	Process
	dir      string // -C
	screen   screen
	terminal terminal
}

func newApp(p Process) *app {
	return &app{Process: p, screen: screen{p.Out, p.Err, p.Now}, terminal: terminal{p.In, p.Out}}
}

// Main runs the command line and returns the exit code. A command that fails after a
// signal returns the signal's exit code, unless it was asking for a yes: there Ctrl-C
// means no, with exit code 1.
func Main(ctx context.Context, p Process) int {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // otherwise the user has set one
		debug.SetMemoryLimit(softMemory)
	}
	a := newApp(p)
	root := a.rootCommand(p.Args)
	root.SetArgs(p.Args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	code := p.Interrupts.Code()
	switch {
	case err == nil:
		return 0
	case code == 0 || errors.Is(err, errSilent):
		a.screen.report(err)
		return exitCode(err)
	case !errors.Is(err, context.Canceled):
		a.screen.report(err)
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
			return printVersion(a.screen, false)
		case len(args) == 0:
			return a.begin(cmd)
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
