package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/shell"
	"cortext/schema"
	"cortext/store"
)

// A Tree is the work tree as git has checked it out. In a sparse checkout the files of a
// conversation may be in git's index but not in the work tree. They are read from git, and
// never fetched unasked.
type Tree struct {
	store *store.Store

	mu      sync.Mutex
	leftOut *leftOut // nil: git has not been asked yet
	lent    *lent

	reading sync.Mutex // guards batch
	batch   *git.Batch // nil: only few conversations that are left out were read
}

// Operation names the git operation in progress in this work tree, such as "merge", or
// returns "". Nothing is written to the work tree until it ends.
func (t *Tree) Operation() string { return git.Operation(t.store.Root()) }

func underWay(op string) string { return "a git " + op + " is under way" }

// Away says why a conversation whose folder is in the work tree must not be written
// there; empty if it may. In a sparse checkout git would treat a recreated file as the
// user's, without the records that git itself has.
func (t *Tree) Away(c *store.Conversation) string {
	if op := t.Operation(); op != "" {
		return underWay(op)
	}
	if !c.LogMissing() {
		if err := c.StandIn(); err != nil {
			return err.Error()
		}
		return ""
	}
	return t.whyOutside(c.Path())
}

// Relative returns dir relative to the workspace with slashes; ok is false if dir is
// outside.
func (t *Tree) Relative(dir string) (rel string, ok bool) {
	rel, err := filepath.Rel(t.store.Root(), dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(os.PathSeparator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// maxBorrowed limits how many bytes are read of one conversation.
const maxBorrowed = 512 << 20

// borrow lets a conversation read its files that are outside of the sparse checkout. The
// error is a [*git.NotFetchedError] if they are not on this machine.
func (t *Tree) borrow(c *store.Conversation) error {
	if !c.IsWaiting() && !c.LogMissing() {
		return nil
	}
	sparse, err := t.outside(c.Path())
	if err != nil || len(sparse) == 0 {
		return err
	}
	sparse = slices.DeleteFunc(sparse, func(f git.File) bool { return f.ID == "" })
	some, all := t.held(sparse)
	if !some {
		return git.NotFetched(t.store.Root(), sparse)
	}
	t.mu.Lock()
	l := t.lent
	t.mu.Unlock()
	if l == nil || !slices.EqualFunc(l.list, sparse, func(a, b git.File) bool { return a.Path == b.Path && a.ID == b.ID }) {
		l = &lent{list: sparse, contents: map[string][]byte{}}
		keep := func(f git.File) error {
			if path.Dir(f.Path) == c.Path()+"/.session" {
				l.contents[path.Base(f.Path)] = f.Content
			}
			return nil
		}
		if all {
			err = t.read(sparse, keep)
		} else {
			err = git.Files(context.Background(), t.store.Root(), sparse, maxBorrowed, keep)
		}
	}
	if err == nil {
		t.mu.Lock()
		t.lent = l
		t.mu.Unlock()
	}
	c.Borrow(l.contents)
	return err
}

// fewOpened is how many conversations are opened with a question to git for each, before
// git is asked at once about all that are left out. That takes a second or two if there are
// 100,000. From then on one process of git reads them.
const fewOpened = 8

// held reports whether this machine may have some, or all, of the files of a conversation that
// are left out. For the first few conversations that are opened, all is false.
func (t *Tree) held(files []git.File) (some, all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.leftOut
	if l.opened++; l.opened <= fewOpened || len(files) == 0 {
		return true, false
	}
	if packs := git.Packs(t.store.Root()); l.packs != packs {
		held, err := git.Held(context.Background(), t.store.Root(), l.files)
		if err != nil {
			return true, false // git says why when it is asked for the files
		}
		l.packs, l.held = packs, held
	}
	is := func(f git.File) bool { return l.held == nil || l.held[f.ID] }
	return slices.ContainsFunc(files, is), !slices.ContainsFunc(files, func(f git.File) bool { return !is(f) })
}

// read reads files that are on this machine, all with the same process of git.
func (t *Tree) read(files []git.File, yield func(git.File) error) (err error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	if t.batch == nil {
		if t.batch, err = git.NewBatch(t.store.Root()); err != nil {
			return err
		}
	}
	if err = t.batch.Files(files, maxBorrowed, yield); err != nil {
		err = errors.Join(err, t.close())
	}
	return err
}

// close ends the git process that reads objects, if it runs.
func (t *Tree) close() (err error) {
	if t.batch != nil {
		err = t.batch.Close()
		t.batch = nil
	}
	return err
}

// Lent holds what the last conversation borrowed: a command opens one several times.
type lent struct {
	list     []git.File
	contents map[string][]byte // by name
}

// outside lists the session files of a conversation that the sparse checkout leaves out.
func (t *Tree) outside(path string) ([]git.File, error) {
	all, err := t.leftOutFiles()
	if err != nil {
		return nil, err
	}
	prefix := path + "/.session/"
	first, _ := slices.BinarySearchFunc(all, prefix, func(f git.File, p string) int { return strings.Compare(f.Path, p) })
	end := first
	for end < len(all) && strings.HasPrefix(all[end].Path, prefix) {
		end++
	}
	return t.absent(all[first:end]), nil
}

// allOutside lists the paths of all files of conversations that the sparse checkout leaves
// out.
func (t *Tree) allOutside() (paths []string, err error) {
	all, err := t.leftOutFiles()
	for _, f := range t.absent(all) {
		paths = append(paths, f.Path)
	}
	return paths, err
}

// Hides reports whether a sparse checkout leaves out conversations.
func (t *Tree) Hides() bool {
	files, err := t.allOutside()
	return err == nil && len(files) > 0
}

// LogsOutside returns a function that reports whether a log, or the messages beside it, are
// outside of the sparse checkout. The part of such a log in the work tree does not show
// what is missing.
func (t *Tree) LogsOutside() func(file string) bool {
	files, _ := t.allOutside() // a check reports the error when it compares git
	is := make(map[string]bool, len(files))
	for _, f := range files {
		is[f] = true
	}
	return func(file string) bool { return is[file] || is[path.Join(path.Dir(file), path.Base(store.MessagesLog))] }
}

// absent returns the given files that are not in the work tree.
func (t *Tree) absent(files []git.File) (absent []git.File) {
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(t.store.Root(), filepath.FromSlash(f.Path))); err != nil {
			absent = append(absent, f)
		}
	}
	return absent
}

// leftOutFiles lists the files of conversations that git has marked as left out, by path.
// It asks git once, and again after git has changed something: git reads its whole index
// for each question.
func (t *Tree) leftOutFiles() ([]git.File, error) {
	if !t.IsSparse() {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if state := git.State(t.store.Root()); t.leftOut == nil || t.leftOut.state != state {
		files, err := git.Sparse(context.Background(), t.store.Root(), conversationsDir)
		if err != nil {
			return nil, err
		}
		t.leftOut = &leftOut{state: state, files: files}
	}
	return t.leftOut.files, nil
}

// leftOut holds the files that a sparse checkout leaves out.
type leftOut struct {
	state string     // of git, as in [git.State]
	files []git.File // by path

	opened int             // how many conversations were searched for in it
	held   map[string]bool // ids of what is on this machine; nil: not asked yet, or everything is
	packs  string          // of [git.Packs] when git was asked
}

// Outside reports whether git has the session files of a conversation but the sparse
// checkout leaves them out.
func (t *Tree) Outside(path string) bool { return t.whyOutside(path) != "" }

// whyOutside says why a conversation counts as outside of the sparse checkout, or returns
// "". In a sparse checkout it also gives a reason if git does not answer.
func (t *Tree) whyOutside(path string) string {
	sparse, err := t.outside(path)
	switch {
	case err != nil:
		return "git does not say what is outside of the sparse checkout: " + err.Error()
	case len(sparse) > 0:
		return "its files are outside of the sparse checkout"
	}
	return ""
}

// IsSparse reports whether the user has ever made the work tree a sparse checkout, judging
// from files only.
func (t *Tree) IsSparse() bool {
	_, err := os.Lstat(filepath.Join(git.Dir(t.store.Root()), "info", "sparse-checkout"))
	return err == nil
}

// Head returns the current commit and branch of the work tree; nil outside of git.
func (t *Tree) Head() *schema.Git {
	at, ok := git.Head(t.store.Root())
	if !ok {
		return nil
	}
	return &schema.Git{Commit: at.Commit, Branch: at.Branch}
}

// A LeftOutError is a [store.ErrNoWorkspace] of a folder whose workspace git has, but which the
// sparse checkout leaves out.
type LeftOutError struct{ Root string }

func (e *LeftOutError) Error() string {
	return fmt.Sprintf("the workspace of %s is outside of the sparse checkout: %s", e.Root, shell.Quote("git", "-C", e.Root, "sparse-checkout", "add", ".workspace"))
}

func (e *LeftOutError) Unwrap() error { return store.ErrNoWorkspace }

// WantCheckedOut returns a [*LeftOutError] if a sparse checkout leaves out the workspace of a
// folder, or of one of its parents.
func WantCheckedOut(ctx context.Context, dir string) error {
	repository := git.Dir(dir)
	if _, err := os.Lstat(filepath.Join(repository, "info", "sparse-checkout")); repository == "" || err != nil {
		return nil
	}
	for at := dir; git.Dir(at) == repository; at = filepath.Dir(at) {
		if files, err := git.Sparse(ctx, at, ".workspace"); err == nil && len(files) > 0 {
			if _, err := store.Find(at); err != nil {
				return &LeftOutError{at}
			}
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return nil
}
