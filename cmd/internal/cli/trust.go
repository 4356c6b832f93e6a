package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/settings"
)

func trustCommand(a *app) *cobra.Command {
	var o trustOptions
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Review and allow the workspace's hooks and settings",
		Long: `Lists the programs in .workspace/hooks with the SHA-256 of each, and asks whether they
may run for you on this machine. They run when a conversation starts, is resumed, gets
messages or ends. None of them runs until you allow it. If a file is added or changed, you
must allow them again. None runs while .workspace/hooks contains a symbolic link.

It also lists the settings in .workspace/config.yaml that send conversations to a model:
"summarizer: agent" and "summarizer: openai". They apply to you only after you allow them,
and a change must be allowed again. Your own settings need no trust: see cortext config.`,
		Example: "  cortext trust",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, _ []string) error {
			if o.yes && o.revoke || a.screen.asJSON && (o.yes || o.revoke) {
				return &usageError{"--yes, --revoke and --json cannot be combined", "usage: " + cmd.UseLine()}
			}
			return runTrust(cmd.Context(), a, w, o)
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "allow them without asking")
	f.BoolVar(&o.revoke, "revoke", false, "stop allowing them")
	f.BoolVar(&a.screen.asJSON, "json", false, "print the programs and settings and whether they are allowed as JSON; changes nothing")
	return cmd
}

type trustOptions struct{ yes, revoke bool }

func runTrust(ctx context.Context, a *app, w *opened, o trustOptions) error {
	root, register := w.Store.Root(), a.programs(w).register
	if o.revoke {
		if err := register.Revoke(root); err != nil {
			return err
		}
		fmt.Fprintln(a.screen.out, "no program in "+lifecycle.Dir+" runs here any longer")
		if len(w.Settings.Guarded) > 0 {
			fmt.Fprintln(a.screen.out, "the settings in "+settings.WorkspaceFile+" that need trust no longer apply")
		}
		return nil
	}
	now, err := lifecycle.Read(root)
	if err != nil {
		return err
	}
	was, err := register.Allowed(root)
	if err != nil {
		return err
	}
	t := trust{now, w.Settings.Guarded, was}
	if a.screen.asJSON {
		return a.screen.json(t.json())
	}
	if len(now.Programs())+len(t.settings) == 0 {
		fmt.Fprintf(a.screen.out, "there are no programs in %s, and no settings in %s that need trust\n", lifecycle.Dir, settings.WorkspaceFile)
		return nil
	}
	t.print(a.screen.out)
	if t.allowed() {
		fmt.Fprintf(a.screen.out, "They are allowed to %s.\n", t.verb())
		return nil
	}
	yes := o.yes
	if !yes {
		if yes, err = askTrust(ctx, a.terminal, t.verb()); err != nil {
			return err
		}
	}
	if !yes {
		fmt.Fprintf(a.screen.out, "They do not %s.\n", t.verb())
		return nil
	}
	if err := register.Allow(root, t.shown()); err != nil {
		return err
	}
	fmt.Fprintf(a.screen.out, "They %s from now on, as they are now.\n", t.verb())
	return nil
}

// askTrust asks whether what was shown may run or apply.
func askTrust(ctx context.Context, t terminal, verb string) (bool, error) {
	if !t.present() {
		return false, &usageError{"there is no terminal to ask on", "read what is listed, then run cortext trust --yes"}
	}
	return t.ask(ctx, "Read them first. May they "+verb+" here, as they are now?")
}

// A trust holds the current programs and settings that need trust, and what the user
// allowed before.
type trust struct {
	now      lifecycle.Hooks
	settings []settings.Guarded
	was      lifecycle.Trusted
}

// allowed reports whether the user allowed everything as it is now.
func (t trust) allowed() bool {
	return (len(t.now.Programs()) == 0 || t.now.Same(t.was.Hooks)) &&
		!slices.ContainsFunc(t.settings, func(g settings.Guarded) bool { return !g.Trusted })
}

// verb returns the verb for what is allowed: programs run, settings apply.
func (t trust) verb() string {
	switch {
	case len(t.settings) == 0:
		return "run"
	case len(t.now.Programs()) == 0:
		return "apply"
	}
	return "run and apply"
}

// shown is what the user is asked to allow.
func (t trust) shown() lifecycle.Trusted {
	allow := lifecycle.Trusted{Hooks: t.now, Settings: map[string]string{}}
	for _, g := range t.settings {
		allow.Settings[g.Name] = lifecycle.SumOf(g.Value)
	}
	return allow
}

// settingState describes how a setting differs from what was allowed.
func (t trust) settingState(g settings.Guarded) string {
	switch _, known := t.was.Settings[g.Name]; {
	case g.Trusted:
		return "allowed"
	case known:
		return "changed"
	}
	return "new"
}

// state describes how a file differs from what was allowed, or returns "" if nothing was
// allowed before.
func (t trust) state(name string) string {
	was, known := t.was.Files[name]
	_, there := t.now.Files[name]
	switch {
	case len(t.was.Files) == 0:
		return ""
	case !there:
		return "gone"
	case !known:
		return "new"
	case was != t.now.Files[name]:
		return "changed"
	}
	return "allowed"
}

// gone lists the allowed files that no longer exist.
func (t trust) gone() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(t.was.Files)) {
		if _, there := t.now.Files[name]; !there {
			list = append(list, name)
		}
	}
	return list
}

func (t trust) print(out io.Writer) {
	tw := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	row := func(name string) {
		sum := t.now.Files[name].Sum
		line := fmt.Sprintf("%s/%s\t%s\t%s", lifecycle.Dir, oneLine(name), sum[:min(12, len(sum))], t.state(name))
		fmt.Fprintln(tw, strings.TrimRight(line, "\t"))
	}
	for _, name := range t.now.Programs() {
		row(name)
	}
	for _, g := range t.settings {
		fmt.Fprintf(tw, "%s:%d\t%s: %s\t%s\n", settings.WorkspaceFile, g.Line, g.Name, g.Value, t.settingState(g))
		fmt.Fprintf(tw, "  it %s\n", g.Why)
	}
	if others := slices.Concat(t.now.Others(), t.gone()); len(others) > 0 {
		fmt.Fprintln(tw, "They may read:")
		for _, name := range others {
			row(name)
		}
	}
	_ = tw.Flush()
}

// json returns what --json prints.
func (t trust) json() map[string]any {
	type row struct {
		Path string `json:"path"`
		lifecycle.File
		Program bool   `json:"program"`
		State   string `json:"state,omitempty"`
	}
	programs, files := emptyNotNull(t.now.Programs()), []row{}
	for _, name := range slices.Concat(programs, t.now.Others(), t.gone()) {
		files = append(files, row{name, t.now.Files[name], slices.Contains(programs, name), t.state(name)})
	}
	type value struct {
		Name  string `json:"name"`
		Value string `json:"value"`
		Line  int    `json:"line"`
		Why   string `json:"why"`
		State string `json:"state"`
	}
	values := []value{}
	for _, g := range t.settings {
		values = append(values, value{g.Name, g.Value, g.Line, g.Why, t.settingState(g)})
	}
	return map[string]any{"programs": programs, "allowed": len(programs)+len(values) > 0 && t.allowed(), "files": files, "settings": values}
}
