package git

import (
	"strings"

	"cortext/cmd/internal/shell"
)

// Index is the name that [RestoreCommand] and [ShowCommand] take for what is staged.
const Index = ""

// RestoreCommand returns the command, for a shell, that puts a file or folder back
// into the work tree as a commit or the [Index] has it. The path is relative to root,
// with slashes.
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

// ShowCommand returns the command, for a shell, that shows a file as a branch, a
// commit or the [Index] has it. The path is relative to root, with slashes.
func ShowCommand(root, from, path string) string {
	if strings.HasPrefix(from, "-") { // no option
		from = "refs/heads/" + from
	}
	return shell.Quote("git", "-C", root, "show", from+":./"+path)
}
