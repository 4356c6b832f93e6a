package cli

import (
	"slices"
	"testing"
)

// TestCommands: each command is built under its own name and, unless it is hidden, in a group; and
// a command line builds only the command it names, or all.
func TestCommands(t *testing.T) {
	a := new(app)
	for _, c := range commands {
		if hidden := c.make(a).Hidden; hidden != (c.group == "") || !hidden && !slices.Contains(groups, c.group) {
			t.Errorf("%s is hidden: %t, in group %q", c.name, hidden, c.group)
		}
		if cmd := c.make(a); cmd.Name() != c.name || len(cmd.Aliases) > 0 {
			t.Errorf("%s is made as %s, %v", c.name, cmd.Name(), cmd.Aliases)
		}
		for _, args := range [][]string{{c.name}, {"-C", "stop", c.name, "x"}, {"--directory", "d", c.name, "--json"}} {
			if made := rootCommand(a, args).Commands(); len(made) != 1 || made[0].Name() != c.name {
				t.Errorf("%q makes %d commands", args, len(made))
			}
		}
	}
	for _, args := range [][]string{nil, {"help", "stop"}, {"--help"}, {"-Cd", "stop"}, {"stopp"}, {"__complete", "stop", ""}, {"-C"}} {
		if made := rootCommand(a, args).Commands(); len(made) != len(commands) {
			t.Errorf("%q makes %d commands", args, len(made))
		}
	}
}
