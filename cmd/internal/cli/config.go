package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

func configCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change settings",
		Long: `Shows every setting with its value and where the value comes from. Later
sources override earlier ones: the default; .workspace/config.yaml, which is committed; your
own ~/.config/cortext/config.yaml; the variable CORTEXT_<NAME>, such as CORTEXT_AUTOSAVE; a
flag, where a command has one.

Some values send conversations to a model: summarizer agent and openai. In
.workspace/config.yaml they apply to you only after cortext trust. cortext config set
--user summarizer agent chooses one for all your workspaces.`,
		Example: "  cortext config\n  cortext config set idle_minutes 10\n  cortext config set --user summarizer agent",
		Args: func(_ *cobra.Command, list []string) error {
			if len(list) == 0 {
				return nil
			}
			return &usageError{fmt.Sprintf("there is no command \"config %s\"", list[0]), "run cortext config --help"}
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withSettings(cmd, a, func(l located) error { return showSettings(a.screen, l) })
		},
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print JSON")
	cmd.AddCommand(configGetCommand(a), configSetCommand(a), configUnsetCommand(a), configEditCommand(a))
	return cmd
}

func configGetCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "get <name>",
		Short:   "Print the value of a setting",
		Long:    "Prints only the effective value of a setting.",
		Example: "  cortext config get summarizer",
		Args:    args(cobra.ExactArgs(1)),

		ValidArgsFunction: completeSetting,
		RunE: func(cmd *cobra.Command, list []string) error {
			return withSettings(cmd, a, func(l located) error {
				v, err := l.settings.Find(list[0])
				if err != nil {
					return err
				}
				if a.screen.asJSON {
					return a.screen.json(l.setting(v))
				}
				fmt.Fprintln(a.screen.out, v.Text)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print JSON")
	return cmd
}

// completeSetting completes the name of a setting and, for config set, its value.
func completeSetting(cmd *cobra.Command, list []string, _ string) (words []string, _ cobra.ShellCompDirective) {
	switch {
	case len(list) == 0:
		words = settings.Names()
	case len(list) == 1 && cmd.Name() == "set":
		words = settings.Words(list[0])
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// userFlag defines the flag that selects the user's own file.
func userFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("user", false, "change your own file, for all workspaces, instead of .workspace/config.yaml")
}

func configSetCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set <name> <value>",
		Short: "Set a setting",
		Long: `Sets a setting in .workspace/config.yaml or, with --user, in your own config.yaml. It
keeps the comments and the order of lines.`,
		Example: "  cortext config set idle_minutes 10\n  cortext config set --user summarizer agent",
		Args:    args(cobra.ExactArgs(2)),

		ValidArgsFunction: completeSetting,
		RunE: func(cmd *cobra.Command, list []string) error {
			return withFile(cmd, a, func(l located, f settings.File) error {
				spelled, changed, err := settings.Set(f, list[0], list[1])
				if err != nil {
					return err
				}
				already := ""
				if !changed {
					already = " already"
				}
				fmt.Fprintf(a.screen.out, "%s: %s%s, in %s\n", list[0], spelled, already, visible(f.Name))
				return l.changed(a.screen, list[0])
			})
		},
	}
	userFlag(cmd)
	return cmd
}

func configUnsetCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unset <name>",
		Short: "Remove a setting from a file",
		Long: `Removes a setting from .workspace/config.yaml or, with --user, from your own config.yaml.
The value that it overrode applies again.`,
		Example: "  cortext config unset --user summarizer",
		Args:    args(cobra.ExactArgs(1)),

		ValidArgsFunction: completeSetting,
		RunE: func(cmd *cobra.Command, list []string) error {
			return withFile(cmd, a, func(l located, f settings.File) error {
				found, err := settings.Unset(f, list[0])
				switch {
				case err != nil:
					return err
				case !found:
					fmt.Fprintf(a.screen.out, "%s does not set %s, nothing to do\n", visible(f.Name), list[0])
					return nil
				}
				fmt.Fprintf(a.screen.out, "removed %s from %s\n", list[0], visible(f.Name))
				return l.changed(a.screen, list[0])
			})
		},
	}
	userFlag(cmd)
	return cmd
}

func configEditCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Edit the settings in your editor",
		Long: `Opens .workspace/config.yaml or, with --user, your own config.yaml in $VISUAL or $EDITOR,
and then checks it. It keeps what you wrote, even if it is not valid.`,
		Example: "  cortext config edit --user",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withFile(cmd, a, func(_ located, f settings.File) error {
				return editSettings(cmd.Context(), a, f)
			})
		},
	}
	userFlag(cmd)
	return cmd
}

// Located settings are the settings that apply in a folder, which may be outside a workspace.
type located struct {
	settings *settings.Loaded
	load     func() *settings.Loaded // reads them again
	ws       *opened                 // nil outside a workspace
	own      settings.File
	user     bool // change own instead of the workspace's file
}

// withSettings runs do with the settings that apply in the current folder.
func withSettings(cmd *cobra.Command, a *app, do func(located) error) error {
	m := a.Machine
	l := located{own: settings.OfUser(m, workspace.StateDir(m))}
	l.user, _ = cmd.Flags().GetBool("user") // commands that only read settings do not have it
	w, err := a.open(cmd)
	switch {
	case err == nil:
		defer w.Close()
		l.ws, l.settings = w, w.Settings
		l.load = func() *settings.Loaded { w.ReadSettings(); return w.Settings }
	case errors.Is(err, store.ErrNoWorkspace):
		l.load = func() *settings.Loaded { return settings.Load(settings.Sources{User: l.own, Getenv: m.Getenv}) }
		l.settings = l.load()
		a.screen.warn(l.settings.Warnings...)
	default:
		return err
	}
	return do(l)
}

// withFile is withSettings for a command that changes a file.
func withFile(cmd *cobra.Command, a *app, do func(located, settings.File) error) error {
	return withSettings(cmd, a, func(l located) error {
		switch {
		case l.user:
			return do(l, l.own)
		case l.ws == nil:
			return fmt.Errorf("%w; --user changes your own file", store.ErrNoWorkspace)
		}
		return do(l, settings.InWorkspace(l.ws.Store))
	})
}

// changed reports why a changed setting may not have the effect that the user expects.
func (l located) changed(on screen, name string) error {
	now := l.load()
	v, err := now.Find(name)
	if err != nil {
		return err
	}
	if l.ws != nil { // commit decides what git status lists
		if err := l.ws.Repository.Exclude(); err != nil {
			on.warn(err.Error())
		}
	}
	for _, g := range now.Guarded {
		if g.Name == name && !g.Trusted && !l.user {
			fmt.Fprintf(on.errw, "%s %s: it applies after cortext trust\n", g.Value, g.Why)
		}
	}
	switch from := v.Origin.Layer; {
	case from == settings.FromEnvironment:
		fmt.Fprintf(on.errw, "%s overrides it here: %s is %s\n", v.Origin.Variable, name, v.Text)
	case from == settings.FromUser && !l.user:
		fmt.Fprintf(on.errw, "your own %s overrides it: %s is %s\n", visible(v.Origin.File), name, v.Text)
	}
	if v.Installed == settings.FromUser || v.Installed == settings.FromWorkspace && !l.user {
		fmt.Fprintln(on.errw, "cortext init puts it into the agents' files")
	}
	return nil
}

// setting is a setting in config --json; its fields are stable.
type setting struct {
	Name     string `json:"name"`
	Value    any    `json:"value"`
	Source   string `json:"source"` // default, workspace, user, environment
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Variable string `json:"variable,omitempty"`
	Default  string `json:"default"`
	Allowed  string `json:"allowed"`
	Withheld string `json:"withheld,omitempty"` // the workspace's value, which needs trust
}

func (l located) setting(v settings.Value) setting {
	s := setting{v.Name, v.Typed, string(v.Origin.Layer), v.Origin.File, v.Origin.Line, v.Origin.Variable, v.Default, v.Allowed, ""}
	if g := l.withheld(v); g != nil {
		s.Withheld = g.Value
	}
	return s
}

// withheld returns the workspace's value of a setting if it only lacks trust, or nil.
func (l located) withheld(v settings.Value) *settings.Guarded {
	for i, g := range l.settings.Guarded {
		if g.Name == v.Name && !g.Trusted && v.Origin.Layer == settings.FromDefault {
			return &l.settings.Guarded[i]
		}
	}
	return nil
}

// showSettings prints all settings.
func showSettings(on screen, l located) error {
	if on.asJSON {
		list := []setting{}
		for _, v := range l.settings.Values() {
			list = append(list, l.setting(v))
		}
		return on.json(list)
	}
	tw := tabwriter.NewWriter(on.out, 0, 4, 2, ' ', 0)
	for _, v := range l.settings.Values() {
		from := origin(v.Origin)
		if g := l.withheld(v); g != nil {
			from += fmt.Sprintf(", line %d untrusted", g.Line)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", v.Name, v.Text, from)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(on.out)
	if l.ws != nil {
		fmt.Fprintf(on.out, "workspace: %s\n", settings.WorkspaceFile)
	}
	fmt.Fprintf(on.out, "yours: %s\n", visible(l.own.Name))
	return nil
}

// origin describes the source of a value in a few words.
func origin(from settings.Origin) string {
	switch from.Layer {
	case settings.FromWorkspace:
		return fmt.Sprintf("workspace, line %d", from.Line)
	case settings.FromUser:
		return fmt.Sprintf("yours, line %d", from.Line)
	case settings.FromEnvironment:
		return from.Variable
	}
	return "default"
}

// editSettings opens a file in the user's editor and reports problems in the result.
func editSettings(ctx context.Context, a *app, f settings.File) error {
	editor := cmp.Or(a.Machine.Getenv("VISUAL"), a.Machine.Getenv("EDITOR"))
	switch {
	case !a.terminal.present():
		return &usageError{"there is no terminal for an editor", "edit " + f.Name + ", or use cortext config set"}
	case editor == "":
		return &usageError{"no editor is chosen", "set VISUAL or EDITOR, or edit " + f.Name}
	}
	before, err := f.Create()
	if err != nil {
		return err
	}
	if err := runEditor(ctx, a.Process, editor, f.Path); err != nil {
		return fmt.Errorf("%s is as the editor left it: %s: %w", f.Name, editor, err)
	}
	after, problems := f.Check()
	a.screen.warn(problems...)
	switch {
	case len(problems) > 0:
		return errSilent
	case after == nil:
		fmt.Fprintf(a.screen.out, "%s is gone, and its settings with it\n", visible(f.Name))
	case bytes.Equal(before, after):
		fmt.Fprintf(a.screen.out, "%s is unchanged\n", visible(f.Name))
	default:
		fmt.Fprintf(a.screen.out, "%s is changed and has no problems\n", visible(f.Name))
	}
	return nil
}

// runEditor runs the user's editor, which may be a command with arguments.
func runEditor(ctx context.Context, p Process, editor, file string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	words := []string{"sh", "-c", editor + " " + shell.Quote(file)}
	if _, err := exec.LookPath("sh"); err != nil {
		words = append(strings.Fields(editor), file)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, p.Out, p.Err
	cmd.Dir = filepath.Dir(file)
	done, ok := p.Interrupts.Yield() // the editor handles Ctrl-C
	if !ok {
		return context.Canceled
	}
	defer done()
	return cmd.Run()
}
