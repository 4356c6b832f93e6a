package git

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Logged is what the log shows of a commit.
type Logged struct {
	ID      string
	At      time.Time // when its change was made, which a rebase does not alter
	Written time.Time // when it was made, amended or rebased last
	Subject string
	Values  []string // of the requested trailer, each once
	Joined  bool     // it is a squash of other commits, as far as one can see
	Amid    bool     // all of them are in the middle of the message, which may quote another
	Paths   []string // of the files it changed against its first parent, below root, relative to it
	Of      Change   // the part of it that is asked about
}

// A Change is a part of a commit.
type Change struct {
	File string // as it was named then, or "" for the whole commit
	Was  string // how the file was named before the commit, if it is known and differs
	Line string // what the line says, without the space around it, or "" for the whole file
}

// Asked returns the paths that are asked about: all, or one.
func (c Logged) Asked() []string {
	switch {
	case c.Of.File == "":
		return c.Paths
	case c.Of.Was != "":
		return []string{c.Of.File, c.Of.Was}
	}
	return []string{c.Of.File}
}

// CommitNamed returns the commit that a revision names, with the values of a trailer.
func CommitNamed(ctx context.Context, root, revision, trailer string) (c Logged, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	all, err := commits(ctx, root, trailer, "--max-count=1", "--end-of-options", revision)
	if err != nil {
		return c, err
	}
	if len(all) == 0 {
		return c, fmt.Errorf("%s is not a commit", revision)
	}
	return all[0], nil
}

// IsCommit reports whether a revision names a commit.
func IsCommit(ctx context.Context, root, revision string) bool {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	_, err := read(ctx, root, "rev-parse", "--quiet", "--verify", "--end-of-options", revision+"^{commit}")
	return err == nil
}

// InBranch reports whether a local branch contains a commit.
func InBranch(ctx context.Context, root, commit, branch string) bool {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	_, err := read(ctx, root, "merge-base", "--is-ancestor", commit, "refs/heads/"+branch)
	return err == nil
}

// CommitsWith lists the commits of all branches that have a trailer with a value, latest
// first.
func CommitsWith(ctx context.Context, root, trailer, value string) ([]Logged, error) {
	all, err := commits(ctx, root, trailer, "--exclude=refs/cortext*", "--all", "--fixed-strings", "--grep="+trailer+": "+value)
	return slices.DeleteFunc(all, func(c Logged) bool { return !slices.Contains(c.Values, value) }), err
}

// MadeHere reports whether a commit was made in this work tree, as far as its reflog goes back.
func MadeHere(ctx context.Context, root, commit string) bool {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return madeHere(ctx, root)[commit]
}

// madeHere returns the commits that were made in this work tree.
func madeHere(ctx context.Context, root string) map[string]bool {
	made := map[string]bool{}
	out, err := read(ctx, root, "log", "--walk-reflogs", "--format=%H %gs", "HEAD", "--")
	if err != nil {
		return made
	}
	for line := range strings.Lines(out) { // such as commit (amend): SUBJECT, or rebase (pick): SUBJECT
		id, what, _ := strings.Cut(line, " ")
		what, _, _ = strings.Cut(what, ": ")
		_, step, _ := strings.Cut(what, "(")
		if strings.HasPrefix(what, "commit") || slices.Contains(rebasing, step) {
			made[id] = true
		}
	}
	return made
}

// Brought reports whether a folder was changed here by a commit that was made in another
// work tree after the given time.
func Brought(ctx context.Context, root, folder string, after time.Time) bool {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	out, err := read(ctx, root, "log", fmt.Sprintf("--since=@%d", after.Unix()), "--format=%H",
		"--exclude=refs/cortext/own", "--glob=refs/cortext/*", "HEAD", "--", folder)
	made := madeHere(ctx, root)
	return err == nil && slices.ContainsFunc(strings.Fields(out), func(id string) bool { return !made[id] })
}

// rebasing lists the steps of a rebase that make commits, with a parenthesis after each.
var rebasing = []string{"pick)", "reword)", "edit)", "squash)", "fixup)", "continue)"}

// Before lists the commits before one, along first parents, back to a time.
func Before(ctx context.Context, root, commit string, since time.Time) ([]Logged, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	all, err := commits(ctx, root, "", fmt.Sprintf("--since=@%d", max(since.Unix(), 0)), "--end-of-options", commit)
	return slices.DeleteFunc(all, func(c Logged) bool { return c.ID == commit }), err
}

// lacksObject reports whether git log or git blame failed because a partial clone lacks a version
// of a file. It recognizes the messages of git 2.39 (promisor remote), of a git that does
// not fetch at all (lazy fetching), and of git 2.55, which says that a file whose last
// version is missing does not exist.
func lacksObject(ctx context.Context, root, path, message string) bool {
	switch {
	case !partialClone(root):
		return false
	case strings.Contains(message, "no such path"):
		list, err := InHead(ctx, root, path)
		return err == nil && len(list) > 0
	}
	return slices.ContainsFunc([]string{"promisor remote", "lazy fetching disabled", "Cannot read blob"}, func(s string) bool { return strings.Contains(message, s) })
}

// LastChange returns the id of the latest commit that changed a file or, with a line from
// 1 on, that line, as of HEAD, and what it changed. Paths are relative to root, with slashes.
func LastChange(ctx context.Context, root, path string, line int) (id string, c Change, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var out string
	if line > 0 {
		out, err = read(ctx, root, "-c", "core.quotePath=false", "blame", "--porcelain", "--no-textconv", fmt.Sprintf("-L%d,%d", line, line), "HEAD", "--", path)
		if err != nil && strings.Contains(err.Error(), "could not open object name list") {
			// The user has set a file of commits to ignore for all repositories, and this
			// one lacks it. No option makes blame continue without it.
			out, err = read(ctx, root, "log", "--max-count=1", "--no-patch", "--format=%H", "--no-ext-diff", "--no-textconv", fmt.Sprintf("-L%d,%d:%s", line, line, path), "HEAD", "--")
		}
	} else {
		out, err = read(ctx, root, "log", "--max-count=1", "--format=%H", "HEAD", "--", path)
	}
	if err != nil && lacksObject(ctx, root, path, err.Error()) {
		err = &NotFetchedError{Paths: []string{path}, Args: []string{"git", "-C", root, "blame", "-s", "HEAD", "--", path}}
	}
	if err != nil {
		return "", c, err
	}
	id, rest, _ := strings.Cut(strings.TrimSpace(out), " ")
	if id == "" {
		return "", c, fmt.Errorf("no commit changed %s", path)
	}
	c.File = path
	if !strings.Contains(rest, "\nfilename ") { // of a blame
		return id, c, nil
	}
	top, err := read(ctx, root, "rev-parse", "--show-prefix")
	if err != nil {
		return "", c, err
	}
	for text := range strings.Lines(rest) { // paths are from the top of the work tree
		what, value, _ := strings.Cut(strings.TrimRight(text, "\n"), " ")
		switch {
		case strings.HasPrefix(text, "\t"):
			c.Line = strings.TrimSpace(text)
		case what == "previous":
			_, value, _ = strings.Cut(value, " ")
			c.Was, _ = strings.CutPrefix(value, strings.TrimSpace(top))
		case what == "filename":
			if within, ok := strings.CutPrefix(value, strings.TrimSpace(top)); ok {
				c.File = within
			}
		}
	}
	if c.Was == c.File {
		c.Was = ""
	}
	return id, c, nil
}

// commits runs git log.
func commits(ctx context.Context, root, trailer string, args ...string) (all []Logged, err error) {
	const begin, next = "\x01", "\x02"
	format := "--format=" + strings.Join([]string{begin + "%H", "%at", "%ct", "%ae", "%ce", "%s", "%B"}, next)
	out, err := read(ctx, root, slices.Concat([]string{"-c", "core.quotePath=false", "log", "-z", "--name-only", "--relative",
		"--no-renames", "--no-ext-diff", "--no-textconv", "-m", "--first-parent", format}, args, []string{"--"})...)
	if err != nil {
		return nil, err
	}
	for record := range strings.SplitSeq(out, "\x00") {
		head, isHead := strings.CutPrefix(strings.TrimPrefix(record, "\n"), begin)
		if !isHead {
			if path := strings.TrimPrefix(record, "\n"); path != "" && len(all) > 0 {
				all[len(all)-1].Paths = append(all[len(all)-1].Paths, path)
			}
			continue
		}
		parts := strings.SplitN(head, next, 7)
		if len(parts) < 7 {
			return nil, fmt.Errorf("git log in %s says %q", root, record)
		}
		made, madeErr := strconv.ParseInt(parts[1], 10, 64)
		written, writtenErr := strconv.ParseInt(parts[2], 10, 64)
		if madeErr != nil || writtenErr != nil {
			return nil, fmt.Errorf("git log in %s says %q", root, record)
		}
		c := Logged{ID: parts[0], At: time.Unix(made, 0).UTC(), Written: time.Unix(written, 0).UTC(), Subject: parts[5]}
		c.Values, c.Amid = trailers(parts[6], trailer)
		// A server that squashes commits as somebody other than the author, at one time for both.
		// Commits that a rebase joins name their conversation once each.
		c.Joined = strings.Contains(parts[6], squashed) || made == written && parts[3] != parts[4] || doubled(parts[6], trailer)
		all = append(all, c)
	}
	return all, nil
}

// squashed is in the message that git prepares for a squash.
const squashed = "Squashed commit of the following:\n"

// trailers returns the values of a trailer in a message. A squash leaves those of the commits
// that it joined in the middle of the message, where git sees no trailers, and may indent them.
// amid reports whether all values are in the middle of a message that is not such a squash.
func trailers(message, name string) (values []string, amid bool) {
	message = strings.TrimSpace(message)
	end := strings.LastIndex(message, "\n\n")
	amid = !strings.Contains(message, squashed)
	at := 0
	for line := range strings.Lines(message) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":")
		if value = strings.TrimSpace(value); ok && value != "" {
			amid = amid && (at < end || !strings.HasPrefix(line, name))
			if !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
		at += len(line)
	}
	return values, amid && len(values) > 0
}

// doubled reports whether a message has the same trailer twice.
func doubled(message, name string) bool {
	lines := map[string]bool{}
	for line := range strings.Lines(message) {
		if line = strings.TrimSpace(line); lines[line] {
			return true
		}
		lines[line] = strings.HasPrefix(line, name+":")
	}
	return false
}

func withInput(cmd *exec.Cmd, text []byte) *exec.Cmd {
	cmd.Stdin = bytes.NewReader(text)
	return cmd
}
