// Package cli implements the command line: each command has a file, which turns arguments
// into calls of the packages that do the work, and results into text and exit codes. Only
// this package prints.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/interrupt"
	"cortext/cmd/internal/picker"
	"cortext/inject"
)

// A Process is the environment the program was started with.
type Process struct {
	Args       []string
	In         io.Reader
	Out, Err   io.Writer
	Agents     []inject.Agent
	Machine    inject.Machine
	Interrupts *interrupt.Interrupts // ends the program on signals
	Now        func() time.Time      // time.Now
	Pick       picker.Picker         // nil: cortext-picker has it
}

// An app is one run of the program.
type app struct {
	Process
	dir      string // -C
	printed  *printed
	screen   screen
	terminal terminal
	pager    pager
	collects bool // the user has not set how garbage is collected
}

func newApp(p Process) *app {
	out := &printed{Writer: p.Out}
	on := screen{out: out, errw: p.Err, now: p.Now, home: p.Machine.Home}
	return &app{Process: p, printed: out, screen: on, terminal: terminal{p.In, p.Out}, pager: pager{screen: on, interrupts: p.Interrupts}}
}

// Main runs the command line and returns the exit code. A command that fails after a signal
// returns the signal's exit code. At a yes-or-no question Ctrl-C means no, with exit code
// 1.
func Main(ctx context.Context, p Process) int {
	collects := debug.SetMemoryLimit(-1) == math.MaxInt64
	if collects { // unless the user has set a limit
		debug.SetMemoryLimit(softMemory)
		debug.SetGCPercent(garbagePercent)
	}
	a := newApp(p)
	a.collects = collects
	if len(p.Args) == 0 && p.Pick == nil && a.fullScreen() { // before anything else, so that the screen appears sooner
		if err := a.goOnWithPicker(); err != nil {
			a.screen.warn(err.Error())
		}
	}
	args := withCommand(p.Args)
	root := rootCommand(a, args)
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(a.printed)
	root.SetErr(p.Err)
	err := checkAttached(args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	err = cmp.Or(err, a.printed.failed)
	code := p.Interrupts.Code()
	switch {
	case err == nil:
		return 0
	case code == 0 || errors.Is(err, errSilent):
		a.screen.report(err)
		return exitCode(err)
	case !errors.Is(err, context.Canceled) && !git.Ended(err):
		a.screen.report(err)
	}
	return code
}

// softMemory is the number of bytes above which garbage is collected more often. A
// transcript may have a line of 100 MB, and several copies of it exist at a time.
const softMemory = 384 << 20

// garbagePercent lets garbage grow to twice what is in use before it is collected. Go's 100
// would cost an import 15 percent more CPU time and save 20 percent of its memory.
const garbagePercent = 200

// An import uses little memory for most transcripts. So garbage may grow more, which saves a
// twentieth of the CPU time, as long as the program needs less than importMemory, in bytes.
// That limit must stay well above what is in use, or garbage would be collected all the time:
// so it is higher if much is in use already, and for large transcripts.
const (
	importGarbagePercent = 600
	importMemory         = 40 << 20
	memoryInUse          = 2 // bytes for each that is in use
	memoryOfFile         = 4 // bytes for each of a transcript, which may need three
)

// collectFor sets how garbage is collected while transcripts are imported.
func (a *app) collectFor(files ...string) {
	if !a.collects {
		return
	}
	size := int64(0)
	for _, file := range files {
		size += fileSize(file)
	}
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(inUse)
	need := memoryInUse*int64(inUse[0].Value.Uint64()) + memoryOfFile*min(size, softMemory)
	debug.SetGCPercent(importGarbagePercent)
	debug.SetMemoryLimit(min(max(importMemory, need), softMemory))
}

// rootCommand builds the command line with the command that args name, or with all
// commands.
func rootCommand(a *app, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "cortext",
		Short: "Keep conversations with AI coding agents and resume them",
		Long: `cortext saves every conversation with an AI coding agent as plain, append-only,
git-friendly files next to your code. It can resume any of them, in the same agent
or another one, within a token budget.`,
		Example:       "  cortext init\n  cortext list\n  cortext resume \"api design\"\n  cortext -r \"api design\" --agent gemini",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
	}
	version := root.Flags().Bool("version", false, "print the version")
	defineStart(root.Flags(), new(bool)) // only for the help: withCommand turns them into flags of chat
	defineChoice(root.Flags(), new(string))
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case *version:
			return printVersion(a.screen)
		case len(args) == 0 && a.inWorkspace():
			chat := chatCommand(a)
			chat.SetContext(cmd.Context())
			return chat.RunE(chat, nil)
		case len(args) == 0:
			if _, err := a.folder(); err != nil {
				return err
			}
			return cmd.Help()
		}
		return unknownCommand(root, args[0])
	}
	root.PersistentFlags().StringVarP(&a.dir, "directory", "C", "", "run as if started in `DIR`")
	root.PersistentFlags().BoolVar(&a.pager.off, "no-pager", false, "print long output without a pager")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{flagError(err), nearFlag(cmd, err)}
	})
	addHelp(root, &a.pager)
	for _, group := range groups {
		root.AddGroup(&cobra.Group{ID: group, Title: group})
	}
	only := commandIn(args)
	for _, c := range commands {
		if only == "" || only == c.name {
			cmd := c.make(a)
			cmd.GroupID = c.group
			root.AddCommand(cmd)
		}
	}
	if only == "" && slices.Contains(args, "man") {
		root.AddCommand(manCommand(a))
	}
	if completing(args) {
		completer{a}.register(root)
	}
	return root
}

// inWorkspace reports whether a user at a terminal is in a workspace.
func (a *app) inWorkspace() bool {
	if !a.terminal.present() {
		return false
	}
	_, err := a.root()
	return err == nil
}
