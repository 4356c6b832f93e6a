package git

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// isJujutsu reports whether a folder is in a workspace of Jujutsu (jj), which may also be a work
// tree of git.
func isJujutsu(dir string) bool {
	for !exists(filepath.Join(dir, ".jj")) {
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
	return true
}

// Dir returns the .git folder of the work tree that dir is in, or "". It reads files
// only. A linked work tree and a submodule have their own.
func Dir(dir string) string {
	for {
		name := filepath.Join(dir, ".git")
		switch st, err := os.Stat(name); {
		case err != nil:
		case st.IsDir():
			if exists(filepath.Join(name, "HEAD")) { // otherwise git ignores it, too
				return name
			}
		default:
			target, ok := strings.CutPrefix(firstLine(name), "gitdir: ")
			if !ok {
				return ""
			}
			return from(dir, target)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// CommonDir returns the git folder that all work trees of a repository share, or "" if
// dir is not in a work tree. It reads files only.
func CommonDir(dir string) string {
	gitDir := Dir(dir)
	if gitDir == "" {
		return ""
	}
	return commonOf(gitDir)
}

func commonOf(gitDir string) string {
	if s := firstLine(filepath.Join(gitDir, "commondir")); s != "" {
		return from(gitDir, s)
	}
	return gitDir
}

// A Position is the current commit and branch of a work tree.
type Position struct {
	Commit string // empty before the first commit
	Branch string // empty if HEAD is detached
}

// Head returns the commit and branch of dir's work tree. It reads files only: running git
// would cost more than the rest of a command, and git may not be installed. It runs git
// only in a repository that keeps references in a table (git 2.45, init --ref-format). ok is
// false if there is no repository or the commit cannot be determined.
func Head(dir string) (at Position, ok bool) {
	gitDir := Dir(dir)
	if gitDir == "" {
		return Position{}, false
	}
	common := commonOf(gitDir)
	if reftable(common) {
		return tableHead(dir)
	}
	head := firstLine(filepath.Join(gitDir, "HEAD"))
	ref, ok := strings.CutPrefix(head, "ref: ")
	if !ok {
		return position(head, "")
	}
	if !filepath.IsLocal(ref) {
		return Position{}, false
	}
	branch := strings.TrimPrefix(ref, "refs/heads/")
	loose := filepath.Join(common, filepath.FromSlash(ref))
	if st, err := os.Stat(loose); err == nil && st.Mode().IsRegular() {
		return position(firstLine(loose), branch) // an empty file is damage
	}
	packed, err := os.ReadFile(filepath.Join(common, "packed-refs"))
	if err == nil {
		for line := range strings.Lines(string(packed)) {
			if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
				return position(id, branch)
			}
		}
	}
	return Position{Branch: branch}, true // nothing is committed yet
}

// tableHead is Head in a repository that keeps references in a table.
func tableHead(dir string) (Position, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	// With --quiet, exit code 1 without a message means that there is none.
	none := func(err error) bool {
		exit := new(exec.ExitError)
		return errors.As(err, &exit) && exit.ExitCode() == 1
	}
	ref, err := read(ctx, dir, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && !none(err) {
		return Position{}, false
	}
	branch := strings.TrimPrefix(strings.TrimSpace(ref), "refs/heads/")
	id, err := read(ctx, dir, "rev-parse", "--quiet", "--verify", "HEAD")
	if branch != "" && none(err) {
		return Position{Branch: branch}, true // nothing is committed yet
	}
	return position(strings.TrimSpace(id), branch)
}

// position returns the position at id, if id is a valid commit name.
func position(id, branch string) (Position, bool) {
	if len(id) != 40 && len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "" {
		return Position{}, false
	}
	return Position{Commit: id, Branch: branch}, true
}

// Operation returns the git operation in progress in dir's work tree: "merge", "rebase",
// "am", "cherry-pick", "revert" or "bisect"; "" for none. It looks at a few files, and runs
// git only if that has prepared a message and keeps references in a table.
func Operation(dir string) string {
	gitDir := Dir(dir)
	if gitDir == "" {
		return ""
	}
	has := func(name string) bool { return exists(filepath.Join(gitDir, name)) }
	switch { // a rebase merges and picks, so check it first
	case has("rebase-apply/applying"):
		return "am"
	case has("rebase-merge"), has("rebase-apply"):
		return "rebase"
	case has("MERGE_HEAD"):
		return "merge"
	case has("CHERRY_PICK_HEAD"):
		return "cherry-pick"
	case has("REVERT_HEAD"):
		return "revert"
	case has("sequencer"): // between two commits of a series
		if strings.HasPrefix(firstLine(filepath.Join(gitDir, "sequencer", "todo")), "revert ") {
			return "revert"
		}
		return "cherry-pick"
	case has("BISECT_LOG"):
		return "bisect"
	case has("MERGE_MSG") && reftable(commonOf(gitDir)):
		return tableOperation(dir)
	}
	return ""
}

// tableOperation returns "cherry-pick" or "revert" if that is in progress in a repository that
// keeps references in a table, among them the two that say so.
func tableOperation(dir string) string {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	for _, op := range []struct{ name, ref string }{{"cherry-pick", "CHERRY_PICK_HEAD"}, {"revert", "REVERT_HEAD"}} {
		if _, err := read(ctx, dir, "rev-parse", "--quiet", "--verify", op.ref); err == nil {
			return op.name
		}
	}
	return ""
}

// reftable reports whether the repository stores references in a table instead of files.
func reftable(common string) bool { return exists(filepath.Join(common, "reftable")) }

// from resolves target relative to dir.
func from(dir, target string) string {
	if target = filepath.FromSlash(target); filepath.IsAbs(target) {
		return filepath.Clean(target)
	}
	return filepath.Join(dir, target)
}

// firstLine returns the first line of a small regular file, or "".
func firstLine(name string) string {
	const most = 1 << 16 // a list of commits may have many more lines
	st, err := os.Stat(name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > most {
		return ""
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// State returns a fingerprint of root's checkout, or "" without a repository. It changes
// after a checkout, reset, stash, merge or commit, and looks at only three files.
func State(root string) string {
	dir := Dir(root)
	if dir == "" {
		return ""
	}
	head, err := os.ReadFile(filepath.Join(dir, "reftable", "tables.list"))
	if err != nil {
		head, _ = os.ReadFile(filepath.Join(dir, "HEAD"))
	}
	index := filepath.Join(dir, "index")
	info, err := os.Stat(index)
	if err != nil {
		return string(head)
	}
	state := fmt.Sprintf("%s%d %d", head, info.Size(), info.ModTime().UnixNano())
	if info.ModTime().Nanosecond() == 0 { // whole seconds, in which git may write several of that size
		content, _ := os.ReadFile(index)
		state += fmt.Sprintf(" %08x", crc32.ChecksumIEEE(content))
	}
	return state
}
