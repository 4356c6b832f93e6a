package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
)

// sayPlan shows the user at the terminal what init will do, and reports whether there is
// anything to do.
func (a *app) sayPlan(dir string, planned []inject.Change) (bool, error) {
	missing, err := flow.Missing(dir)
	if err != nil || len(missing)+changing(planned) == 0 {
		return false, err
	}
	fmt.Fprintf(a.out, "In %s, cortext will\n", visible(dir))
	a.sayGroups(missing, planned, verbs{"  make ", "  update ", "  remove "})
	fmt.Fprintf(a.out, "  link %s/ to this program\n", visible(a.fromHome(a.linkFolder(), "~")))
	return true, nil
}

// askInit asks for what the flags leave open. Nothing has been changed yet.
func (a *app) askInit(cmd *cobra.Command, o initOptions, isNew bool) (initOptions, error) {
	if o.found && len(o.agents) > 0 {
		var err error
		if o.agents, err = a.askAgents(cmd, o.agents); err != nil {
			return o, err
		}
	}
	if !isNew {
		return o, nil
	}
	if o.capture == "" && len(o.agents) > 0 {
		all, err := a.ask(cmd.Context(), "Capture all sessions, not only /workspace ones?")
		if err != nil {
			return o, err
		}
		if all {
			o.capture = workspace.CaptureAll
		}
	}
	if o.commit == "" {
		yes, err := a.ask(cmd.Context(), "Commit each conversation's folder when it is stopped?")
		if err != nil {
			return o, err
		}
		if yes {
			o.commit = workspace.CommitStop
		}
	}
	return o, nil
}

// askAgents asks which agents the workspace is for. If the user types nothing, it returns
// the agents that were found.
func (a *app) askAgents(cmd *cobra.Command, found []string) ([]string, error) {
	var known []string
	for _, agent := range a.agents {
		known = append(known, agent.Name())
	}
	for {
		fmt.Fprintf(a.out, "For which agents? [%s] ", strings.Join(found, ","))
		line, err := a.line(cmd.Context())
		switch {
		case err != nil || line == "":
			return found, err
		case line == "none":
			return nil, nil
		}
		names := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
		i := slices.IndexFunc(names, func(name string) bool { return !slices.Contains(known, name) })
		if i < 0 {
			return names, nil
		}
		fmt.Fprintf(a.out, "there is no agent %q, only %s, or none\n", names[i], strings.Join(known, ", "))
	}
}

// sayNext prints what to do after init, and what is missing for each agent.
func (a *app) sayNext(dir string, o initOptions, changed bool) {
	if !changed {
		fmt.Fprintf(a.out, "%s is up to date, nothing to do\n", visible(dir))
	}
	start := ""
	for _, agent := range a.agents {
		chosen := slices.Contains(o.agents, agent.Name())
		if !chosen && !o.found {
			continue
		}
		err := a.ready(agent, dir)
		var stopped *inject.PreflightError
		missing := errors.As(err, &stopped) && stopped.Missing
		if chosen && !missing && start == "" {
			start = agent.Name()
		}
		switch {
		case err == nil || !chosen && !missing:
		case missing:
			way, _, _ := strings.Cut(stopped.Fix, ";") // the rest concerns a launch
			fmt.Fprintf(a.out, "%s is not installed: %s\n", stopped.Agent, way)
		case stopped != nil:
			fmt.Fprintf(a.out, "%s: %s\n", visible(err.Error()), visible(stopped.Fix))
		default:
			fmt.Fprintln(a.out, visible(err.Error()))
		}
	}
	a.sayPath()
	switch {
	case !changed:
	case len(o.agents) == 0:
		fmt.Fprintln(a.out, "Next: cortext init --agent claude, cortext new brainstorm \"a topic\", or cortext import a transcript.")
	case start == "":
		fmt.Fprintln(a.out, "Next: commit these files, start the agent here and type /workspace.brainstorm and a topic.")
	default:
		fmt.Fprintf(a.out, "Next: commit these files, start %s here and type /workspace.brainstorm and a topic.\n", start)
	}
}

// sayPath prints what to do if cortext is not on the PATH.
func (a *app) sayPath() {
	if _, err := exec.LookPath("cortext"); err == nil {
		return
	}
	if _, err := os.Stat(filepath.Join(a.linkFolder(), "cortext")); err != nil {
		a.warn("cortext is not on your PATH, where the hooks look for it: they do nothing until it is")
		return
	}
	fmt.Fprintf(a.out, "cortext is not on your PATH. The hooks find it. To type it:\n  export PATH=\"$PATH:%s\"\n", visible(a.fromHome(a.linkFolder(), "$HOME")))
}

// fromHome shortens a path in the user's home.
func (a *app) fromHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, a.machine().Home+string(filepath.Separator)); ok {
		return home + "/" + filepath.ToSlash(rest)
	}
	return path
}

// verbs are the words for what happens to files.
type verbs struct{ create, update, remove string }

func (v verbs) of(action inject.Action) string {
	return map[inject.Action]string{inject.Create: v.create, inject.Update: v.update, inject.Remove: v.remove}[action]
}

// changing counts the files that change.
func changing(changes []inject.Change) (n int) {
	for _, c := range changes {
		if c.Action != inject.Same && c.Action != inject.Keep {
			n++
		}
	}
	return n
}

// mostNamed is how many commands are listed by name.
const mostNamed = 2

// sayGroups prints what happens to the files, one line per folder, because an agent has
// fourteen commands.
func (a *app) sayGroups(made []string, changes []inject.Change, v verbs) {
	var all []inject.Change
	for _, name := range made {
		if name != ".workspace" && !strings.HasPrefix(name, ".workspace/local") {
			all = append(all, inject.Change{Path: name, Action: inject.Create})
		}
	}
	type group struct {
		folder string
		action inject.Action
	}
	var order []group
	commands, others := map[group][]string{}, map[group][]string{}
	for _, c := range append(all, changes...) {
		verb := v.of(c.Action)
		if verb == "" {
			continue
		}
		top, _, _ := strings.Cut(strings.TrimPrefix(c.Path, "~/"), "/")
		g := group{c.Path[:strings.Index(c.Path, top)] + top, c.Action}
		if !slices.Contains(order, g) {
			order = append(order, g)
		}
		switch {
		case path.Base(path.Dir(c.Path)) == "commands":
			commands[g] = append(commands[g], c.Path)
		case len(c.Notes) > 0:
			others[g] = append(others[g], fmt.Sprintf("%s in %s", noted(c.Notes), path.Base(c.Path)))
		case c.Path != g.folder:
			others[g] = append(others[g], path.Base(c.Path))
		}
	}
	for _, g := range order {
		what := others[g]
		switch names := commands[g]; {
		case len(names) == 0:
		case len(names) <= mostNamed:
			for _, name := range names {
				fmt.Fprintf(a.out, "%s%s\n", v.of(g.action), visible(name))
			}
			if len(what) == 0 {
				continue
			}
		case g.folder == ".workspace":
			what = append(what, fmt.Sprintf("%d prompts", len(names)))
		default:
			what = append([]string{fmt.Sprintf("%d commands", len(names))}, what...)
		}
		if len(what) == 0 {
			fmt.Fprintf(a.out, "%s%s\n", v.of(g.action), visible(g.folder))
			continue
		}
		fmt.Fprintf(a.out, "%s%s/: %s\n", v.of(g.action), visible(g.folder), visible(strings.Join(what, ", ")))
	}
}

// noted shortens the notes on a file to a few words.
func noted(notes []string) string {
	if !strings.HasPrefix(notes[0], "hook ") {
		return notes[0]
	}
	if len(notes) == 1 {
		return "1 hook"
	}
	return fmt.Sprintf("%d hooks", len(notes))
}

// sayKept prints the files that stay unchanged, and why.
func (a *app) sayKept(changes []inject.Change) {
	for _, c := range changes {
		if c.Action == inject.Keep {
			fmt.Fprintf(a.out, "kept %s: %s\n", visible(c.Path), visible(strings.Join(c.Notes, ": ")))
		}
	}
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

// dryInit shows what init would do, file by file.
func (a *app) dryInit(dir string, o initOptions, planned []inject.Change) error {
	missing, err := flow.Missing(dir)
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
	v := verbs{"would make ", "would update ", "would remove "}
	for _, c := range planned {
		if verb := v.of(c.Action); verb != "" {
			fmt.Fprintf(a.out, "%s%s\n", verb, visible(c.Path))
			for _, note := range c.Notes {
				fmt.Fprintf(a.out, "  + %s\n", visible(note))
			}
		}
	}
	a.sayKept(planned)
	if changing(planned)+len(missing) == 0 {
		fmt.Fprintln(a.out, "nothing to do")
	}
	return nil
}
