package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/git"
	"cortext/resume"
	"cortext/resume/digest"
	"cortext/schema"
)

// What is looked at of the repository's history, and for how long: a resume does not wait
// for a repository that is slow.
const (
	mostCommits = 200
	mostAsked   = 400 // files of which git is asked whether it left them out
	changesWait = 2 * time.Second
)

// Changes finds what git knows to have happened since the last message of a conversation,
// and which of the conversation's files are gone; nil outside of git, or if git does not
// answer in time. Uncommitted edits are not looked at.
func (w *Workspace) Changes(ctx context.Context, s *schema.Session, h schema.History, state *digest.State) *resume.Changes {
	root, last := w.Store.Root(), s.LastActive.Time()
	if n := len(h.Messages); n > 0 && !h.Messages[n-1].Timestamp.Time().IsZero() {
		last = h.Messages[n-1].Timestamp.Time()
	}
	if git.Dir(root) == "" || last.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, changesWait)
	defer cancel()
	commits, err := git.Since(ctx, root, last, mostCommits)
	if err != nil {
		return nil // also where there is no commit yet
	}
	files := w.filesOf(state)
	c := &resume.Changes{Commits: len(commits), More: len(commits) == mostCommits}
	for _, commit := range commits {
		if ours(commit.Paths) {
			c.Commits--
			continue
		}
		c.Subjects = append(c.Subjects, commit.Subject)
		for _, path := range commit.Paths {
			if files[path] && !slices.Contains(c.Changed, path) {
				c.Changed = append(c.Changed, path)
			}
		}
	}
	for path := range files {
		if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path))); errors.Is(err, fs.ErrNotExist) {
			c.Gone = append(c.Gone, path)
		}
	}
	slices.Sort(c.Changed)
	slices.Sort(c.Gone)
	// git takes the paths as arguments, of which a system takes no endless list.
	if asked := c.Gone[:min(mostAsked, len(c.Gone))]; len(asked) > 0 {
		if skipped, err := git.SkippedPaths(ctx, root, asked); err == nil {
			c.Gone = slices.DeleteFunc(c.Gone, func(path string) bool { return skipped[path] })
		}
	}
	return c
}

// ours reports whether a commit only saved conversations, as cortext does at a stop.
func ours(paths []string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return !strings.HasPrefix(p, "conversations/") })
}

// filesOf are the files of a conversation that are in the workspace and were there when
// it was last heard of, relative to it.
func (w *Workspace) filesOf(state *digest.State) map[string]bool {
	files := map[string]bool{}
	for _, f := range state.Files {
		path := f.Path
		if filepath.IsAbs(path) {
			rel, ok := w.Relative(path)
			if !ok {
				continue
			}
			path = rel
		}
		if path = filepath.ToSlash(filepath.Clean(path)); f.Action != digest.Deleted && filepath.IsLocal(path) && !strings.HasPrefix(path, "conversations/") {
			files[path] = true
		}
	}
	return files
}
