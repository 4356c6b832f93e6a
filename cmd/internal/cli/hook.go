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
		Short: "What the agents' own hooks call",
		Long: `What the agents' own hooks call, with what the agent tells them on standard
input. It captures what is new in the session's transcript and carries out
/workspace commands. It never fails, and prints only what the agent is to get
beside a /workspace command. What fails is written to
.workspace/local/cache/hook.log, or to hook.log in $XDG_STATE_HOME/cortext if the
workspace cannot be written to, and the next command reports it.`,
		Example: "  echo '{\"session_id\":\"…\",\"transcript_path\":\"…\",\"cwd\":\"…\"}' | cortext hook claude Stop",
		Hidden:  true,
		RunE: func(cmd *cobra.Command, list []string) error {
			a.hooks().Run(cmd.Context(), list)
			return nil // also for a call that makes no sense: the agent must go on
		},
	}
}

// hooks is this program as one that hooks call.
func (a *app) hooks() hook.Program {
	return hook.Program{Name: "cortext hook", In: a.in, Out: a.out, Agents: a.agents, Machine: a.machine(), Now: a.now, Open: openFlow, Cortext: os.Executable}
}

func (a *app) skipCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "skip",
		Short: "Leave the agent's session alone that this is called from",
		Long: `Leaves the agent's session alone that this is called from: in no work tree or clone on
this machine is more of it captured, until you type /workspace.stop-conversation or
another /workspace command in it, or import it. Agents call it when the user does not want to save.`,
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

// machine is the one that the program runs on.
func (a *app) machine() inject.Machine {
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) { // HOME is not set: what lies in the work tree is no home
		home = hook.Nowhere
		if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
			home = u.HomeDir
		}
	}
	return inject.Machine{Home: home, Getenv: os.Getenv}
}
