package redact

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cortext/cmd/internal/export/bundle"
	"cortext/cmd/internal/git"
	"cortext/store"
)

// InWorkTree reports which of the user's other files in the workspace contain the text, for
// example exports. It leaves out what git ignores. It stops when ctx ends; whole is then
// false.
func (r *Redactor) InWorkTree(ctx context.Context) (left []Left, whole bool) {
	root := r.ws.Store.Root()
	names, err := git.WorkTree(ctx, root)
	if errors.Is(err, git.ErrNoRepository) {
		names, err = allFiles(ctx, root), nil
	}
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		if top, _, _ := strings.Cut(name, "/"); top == "conversations" || top == ".workspace" {
			continue // searched as conversations, and as files of cortext
		}
		info, statErr := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
		switch {
		case statErr != nil || !info.Mode().IsRegular():
		case strings.HasSuffix(name, bundle.Suffix):
			left = append(left, Left{Path: name, Why: "a compressed file, which may have it and was not searched"})
		case info.Size() > maxFile:
			left = append(left, Left{Path: name, Why: "a file that is too large to search"})
		default:
			if b, err := r.ws.Store.ReadFile(name); err == nil && r.request.has(b) {
				left = append(left, Left{Path: name, Lines: r.request.lines(b), Why: "a file of yours: edit it, or export again"})
			} else if err != nil && !errors.Is(err, store.ErrNotFound) {
				left = append(left, unsearched(name, err))
			}
		}
	}
	return left, err == nil && ctx.Err() == nil
}

// allFiles returns the regular files below a folder outside of any repository.
func allFiles(ctx context.Context, root string) (names []string) {
	_ = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return ctx.Err()
		}
		if rel, err := filepath.Rel(root, at); err == nil {
			names = append(names, filepath.ToSlash(rel))
		}
		return ctx.Err()
	})
	return names
}
