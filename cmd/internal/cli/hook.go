package cli

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/hook"
	"cortext/inject"
)

func (a *app) hookCommand() *cobra.Command {
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
			return nil // also for an invalid call: the agent must continue
		},
	}
}

// hooks describes this program as one that hooks call.
func (a *app) hooks() hook.Program {
	return hook.Program{Name: "cortext hook", In: a.in, Out: a.out, Agents: a.agents, Machine: a.machine(), Now: a.now, Open: openFlow, Cortext: os.Executable}
}

func (a *app) skipCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "skip",
		Short: "Stop capturing the current agent session",
		Long: `Stops capturing the agent session that runs this command, in every work tree and clone
on this machine. Capturing resumes if you type /workspace.stop-conversation or another
/workspace command in the session, or import it. Agents run skip when you ask them not
to save.`,
		Example: "  cortext skip",
		Args:    args(cobra.NoArgs),
		RunE: a.quietlyWithin(func(cmd *cobra.Command, w *flow.Workspace, _ []string) error {
			if err := w.SkipCaller(); err != nil {
				return err
			}
			fmt.Fprintln(a.out, "this session is not saved until you stop it with /workspace.stop-conversation")
			return nil
		}),
	}
}

// machine describes the machine that the program runs on.
func (a *app) machine() inject.Machine {
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) { // HOME is not set: a relative path would be in the work tree
		home = hook.Nowhere
		if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
			home = u.HomeDir
		}
	}
	return inject.Machine{Home: home, Getenv: os.Getenv}
}
