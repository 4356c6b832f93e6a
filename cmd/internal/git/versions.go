package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"cortext/cmd/internal/shell"
)

// maxPast limits how many versions of files History reads.
const maxPast = 5000

// History calls yield for each version of the files at or below a path in any commit that
// is on this machine: of branches, stashes and the reflog, the newest first. It yields
// each content once, with the commit that wrote it. It leaves out what has not been
// fetched. If there is more than limit bytes, it stops with ErrLimit.
func History(ctx context.Context, root, path string, limit int64, yield func(f File, commit string) error) error {
	if Dir(root) == "" {
		return fmt.Errorf("%s: %w", root, ErrNoRepository)
	}
	prefix, err := Prefix(ctx, root)
	if err != nil {
		return err
	}
	out, err := read(ctx, root, "log", "--all", "--reflog", "--format=%x00%h", "--raw", "-z", "-m",
		"--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules", "--", path)
	if err != nil {
		return err
	}
	type version struct {
		File
		commit string
	}
	var found []version
	seen := map[string]bool{}
	commit, header := "", ""
	cut := false
	for _, word := range strings.Split(out, "\x00") {
		switch word = strings.Trim(word, "\n"); {
		case header != "": // mode, mode, id, id, status; then the path
			words := strings.Fields(strings.TrimPrefix(header, ":"))
			header = ""
			name, below := strings.CutPrefix(word, prefix)
			if len(words) != 5 || !below || !strings.HasPrefix(words[1], "100") || seen[words[3]+name] {
				continue
			}
			if cut = len(found) == maxPast; cut {
				continue
			}
			seen[words[3]+name] = true
			found = append(found, version{File{Path: name, ID: words[3]}, commit})
		case strings.HasPrefix(word, ":"):
			header = word
		case word != "":
			commit = word
		}
	}
	ids := make([]string, len(found))
	for i, v := range found {
		ids[i] = v.ID
	}
	err = objectsOf(root).each(ctx, ids, func(i int, size int64, r io.Reader) (err error) {
		if limit -= size; limit < 0 {
			return fmt.Errorf("%s: %w", found[i].Path, ErrLimit)
		}
		f := found[i].File
		if f.Content, err = io.ReadAll(r); err != nil {
			return err
		}
		return yield(f, found[i].commit)
	})
	if err == nil && cut {
		err = fmt.Errorf("%s: %w", path, ErrLimit)
	}
	return err
}

// IsAbsent reports whether git has nothing to read: no repository, or no commit.
func IsAbsent(err error) bool { return errors.Is(err, ErrNoRepository) || errors.Is(err, ErrUnborn) }

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
