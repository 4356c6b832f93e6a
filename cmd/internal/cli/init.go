package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
)

type initOptions struct {
	agents       []string
	commit       string
	capture      string
	dryRun, json bool
	plugin       bool
	noUser       bool
	yes          bool
	found        bool // the agents are those found on this machine
}

func (a *app) initCommand() *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set up a workspace in this folder",
		Long: `Creates .workspace/, which holds the settings and the prompts of the conversation
types, and adds lines to .gitattributes that let git merge conversations. With
--agent it also installs that agent's slash commands and hooks. Commit them: they do
nothing for people who do not have cortext. On a terminal, init lists its changes and
asks before it makes them. You can run it again at any time: it updates the files it
wrote and keeps your edits.`,
		Example: "  cortext init",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runInit(cmd, o) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.agents, "agent", nil, "install slash commands and hooks for `AGENT`: claude, opencode, gemini, or a comma-separated list")
	f.BoolVar(&o.noUser, "no-user", false, "for gemini: do not change ~/.gemini/settings.json; commands then work only if Gemini CLI starts at the top of the workspace")
	f.BoolVar(&o.plugin, "plugin", false, "for opencode: install a plugin that captures each turn; OpenCode then takes about a minute longer to start if it cannot reach the npm registry")
	f.StringVar(&o.commit, "commit", "", "`WHEN` to commit a conversation to git: stop or off (default: off; on a terminal, ask)")
	f.StringVar(&o.capture, "capture", "", "`WHICH` sessions to capture: commands (those that use a /workspace command) or all (default: commands; on a terminal, ask)")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask: use the defaults and the agents found on this machine")
	f.BoolVar(&o.dryRun, "dry-run", false, "list the files that would change, without changing them")
	f.BoolVar(&o.json, "json", false, "print the changes as JSON")
	return cmd
}

// change is a file in init --json; its fields are stable.
type change struct {
	Path   string   `json:"path"`
	Action string   `json:"action"` // create, update, same, keep, remove
	Notes  []string `json:"notes"`
}

func (a *app) runInit(cmd *cobra.Command, o initOptions) error {
	dir, err := a.folder()
	if err != nil {
		return err
	}
	_, err = os.Lstat(filepath.Join(dir, filepath.FromSlash(workspace.ConfigFile)))
	isNew := errors.Is(err, os.ErrNotExist)
	if err := o.check(isNew); err != nil {
		return err
	}
	person := isTerminal(a.in) && isTerminal(a.out) && !o.json && !o.dryRun
	if len(o.agents) == 0 && (person || o.yes) {
		if o.agents, err = a.agentsSetUp(cmd, dir, isNew); err != nil {
			return err
		}
		if len(o.agents) == 0 {
			o.agents, o.found = a.agentsFound(dir), true
		}
	}
	// Report problems with an agent before writing anything.
	planned, err := a.planAgents(cmd, dir, o, isNew)
	if err != nil {
		return err
	}
	if o.dryRun {
		return a.dryInit(dir, o, planned)
	}
	told := false
	if person {
		if told, err = a.sayPlan(dir, planned); err != nil {
			return err
		}
		if told && !o.yes {
			before := o.agents
			if o, err = a.askInit(cmd, o, isNew); err != nil {
				return err
			}
			if !slices.Equal(before, o.agents) {
				told = false
				if planned, err = a.planAgents(cmd, dir, o, isNew); err != nil {
					return err
				}
			}
		}
	}
	created, err := flow.Init(dir, o.commit, o.capture)
	if err != nil {
		return err
	}
	if len(planned) > 0 {
		w, err := openFlow(a.env(cmd, dir))
		if err != nil {
			return err
		}
		defer w.Close()
		if err := w.Install(planned); err != nil {
			return err
		}
	}
	if err := a.linkPrograms(); err != nil {
		a.warn("the hooks find cortext on the PATH only: " + err.Error())
	}
	if o.json {
		if created == nil {
			created = []string{}
		}
		return a.printJSON(map[string]any{"workspace": dir, "created": created, "agent_files": changesOf(planned)})
	}
	if !told {
		a.sayGroups(created, planned, verbs{"made ", "updated ", "removed "})
	}
	a.sayKept(planned)
	a.sayNext(dir, o, len(created)+changing(planned) > 0)
	return nil
}

// check requires values that init knows, and settings only for a new workspace.
func (o initOptions) check(isNew bool) error {
	for _, f := range []struct{ name, value, one, other string }{
		{"commit", o.commit, workspace.CommitStop, workspace.CommitOff},
		{"capture", o.capture, workspace.CaptureCommands, workspace.CaptureAll},
	} {
		switch {
		case f.value == "":
		case f.value != f.one && f.value != f.other:
			return &usageError{fmt.Sprintf("--%s is %q, not %s or %s", f.name, f.value, f.one, f.other), ""}
		case !isNew && !o.dryRun:
			return &usageError{"--" + f.name + " is for a new workspace", "change " + f.name + " in " + workspace.ConfigFile}
		}
	}
	return nil
}

// agentsSetUp lists the agents whose commands are in the workspace.
func (a *app) agentsSetUp(cmd *cobra.Command, dir string, isNew bool) (names []string, err error) {
	w, err := flow.OpenAt(a.env(cmd, dir), dir, isNew)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for _, agent := range a.agents {
		changes, _ := w.PlanInstall(agent.Name(), false, false) // an error matters only once the agent is chosen
		if slices.ContainsFunc(changes, func(c inject.Change) bool {
			return c.Action != inject.Create && !strings.HasSuffix(c.Path, "settings.json")
		}) {
			names = append(names, agent.Name())
		}
	}
	return names, nil
}

// ready returns what prevents using an agent in a folder.
func (a *app) ready(agent inject.Agent, dir string) error {
	launcher, ok := agent.(inject.Launcher)
	if !ok {
		return nil
	}
	_, err := launcher.Ready(a.machine(), inject.Request{Dir: dir, Root: dir})
	return err
}

// agentsFound lists the agents installed on this machine.
func (a *app) agentsFound(dir string) (names []string) {
	for _, agent := range a.agents {
		err := a.ready(agent, dir)
		var stopped *inject.PreflightError
		if !errors.As(err, &stopped) || !stopped.Missing {
			names = append(names, agent.Name())
		}
	}
	return names
}

// planAgents plans the files of the agents. If there is no workspace yet, it plans as if
// there were one with the built-in prompts.
func (a *app) planAgents(cmd *cobra.Command, dir string, o initOptions, isNew bool) (all []inject.Change, err error) {
	if len(o.agents) == 0 {
		return nil, nil
	}
	w, err := flow.OpenAt(a.env(cmd, dir), dir, isNew)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	a.warn(w.Warnings...)
	for _, name := range o.agents {
		changes, err := w.PlanInstall(name, o.plugin, !o.noUser)
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
	}
	return all, nil
}
