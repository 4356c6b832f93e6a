package cli

import "github.com/spf13/cobra"

func hookCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "hook <agent> <event>",
		Short: "Handle an event of an agent session (called by the agent)",
		Long: `Handles one event of an agent session. The agent calls it and describes the event on
standard input. hook captures what is new in the session's transcript and runs
/workspace commands; it prints only the text that the agent should add to such a
command. It always exits with 0. Errors go to .workspace/local/cache/hook.log, or to
hook.log in $XDG_STATE_HOME/cortext if the workspace is not writable, and the next
command reports them.`,
		Example: "  echo '{\"session_id\":\"…\",\"transcript_path\":\"…\",\"cwd\":\"…\"}' | cortext hook claude Stop",
		Hidden:  true,
		RunE: func(cmd *cobra.Command, list []string) error {
			a.hooks().Run(cmd.Context(), list)
			return nil // even for an invalid call: the agent must continue
		},
	}
}
