package cli

import (
	"github.com/spf13/cobra"

	"cortext/cmd/internal/hook"
)

func statuslineCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "statusline",
		Short: "Print Claude Code's status line",
		Long: `Reads the JSON that Claude Code passes to a status line from standard input, and prints
the conversation of the session, the turns since its last stop, whether it is saved, and
how full the context window is. If your own settings have a status line, it prints that one
first. cortext init --status-line makes Claude Code call it through cortext-hook, which
starts faster.`,
		Example: "  echo '{\"session_id\":\"x\",\"cwd\":\".\"}' | cortext statusline",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.hooks().Run(cmd.Context(), []string{"claude", hook.StatusLine})
			return nil
		},
	}
}
