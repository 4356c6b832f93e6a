package git

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
)

// Holders says where a repository still has a text that is no longer in the work tree.
type Holders struct {
	Commits int      // that added it or changed files with it
	Refs    []string // branches, tags and the stash whose history has it
	Index   []string // staged files with it
	Whole   bool     // git could be searched completely within the time limit, and has no filtered files
}

// maxContains bounds the commits that git is asked about when it lists refs.
const maxContains = 200

// maxSearched is the size, in bytes, of the largest file that is searched.
const maxSearched = 512 << 20

// FindHolders searches the files at or below paths, relative to root, in all commits of
// all branches, stashes and reflogs, and in the index. has reports whether a file contains
// the text. It ends with ctx and then returns what it found. The error is
// [ErrNoRepository] if root is in none.
func FindHolders(ctx context.Context, root string, paths []string, has func(content []byte) bool) (h Holders, err error) {
	out, err := read(ctx, root, append([]string{"log", "--all", "--reflog", "-m", "--raw", "--no-abbrev", "--no-renames",
		"--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--format=%x00%H", "--"}, paths...)...)
	if err != nil && ctx.Err() == nil {
		return h, err
	}
	added := map[string][]string{} // commits, by the blobs that they added
	commit := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "\x00"); ok {
			commit = id
		} else if words := strings.Fields(line); len(words) > 4 && strings.HasPrefix(line, ":") && strings.HasPrefix(words[1], "100") {
			added[words[3]] = append(added[words[3]], commit)
		}
	}
	staged, _ := list(ctx, root, []string{"ls-files", "-s", "-z"}, paths...)
	names := map[string][]string{} // staged files, by blob
	var ids []string
	for id := range added {
		ids = append(ids, id)
	}
	for _, line := range staged { // mode, id, stage, tab, path
		head, name, _ := strings.Cut(line, "\t")
		if words := strings.Fields(head); len(words) == 3 && strings.HasPrefix(words[0], "100") {
			names[words[1]] = append(names[words[1]], name)
			ids = append(ids, words[1])
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	commits := map[string]bool{}
	h.Whole = ctx.Err() == nil && !filtered(ctx, root, slices.Concat(slices.Collect(maps.Values(names))...))
	err = objectsOf(root).each(ctx, ids, func(i int, size int64, content io.Reader) error {
		if size > maxSearched {
			h.Whole = false
			return nil
		}
		b, err := io.ReadAll(content)
		if err != nil || !has(b) {
			return err
		}
		for _, c := range added[ids[i]] {
			commits[c] = true
		}
		h.Index = append(h.Index, names[ids[i]]...)
		return nil
	})
	if err != nil {
		h.Whole = false
	}
	slices.Sort(h.Index)
	h.Commits = len(commits)
	h.Refs = refsWith(ctx, root, commits)
	if ctx.Err() != nil {
		h.Whole, err = false, nil
	}
	if errors.Is(err, ErrNoRepository) {
		return h, err
	}
	return h, nil
}

// refsWith lists the refs whose history has one of some commits.
func refsWith(ctx context.Context, root string, commits map[string]bool) []string {
	if len(commits) == 0 {
		return nil
	}
	args := []string{"for-each-ref", "--format=%(refname:short)"}
	for c := range commits {
		if len(args) > maxContains {
			break
		}
		args = append(args, "--contains="+c)
	}
	out, err := read(ctx, root, args...)
	if err != nil {
		return nil
	}
	return strings.Fields(out)
}
