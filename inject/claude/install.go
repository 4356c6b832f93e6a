package claude

import (
	"fmt"

	"cortext/inject"
	"cortext/inject/claude/setup"
)

// settingsFile holds the hooks. It is the one that a project commits.
const settingsFile = ".claude/settings.json"

// install returns the files of the slash commands and the hooks.
func install(types []inject.Type, read func(string) (string, bool, error)) ([]inject.Change, error) {
	list := make([]setup.Type, len(types))
	for i, t := range types {
		list[i] = setup.Type(t)
	}
	var changes []inject.Change
	for _, f := range setup.Commands(list) {
		have, ok, err := read(f.Path)
		if err != nil {
			return nil, err
		}
		c := inject.Change{Path: f.Path, Text: f.Text}
		switch setup.Update(have, ok, f) {
		case setup.Create:
			c.Action = inject.Create
		case setup.Rewrite:
			c.Action = inject.Update
		case setup.Same:
			c.Action = inject.Same
		case setup.KeepEdited:
			c.Action, c.Notes = inject.Keep, []string{"you have edited it: delete it to have it made anew"}
		case setup.KeepForeign:
			c.Action, c.Notes = inject.Keep, []string{"it is not cortext's"}
		}
		changes = append(changes, c)
	}
	have, ok, err := read(settingsFile)
	if err != nil {
		return nil, err
	}
	want, notes, err := setup.Settings([]byte(have), ok)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: nothing was changed", settingsFile, err)
	}
	c := inject.Change{Path: settingsFile, Text: string(want), Action: inject.Update, Notes: notes}
	switch {
	case !ok:
		c.Action = inject.Create
	case len(notes) == 0:
		c.Action = inject.Same
	}
	return append(changes, c), nil
}
