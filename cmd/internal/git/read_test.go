package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// everything calls each function that reads, and returns what they read.
func everything(t *testing.T, root string) (read []string) {
	t.Helper()
	ctx := t.Context()
	note := func(what string, got any, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		read = append(read, fmt.Sprintf("%s: %v", what, got))
	}
	note("operation", Operation(root), nil)
	at, _ := Head(root)
	note("head", at.Branch, nil)
	note("work trees", len(Worktrees(ctx, root)), nil)
	note("root", Root(ctx, root) != "", nil)
	note("first commits", len(FirstCommits(ctx, root)), nil)
	b, err := HeadBlob(ctx, root, "f.txt")
	note("head blob", string(b), err)
	b, err = IndexBlob(ctx, root, "f.txt")
	note("index blob", string(b), err)
	collect := func(f File) error {
		read = append(read, f.Path+"="+string(f.Content))
		return nil
	}
	note("head files", nil, headFiles(ctx, root, "", 1000, collect))
	note("index files", nil, IndexFiles(ctx, root, "", 1000, collect))
	absent, err := Sparse(ctx, root, "")
	note("sparse", absent, err)
	names, err := branchesWith(ctx, root, "f.txt")
	note("branches", names, err)
	note("versions", nil, Versions(ctx, root, ".", "d/s.json", func(v Version) error {
		read = append(read, v.Path+"="+string(v.Content))
		return nil
	}))
	return read
}

// branchesWith returns the names of the tips that have a file or folder at path, newest
// first.
func branchesWith(ctx context.Context, root, path string) (names []string, err error) {
	v, end, err := lookAt(ctx, root)
	if err != nil {
		return nil, err
	}
	defer end()
	err = v.enter(path)
	for _, t := range v.tips {
		names = append(names, t.name)
	}
	return names, v.late(err)
}

// TestNoPrograms: reading runs none of the programs that a repository's configuration
// names, and returns contents as stored.
func TestNoPrograms(t *testing.T) {
	r := newRepo(t)
	r.write("f.txt", "text\n")
	r.write("d/s.json", "{}\n")
	r.write(".gitattributes", "* filter=f diff=d\n")
	r.git("add", "-A")
	r.git("commit", "-qm", "m")
	r.git("branch", "other")
	want := everything(t, r.root)

	ran := t.TempDir()
	trap := filepath.Join(t.TempDir(), "trap")
	if err := os.WriteFile(trap, []byte("#!/bin/sh\n: > "+ran+"/$1\n[ $1 != ssh ] && cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	hooks := t.TempDir()
	for _, hook := range []string{"post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout"} {
		if err := os.WriteFile(filepath.Join(hooks, hook), []byte("#!/bin/sh\n: > "+ran+"/"+hook+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{
		"core.fsmonitor": trap + " fsmonitor", "core.hooksPath": hooks, "core.sshCommand": trap + " ssh", "core.gitProxy": trap + " proxy",
		"core.pager": trap + " pager", "core.alternateRefsCommand": trap + " alternates", "credential.helper": trap + " credential",
		"diff.external": trap + " external", "diff.d.textconv": trap + " textconv", "diff.d.command": trap + " diff",
		"filter.f.clean": trap + " clean", "filter.f.smudge": trap + " smudge", "gpg.program": trap + " gpg",
		"log.showSignature": "true", "submodule.recurse": "true", "gc.auto": "1", "core.askPass": trap + " askpass",
		"alias.cat-file": "!" + trap + " alias", "alias.ls-tree": "!" + trap + " alias", "alias.rev-parse": "!" + trap + " alias",
		"remote.origin.url": "ssh://example.invalid/x", "pager.ls-tree": "true", "pager.cat-file": "true", "pager.for-each-ref": "true",
	} {
		r.git("config", key, value)
	}
	r.write("f.txt", "text2\n") // makes the index compare the file
	if got := everything(t, r.root); !slices.Equal(got, want) {
		t.Errorf("read\n%q, want\n%q", got, want)
	}
	if entries, err := os.ReadDir(ran); err != nil || len(entries) > 0 {
		t.Errorf("ran %v, %v", entries, err)
	}
	// The traps work: the user's own git triggers them.
	_, _ = try(r.root, "status")
	_, _ = try(r.root, "diff", "--no-ext-diff")
	_, _ = try(r.root, "fetch")
	_, _ = try(r.root, "ls-files", "-s")
	for _, name := range []string{"fsmonitor", "clean", "ssh", "textconv"} {
		if !exists(filepath.Join(ran, name)) {
			t.Errorf("the trap %s does not work", name)
		}
	}
}

// partial creates a clone of r without file contents.
func (r *repo) partial(args ...string) *repo {
	r.t.Helper()
	r.git("config", "uploadpack.allowFilter", "true")
	r.git("config", "uploadpack.allowAnySHA1InWant", "true")
	clone := &repo{r.t, filepath.Join(r.t.TempDir(), "clone")}
	args = slices.Concat([]string{"clone", "-q"}, args, []string{"file://" + r.root, clone.root})
	if out, err := try(r.root, args...); err != nil {
		r.t.Fatal(out)
	}
	return clone
}

// TestPartialClone: local contents are read, missing ones are reported, and nothing is
// fetched before the command in the error runs.
func TestPartialClone(t *testing.T) {
	r := newRepo(t)
	r.conversation()
	c := r.partial("--filter=blob:none", "--no-checkout")
	c.git("config", "protocol.file.allow", "always") // the repository may allow it
	c.sparse()
	c.git("checkout", "-q")
	packs := func() int {
		list, err := filepath.Glob(filepath.Join(c.root, ".git/objects/pack/*.pack"))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := packs()
	ctx, log := t.Context(), conv+"/.session/messages.jsonl"
	if b, err := HeadBlob(ctx, c.root, conv+"/.session/session.json"); err != nil || string(b) != "{}\n" {
		t.Errorf("session.json: %q, %v", b, err)
	}
	var missing *NotFetchedError
	if _, err := IndexBlob(ctx, c.root, log); !errors.As(err, &missing) {
		t.Errorf("of the index: %v", err)
	}
	if _, err := HeadBlob(ctx, c.root, log); !errors.As(err, &missing) || !strings.Contains(err.Error(), missing.Command()) {
		t.Errorf("of HEAD: %v", err)
	}
	one := missing
	for what, files := range map[string]func(context.Context, string, string, int64, func(File) error) error{"HEAD": headFiles, "index": IndexFiles} {
		var got []string
		err := files(ctx, c.root, conv, 1<<20, func(f File) error {
			got = append(got, f.Path+"="+string(f.Content))
			return nil
		})
		if !errors.As(err, &missing) || !slices.Equal(missing.Paths, []string{log, conv + "/.session/tools.jsonl", conv + "/chat.md"}) {
			t.Errorf("%s: %v", what, err)
		}
		if !slices.Equal(got, []string{conv + "/.session/session.json={}\n"}) {
			t.Errorf("%s: %q", what, got)
		}
	}
	if names, err := branchesWith(ctx, c.root, log); err != nil || len(names) != 2 { // the branch and its remote branch
		t.Errorf("branches %q, %v", names, err)
	}
	n := 0
	if err := Versions(ctx, c.root, "conversations", ".session/messages.jsonl", func(Version) error { n++; return nil }); !errors.As(err, &missing) || n != 0 {
		t.Errorf("versions: %d, %v", n, err)
	}
	// A commit cannot check whether this log has what HEAD has.
	c.write(log, "{\"id\":\"m5\"}\n")
	if done, err := Commit(ctx, c.root, conv, "m"); done || !errors.As(err, &missing) {
		t.Errorf("committed %t, %v", done, err)
	}
	if after := packs(); after != before {
		t.Errorf("fetched: %d packs, then %d", before, after)
	}
	if err := Fetch(ctx, one); err != nil {
		t.Fatal(err)
	}
	if b, err := HeadBlob(ctx, c.root, log); err != nil || string(b) != log4 {
		t.Errorf("fetched: %q, %v", b, err)
	}
	if _, err := Commit(ctx, c.root, conv, "m"); !errors.As(err, new(*LossError)) {
		t.Errorf("now it knows: %v", err)
	}
}

// TestTreelessClone: a clone without trees.
func TestTreelessClone(t *testing.T) {
	r := newRepo(t)
	r.conversation()
	r.git("checkout", "-q", "--orphan", "empty")
	r.git("rm", "-rfq", ".")
	r.git("commit", "-q", "--allow-empty", "-m", "empty")
	r.git("branch", "-M", "master", "full")
	c := r.partial("--filter=tree:0")
	c.git("update-ref", "HEAD", "origin/full")
	var missing *NotFetchedError
	if _, err := HeadBlob(t.Context(), c.root, conv+"/chat.md"); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
	if names, err := branchesWith(t.Context(), c.root, conv); err != nil || len(names) != 0 {
		t.Errorf("branches %q, %v", names, err)
	}
	if err := Fetch(t.Context(), missing); err != nil {
		t.Fatal(err)
	}
	if b, err := HeadBlob(t.Context(), c.root, conv+"/chat.md"); err != nil || string(b) != "a\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestBlobs: files with odd names, below the top of the repository, and missing ones.
func TestBlobs(t *testing.T) {
	ctx := t.Context()
	if _, err := HeadBlob(ctx, t.TempDir(), "x"); !errors.Is(err, ErrNoRepository) {
		t.Errorf("no repository: %v", err)
	}
	r := newRepo(t)
	if _, err := HeadBlob(ctx, r.root, "x"); !errors.Is(err, ErrUnborn) {
		t.Errorf("no commit: %v", err)
	}
	names := []string{"*", ":(top)x", "-x", "a b", "ä\n\"x\"", "x", "x y/z", "[x]"}
	for _, n := range names {
		r.write("w/"+n, "head "+n)
	}
	r.write("other", "1")
	r.git("add", "-A")
	r.git("commit", "-qm", "m")
	for _, n := range names {
		r.write("w/"+n, "index "+n)
	}
	r.git("add", "-A")
	root := filepath.Join(r.root, "w")
	for _, n := range names {
		r.write("w/"+n, "work tree")
		if b, err := HeadBlob(ctx, root, n); err != nil || string(b) != "head "+n {
			t.Errorf("%q: %q, %v", n, b, err)
		}
		if b, err := IndexBlob(ctx, root, n); err != nil || string(b) != "index "+n {
			t.Errorf("%q in the index: %q, %v", n, b, err)
		}
	}
	for _, n := range []string{"none", "x y", "other"} {
		if _, err := HeadBlob(ctx, root, n); !errors.Is(err, ErrNotInHead) {
			t.Errorf("%q: %v", n, err)
		}
		if _, err := IndexBlob(ctx, root, n); !errors.Is(err, ErrNotInIndex) {
			t.Errorf("%q in the index: %v", n, err)
		}
	}
	if _, err := HeadBlob(ctx, root, "../other"); err == nil {
		t.Error("read outside of the root")
	}
	var got []string
	keep := func(f File) error {
		got = append(got, f.Path)
		return nil
	}
	if err := headFiles(ctx, root, "", 1<<20, keep); err != nil || len(got) != len(names) {
		t.Errorf("%q, %v", got, err)
	}
	got = nil
	if err := headFiles(ctx, root, "x y", 1<<20, keep); err != nil || !slices.Equal(got, []string{"x y/z"}) {
		t.Errorf("%q, %v", got, err)
	}
	got = nil
	if err := IndexFiles(ctx, root, "", 20, keep); !errors.Is(err, ErrLimit) || len(got) == 0 || len(got) == len(names) {
		t.Errorf("with a limit: %q, %v", got, err)
	}
	stop := errors.New("stop")
	if err := headFiles(ctx, root, "", 1<<20, func(File) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
}

// headFiles is IndexFiles for the last commit.
func headFiles(ctx context.Context, root, prefix string, limit int64, yield func(File) error) error {
	list, err := InHead(ctx, root, prefix)
	if err != nil {
		return err
	}
	return Files(ctx, root, list, limit, yield)
}

// TestBranches: the tips of branches, of remotes and of stashes, newest first.
func TestBranches(t *testing.T) {
	ctx := t.Context()
	r := newRepo(t)
	at := 0
	commit := func(message string) {
		t.Helper()
		at++
		t.Setenv("GIT_COMMITTER_DATE", fmt.Sprintf("2026-01-01T00:00:%02dZ", at))
		r.git("add", "-A")
		r.git("commit", "-q", "--allow-empty", "-m", message)
	}
	r.write("w/base", "1")
	commit("base")
	r.git("checkout", "-q", "-b", "one")
	r.write("w/c/d1/a/.session/s.json", "a1")
	r.write("w/c/d1/a/doc/.session/s.json", "beside, in a document's folder")
	commit("one")
	r.git("checkout", "-q", "-b", "two")
	r.write("w/c/d1/a/.session/s.json", "a2")
	r.write("w/c/d2/b/.session/s.json", "b")
	r.write("w/c/d4/copy/.session/s.json", "b")
	r.write("w/c/d5/b/.session/s.json", "b") // all of d5 equals d2
	commit("two")
	r.git("branch", "twin")
	r.git("update-ref", "refs/remotes/origin/x", "one")
	r.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/x")
	r.git("checkout", "-q", "master")
	t.Setenv("GIT_COMMITTER_DATE", "2026-01-01T00:01:00Z")
	r.write("w/c/d3/n/.session/s.json", "untracked")
	r.write("w/base", "2")
	r.git("stash", "-u", "-q")
	root := filepath.Join(r.root, "w")
	for path, want := range map[string][]string{
		"c/d1/a":                 {"twin", "two", "one", "origin/x"},
		"c/d2/b/.session/s.json": {"twin", "two"},
		"c/d3/n":                 {"stash@{0}^3"},
		"base":                   {"stash@{0}", "twin", "two", "one", "origin/x", "master"},
		"w":                      nil,
		"c/d1/a/nothing":         nil,
	} {
		names, err := branchesWith(ctx, root, path)
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: %q, want %q, %v", path, names, want, err)
		}
		for _, n := range names { // git accepts the names
			if out, err := try(r.root, "cat-file", "-e", n+":w/"+path); err != nil {
				t.Errorf("%s: %s", n, out)
			}
		}
	}
	var got []string
	err := Versions(ctx, root, "c", ".session/s.json", func(v Version) error {
		got = append(got, fmt.Sprintf("%s=%s %v", v.Path, v.Content, v.Refs))
		return nil
	})
	want := []string{
		"c/d3/n/.session/s.json=untracked [stash@{0}^3]",
		"c/d1/a/.session/s.json=a2 [twin two]",
		"c/d2/b/.session/s.json=b [twin two]",
		"c/d4/copy/.session/s.json=b [twin two]",
		"c/d5/b/.session/s.json=b [twin two]",
		"c/d1/a/.session/s.json=a1 [one origin/x]",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, want %q, %v", got, want, err)
	}
	if _, err := branchesWith(ctx, t.TempDir(), "x"); !errors.Is(err, ErrNoRepository) {
		t.Errorf("no repository: %v", err)
	}
	if names, err := branchesWith(ctx, newRepo(t).root, "x"); err != nil || len(names) > 0 {
		t.Errorf("no commit: %q, %v", names, err)
	}
}

// TestDamagedHead: a HEAD that git cannot read is an error, not a repository without
// commits. A log that lacks records is not committed either.
func TestDamagedHead(t *testing.T) {
	r := newRepo(t)
	r.conversation()
	if reftable(filepath.Join(r.root, ".git")) {
		t.Skip("git's own default keeps references in a table here, which this test cannot damage")
	}
	branch := filepath.Join(".git", filepath.FromSlash(strings.TrimSpace(r.git("symbolic-ref", "HEAD"))))
	whole := r.git("rev-parse", "HEAD")
	for what, text := range map[string]string{"an object that is missing": strings.Repeat("1234567890", 4) + "\n", "empty": "", "no name": "x\n"} {
		r.write(branch, text)
		r.write(conv+"/.session/messages.jsonl", "{\"id\":\"m5\"}\n")
		if _, err := HeadBlob(t.Context(), r.root, conv+"/chat.md"); err == nil || errors.Is(err, ErrUnborn) || errors.Is(err, ErrNotInHead) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := lostRecords(t.Context(), r.root, conv+"/.session/messages.jsonl"); err == nil {
			t.Errorf("%s: nothing is lost", what)
		}
		r.write(branch, whole)
		r.git("reset", "-q", "--hard")
	}
	if try(r.root, "init", "-q", "--ref-format=reftable", filepath.Join(r.root, "table")); exists(filepath.Join(r.root, "table", ".git", "reftable")) {
		if _, err := HeadBlob(t.Context(), filepath.Join(r.root, "table"), "x"); !errors.Is(err, ErrUnborn) {
			t.Errorf("a table without a commit: %v", err)
		}
	}
}
