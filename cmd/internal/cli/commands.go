package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// commands are all commands of cortext.
var commands = []struct {
	name string
	make func(*app) *cobra.Command
}{
	{"init", (*app).initCommand},
	{"new", (*app).newCommand},
	{"import", (*app).importCommand},
	{"list", (*app).listCommand},
	{"show", (*app).showCommand},
	{"resume", (*app).resumeCommand},
	{"context", (*app).contextCommand},
	{"compact", (*app).compactCommand},
	{"stop", (*app).stopCommand},
	{"skip", (*app).skipCommand},
	{"rm", (*app).removeCommand},
	{"sync", (*app).syncCommand},
	{"watch", (*app).watchCommand},
	{"hook", (*app).hookCommand},
	{"happened", (*app).happenedCommand},
	{"tidy", (*app).tidyCommand},
	{"status", (*app).statusCommand},
	{"title", (*app).titleCommand},
	{"current", (*app).currentCommand},
	{"trust", (*app).trustCommand},
	{"check", (*app).checkCommand},
	{"version", (*app).versionCommand},
	{"completion", (*app).completionCommand},
}

// commandIn returns the command that a command line names, empty if it may be another or
// none. Only that one is made then: to make all of them takes a seventh of the time in
// which cortext starts.
func commandIn(args []string) string {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-C", a == "--directory":
			i++
		case strings.HasPrefix(a, "-"):
			return ""
		default:
			for _, c := range commands {
				if c.name == a {
					return a
				}
			}
			return ""
		}
	}
	return ""
}
