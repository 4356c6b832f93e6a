package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/workspace"
)

// close ends the work with a workspace: what it wants run when something has
// happened to a conversation is run now that all is saved.
func (a *app) close(ctx context.Context, w *flow.Workspace) {
	a.ran(context.WithoutCancel(ctx), w)
	_ = w.Close()
}

// ran runs what the workspace wants run for what has happened.
func (a *app) ran(ctx context.Context, w *flow.Workspace) {
	happened := w.TakeEvents()
	if len(happened) == 0 || inLifecycle() || !a.allowed(w, true) {
		return
	}
	for _, err := range a.runLifecycle(ctx, w, happened) {
		a.warn(oneLine(err.Error()))
	}
}

// inLifecycle reports whether a program of the workspace has called us: what happens
// then starts no program again.
func inLifecycle() bool { return os.Getenv("CORTEXT_EVENT") != "" }

// register is where this user's word on workspaces is kept.
func (a *app) register() lifecycle.Register {
	return lifecycle.RegisterIn(filepath.Dir(a.stateFolder()))
}

// allowed reports whether the workspace's programs may run; tell says that they may
// not, where there are any.
func (a *app) allowed(w *flow.Workspace, tell bool) bool {
	yes, any, err := a.register().Allows(w.Store.Root())
	switch {
	case err != nil && tell:
		a.warn(err.Error())
	case any && !yes && tell:
		a.warn("the programs in " + lifecycle.Dir + " were not run: cortext trust shows and allows them")
	}
	return yes && err == nil
}

func (a *app) runLifecycle(ctx context.Context, w *flow.Workspace, happened []workspace.Event) (failed []error) {
	for _, h := range happened {
		id, err := w.ConversationID(h.Path)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		folder := filepath.Join(w.Store.Root(), filepath.FromSlash(h.Path))
		failed = append(failed, lifecycle.Run(ctx, a.register(), w.Store.Root(), lifecycle.Event{Event: h.Name, Session: id, Folder: folder})...)
	}
	return failed
}

// lifecycleLater runs the workspace's programs in a process of its own: an agent
// that waits for its hook does not wait for them.
func (a *app) lifecycleLater(w *flow.Workspace) {
	happened := w.TakeEvents()
	if len(happened) == 0 || inLifecycle() || !a.allowed(w, false) {
		return
	}
	self, err := os.Executable()
	if err != nil {
		return
	}
	args := []string{"-C", w.Store.Root(), "happened"}
	for _, h := range happened {
		args = append(args, h.Name+"="+h.Path)
	}
	cmd := exec.Command(self, args...)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		a.hookFailed(w, "", "lifecycle", err)
		return
	}
	_ = cmd.Process.Release()
}

// turnWait is how long the programs of one event wait for those of another.
const turnWait = time.Minute

func (a *app) happenedCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "happened EVENT=FOLDER…",
		Short:   "Run the workspace's programs for what has happened",
		Long:    "Runs the programs in .workspace/hooks for what has happened to conversations. cortext calls it itself.",
		Example: "  cortext happened session-end=conversations/2025-11-22/001-brainstorm-api-design",
		Hidden:  true,
		RunE: a.quietlyWithin(func(cmd *cobra.Command, w *flow.Workspace, list []string) error {
			unlock, err := w.Store.LockCache("happened", turnWait)
			if err != nil {
				return err
			}
			defer unlock()
			var happened []workspace.Event
			for _, word := range list {
				if event, path, ok := strings.Cut(word, "="); ok {
					happened = append(happened, workspace.Event{Name: event, Path: path})
				}
			}
			if err := errors.Join(a.runLifecycle(cmd.Context(), w, happened)...); err != nil {
				a.hookFailed(w, "", "lifecycle", err)
			}
			return nil
		}),
	}
}

func (a *app) trustCommand() *cobra.Command {
	var yes, revoke, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Allow the programs that this workspace wants run",
		Long: `Shows the programs in .workspace/hooks, which run when a conversation begins, is
resumed, gets messages or ends, and asks whether they may run here, for you, as they
are now: a changed or new one has to be allowed again. Nothing runs before.`,
		Example: "  cortext trust",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, _ []string) error {
			return a.runTrust(cmd.Context(), w, yes, revoke, asJSON)
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "allow them without being asked")
	f.BoolVar(&revoke, "revoke", false, "allow none any more")
	f.BoolVar(&asJSON, "json", false, "print what there is and whether it is allowed, and change nothing")
	return cmd
}

func (a *app) runTrust(ctx context.Context, w *flow.Workspace, yes, revoke, asJSON bool) error {
	root := w.Store.Root()
	print, err := lifecycle.Fingerprint(root) // of what is shown, not of what is there at the answer
	if err != nil {
		return err
	}
	list, err := lifecycle.Programs(root)
	if err != nil {
		return err
	}
	allowed, _, err := a.register().Allows(root)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		return a.printJSON(map[string]any{"programs": append([]string{}, list...), "allowed": allowed})
	case revoke:
		fmt.Fprintln(a.out, "nothing in "+lifecycle.Dir+" runs here any more")
		return a.register().Allow(root, "")
	case len(list) == 0:
		fmt.Fprintln(a.out, "there are no programs in "+lifecycle.Dir)
		return nil
	}
	for _, name := range list {
		fmt.Fprintf(a.out, "%s/%s\n", lifecycle.Dir, oneLine(name))
	}
	if allowed {
		fmt.Fprintln(a.out, "They are allowed to run.")
		return nil
	}
	if !yes {
		if !isTerminal(a.in) || !isTerminal(a.out) {
			return &usageError{"nobody can be asked", "read the programs, then run cortext trust --yes"}
		}
		if yes, err = a.ask(ctx, "Read them first. May they run here, as they are now?"); err != nil {
			return err
		}
	}
	if !yes {
		fmt.Fprintln(a.out, "They do not run.")
		return nil
	}
	fmt.Fprintln(a.out, "They run from now on, as they are now.")
	return a.register().Allow(root, print)
}
