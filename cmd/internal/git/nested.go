package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// exchanging is the variable that lists the repositories which an [Exchange] is pushing or
// pulling, in the environment of git and of the hooks that git runs. Without it, a hook that
// pushes would be run by its own push.
const exchanging = "CORTEXT_EXCHANGING"

// Exchanging reports whether we were called, through one of git's hooks, by an [Exchange] of
// the repository that root is in.
func Exchanging(root string) bool {
	name := repositoryOf(root)
	return name != "" && slices.Contains(filepath.SplitList(os.Getenv(exchanging)), name)
}

// inExchange returns the variable for the git of an exchange.
func inExchange(root string) string {
	outer := filepath.SplitList(os.Getenv(exchanging))
	return exchanging + "=" + strings.Join(append(outer, repositoryOf(root)), string(filepath.ListSeparator))
}

// repositoryOf names a repository by its folder, whichever link leads there.
func repositoryOf(root string) string {
	dir := CommonDir(root)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
