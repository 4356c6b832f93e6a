package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/inject"
)

// maxHookInput bounds what a hook reads: a prompt of 100 MB is one that no agent
// sends.
const maxHookInput = 128 << 20

// hookTime bounds a hook: less than the 30 s after which the agent would end it.
const hookTime = 25 * time.Second

// hookMemory is from when on the garbage is collected all the same, in bytes.
const hookMemory = 200 << 20

func (a *app) hookCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hook <agent> <event>",
		Short: "What the agents' own hooks call",
		Long: `What the agents' own hooks call, with what the agent tells them on standard
input. It captures what is new in the session's transcript and carries out
/workspace commands. It never fails, and prints only what the agent is to be told
beside a /workspace command. What went wrong is in
.workspace/local/cache/hook.log.`,
		Example: "  echo '{\"session_id\":\"…\",\"transcript_path\":\"…\",\"cwd\":\"…\"}' | cortext hook claude Stop",
		Hidden:  true,
		RunE: func(cmd *cobra.Command, list []string) error {
			if len(list) == 2 && a.machine().Getenv(hooksVar) != "off" {
				a.runHook(cmd, list[0], list[1])
			}
			return nil // also for a call that makes no sense: the agent must go on
		},
	}
}

// hooksVar is the variable that keeps the hooks still, as in an agent that cortext
// itself runs to sum something up.
const hooksVar = "CORTEXT_HOOKS"

// runHook never fails, whatever it is given.
func (a *app) runHook(cmd *cobra.Command, name, event string) {
	// It ends before garbage is worth collecting: that would be a tenth of its time.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(hookMemory)
	var w *flow.Workspace
	defer func() {
		if v := recover(); v != nil {
			logHook(w, event, fmt.Errorf("defect: %v", v))
		}
		if w != nil {
			a.lifecycleLater(w)
			_ = w.Close()
		}
	}()
	var agent inject.Agent
	for _, known := range a.agents {
		if known.Name == name {
			agent = known
		}
	}
	input, err := io.ReadAll(io.LimitReader(a.in, maxHookInput))
	if err != nil || agent.Hook == nil {
		return
	}
	e, err := agent.Hook(a.machine(), event, input)
	if err != nil || e.Moment == inject.Other || e.Dir == "" {
		return
	}
	if w, err = flow.Open(a.env(cmd, e.Dir)); err != nil {
		return // no workspace: cortext has no part in this project
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), hookTime)
	defer cancel()
	say, err := w.Hook(ctx, agent, e)
	if err != nil {
		logHook(w, event, err)
		if say == "" && e.Moment == inject.Prompted {
			say = w.SayFailed(e, err)
		}
	}
	if say != "" {
		_, _ = a.out.Write(append(agent.Reply(event, say), '\n'))
	}
}

// hookLog is in the cache; only the last failures matter.
const hookLog = "hook.log"

func logHook(w *flow.Workspace, event string, err error) {
	if w == nil {
		return
	}
	const most = 64 << 10
	old, _ := w.Store.ReadCache(hookLog)
	line := fmt.Sprintf("%s %s: %s\n", time.Now().UTC().Format(time.RFC3339), event, oneLine(err.Error()))
	if len(old) > most {
		old = old[len(old)-most/2:]
	}
	_ = w.Store.WriteCache(hookLog, append(old, line...))
}

func (a *app) skipCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "skip",
		Short: "Leave the agent's session alone that this is called from",
		Long: `Leaves the agent's session alone that this is called from: nothing more of it is
captured until it is stopped with /workspace.stop-conversation, begun anew, or
imported. Agents call it when the user does not want to save.`,
		Example: "  cortext skip",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, _ []string) error {
			if err := w.Skip(); err != nil {
				return err
			}
			fmt.Fprintln(a.out, "this session is not saved until you stop it with /workspace.stop-conversation")
			return nil
		}),
	}
}

// nowhere is the home of a user without one: nothing is found there.
var nowhere = filepath.Join(string(filepath.Separator), "nonexistent")

// machine is the one that the program runs on.
func (a *app) machine() inject.Machine {
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) { // HOME is not set: what lies in the work tree is no home
		home = nowhere
		if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
			home = u.HomeDir
		}
	}
	return inject.Machine{Home: home, Getenv: os.Getenv}
}
