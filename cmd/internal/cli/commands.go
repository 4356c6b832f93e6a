package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// commands lists all commands of cortext.
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

// commandIn returns the command that a command line names, or "" if it may be another one
// or none. Then only that command is built: building all of them takes a seventh of
// cortext's start time.
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
