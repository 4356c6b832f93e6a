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
	{"init", initCommand},
	{"new", newCommand},
	{"import", importCommand},
	{"export", exportCommand},
	{"list", listCommand},
	{"show", showCommand},
	{"search", searchCommand},
	{"index", indexCommand},
	{"resume", resumeCommand},
	{"chat", chatCommand},
	{"fork", forkCommand},
	{"context", contextCommand},
	{"compact", compactCommand},
	{"stop", stopCommand},
	{"skip", skipCommand},
	{"rm", rmCommand},
	{"sync", syncCommand},
	{"watch", watchCommand},
	{"serve", serveCommand},
	{"merge-driver", mergeDriverCommand},
	{"push", pushCommand},
	{"pull", pullCommand},
	{"clone", cloneCommand},
	{"why", whyCommand},
	{"log", logCommand},
	{"link-commit", linkCommitCommand},
	{"statusline", statuslineCommand},
	{"hook", hookCommand},
	{"happened", happenedCommand},
	{"tidy", tidyCommand},
	{"refresh", refreshCommand},
	{"status", statusCommand},
	{"title", titleCommand},
	{"tag", tagCommand},
	{"untag", untagCommand},
	{"note", noteCommand},
	{"set", setCommand},
	{"archive", archiveCommand},
	{"unarchive", unarchiveCommand},
	{"prune", pruneCommand},
	{"redact", redactCommand},
	{"current", currentCommand},
	{"config", configCommand},
	{"trust", trustCommand},
	{"stats", statsCommand},
	{"check", checkCommand},
	{"repair", repairCommand},
	{"version", versionCommand},
	{"completion", completionCommand},
}

// commandIn returns the command that a command line names, or "" if that is not certain.
// Only a named command is built, because building all of them takes a seventh of cortext's
// start time.
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
