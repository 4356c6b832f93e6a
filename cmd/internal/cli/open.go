package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/caller"
	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/hook"
	"cortext/cmd/internal/launch"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// An opened is the open workspace of a command, with the objects that keep state while the
// command runs.
type opened struct {
	*workspace.Workspace
	capture  *capture.Capture
	payloads *payload.Builder
	compact  *compact.Compactor
}

func (w *opened) caller() caller.Caller        { return caller.New(w.Workspace, w.capture) }
func (w *opened) launcher() *launch.Launcher   { return launch.New(w.Workspace, w.capture, w.payloads) }
func (w *opened) leftovers() *launch.Leftovers { return launch.LeftoversOf(w.Workspace, w.capture) }

// endpoint returns the model at an address.
func endpoint(url, model, key string) compact.Summarizer {
	return companion.Model{BaseURL: url, Model: model, Key: key}
}

// folder returns the absolute path of the folder that the command works in.
func (a *app) folder() (string, error) {
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s is not a folder", dir)
	}
	return dir, err
}

// root returns the folder of the workspace that the command works in.
func (a *app) root() (string, error) {
	dir, err := a.folder()
	if err != nil {
		return "", err
	}
	return store.Find(dir)
}

// file resolves a file named on the command line, relative to -C.
func (a *app) file(name string) string {
	if a.dir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.dir, name)
}

// env returns the environment for a workspace, as seen from dir.
func (a *app) env(cmd *cobra.Command, dir string) workspace.Env {
	return workspace.Env{
		Dir:     dir,
		Machine: a.Machine,
		Now:     a.Now,
		Rand:    rand.Reader,
		Holder:  fmt.Sprintf("%s, pid %d", cmd.CommandPath(), os.Getpid()),
		Agents:  a.Agents,
	}
}

// hooks describes this program as one that hooks call.
func (a *app) hooks() hook.Program {
	return hook.Program{Name: "cortext hook", In: a.In, Out: a.Out, Agents: a.Agents, Machine: a.Machine, Now: a.Now, Endpoint: endpoint, Cortext: os.Executable}
}

// open opens the command's workspace and prints the hook errors since the last command. cmd
// is named to other processes as the holder of a lock.
func (a *app) open(cmd *cobra.Command) (*opened, error) {
	w, err := a.openQuietly(cmd)
	if err == nil {
		if !previews(cmd) {
			suggestDriver(cmd.Context(), a, w.Workspace)
		}
		if err := w.Repository.Exclude(); err != nil {
			a.screen.warn(err.Error())
		}
		for _, text := range a.hooks().TakeFailures(w.Workspace) {
			a.screen.warn("a hook failed: " + text)
		}
	}
	return w, err
}

// previews reports whether a command only shows what it would do. Whoever tries cortext that
// way has nothing to set up yet.
func previews(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("print") || cmd.Flags().Changed("dry-run")
}

// openQuietly is like open, for commands that agents and cortext itself call. It does not
// print hook errors, because no user would read them.
func (a *app) openQuietly(cmd *cobra.Command) (*opened, error) {
	dir, err := a.folder()
	if err != nil {
		return nil, err
	}
	return a.openIn(cmd, dir)
}

// openIn opens the workspace that a folder is in.
func (a *app) openIn(cmd *cobra.Command, dir string) (*opened, error) {
	w, err := a.openAt(cmd, dir)
	if err != nil {
		if leftOut := workspace.WantCheckedOut(cmd.Context(), dir); leftOut != nil && errors.Is(err, store.ErrNoWorkspace) {
			err = leftOut
		}
		return nil, err
	}
	a.screen.warn(w.Warnings...)
	linksOn(a.Machine).restore()
	_ = w.Registry.Workspaces.See(w.Here) // for list --all; ignore errors, because reading needs no write permission
	return w, nil
}

// A command runs in an open workspace.
type command func(cmd *cobra.Command, w *opened, args []string) error

// within runs a command in the workspace of the current folder.
func (a *app) within(run command) func(*cobra.Command, []string) error {
	return a.runIn(a.open, run)
}

// quietlyWithin is like within, for commands whose output no user reads.
func (a *app) quietlyWithin(run command) func(*cobra.Command, []string) error {
	return a.runIn(a.openQuietly, run)
}

func (a *app) runIn(open func(*cobra.Command) (*opened, error), run command) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, list []string) error {
		w, err := open(cmd)
		if err != nil {
			return err
		}
		defer a.close(cmd.Context(), w)
		err = run(cmd, w, list)
		a.screen.warn(w.capture.TakeWarnings()...)
		return err
	}
}

// close closes a workspace. Everything is saved by now, so it runs the workspace's programs
// for the events of this command.
func (a *app) close(ctx context.Context, w *opened) {
	a.programs(w).run(context.WithoutCancel(ctx))
	if w.leftovers().HasUnused() { // removing a session with the agent's program takes seconds
		if err := a.hooks().Later(w.Workspace, "tidy"); err != nil {
			a.screen.warn(err.Error())
		}
	}
	_ = w.Close()
}
