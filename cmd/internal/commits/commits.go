// Package commits finds the conversations that a repository's commits came from, and the
// commits that came from a conversation.
package commits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/history"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// Commits looks up commits in the repository that contains a workspace.
type Commits struct{ ws *workspace.Workspace }

// Of returns the commits of a workspace's repository.
func Of(ws *workspace.Workspace) Commits { return Commits{ws} }

// A Reason says where a change came from.
type Reason struct {
	Commit git.Logged
	Entry  store.Entry
	Prompt schema.Message // the user's last message before the change; its id is empty if there is none

	// Guesses gives the evidence for the answer. It is empty if the commit names the
	// conversation.
	Guesses []string

	// Latest says that nothing that is saved was said after the commit. What is not saved may have
	// led to it.
	Latest bool
}

// An UnknownError reports that no conversation of the workspace led to a commit.
type UnknownError struct {
	Commit git.Logged
	Named  string // the conversation that the commit names but the workspace lacks
}

func (e *UnknownError) Error() string {
	if e.Named != "" {
		return fmt.Sprintf("commit %.12s names conversation %s, which is not in this work tree", e.Commit.ID, e.Named)
	}
	return fmt.Sprintf("no conversation seems to have led to commit %.12s", e.Commit.ID)
}

// ErrUncommitted is returned if the requested file or line is not committed yet.
var ErrUncommitted = errors.New("it is not committed yet")

// Resolve returns the commit that COMMIT, FILE or FILE:LINE refers to. Files are relative to
// dir, which is a slash-separated path relative to the workspace.
func (c Commits) Resolve(ctx context.Context, dir, what string) (git.Logged, error) {
	root := c.ws.Store.Root()
	revision, changed := what, git.Change{}
	if !git.IsCommit(ctx, root, what) {
		file, line := what, 0
		if name, number, ok := cutLast(what, ":"); ok {
			if n, err := strconv.Atoi(number); err == nil && n > 0 {
				file, line = name, n
			}
		}
		var err error
		revision, changed, err = git.LastChange(ctx, root, path.Join(dir, file), line)
		if errors.As(err, new(*git.NotFetchedError)) {
			return git.Logged{}, err
		}
		if errors.Is(err, git.ErrNoRepository) {
			return git.Logged{}, fmt.Errorf("%s is not in a git repository, so no commit can be explained", root)
		}
		if at, ok := git.Head(root); ok && at.Commit == "" {
			return git.Logged{}, fmt.Errorf("the repository of %s has no commit on branch %s yet", root, at.Branch)
		}
		if err != nil {
			return git.Logged{}, fmt.Errorf("%q is neither a commit nor a file with a history: %w", what, err)
		}
		if strings.Trim(revision, "0") == "" {
			return git.Logged{}, ErrUncommitted
		}
	}
	commit, err := git.CommitNamed(ctx, root, revision, workspace.SessionTrailer)
	commit.Of = changed
	return commit, err
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Why returns the reason for a commit. It reads the commit's trailer, or guesses if there is none.
func (c Commits) Why(ctx context.Context, commit git.Logged) (*Reason, error) {
	if len(commit.Values) == 0 {
		return c.guess(ctx, commit)
	}
	var named []store.Entry
	for _, id := range commit.Values {
		e, known, err := c.ws.ByConversation(id)
		if err != nil {
			return nil, err
		}
		if known {
			named = append(named, e)
		}
	}
	switch {
	case len(named) == 0:
		return nil, &UnknownError{commit, commit.Values[0]}
	case len(commit.Values) == 1:
		r, err := c.named(ctx, commit, named[0])
		if err == nil && commit.Amid {
			r.Guesses = append(r.Guesses, "the commit names it in the middle of its message, as a quotation does")
		}
		return r, err
	}
	// Commits that were squashed, or one that was amended: each conversation led to a part.
	r, err := c.likeliest(ctx, commit, named)
	if err == nil && r == nil {
		r, err = c.named(ctx, commit, named[0])
	}
	if err != nil {
		return nil, err
	}
	r.Guesses = append([]string{fmt.Sprintf("it is one of the %d conversations that the commit names", len(commit.Values))}, r.Guesses...)
	return r, nil
}

// named returns the reason for a commit that names a conversation.
func (c Commits) named(ctx context.Context, commit git.Logged, e store.Entry) (*Reason, error) {
	shown, err := history.Show(c.ws.Conversations, e, history.ShowOptions{})
	if err != nil {
		return nil, err
	}
	t := c.trace(ctx, commit, shown)
	r := &Reason{Commit: commit, Entry: e, Latest: t.latest && t.made.ID == ""}
	var doubt string
	if r.Prompt, doubt = t.ledTo(); doubt != "" {
		r.Guesses = append(r.Guesses, doubt)
	}
	if t.made.ID != "" && commit.Of.File == "" {
		return r, nil
	}
	other, err := c.writer(ctx, t)
	if err != nil {
		return r, err
	}
	if other == nil {
		title, err := c.suspect(ctx, t)
		if title != "" {
			r.Guesses = append(r.Guesses, fmt.Sprintf("another conversation, %s, may have changed %s", title, t.files()))
		}
		return r, err
	}
	if len(t.wrote) == 0 || len(t.left) == 0 {
		return other, nil
	}
	r.Guesses = append(r.Guesses, fmt.Sprintf("another conversation, %s, changed some of its files", other.Entry.Session.DisplayTitle()))
	return r, nil
}

// PromptBefore returns the user's last message before a time. Commit times have a resolution
// of one second.
func PromptBefore(messages []schema.Message, at time.Time) (last schema.Message) {
	for _, m := range messages {
		if when := m.Timestamp.Time(); m.Role == schema.User && m.Content != "" && when.Before(at.Add(time.Second)) && !when.Before(last.Timestamp.Time()) {
			last = m
		}
	}
	return last
}

// linger is how long after its last message a conversation may still be the source of a
// commit: users try a change before they commit it.
const linger = 24 * time.Hour

// uncommitted is how long what a conversation is known to have changed may stay uncommitted.
const uncommitted = 30 * 24 * time.Hour

// guess finds the most likely source of a commit that names no conversation.
func (c Commits) guess(ctx context.Context, commit git.Logged) (*Reason, error) {
	then, err := c.then(commit, linger)
	if err != nil {
		return nil, err
	}
	best, err := c.likeliest(ctx, commit, then)
	if err == nil && best == nil {
		err = &UnknownError{Commit: commit}
	}
	return best, err
}

// then lists the conversations that were under way at a commit, or had ended at most the
// given time before it, most recently active first.
func (c Commits) then(commit git.Logged, most time.Duration) (then []store.Entry, err error) {
	all, err := c.ws.Store.Outlines()
	for _, e := range all {
		if begun := e.Session.CreatedAt.Time(); !begun.After(commit.At.Add(time.Second)) && !commit.At.After(e.Session.LastActive.Time().Add(most)) {
			then = append(then, e)
		}
	}
	slices.SortStableFunc(then, func(a, b store.Entry) int { return b.Session.LastActive.Time().Compare(a.Session.LastActive.Time()) })
	return then, err
}

// likeliest returns the reason for a commit, as of the conversation with the most evidence, or
// nil.
func (c Commits) likeliest(ctx context.Context, commit git.Logged, among []store.Entry) (*Reason, error) {
	var best *Reason
	bestScore := score{}
	for _, e := range among {
		r, s, err := c.weigh(ctx, commit, e)
		if err != nil {
			continue // an unreadable conversation is not a candidate
		}
		if s.compare(bestScore) > 0 {
			best, bestScore = r, s
		}
	}
	return best, ctx.Err()
}

// A score says how well a conversation fits a commit.
type score struct {
	made   int // 1 if a command in the conversation made the commit
	files  int // files changed by both
	active int // 1 if the commit precedes the last message
	branch int // 1 if the conversation began on a branch that has the commit
	since  time.Duration
}

func (s score) compare(o score) int {
	return cmp.Or(cmp.Compare(s.made, o.made), cmp.Compare(s.files, o.files), cmp.Compare(s.active, o.active), cmp.Compare(s.branch, o.branch), cmp.Compare(o.since, s.since))
}

// weigh collects evidence that a conversation led to a commit.
func (c Commits) weigh(ctx context.Context, commit git.Logged, e store.Entry) (*Reason, score, error) {
	shown, err := history.Show(c.ws.Conversations, e, history.ShowOptions{})
	if err != nil {
		return nil, score{}, err
	}
	r := &Reason{Commit: commit, Entry: e}
	s := score{}
	at := commit.At
	for _, t := range shown.Tools {
		if madeBy(t, commit) {
			s.made = 1
			r.Guesses = append(r.Guesses, "a command in it made the commit")
			at = t.Timestamp.Time()
			break
		}
	}
	about, err := history.Describe(c.ws, e)
	if err != nil {
		return nil, score{}, err
	}
	var both []string
	for _, f := range about.Files {
		if slices.ContainsFunc(commit.Asked(), func(p string) bool { return c.isFile(shown, f.Path, p) }) {
			both = append(both, f.Path)
		}
	}
	s.files = len(both)
	switch {
	case s.files > 0 && commit.Of.File != "":
		r.Guesses = append(r.Guesses, "it changed "+commit.Of.File)
	case s.files > 0 && len(commit.Paths) == 1:
		r.Guesses = append(r.Guesses, "it changed the commit's only file")
	case s.files > 0:
		r.Guesses = append(r.Guesses, fmt.Sprintf("it changed %d of the commit's %d files", min(s.files, len(commit.Paths)), len(commit.Paths)))
	}
	if !commit.At.After(e.Session.LastActive.Time()) {
		s.active = 1
		r.Guesses = append(r.Guesses, "the commit was made while it was under way")
	}
	if s.made+s.files+s.active == 0 {
		return nil, score{}, nil
	}
	if g := e.Session.Git; g != nil && g.Branch != "" && git.InBranch(ctx, c.ws.Store.Root(), commit.ID, g.Branch) {
		s.branch = 1
		r.Guesses = append(r.Guesses, "it began on the branch "+g.Branch)
	}
	r.Prompt = PromptBefore(shown.Messages, at)
	if r.Prompt.ID == "" {
		return nil, score{}, nil // nobody asked for anything before the commit
	}
	if s.made+s.files > 0 {
		if led, doubt := c.trace(ctx, commit, shown).ledTo(); led.ID != "" {
			r.Prompt = led
			if doubt != "" {
				r.Guesses = append(r.Guesses, doubt)
			}
		}
	}
	s.since = max(0, commit.At.Sub(r.Prompt.Timestamp.Time())) // git knows only the second of a commit
	r.Guesses = append(r.Guesses, fmt.Sprintf("the prompt came %s before the commit", s.since.Round(time.Second)))
	return r, s, nil
}

// Log lists the commits that name a conversation, newest first.
func (c Commits) Log(ctx context.Context, e store.Entry) ([]git.Logged, error) {
	return git.CommitsWith(ctx, c.ws.Store.Root(), workspace.SessionTrailer, e.Session.ID)
}
