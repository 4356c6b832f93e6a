package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/find"
	"cortext/cmd/internal/fork"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/history"
	"cortext/cmd/internal/interrupt"
	"cortext/cmd/internal/organise"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume"
	"cortext/store"
)

// Exit codes, the same for every command.
const (
	exitFailed      = 1 // also: no workspace
	exitUsage       = 2
	exitNotFound    = 3
	exitAmbiguous   = 4
	exitInterrupted = interrupt.ExitSignal + int(syscall.SIGINT)
)

// exitCodes describes them in every help text.
const exitCodes = "Exit codes: 0 success, 1 failure, 2 usage error, 3 not found, 4 ambiguous, 129 SIGHUP, 130 SIGINT, 143 SIGTERM."

// usageError is an invalid command line.
type usageError struct{ text, hint string }

func (e *usageError) Error() string { return e.text }

// near returns a hint with a likely spelling, or otherwise the given one.
func near(before, word, otherwise string) string {
	if word != "" {
		return fmt.Sprintf("did you mean %s%s?", before, word)
	}
	return otherwise
}

// args checks the number of arguments as cobra does, but returns a usage error that names the
// argument that is missing or unexpected. It also rejects empty ones; see [notEmpty].
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		err := check(cmd, list)
		if err == nil {
			return notEmpty(cmd, list)
		}
		text, names := err.Error(), strings.Fields(cmd.Use)[1:]
		if n := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, "[") }); n >= 0 {
			names = names[:n]
		}
		fits := len(list) - 1 // the most of the arguments that the command takes
		for fits >= 0 && check(cmd, list[:fits]) != nil {
			fits--
		}
		switch {
		case fits >= 0:
			text = fmt.Sprintf("unexpected argument %q", list[fits])
		case len(list) < len(names):
			text = "missing argument: " + strings.TrimRight(names[len(list)], ".…")
		}
		return &usageError{text, "usage: " + cmd.UseLine()}
	}
}

// notEmpty rejects empty ids, and flags with an empty value: a script passes one for a variable
// that it has not set, and means neither the current conversation nor all of them. An empty query
// chooses from a list, as none does.
func notEmpty(cmd *cobra.Command, list []string) (err error) {
	if n := cmd.ArgsLenAtDash(); n >= 0 { // the others are the agent's
		list = list[:n]
	}
	use, _, _ := strings.Cut(cmd.Use, " [-- ")
	names := strings.Fields(use)
	for i, arg := range list {
		if strings.TrimSpace(arg) != "" {
			continue
		}
		switch name := strings.Trim(names[min(i+1, len(names)-1)], "[<.>]"); {
		case name == "id":
			return &usageError{"the id of a conversation is empty", "cortext list shows the ids"}
		case strings.HasPrefix(name, "commit"):
			return &usageError{"the commit or file is empty", ""}
		case name == "words" && len(list) > 1:
			return &usageError{"one of the words is empty", ""}
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.Type() == "string" && f.Value.String() == ""
		if slice, ok := f.Value.(pflag.SliceValue); ok {
			empty = strings.Join(slice.GetSlice(), "") == ""
		}
		if empty && err == nil && f.Name != "directory" { // like git -C
			err = &usageError{"the value of --" + f.Name + " is empty", ""}
		}
	})
	return err
}

func exitCode(err error) int {
	switch {
	case errors.As(err, new(*usageError)), errors.As(err, new(*workspace.TypeError)), errors.As(err, new(*workspace.TitleError)),
		errors.As(err, new(*capture.AgentError)), errors.As(err, new(*organise.InputError)), errors.As(err, new(*fork.EmptyError)),
		errors.As(err, new(*settings.NameError)), errors.As(err, new(*settings.ValueError)), errors.Is(err, resume.ErrBudget):
		return exitUsage
	case errors.As(err, new(*workspace.NotFoundError)), errors.As(err, new(*nothingFoundError)), errors.As(err, new(*history.NumberError)),
		errors.As(err, new(*history.AtError)), errors.As(err, new(*history.BranchError)), errors.Is(err, workspace.ErrNoConversation), errors.Is(err, workspace.ErrEmpty):
		return exitNotFound
	case errors.As(err, new(*workspace.AmbiguousError)), errors.As(err, new(*workspace.WeakError)), errors.As(err, new(*workspacesError)):
		return exitAmbiguous
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	}
	return exitFailed
}

// errSilent ends a command with exit code 1 if it has already printed everything.
var errSilent = errors.New("")

// errInterrupted ends a command if the user pressed Ctrl-C while choosing from a list.
var errInterrupted = fmt.Errorf("interrupted%w", errSilent)

// hintToBegin says where conversations come from.
const hintToBegin = "cortext new starts one, cortext sync imports those of your agents in this project"

// hintToRepair says what to do about damage.
const hintToRepair = "cortext repair mends what it can; cortext repair --dry-run shows how"

func hintFor(err error) string {
	var usage *usageError
	var typ *workspace.TypeError
	var weak *workspace.WeakError
	var stopped *inject.PreflightError
	var setting *settings.NameError
	switch {
	case errors.As(err, &usage):
		return usage.hint
	case errors.As(err, &typ):
		return near("", typ.Near, "")
	case errors.As(err, &setting):
		return near("", find.NearestWord(settings.Names(), setting.Name), "cortext config shows all of them")
	case errors.As(err, new(*settings.BrokenError)):
		return "cortext config edit opens it"
	case errors.As(err, new(*git.UnansweredError)):
		return "git could not ask you anything here: if it needs a password, a passphrase or your confirmation of a host's key, run the command in a terminal, or from a hook with </dev/tty"
	case errors.As(err, new(*workspace.LeftOutError)):
		return ""
	case errors.Is(err, store.ErrNoWorkspace):
		return "run cortext init in your project's folder, or name a workspace with -C"
	case errors.As(err, new(*workspace.AmbiguousError)):
		return "name one by its id or folder"
	case errors.As(err, &weak):
		return "name it in full, or leave out --yes to be asked: " + visible(strings.TrimPrefix(weak.Match.Path, "conversations/"))
	case errors.As(err, new(*workspace.NotFoundError)):
		return "cortext list shows all of them"
	case errors.Is(err, workspace.ErrNoConversation):
		return "cortext list shows all of them; most commands take an id"
	case errors.Is(err, workspace.ErrEmpty):
		return hintToBegin
	case errors.As(err, &stopped):
		return stopped.Fix
	case errors.As(err, new(*store.Damage)):
		return hintToRepair
	case errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), "make room"):
		return "make room on the disk and run it again"
	case errors.Is(err, fs.ErrPermission) && !strings.Contains(err.Error(), "give yourself permission"):
		return "you need permission to read and write the folder and its files"
	}
	return ""
}

// flagError says in plain words what is wrong with the value of a flag.
func flagError(err error) string {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &invalid) || !errors.As(err, &number) {
		return err.Error()
	}
	flag, value := invalid.GetFlag(), invalid.GetValue()
	switch {
	case errors.Is(number, strconv.ErrRange):
		return fmt.Sprintf("--%s %s is out of range", flag.Name, value)
	case flag.Value.Type() == "bool":
		return fmt.Sprintf("--%s %q is neither true nor false", flag.Name, value)
	}
	return fmt.Sprintf("--%s %q is not a whole number", flag.Name, value)
}

// nearFlag returns a hint for an unknown flag: one with a similar name, or the command that
// has it.
func nearFlag(cmd *cobra.Command, err error) string {
	otherwise := "run " + cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return otherwise
	}
	typed := unknown.GetSpecifiedName()
	if shorthands := unknown.GetSpecifiedShortnames(); shorthands != "" && len(shorthands) > 1 {
		typed = shorthands // -json for --json
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if word := find.NearestWord(names, strings.TrimLeft(typed, "-")); word != "" {
		return near("--", word, "")
	}
	return otherwise
}
