package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/inject"
	"cortext/store"
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
/workspace commands. It never fails, and prints only what the agent is to get
beside a /workspace command. What fails is written to
.workspace/local/cache/hook.log, or to hook.log in $XDG_STATE_HOME/cortext if the
workspace cannot be written to, and the next command reports it.`,
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

// hookNotice is how long a hook whose time is up may take to notice.
const hookNotice = 300 * time.Millisecond

// runHook never fails, whatever it is given. It ends when its time is up or a signal
// comes, even if what it does goes on: the next hook does the rest.
func (a *app) runHook(cmd *cobra.Command, name, event string) {
	// It ends before garbage is worth collecting: that would be a tenth of its time.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(hookMemory)
	ctx, cancel := context.WithTimeout(cmd.Context(), hookTime)
	defer cancel()
	var opened atomic.Pointer[flow.Workspace]
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.callHook(ctx, cmd, &opened, name, event)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-time.After(hookNotice):
		a.hookFailed(opened.Load(), "", event, hookEnded(ctx))
	}
}

// hookEnded says why a hook did not save everything.
func hookEnded(ctx context.Context) error {
	why := "it was ended by a signal"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = fmt.Sprintf("it took longer than %v", hookTime)
	}
	return errors.New(why + " before everything was saved: the next hook saves the rest, and so does cortext sync")
}

// callHook does what a hook is called for, in a workspace that it stores in opened.
func (a *app) callHook(ctx context.Context, cmd *cobra.Command, opened *atomic.Pointer[flow.Workspace], name, event string) {
	var w *flow.Workspace
	defer func() {
		if v := recover(); v != nil {
			a.hookFailed(w, "", event, fmt.Errorf("defect: %v", v))
		}
		if w != nil {
			a.lifecycleLater(w)
			a.sumUpLater(w)
			_ = w.Close()
		}
	}()
	i := slices.IndexFunc(a.agents, func(known inject.Agent) bool { return known.Name == name })
	if i < 0 || a.agents[i].Hook == nil {
		return
	}
	agent := a.agents[i]
	input, err := io.ReadAll(io.LimitReader(a.in, maxHookInput))
	if err != nil {
		a.hookFailed(nil, hookDir(), event, err)
		return
	}
	e, err := agent.Hook(a.machine(), event, input)
	if err != nil {
		a.hookFailed(nil, hookDir(), event, err)
		return
	}
	if e.Moment == inject.Other || e.Dir == "" {
		return
	}
	w, err = flow.Open(a.env(cmd, e.Dir))
	if errors.Is(err, store.ErrNoWorkspace) {
		return // cortext has no part in this project
	}
	if err != nil {
		dir := e.Dir
		if root, err := store.Find(dir); err == nil {
			dir = root
		}
		a.hookFailed(nil, dir, event, err)
		return
	}
	opened.Store(w)
	logWarnings(w, event)
	say, err := w.Hook(ctx, agent, e)
	if err != nil {
		if cause := ctx.Err(); cause != nil && errors.Is(err, cause) {
			err = hookEnded(ctx)
		}
		if say == "" && e.Moment == inject.Prompted {
			say = w.SayFailed(e, err)
		}
	}
	told := false
	if say != "" {
		_, writeErr := a.out.Write(append(agent.Reply(event, say), '\n'))
		told = writeErr == nil
	}
	switch {
	case err == nil:
	case told:
		_ = logHook(w, event, err) // the agent tells the user now
	default:
		a.hookFailed(w, "", event, err)
	}
	for _, text := range w.TakeWarnings() {
		a.hookFailed(w, "", event, errors.New(text))
	}
}

// hookDir is the workspace that a hook was called in, of which what it was given does
// not tell; empty if that is none.
func hookDir() string {
	root, err := store.Find(".")
	if err != nil {
		return ""
	}
	return root
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
