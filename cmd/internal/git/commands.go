package git

import (
	"strings"

	"cortext/cmd/internal/shell"
)

// Index makes [RestoreCommand] and [ShowCommand] use the staged version.
const Index = ""

// RestoreCommand returns the shell command that restores a file or folder in the work
// tree from a commit or the [Index]. The path is relative to root, with slashes.
func RestoreCommand(root, from, path string) string {
	words := []string{"git", "-C", root, "checkout"}
	if from != Index {
		words = append(words, from)
	}
	if strings.ContainsAny(path, `*?[\`) {
		path = literal(path)
	}
	return shell.Quote(append(words, "--", path)...)
}

// ShowCommand returns the shell command that shows a file from a branch, a commit or the
// [Index]. The path is relative to root, with slashes.
func ShowCommand(root, from, path string) string {
	if strings.HasPrefix(from, "-") { // git would take it for an option
		from = "refs/heads/" + from
	}
	return shell.Quote("git", "-C", root, "show", from+":./"+path)
}
