package git

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// limit bounds a commit, because the repository's own hooks run in it. An agent's hook
// that commits has 25 s. Tests change it.
var limit = 20 * time.Second

// records is the name of the folders whose files are never committed as deleted, and
// whose logs are never committed if they lack records of the last commit.
const records = ".session"

// ErrUnfinished is returned if the repository is in the middle of an operation that our
// commit would disturb.
var ErrUnfinished = errors.New("a git operation is in progress: commit the folder when it is done")

// An UnfinishedError is an ErrUnfinished that names the operation, as [Operation] does.
type UnfinishedError struct {
	Operation string
	Then      string // what to do when it is done, or ""
}

func (e *UnfinishedError) Error() string {
	then := ""
	if e.Then != "" {
		then = ", then " + e.Then
	}
	return fmt.Sprintf("git %s is under way: finish or abort it%s", e.Operation, then)
}

func (e *UnfinishedError) Is(err error) bool { return err == ErrUnfinished }

// A LossError lists logs that lack records of the last commit.
type LossError struct {
	Paths []string // relative to root, with slashes
	Lost  int      // records
}

func (e *LossError) Error() string {
	return fmt.Sprintf("%s: %d records of the last commit are missing: restore the file from git, then commit", strings.Join(e.Paths, ", "), e.Lost)
}

// Commit commits the changes in a folder, relative to root. Other staged changes stay staged.
// It reports whether there was anything to commit; errors are git's own messages.
//
// Below a folder named .session a missing file is not committed as deleted, a log (.jsonl) that
// lacks records of the last commit makes the error a *LossError, and messages that git ignores
// are an error.
func Commit(ctx context.Context, root, folder, message string) (done bool, err error) {
	whole := ctx
	slow := fmt.Errorf("git commit took longer than %v: run it yourself to see what it waits for", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, slow)
	defer cancel()
	defer func() {
		if err != nil && context.Cause(ctx) == slow {
			err = slow
		}
	}()
	if err := wantIdle(ctx, root); err != nil {
		return false, err
	}
	changes, err := changesOf(ctx, root, folder)
	if err != nil {
		return false, err
	}
	if err := conflict(changes); err != nil {
		return false, err
	}
	ignored := ignoredMessages(root, changes)
	if !slices.ContainsFunc(changes, func(c dirtyPath) bool { return !c.ignored() }) {
		dir := filepath.Join(root, filepath.FromSlash(folder))
		_, err := os.Lstat(dir)
		return false, errors.Join(err, ignored, apart(root, dir))
	}
	changes = slices.DeleteFunc(changes, func(c dirtyPath) bool { return c.ignored() || c.keep(root) })
	var paths, fresh []string
	for _, c := range changes {
		paths = append(paths, c.path)
		if c.untracked() {
			fresh = append(fresh, c.path)
		}
	}
	if len(paths) == 0 {
		return false, nil
	}
	for _, name := range fresh {
		if strings.HasSuffix(name, "/") {
			return false, fmt.Errorf("%s is a repository of its own, whose files a commit would not include: move it out of the folder, or git add it as a submodule", name)
		}
	}
	if err := errors.Join(ignored, losses(ctx, root, changes)); err != nil {
		return false, err
	}
	p := pathCommit{root, message, paths, fresh}
	if err := p.prepare(ctx); err != nil {
		return false, err
	}
	if attended() {
		ctx = whole // a user may need longer, and can end it
	}
	restore := keepMessages(root)
	if err := p.write(ctx); err != nil {
		if len(fresh) > 0 {
			retract(whole, root, fresh)
		}
		return false, silentRefusal(err)
	}
	return true, errors.Join(unstage(whole, root, folder, paths), restore())
}

// wantIdle returns an error unless root is in a work tree of git's in which no operation is
// under way.
func wantIdle(ctx context.Context, root string) error {
	if op := Operation(root); op != "" {
		return &UnfinishedError{op, "commit the folder"}
	}
	if inCommit(root) {
		return &UnfinishedError{"commit", "commit the folder"}
	}
	inside, err := read(ctx, root, "rev-parse", "--is-inside-work-tree")
	if err != nil {
		if Dir(root) == "" && isJujutsu(root) {
			err = noRepository(root)
		}
		return err // even if git would find a repository that came with this one, and run its programs
	}
	if inside != "true\n" {
		return fmt.Errorf("%s is outside of its repository's work tree: see git config core.worktree and core.bare", root)
	}
	return nil
}

// A pathCommit is a commit of some paths only.
type pathCommit struct {
	root, message string
	paths, fresh  []string // fresh are those of paths that git does not track yet
}

// prepare gives new files intent-to-add entries only: what the user has staged in the folder
// stays as it is unless the commit succeeds.
func (p pathCommit) prepare(ctx context.Context) error {
	if len(p.fresh) == 0 {
		return nil
	}
	return whenUnlocked(ctx, func() error {
		_, err := output(withPaths(ctx, p.root, p.fresh, slices.Concat(everywhere, []string{"add", "--intent-to-add"})...))
		return err
	})
}

// write commits the paths.
func (p pathCommit) write(ctx context.Context) error {
	for try := 1; ; try++ {
		err := whenUnlocked(ctx, func() error {
			_, err := output(attend(withPaths(ctx, p.root, p.paths, slices.Concat(wholeIndex, inUTF8, []string{"commit", "--quiet", "--only", "-m", p.message})...)))
			return err
		})
		// The commit of another conversation, which began before, may have written an index
		// without the new files. What git says about that depends on the user's language.
		if err == nil || len(p.fresh) == 0 || try == 5 {
			return err
		}
		known, asked := Known(ctx, p.root, p.fresh)
		if asked != nil || !slices.ContainsFunc(p.fresh, func(name string) bool { return known[name] == Unknown }) {
			return err
		}
		if again := p.prepare(ctx); again != nil {
			return err
		}
	}
}

// whenUnlocked calls f, and again while another process, such as the commit of another
// conversation, holds the lock of the index or of a ref.
func whenUnlocked(ctx context.Context, f func() error) error {
	for until := time.Now().Add(limit / 4); ; {
		err := f()
		if err == nil || !time.Now().Before(until) {
			return err
		}
		// Git may say it in another language, and the lock may be gone by now.
		if text := err.Error(); !locked().MatchString(text) && !strings.Contains(text, "index.lock'") {
			return err
		}
		if slept := sleep(ctx, leastTry/2+rand.N(leastTry)); slept != nil {
			return err
		}
	}
}

// prepared lists the files with the message that git prepared for the user's next commit.
var prepared = []string{"SQUASH_MSG", "MERGE_MSG"}

// Squashed reports whether git has prepared a message for the user's next commit, because it
// squashed or picked other commits.
func Squashed(root string) bool {
	return slices.ContainsFunc(prepared, func(name string) bool { return exists(filepath.Join(Dir(root), name)) })
}

// Prepared reports whether the commit whose message is in a file has what other commits changed,
// because git squashed or picked them before. A revert that git commits at once has the message
// that git prepared for it.
func Prepared(root, file string) bool {
	if exists(filepath.Join(Dir(root), "SQUASH_MSG")) {
		return true
	}
	text, err := os.ReadFile(filepath.Join(Dir(root), "MERGE_MSG"))
	if err != nil {
		return false
	}
	message, err := os.ReadFile(file)
	return err == nil && !bytes.HasPrefix(message, bytes.TrimSpace(text))
}

// keepMessages remembers the messages that git merge --squash and git cherry-pick --no-commit
// prepared for the user's next commit. The returned function restores them: git removes them
// with any commit.
func keepMessages(root string) (restore func() error) {
	kept := map[string][]byte{}
	for _, name := range prepared {
		file := filepath.Join(Dir(root), name)
		if text, err := os.ReadFile(file); err == nil {
			kept[file] = text
		}
	}
	return func() (err error) {
		for file, text := range kept {
			if !exists(file) {
				err = errors.Join(err, os.WriteFile(file, text, 0o666))
			}
		}
		return err
	}
}

// inCommit reports whether a commit hook in root's work tree is calling us. Another
// commit would break that commit.
func inCommit(root string) bool {
	index := os.Getenv("GIT_INDEX_FILE")
	if index == "" {
		return false
	}
	named, err := os.Stat(filepath.Dir(index))
	if err != nil {
		return true // relative to the hook's starting folder
	}
	ours, err := os.Stat(Dir(root))
	return err == nil && os.SameFile(named, ours)
}

// retract removes intent-to-add entries from the index, even after ctx has ended.
func retract(ctx context.Context, root string, paths []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	_ = whenUnlocked(ctx, func() error {
		_, err := output(withInput(command(ctx, root, []string{"update-index", "--force-remove", "-z", "--stdin"}), []byte(strings.Join(paths, "\x00"))))
		return err
	})
}

// everywhere makes an index command include files outside of the sparse checkout. Git
// before 2.34 does not know --sparse.
var everywhere = slices.Concat([]string{"-c", "core.sparseCheckout=false"}, wholeIndex)

// wholeIndex makes git write a full index. With a sparse index, git finds no new file in
// a folder that is a single entry, and add --intent-to-add crashes on it (2.39.5).
var wholeIndex = []string{"-c", "index.sparse=false"}

// A dirtyPath is a path whose file differs from the index, or whose index entry differs from
// the last commit.
type dirtyPath struct {
	state string // two letters, as in git-status(1)
	path  string // relative to root, with slashes
}

func (c dirtyPath) untracked() bool { return c.state == "??" }
func (c dirtyPath) ignored() bool   { return c.state == "!!" }

// apart returns an error if a folder is in a different repository from root, such as a submodule.
func apart(root, dir string) error {
	for at := dir; at != root && at != filepath.Dir(at); at = filepath.Dir(at) {
		if Dir(at) != Dir(root) && exists(filepath.Join(at, ".git")) {
			return fmt.Errorf("%s is a repository of its own: commit the folder there", at)
		}
	}
	return nil
}

// ignoredMessages returns an error if git ignores the messages of a conversation, for example
// because of *.jsonl in a .gitignore. A .gitignore next to them does not count: it is meant for them.
func ignoredMessages(root string, changes []dirtyPath) error {
	for _, c := range changes {
		dir, name := path.Split(c.path)
		if c.ignored() && c.isRecord() && name == "messages.jsonl" && !exists(filepath.Join(root, filepath.FromSlash(dir), ".gitignore")) {
			return fmt.Errorf("%s is ignored, so a commit would lack it: git check-ignore -v %[1]s shows the rule", c.path)
		}
	}
	return nil
}

// conflict returns an error for a file that git could not merge, as after a squash, a pick that
// commits nothing, or a stash that no longer applies: a commit would mark it as resolved.
// The store itself merges both versions of a record.
func conflict(changes []dirtyPath) error {
	for _, c := range changes {
		switch c.state {
		case "UU", "AA":
			if !c.isRecord() {
				return fmt.Errorf("%s has conflicts: resolve them, then git add it", c.path)
			}
		case "UD", "DU", "AU", "UA", "DD":
			if !c.isRecord() {
				return fmt.Errorf("%s was deleted or renamed on one side of a merge: git add or git rm it", c.path)
			}
			return fmt.Errorf("%s was deleted or renamed on one side of a merge: cortext pull keeps the conversation", c.path)
		}
	}
	return nil
}

// isRecord reports whether a path is below a folder of records.
func (c dirtyPath) isRecord() bool { return slices.Contains(strings.Split(c.path, "/"), records) }

// keep reports whether the last commit's version stays, which it does for a record whose
// file is not in the work tree. If a folder has taken the file's place, its contents stay
// out, too.
func (c dirtyPath) keep(root string) bool {
	if !c.isRecord() {
		return false
	}
	st, err := os.Lstat(filepath.Join(root, filepath.FromSlash(c.path)))
	return err != nil || !st.Mode().IsRegular() || strings.Contains(c.path, ".jsonl/")
}

// changesOf lists the changes at or below a path, and the files there that git ignores.
func changesOf(ctx context.Context, root, path string) ([]dirtyPath, error) {
	out, err := run(ctx, root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored", "--", literal(path))
	if err != nil {
		return nil, err
	}
	// Its paths are relative to the top of the work tree.
	prefix, err := Prefix(ctx, root)
	if err != nil {
		return nil, err
	}
	var list []dirtyPath
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if len(entry) > 3 {
			list = append(list, dirtyPath{entry[:2], strings.TrimPrefix(entry[3:], prefix)})
		}
	}
	return list, nil
}

// losses returns a *LossError if the work tree's version of a log lacks records of the
// last commit.
func losses(ctx context.Context, root string, changes []dirtyPath) error {
	var loss LossError
	for _, c := range changes {
		if !c.isRecord() || !strings.HasSuffix(c.path, ".jsonl") {
			continue
		}
		lost, err := lostRecords(ctx, root, c.path)
		if err != nil {
			return err
		}
		if lost > 0 {
			loss.Paths = append(loss.Paths, c.path)
			loss.Lost += lost
		}
	}
	if loss.Lost > 0 {
		return &loss
	}
	return nil
}

// lostRecords counts the records that a log has in the last commit but not in the work
// tree.
func lostRecords(ctx context.Context, root, path string) (int, error) {
	before, err := HeadBlob(ctx, root, path)
	switch {
	case errors.Is(err, ErrNotInHead), errors.Is(err, ErrUnborn):
		return 0, nil
	case err != nil:
		return 0, err
	}
	now, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil || bytes.HasPrefix(now, before) {
		return 0, err
	}
	// The user's filters may store the file in a different form.
	cmd := command(ctx, root, []string{"cat-file", "--filters", "HEAD:./" + path})
	cmd.Env = append(cmd.Env, noNetwork...)
	text, err := output(cmd)
	if err != nil {
		return 0, err
	}
	old, kept := recordsOf([]byte(text)), recordsOf(now)
	lost := 0
	for id := range old.ids {
		if !kept.ids[id] {
			lost++
		}
	}
	// A record without an id may have got one since.
	given := 0
	for id := range kept.ids {
		if !old.ids[id] {
			given++
		}
	}
	return lost + max(0, old.without-kept.without-given), nil
}

// A tally holds the records of a log.
type tally struct {
	ids     map[string]bool
	without int // number of records without an id
}

// recordsOf counts the lines that are JSON objects; other lines are damage or conflict
// markers.
func recordsOf(log []byte) tally {
	t := tally{ids: map[string]bool{}}
	for line := range bytes.Lines(log) {
		var r struct {
			ID string `json:"id"`
		}
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &r) != nil {
			continue
		}
		if r.ID == "" {
			t.without++
		} else {
			t.ids[r.ID] = true
		}
	}
	return t
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
