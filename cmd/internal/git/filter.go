package git

import (
	"context"
	"strings"
)

// A Filter converts a file between its form in the work tree and its form in git, as the
// user's filters do, for example those of git-lfs. It is for programs that git runs: the
// current folder determines the repository.
type Filter struct{ Path string } // from the top of the work tree, with slashes

// Is reports whether a filter applies to the path.
func (f Filter) Is(ctx context.Context) bool {
	out, err := run(ctx, ".", "check-attr", "-z", "filter", "--", f.Path)
	words := strings.Split(out, "\x00") // path, attribute, value
	return err == nil && len(words) > 2 && words[2] != "unspecified" && words[2] != "unset"
}

// Smudge returns what the work tree would have of a content in git.
func (f Filter) Smudge(ctx context.Context, content []byte) ([]byte, error) {
	id, err := f.store(ctx, content, "--no-filters")
	if err != nil {
		return nil, err
	}
	out, err := run(ctx, ".", "cat-file", "--filters", "--path="+f.Path, id)
	return []byte(out), err
}

// Clean returns what git would have of a content in the work tree.
func (f Filter) Clean(ctx context.Context, content []byte) ([]byte, error) {
	id, err := f.store(ctx, content, "--path="+f.Path)
	if err != nil {
		return nil, err
	}
	out, err := run(ctx, ".", "cat-file", "blob", id)
	return []byte(out), err
}

func (f Filter) store(ctx context.Context, content []byte, how string) (id string, err error) {
	out, err := output(withInput(command(ctx, ".", []string{"hash-object", "-w", how, "--stdin"}), content))
	return strings.TrimSpace(out), err
}
