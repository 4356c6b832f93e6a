package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/hook"
	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/workspace"
)

// close ends the work with a workspace: now that everything is saved, it runs the
// workspace's programs for the events of this command.
func (a *app) close(ctx context.Context, w *flow.Workspace) {
	a.ran(context.WithoutCancel(ctx), w)
	if w.HasUnused() { // removing it with the agent's program takes seconds
		if err := a.hooks().Later(w, "tidy"); err != nil {
			a.warn(err.Error())
		}
	}
	_ = w.Close()
}

// ran runs the workspace's programs for the events so far.
func (a *app) ran(ctx context.Context, w *flow.Workspace) {
	happened := w.Events.Take()
	if len(happened) == 0 || hook.InLifecycle() || !a.allowed(w) {
		return
	}
	for _, err := range a.runLifecycle(ctx, w, happened) {
		a.warn(oneLine(err.Error()))
	}
}

// register is the file with this user's trust decisions about workspaces.
func (a *app) register() lifecycle.Register {
	return lifecycle.RegisterIn(workspace.StateDir(a.machine()))
}

// allowed reports whether the workspace's programs may run. If there are any and they may
// not, it says so.
func (a *app) allowed(w *flow.Workspace) bool {
	yes, any, err := a.register().Allows(w.Store.Root())
	switch {
	case err != nil:
		a.warn(err.Error())
	case any && !yes:
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
		failed = append(failed, lifecycle.Run(ctx, a.register(), w.Store.Root(), lifecycle.Event{
			Event: h.Name, Session: id, Folder: folder, ID: h.MessageID, Role: h.Role, Count: h.Count,
		})...)
	}
	return failed
}

// events parses the events that a hook passes on the command line.
func events(words []string) ([]workspace.Event, error) {
	size := hook.EventWords
	if len(words)%size != 0 {
		return nil, &usageError{fmt.Sprintf("%d arguments, not %d for each event", len(words), size), "cortext calls this command itself"}
	}
	var list []workspace.Event
	for h := range slices.Chunk(words, size) {
		count, err := strconv.Atoi(h[4])
		if err != nil {
			return nil, &usageError{fmt.Sprintf("%q is not a number of messages", h[4]), "cortext calls this command itself"}
		}
		list = append(list, workspace.Event{Name: h[0], Path: h[1], MessageID: h[2], Role: h[3], Count: count})
	}
	return list, nil
}

// turnWait is how long the programs of one event wait for those of another.
const turnWait = time.Minute

func (a *app) happenedCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "happened -- [EVENT FOLDER MESSAGE ROLE COUNT]…",
		Short:   "Run the workspace's hooks for events (called by cortext)",
		Long:    "Runs the programs in .workspace/hooks for events that have happened. cortext runs it by itself.",
		Example: "  cortext happened -- session-message conversations/2025-11-22/1030-brainstorm-api-design-hv37 01kan assistant 2",
		Hidden:  true,
		RunE: a.quietlyWithin(func(cmd *cobra.Command, w *flow.Workspace, list []string) error {
			happened, err := events(list)
			if err != nil {
				return err
			}
			unlock, err := w.Store.LockCache("happened", turnWait)
			if err != nil {
				return err
			}
			defer unlock()
			if err := errors.Join(a.runLifecycle(cmd.Context(), w, happened)...); err != nil {
				a.hooks().Failed(w, "", "lifecycle", err)
			}
			return nil
		}),
	}
}

func (a *app) trustCommand() *cobra.Command {
	var yes, revoke, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Review and allow the workspace's hooks",
		Long: `Lists the programs in .workspace/hooks with the SHA-256 of each, and asks whether they
may run for you on this machine. They run when a conversation starts, is resumed, gets
messages or ends. None of them runs until you allow it. If a file is added or changed,
you have to allow them again. None runs while .workspace/hooks contains a symbolic link.`,
		Example: "  cortext trust",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, _ []string) error {
			root := w.Store.Root()
			if yes && revoke || asJSON && (yes || revoke) {
				return &usageError{"--yes, --revoke and --json exclude each other", "usage: " + cmd.UseLine()}
			}
			if revoke {
				if err := a.register().Revoke(root); err != nil {
					return err
				}
				fmt.Fprintln(a.out, "nothing in "+lifecycle.Dir+" runs here any more")
				return nil
			}
			now, err := lifecycle.Read(root)
			if err != nil {
				return err
			}
			was, err := a.register().Allowed(root)
			if err != nil {
				return err
			}
			t := trust{now, was}
			if asJSON {
				return a.printJSON(t.json())
			}
			return a.askTrust(cmd.Context(), root, t, yes)
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "allow them without asking")
	f.BoolVar(&revoke, "revoke", false, "stop allowing them")
	f.BoolVar(&asJSON, "json", false, "print the programs and whether they are allowed as JSON; changes nothing")
	return cmd
}

// askTrust shows the programs, asks, and records the answer for what it showed.
func (a *app) askTrust(ctx context.Context, root string, t trust, yes bool) error {
	if len(t.now.Programs()) == 0 {
		fmt.Fprintln(a.out, "there are no programs in "+lifecycle.Dir)
		return nil
	}
	t.print(a.out)
	if t.allowed() {
		fmt.Fprintln(a.out, "They are allowed to run.")
		return nil
	}
	if !yes {
		if !isTerminal(a.in) || !isTerminal(a.out) {
			return &usageError{"nobody can be asked", "read the programs, then run cortext trust --yes"}
		}
		var err error
		if yes, err = a.ask(ctx, "Read them first. May they run here, as they are now?"); err != nil {
			return err
		}
	}
	if !yes {
		fmt.Fprintln(a.out, "They do not run.")
		return nil
	}
	if err := a.register().Allow(root, t.now); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "They run from now on, as they are now.")
	return nil
}

// A trust holds the current contents of the hooks folder and what the user allowed
// before.
type trust struct{ now, was lifecycle.Hooks }

func (t trust) allowed() bool {
	return len(t.now.Programs()) > 0 && t.now.Same(t.was)
}

// state says how a file differs from what was allowed, or returns "" if nothing was
// allowed before.
func (t trust) state(name string) string {
	was, known := t.was.Files[name]
	_, there := t.now.Files[name]
	switch {
	case len(t.was.Files) == 0:
		return ""
	case !there:
		return "gone"
	case !known:
		return "new"
	case was != t.now.Files[name]:
		return "changed"
	}
	return "allowed"
}

// gone lists the allowed files that no longer exist.
func (t trust) gone() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(t.was.Files)) {
		if _, there := t.now.Files[name]; !there {
			list = append(list, name)
		}
	}
	return list
}

func (t trust) print(out io.Writer) {
	tw := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	row := func(name string) {
		sum := t.now.Files[name].Sum
		line := fmt.Sprintf("%s/%s\t%s\t%s", lifecycle.Dir, oneLine(name), sum[:min(12, len(sum))], t.state(name))
		fmt.Fprintln(tw, strings.TrimRight(line, "\t"))
	}
	for _, name := range t.now.Programs() {
		row(name)
	}
	if others := slices.Concat(t.now.Others(), t.gone()); len(others) > 0 {
		fmt.Fprintln(tw, "They may read:")
		for _, name := range others {
			row(name)
		}
	}
	_ = tw.Flush()
}

// json returns what --json prints.
func (t trust) json() map[string]any {
	type row struct {
		Path string `json:"path"`
		lifecycle.File
		Program bool   `json:"program"`
		State   string `json:"state,omitempty"`
	}
	programs, files := append([]string{}, t.now.Programs()...), []row{}
	for _, name := range slices.Concat(programs, t.now.Others(), t.gone()) {
		files = append(files, row{name, t.now.Files[name], slices.Contains(programs, name), t.state(name)})
	}
	return map[string]any{"programs": programs, "allowed": t.allowed(), "files": files}
}
