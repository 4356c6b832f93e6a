package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/check"
	"cortext/cmd/internal/fork"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

func checkCommand(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the workspace for corruption",
		Long: `Reads every file of every conversation and reports damage: incomplete last lines,
runs of NUL bytes, broken or joined lines, invalid UTF-8, a session.json that is
missing or unreadable, and records or files that git's last commit or index has but
the work tree lacks. Conversations that you removed are not reported. check changes
nothing and fetches nothing. It exits with 1 if it finds damage; cortext repair mends it.
It also warns about conversations that do not name their forks, and about forks with text
that was redacted in the original, which is not damage.

--all checks every workspace on this machine that cortext knows.`,
		Example: "  cortext check",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, list []string) error {
			if all {
				return runCheckAll(cmd, a)
			}
			return a.within(func(cmd *cobra.Command, w *opened, _ []string) error {
				return runCheck(cmd.Context(), a, w)
			})(cmd, list)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "check every workspace on this machine")
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the damage as JSON")
	return cmd
}

// foundDamage is an entry of damage in check --json.
type foundDamage struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Byte   int64  `json:"byte"`
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
}

func foundDamageOf(d store.Damage) foundDamage {
	return foundDamage{d.File, d.Line, d.Offset, string(d.Kind), d.Detail}
}

func runCheck(ctx context.Context, a *app, w *opened) error {
	if err := w.RefreshListing(a.screen.examined); err != nil {
		return err
	}
	found := []foundDamage{}
	newer, standIns := 0, 0
	note := func(text string) {
		if ctx.Err() == nil {
			a.screen.warn(text)
		}
	}
	for d := range check.New(w.Workspace, w.capture).Damage(ctx, note) {
		found = append(found, foundDamageOf(d))
		if d.Kind == store.Newer {
			newer++
		}
		if d.StandIn() {
			standIns++
		}
		if !a.screen.asJSON {
			fmt.Fprintln(a.screen.out, visible(d.Error()))
		}
	}
	if err := ctx.Err(); err != nil {
		return err // not everything was checked
	}
	warnForks(w.Workspace, note)
	switch {
	case a.screen.asJSON:
		if err := a.screen.json(map[string]any{"damage": found}); err != nil {
			return err
		}
	case len(found) == 0:
		fmt.Fprintln(a.screen.out, "no damage")
	case newer == len(found):
		a.screen.hint("a later cortext wrote these files: update cortext")
	case standIns == len(found): // each says what to do
	default:
		a.screen.hint(hintToRepair)
	}
	if len(found) > 0 {
		return errSilent
	}
	return nil
}

// warnForks warns about conversations that do not name their forks, and about forks that contain
// what was redacted in these conversations.
func warnForks(w *workspace.Workspace, note func(string)) {
	all, _ := w.Store.Outlines() // the check has reported the error
	for _, u := range fork.FindUnlinked(all) {
		note(u.String() + ": cortext repair adds the link")
	}
	kept, err := fork.FindUnredacted(w, all)
	for _, u := range kept {
		note(u.String() + ": " + shell.Quote("cortext", "redact", u.Fork.Session.ID, "--secret") + " redacts it there, too")
	}
	if err != nil {
		note("forks were not compared with what was redacted: " + err.Error())
	}
}

// checkedWorkspace is an entry of workspaces in check --all --json.
type checkedWorkspace struct {
	Workspace string        `json:"workspace"`
	Damage    []foundDamage `json:"damage"`
	Error     string        `json:"error"`
}

// runCheckAll checks every workspace of the user on this machine. It continues if one cannot
// be opened.
func runCheckAll(cmd *cobra.Command, a *app) error {
	list := []checkedWorkspace{}
	bad, mendable := "", ""
	for _, dir := range knownWorkspaces(a) {
		checked := checkedWorkspace{Workspace: dir, Damage: []foundDamage{}}
		err := checkIn(cmd, a, dir, func(d store.Damage) {
			checked.Damage = append(checked.Damage, foundDamageOf(d))
			if mendable == "" && !d.StandIn() {
				mendable = dir
			}
			if !a.screen.asJSON {
				fmt.Fprintf(a.screen.out, "%s: %s\n", visible(dir), visible(d.Error()))
			}
		})
		if err != nil {
			checked.Error, mendable = err.Error(), cmp.Or(mendable, dir)
			a.screen.report(fmt.Errorf("%s: %w", dir, err))
		}
		if bad == "" && (err != nil || len(checked.Damage) > 0) {
			bad = dir
		}
		if list = append(list, checked); err == nil && len(checked.Damage) == 0 && !a.screen.asJSON {
			fmt.Fprintf(a.screen.out, "%s: no damage\n", visible(dir))
		}
	}
	if a.screen.asJSON {
		if err := a.screen.json(map[string]any{"workspaces": list}); err != nil {
			return err
		}
	}
	switch {
	case bad != "":
		if !a.screen.asJSON && mendable != "" {
			a.screen.hint(shell.Quote("cortext", "-C", mendable, "repair") + " mends what it can there; with --dry-run it shows how")
		}
		return errSilent
	case len(list) == 0 && !a.screen.asJSON:
		a.screen.hint("cortext knows no workspace on this machine yet")
	}
	return nil
}

// checkIn checks the workspace in a folder.
func checkIn(cmd *cobra.Command, a *app, dir string, found func(store.Damage)) error {
	w, err := a.openAt(cmd, dir)
	if err != nil {
		return err
	}
	defer w.Close()
	note := func(text string) { a.screen.warn(dir + ": " + text) }
	for d := range check.New(w.Workspace, w.capture).Damage(cmd.Context(), note) {
		found(d)
	}
	warnForks(w.Workspace, note)
	return cmd.Context().Err()
}

// knownWorkspaces lists the folders of the user's workspaces on this machine, sorted: those
// that cortext has seen, and the one of the current folder.
func knownWorkspaces(a *app) []string {
	known := registry.In(workspace.StateDir(a.Machine))
	dirs := slices.Concat(known.Known(a.agentNames()), known.Workspaces.Seen())
	if root, err := a.root(); err == nil {
		dirs = append(dirs, registry.RealDir(root))
	}
	return registry.Distinct(dirs)
}
