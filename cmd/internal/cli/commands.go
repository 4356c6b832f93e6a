package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// The groups of commands in the help, in their order. Commands without one are not shown.
const (
	toResume  = "Start and resume"
	toRead    = "Find and read"
	toEdit    = "Name, tag and remove"
	toCapture = "Capture"
	withGit   = "Work with git"
	toSetUp   = "Set up and check"
)

var groups = []string{toResume, toRead, toEdit, toCapture, withGit, toSetUp}

// commands lists all commands of cortext.
var commands = []struct {
	name  string
	group string
	make  func(*app) *cobra.Command
}{
	{"new", toResume, newCommand},
	{"resume", toResume, resumeCommand},
	{"chat", toResume, chatCommand},
	{"fork", toResume, forkCommand},
	{"stop", toResume, stopCommand},
	{"current", toResume, currentCommand},
	{"context", toResume, contextCommand},
	{"compact", toResume, compactCommand},

	{"list", toRead, listCommand},
	{"show", toRead, showCommand},
	{"search", toRead, searchCommand},
	{"stats", toRead, statsCommand},
	{"export", toRead, exportCommand},
	{"serve", toRead, serveCommand},

	{"title", toEdit, titleCommand},
	{"tag", toEdit, tagCommand},
	{"untag", toEdit, untagCommand},
	{"note", toEdit, noteCommand},
	{"set", toEdit, setCommand},
	{"status", toEdit, statusCommand},
	{"archive", toEdit, archiveCommand},
	{"unarchive", toEdit, unarchiveCommand},
	{"rm", toEdit, rmCommand},
	{"prune", toEdit, pruneCommand},
	{"redact", toEdit, redactCommand},

	{"sync", toCapture, syncCommand},
	{"watch", toCapture, watchCommand},
	{"import", toCapture, importCommand},
	{"skip", toCapture, skipCommand},

	{"push", withGit, pushCommand},
	{"pull", withGit, pullCommand},
	{"clone", withGit, cloneCommand},
	{"why", withGit, whyCommand},
	{"log", withGit, logCommand},

	{"init", toSetUp, initCommand},
	{"config", toSetUp, configCommand},
	{"trust", toSetUp, trustCommand},
	{"check", toSetUp, checkCommand},
	{"repair", toSetUp, repairCommand},
	{"statusline", toSetUp, statuslineCommand},
	{"completion", toSetUp, completionCommand},
	{"version", toSetUp, versionCommand},

	{"hook", "", hookCommand},
	{"link-commit", "", linkCommitCommand},
	{"merge-driver", "", mergeDriverCommand},
	{"happened", "", happenedCommand},
	{"index", "", indexCommand},
	{"refresh", "", refreshCommand},
	{"tidy", "", tidyCommand},
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
