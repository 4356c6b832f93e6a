package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
)

type initOptions struct {
	agents       []string
	commit       string
	dryRun, json bool
	plugin       bool
	noUser       bool
}

func (a *app) initCommand() *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make a workspace of this folder",
		Long: `Makes a workspace of this folder: .workspace/ with its settings and the prompts
of the conversation types, and the lines in .gitattributes that let git merge
conversations. With --agent also that agent's slash commands and hooks, which are
to be committed: for whoever has no cortext they do nothing. Safe to repeat: what
you wrote or edited stays, what cortext wrote is brought up to date.`,
		Example: "  cortext init --agent claude",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runInit(cmd, o) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.agents, "agent", nil, "install the slash commands and hooks of `AGENT`: claude, opencode, gemini; several with commas")
	f.BoolVar(&o.noUser, "no-user", false, "for gemini: leave ~/.gemini/settings.json alone; commands then work only where Gemini CLI is started at the top of the workspace")
	f.BoolVar(&o.plugin, "plugin", false, "for opencode: with a plugin, so that it captures by itself; where the npm registry is out of reach, OpenCode then starts about a minute later")
	f.StringVar(&o.commit, "commit", "", "`WHEN` cortext commits conversations: stop or off; default: off, asked on a terminal")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be changed, and change nothing")
	f.BoolVar(&o.json, "json", false, "print what was made as JSON")
	return cmd
}

// change is a file in init --json; its fields are stable.
type change struct {
	Path   string   `json:"path"`
	Action string   `json:"action"` // create, update, same, keep
	Notes  []string `json:"notes"`
}

func (a *app) runInit(cmd *cobra.Command, o initOptions) error {
	dir, err := a.folder()
	if err != nil {
		return err
	}
	if o.commit != "" && o.commit != workspace.CommitOff && o.commit != workspace.CommitStop {
		return &usageError{fmt.Sprintf("--commit is %q, not stop or off", o.commit), ""}
	}
	_, err = os.Lstat(filepath.Join(dir, filepath.FromSlash(workspace.ConfigFile)))
	isNew := errors.Is(err, os.ErrNotExist)
	if !isNew && o.commit != "" && !o.dryRun {
		return &usageError{"--commit is for a new workspace", "change commit in " + workspace.ConfigFile}
	}
	if o.dryRun {
		return a.dryInit(cmd, dir, o)
	}
	if isNew && o.commit == "" {
		o.commit = workspace.CommitOff
		if isTerminal(a.in) && isTerminal(a.out) {
			yes, err := a.ask(cmd.Context(), "Commit a conversation's folder to git, and nothing else, whenever it is stopped?")
			if err != nil {
				return err
			}
			if yes {
				o.commit = workspace.CommitStop
			}
		}
	}
	// What cannot be done for an agent is found out before anything is written.
	planned, err := a.planAgents(cmd, dir, o, isNew)
	if err != nil {
		return err
	}
	created, err := flow.Init(dir, o.commit)
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
	if o.json {
		if created == nil {
			created = []string{}
		}
		return a.printJSON(map[string]any{"workspace": dir, "created": created, "agent_files": changesOf(planned)})
	}
	for _, name := range created {
		fmt.Fprintf(a.out, "made %s\n", visible(name))
	}
	done := a.sayChanges(planned, "made ", "updated ")
	if len(created)+done == 0 {
		fmt.Fprintf(a.out, "%s is up to date, nothing to do\n", visible(dir))
		return nil
	}
	if len(o.agents) > 0 {
		if _, err := exec.LookPath("cortext"); err != nil {
			a.warn("cortext is not on your PATH, where the hooks look for it: they do nothing until it is")
		}
		fmt.Fprintln(a.out, "Next: commit these files, start the agent here and type /workspace.brainstorm and a topic.")
	} else {
		fmt.Fprintln(a.out, "Next: cortext init --agent claude, cortext new brainstorm \"a topic\", or cortext import a transcript.")
	}
	return nil
}

// planAgents plans the files of the agents. Where there is no workspace yet, it
// plans as if there were one, with the built-in prompts.
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

// sayChanges prints what is done with each file and returns how many change.
func (a *app) sayChanges(changes []inject.Change, create, update string) (n int) {
	for _, c := range changes {
		switch c.Action {
		case inject.Create:
			fmt.Fprintf(a.out, "%s%s\n", create, visible(c.Path))
			n++
		case inject.Update:
			fmt.Fprintf(a.out, "%s%s\n", update, visible(c.Path))
			n++
		case inject.Keep:
			fmt.Fprintf(a.out, "kept %s", visible(c.Path))
			for _, note := range c.Notes {
				fmt.Fprintf(a.out, ": %s", visible(note))
			}
			fmt.Fprintln(a.out)
		}
		if c.Action == inject.Create || c.Action == inject.Update {
			for _, note := range c.Notes {
				fmt.Fprintf(a.out, "  + %s\n", visible(note))
			}
		}
	}
	return n
}

func changesOf(list []inject.Change) []change {
	out := []change{}
	for _, c := range list {
		notes := c.Notes
		if notes == nil {
			notes = []string{}
		}
		out = append(out, change{c.Path, string(c.Action), notes})
	}
	return out
}

// dryInit shows what init would do.
func (a *app) dryInit(cmd *cobra.Command, dir string, o initOptions) error {
	missing, err := flow.Missing(dir)
	if err != nil {
		return err
	}
	isNew := len(missing) > 0
	planned, err := a.planAgents(cmd, dir, o, isNew)
	if err != nil {
		return err
	}
	if o.json {
		if missing == nil {
			missing = []string{}
		}
		return a.printJSON(map[string]any{"workspace": dir, "created": missing, "agent_files": changesOf(planned)})
	}
	for _, name := range missing {
		fmt.Fprintf(a.out, "would make %s\n", visible(name))
	}
	if n := a.sayChanges(planned, "would make ", "would update "); n+len(missing) == 0 {
		fmt.Fprintln(a.out, "nothing to do")
	}
	return nil
}
