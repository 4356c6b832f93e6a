package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/git"
	"cortext/resume"
	"cortext/resume/notes"
	"cortext/schema"
)

// Limits on reading the repository's history: a resume must not wait for a slow
// repository.
const (
	mostCommits = 200
	mostAsked   = 400 // files that git is asked about
	changesWait = 2 * time.Second
)

// LastMessageTime returns the time of the last message of a conversation that ends with h.
func LastMessageTime(s *schema.Session, h schema.History) time.Time {
	if n := len(h.Messages); n > 0 {
		if at := h.Messages[n-1].Timestamp.Time(); !at.IsZero() {
			return at
		}
	}
	return s.LastActive.Time()
}

// Changes returns the commits since the last message of a conversation, and which of the
// conversation's files are gone. It returns nil outside of git, or if git does not answer
// in time. It ignores uncommitted edits.
func (t *Tree) Changes(ctx context.Context, s *schema.Session, last time.Time, state *notes.Notes) *resume.Changes {
	root := t.store.Root()
	if git.Dir(root) == "" || last.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, changesWait)
	defer cancel()
	commits, err := git.Since(ctx, root, last, mostCommits, conversationsDir)
	if err != nil {
		return nil // even if there is no commit yet
	}
	files := t.filesOf(s, state)
	c := &resume.Changes{Commits: len(commits), More: len(commits) == mostCommits}
	for _, commit := range commits {
		if commit.Nothing { // it only saved conversations, as cortext's commit at a stop
			c.Commits--
			continue
		}
		c.Subjects = append(c.Subjects, commit.Subject)
		for _, path := range commit.Paths {
			if _, ok := files[path]; ok && !slices.Contains(c.Changed, path) {
				c.Changed = append(c.Changed, path)
			}
		}
	}
	var gone []string
	for path := range files {
		if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path))); errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, path)
		}
	}
	slices.Sort(c.Changed)
	slices.Sort(gone)
	// git takes the paths as arguments, and systems limit the length of the list.
	gone = gone[:min(mostAsked, len(gone))]
	ask := git.KnownInHead
	if t.IsSparse() {
		ask = git.Known
	}
	known, err := ask(ctx, root, gone)
	for _, path := range gone {
		switch {
		case err != nil || known[path] == git.Skipped:
		case files[path] || known[path] == git.Tracked || slices.Contains(c.Changed, path):
			c.Gone = append(c.Gone, path)
		}
	}
	return c
}

// filesOf returns the files of a conversation, relative to the workspace, that are in it
// and existed when the conversation last mentioned them. Files with an absolute path in
// the conversation are certain. The others are right only if the agent was in the folder
// it started in.
func (t *Tree) filesOf(s *schema.Session, state *notes.Notes) (certain map[string]bool) {
	certain = map[string]bool{}
	was := t.recordedRoot(state)
	for _, f := range state.Files {
		path, whole := filepath.ToSlash(f.Path), filepath.IsAbs(f.Path)
		if rel, ok := strings.CutPrefix(path, was+"/"); ok && was != "" {
			path = rel
		} else if rel, ok := t.Relative(f.Path); ok && whole {
			path = rel
		} else if whole {
			continue
		} else {
			path = filepath.ToSlash(filepath.Join(s.WorkingDir, path))
		}
		if path = filepath.ToSlash(filepath.Clean(path)); f.Action != notes.Deleted && !f.Shortened() && filepath.IsLocal(path) && !strings.HasPrefix(path, "conversations/") {
			certain[path] = certain[path] || whole
		}
	}
	return certain
}

// recordedRoot returns the workspace folder at the time of recording if it was elsewhere,
// as in another user's clone: the folder below which most of the conversation's files are
// here, too. It returns "" if there is none. A name alone is not enough, nor is a single
// file, unless the folder has the same name.
func (t *Tree) recordedRoot(state *notes.Notes) (root string) {
	found := map[string]int{}
	for _, f := range state.Files {
		path := filepath.ToSlash(f.Path)
		if _, here := t.Relative(f.Path); here && filepath.IsAbs(f.Path) {
			return ""
		}
		if !strings.HasPrefix(path, "/") {
			continue
		}
		for i := 1; i < len(path); i++ {
			if path[i] != '/' || !strings.Contains(path[i+1:], "/") {
				continue
			}
			if _, err := os.Lstat(filepath.Join(t.store.Root(), filepath.FromSlash(path[i+1:]))); err == nil {
				found[path[:i]]++
				break
			}
		}
	}
	for dir, n := range found {
		if n == 1 && pathpkg.Base(dir) != filepath.Base(t.store.Root()) {
			continue
		}
		if n > found[root] || n == found[root] && dir < root {
			root = dir
		}
	}
	return root
}
