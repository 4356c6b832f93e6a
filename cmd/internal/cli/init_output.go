package cli

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/store"
)

// printNext prints what to do after init. start is the name of an agent that can be
// started, or "". agents are those that init set up.
func printNext(on screen, agents []string, start string) {
	switch {
	case len(agents) == 0:
		fmt.Fprintln(on.out, "Next: cortext init --agent claude, cortext new brainstorm \"a topic\", or cortext import a transcript.")
	case start == "":
		fmt.Fprintln(on.out, "Next: commit these files, start the agent here and type /workspace.brainstorm and a topic.")
	default:
		fmt.Fprintf(on.out, "Next: commit these files, start %s here and type /workspace.brainstorm and a topic.\n", start)
	}
}

// verbs are the words for changes to files.
type verbs struct{ create, update, remove string }

func (v verbs) of(action inject.Action) string {
	return map[inject.Action]string{inject.Create: v.create, inject.Update: v.update, inject.Remove: v.remove}[action]
}

// changing counts the changed files.
func changing(changes []inject.Change) (n int) {
	for _, c := range changes {
		if c.Action != inject.Same && c.Action != inject.Keep {
			n++
		}
	}
	return n
}

// mostNamed is the maximum number of commands listed by name.
const mostNamed = 2

// own returns the changes to files of the workspace that a user cares about.
func (r *initRun) own(names []string) (changes []inject.Change) {
	for _, name := range names {
		switch {
		case name == ".workspace", strings.HasPrefix(name, ".workspace/local"):
		case name == store.AttributesFile && r.hasAttributes:
			changes = append(changes, inject.Change{Path: name, Action: inject.Update})
		default:
			changes = append(changes, inject.Change{Path: name, Action: inject.Create})
		}
	}
	return changes
}

// printGroups prints the changes to files, one line per folder, because an agent has
// fourteen commands.
func printGroups(on screen, changes []inject.Change, v verbs) {
	type group struct {
		folder string
		action inject.Action
	}
	var order []group
	commands, others := map[group][]string{}, map[group][]string{}
	for _, c := range changes {
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
				fmt.Fprintf(on.out, "%s%s\n", v.of(g.action), visible(name))
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
			fmt.Fprintf(on.out, "%s%s\n", v.of(g.action), visible(g.folder))
			continue
		}
		fmt.Fprintf(on.out, "%s%s/: %s\n", v.of(g.action), visible(g.folder), visible(strings.Join(what, ", ")))
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

// printKept prints the files that stay unchanged, and why.
func printKept(on screen, changes []inject.Change) {
	for _, c := range changes {
		if c.Action == inject.Keep {
			fmt.Fprintf(on.out, "kept %s: %s\n", visible(c.Path), visible(strings.Join(c.Notes, ": ")))
		}
	}
}

func printDryInit(on screen, planned []inject.Change) {
	v := verbs{"would make ", "would update ", "would remove "}
	for _, c := range planned {
		if verb := v.of(c.Action); verb != "" {
			fmt.Fprintf(on.out, "%s%s\n", verb, visible(c.Path))
			for _, note := range c.Notes {
				fmt.Fprintf(on.out, "  + %s\n", visible(note))
			}
		}
	}
	printKept(on, planned)
	if changing(planned) == 0 {
		fmt.Fprintln(on.out, "nothing to do")
	}
}

// change is a file in init --json; its fields are stable.
type change struct {
	Path   string   `json:"path"`
	Action string   `json:"action"` // create, update, same, keep, remove
	Notes  []string `json:"notes"`
}

func changesOf(list []inject.Change) []change {
	out := []change{}
	for _, c := range list {
		out = append(out, change{c.Path, string(c.Action), emptyNotNull(c.Notes)})
	}
	return out
}

func printInitJSON(on screen, dir string, created []string, planned []inject.Change) error {
	return on.json(map[string]any{"workspace": dir, "created": emptyNotNull(created), "agent_files": changesOf(planned)})
}
