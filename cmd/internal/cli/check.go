package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/check"
)

func checkCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the workspace for corruption",
		Long: `Reads every file of every conversation and reports damage: incomplete last lines,
runs of NUL bytes, broken or joined lines, invalid UTF-8, a session.json that is
missing or unreadable, and records or files that git's last commit or index has but
the work tree lacks. Conversations that you removed are not reported. check changes
nothing and fetches nothing. It exits with 1 if it finds damage.`,
		Example: "  cortext check",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, _ []string) error {
			return runCheck(cmd.Context(), a, w, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the damage as JSON")
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

func runCheck(ctx context.Context, a *app, w *opened, asJSON bool) error {
	found := []foundDamage{}
	note := func(text string) { a.screen.warn(text) }
	for d := range check.New(w.Workspace, w.capture).Damage(ctx, note) {
		found = append(found, foundDamage{d.File, d.Line, d.Offset, string(d.Kind), d.Detail})
		if !asJSON {
			fmt.Fprintln(a.screen.out, visible(d.Error()))
		}
	}
	switch {
	case asJSON:
		if err := a.screen.json(map[string]any{"damage": found}); err != nil {
			return err
		}
	case len(found) == 0:
		fmt.Fprintln(a.screen.out, "no damage")
	}
	if len(found) > 0 {
		return errSilent
	}
	return nil
}
