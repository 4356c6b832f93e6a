package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/shell"
)

// Errors for content that git cannot provide.
var (
	ErrUnborn     = errors.New("nothing is committed yet")
	ErrNotInHead  = errors.New("the last commit does not have the file")
	ErrNotInIndex = errors.New("the index does not have the file")
	ErrLimit      = errors.New("git has more than may be read at once")
)

// A NotFetchedError lists files that git tracks but whose content is not on this machine,
// because the repository is a partial clone.
type NotFetchedError struct {
	Paths []string // relative to the requested root, with slashes
	Args  []string // the command that fetches them

	root string // where Args compares a commit with nothing; otherwise empty
}

func (e *NotFetchedError) Error() string {
	what := e.Paths[0]
	if n := len(e.Paths); n > 1 {
		what = fmt.Sprintf("%s and %d more", what, n-1)
	}
	return fmt.Sprintf("%s: not fetched yet: run %s", what, e.Command())
}

// Command returns the command that fetches the files, for a shell.
func (e *NotFetchedError) Command() string { return shell.Quote(e.Args...) }

// Fetch runs the command that fetches the missing files, as the user would: with the
// user's credentials and the network.
func Fetch(ctx context.Context, missing *NotFetchedError) error {
	cmd := exec.CommandContext(ctx, missing.Args[0], missing.Args[1:]...)
	plain := command(ctx, ".", nil)
	cmd.Env, cmd.WaitDelay = plain.Env, plain.WaitDelay
	inSession(cmd)
	_, err := output(attend(cmd))
	return err
}

// notFetched returns the error for files in rev, all below one path. Its command compares
// them with nothing, which makes git fetch all missing ones in one request.
func notFetched(root, rev, below string, paths []string) *NotFetchedError {
	return &NotFetchedError{Paths: paths, Args: FetchCommand(root, rev, below), root: root}
}

// WithoutNotFetched splits a joined error: missing has one [*NotFetchedError] for each repository,
// for all files of conversations that it lacks, and rest is the error without them.
func WithoutNotFetched(err error) (missing []*NotFetchedError, rest error) {
	var others []error
	for _, e := range parts(err) {
		m := (*NotFetchedError)(nil)
		if !errors.As(e, &m) || m.root == "" {
			others = append(others, e)
			continue
		}
		i := slices.IndexFunc(missing, func(of *NotFetchedError) bool { return of.root == m.root })
		if i < 0 {
			i = len(missing)
			missing = append(missing, &NotFetchedError{root: m.root})
		}
		missing[i].Paths = append(missing[i].Paths, m.Paths...)
	}
	for _, m := range missing {
		m.Args = FetchCommand(m.root, "HEAD", folderOf(m.Paths))
	}
	return missing, errors.Join(others...)
}

// JoinNotFetched replaces the [*NotFetchedError]s of a joined error with one for each repository,
// if there are several.
func JoinNotFetched(err error) error {
	several := 0
	for _, e := range parts(err) {
		if errors.As(e, new(*NotFetchedError)) {
			several++
		}
	}
	if several < 2 {
		return err
	}
	missing, rest := WithoutNotFetched(err)
	for _, m := range missing {
		rest = errors.Join(rest, m)
	}
	return rest
}

// parts returns the errors that were joined. An error of [fmt.Errorf] that wraps several has a
// text of its own, so it is not taken apart.
func parts(err error) (list []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || reflect.TypeOf(err) != reflect.TypeOf(errors.Join(err)) {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		list = append(list, parts(e)...)
	}
	return list
}

// FetchCommand returns the command that fetches the missing files of rev at or below a path,
// relative to root.
func FetchCommand(root, rev, below string) []string {
	at, _ := Head(root)
	nothing := emptyTreeLike(at.Commit)
	args := []string{"git", "-C", root, "diff", "--shortstat", "--no-renames", "--no-ext-diff", "--no-textconv", nothing, rev}
	if below != "" && below != "." {
		args = append(args, "--", below)
	}
	return args
}

// The ids of the empty tree, which git knows in every repository.
const (
	emptyTree    = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptyTree256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

// emptyTreeLike returns the id of the empty tree in a repository with ids like id.
func emptyTreeLike(id string) string {
	if len(id) == len(emptyTree256) {
		return emptyTree256
	}
	return emptyTree
}

// A File is a file in git.
type File struct {
	Path    string // relative to the requested root, with slashes
	ID      string // of its content
	Content []byte
}

// HeadBlob returns the content of a file in the last commit. The path is relative to root,
// with slashes. The error is ErrNoRepository, ErrUnborn, ErrNotInHead or a *NotFetchedError
// where one of these is the cause.
func HeadBlob(ctx context.Context, root, path string) ([]byte, error) {
	list, err := InHead(ctx, root, path)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if f.Path == path {
			return content(ctx, root, f, notFetched(root, "HEAD", path, []string{path}))
		}
	}
	return nil, fmt.Errorf("%s: %w", path, ErrNotInHead)
}

// IndexBlob returns the staged content of a file; a file with conflicts has none. The
// errors are those of HeadBlob, with ErrNotInIndex.
func IndexBlob(ctx context.Context, root, path string) ([]byte, error) {
	list, err := inIndex(ctx, root, path)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if f.Path == path {
			missing := &NotFetchedError{Paths: []string{path}, Args: []string{"git", "-C", root, "cat-file", "blob", ":./" + path}}
			return content(ctx, root, f, missing)
		}
	}
	return nil, fmt.Errorf("%s: %w", path, ErrNotInIndex)
}

func content(ctx context.Context, root string, f File, missing error) (b []byte, err error) {
	found := false
	err = objectsOf(root).each(ctx, []string{f.ID}, func(_ int, _ int64, content io.Reader) error {
		found = true
		b, err = io.ReadAll(content)
		return err
	})
	if err == nil && !found {
		err = missing
	}
	return b, err
}

// IndexFiles calls yield for each staged file below prefix, but not for files with conflicts.
// If their contents exceed limit bytes, it stops with ErrLimit. It leaves out files that are
// not fetched; the error at the end names them.
func IndexFiles(ctx context.Context, root, prefix string, limit int64, yield func(File) error) error {
	list, err := inIndex(ctx, root, prefix)
	if err != nil {
		return err
	}
	return contents(eachOf(ctx, root), list, notFetched(root, "HEAD", prefix, nil), bounded(limit, yield))
}

// bounded passes on contents up to a total of limit bytes.
func bounded(limit int64, yield func(File) error) func(File, int64, io.Reader) error {
	return func(f File, size int64, r io.Reader) (err error) {
		if limit -= size; limit < 0 {
			return fmt.Errorf("%s: %w", f.Path, ErrLimit)
		}
		if f.Content, err = io.ReadAll(r); err != nil {
			return err
		}
		return yield(f)
	}
}

// contents calls use for each file of the list whose content is here. It returns missing
// with the paths of the others.
func contents(each each, list []File, missing *NotFetchedError, use func(File, int64, io.Reader) error) error {
	ids := make([]string, len(list))
	for i, f := range list {
		ids[i] = f.ID
	}
	got := make([]bool, len(list))
	err := each(ids, func(i int, size int64, r io.Reader) error {
		got[i] = true
		return use(list[i], size, r)
	})
	if err != nil {
		return err
	}
	for i, f := range list {
		if !got[i] {
			missing.Paths = append(missing.Paths, f.Path)
		}
	}
	if len(missing.Paths) > 0 {
		return missing
	}
	return nil
}

// InHead lists the regular files at or below a path in the last commit.
func InHead(ctx context.Context, root, path string) ([]File, error) {
	args := []string{"ls-tree", "-r", "-z", "HEAD"}
	out, err := list(ctx, root, args, path)
	if err != nil {
		if errors.Is(err, ErrNoRepository) || errors.Is(err, exec.ErrNotFound) || ctx.Err() != nil {
			return nil, err
		}
		if unborn(root) {
			return nil, ErrUnborn
		}
		if _, bad := read(ctx, root, "rev-parse", "--quiet", "--verify", "HEAD^{commit}"); bad != nil {
			return nil, fmt.Errorf("git cannot read HEAD (%w): git fsck says what is damaged", err)
		}
		if partialClone(root) { // trees may be missing, too
			return nil, notFetched(root, "HEAD", path, []string{path})
		}
		return nil, err
	}
	var files []File
	for _, line := range out {
		if f, ok := fileIn(line); ok {
			files = append(files, f)
		}
	}
	return files, nil
}

// fileIn returns the regular file that a line of git ls-tree describes.
func fileIn(line string) (f File, ok bool) {
	head, name, _ := strings.Cut(line, "\t")
	words := strings.Fields(head) // mode, type, id
	if len(words) != 3 || !strings.HasPrefix(words[0], "100") {
		return File{}, false
	}
	return File{Path: name, ID: words[2]}, true
}

// unborn reports whether root's branch has no commit yet. A damaged branch is not unborn.
func unborn(root string) bool {
	at, ok := Head(root)
	return ok && at.Commit == ""
}

// Knows reports whether a file at or below a path is staged, or in the last commit.
func Knows(ctx context.Context, root, path string) (bool, error) {
	files, err := inIndex(ctx, root, path)
	if err != nil || len(files) > 0 {
		return err == nil, err
	}
	if files, err = InHead(ctx, root, path); errors.Is(err, ErrUnborn) {
		return false, nil
	}
	return len(files) > 0, err
}

// KnownAmong returns those folders below dir that have a file that is staged, or in the last
// commit. It asks git once for all of them.
func KnownAmong(ctx context.Context, root, dir string, folders []string) (map[string]bool, error) {
	files, err := inIndex(ctx, root, dir)
	if err != nil {
		return nil, err
	}
	committed, err := InHead(ctx, root, dir)
	if err != nil && !errors.Is(err, ErrUnborn) {
		return nil, err
	}
	known := make(map[string]bool, len(folders))
	for _, f := range folders {
		known[f] = false
	}
	for _, f := range append(files, committed...) {
		for at := path.Dir(f.Path); at != dir && at != "."; at = path.Dir(at) {
			if _, asked := known[at]; asked {
				known[at] = true
			}
		}
	}
	return known, nil
}

// Had reports whether any commit since a given time, on any branch, stash or reflog, has
// a file at or below a path.
func Had(ctx context.Context, root, path string, since time.Time) (bool, error) {
	out, err := read(ctx, root, "log", "--all", "--reflog", "-1", "--format=%H", "--since="+since.UTC().Format(time.RFC3339), "--", path)
	return strings.TrimSpace(out) != "", err
}

// inIndex lists the staged regular files at or below some paths.
func inIndex(ctx context.Context, root string, paths ...string) ([]File, error) {
	out, err := list(ctx, root, []string{"ls-files", "-s", "-z"}, paths...)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, line := range out { // mode, id, stage, tab, path
		head, name, _ := strings.Cut(line, "\t")
		if words := strings.Fields(head); len(words) == 3 && strings.HasPrefix(words[0], "100") && words[2] == "0" {
			files = append(files, File{Path: name, ID: words[1]})
		}
	}
	return files, nil
}

// Sparse lists the tracked files below prefix that a sparse checkout leaves out of the
// work tree, by path. Some may exist there anyway. Only regular files have an ID.
func Sparse(ctx context.Context, root, prefix string) ([]File, error) {
	out, err := list(ctx, root, []string{"ls-files", "-t", "-s", "-z"}, prefix)
	if err != nil {
		return nil, err
	}
	var absent []File
	for _, line := range out { // tag, mode, id, stage, tab, path
		head, path, _ := strings.Cut(line, "\t")
		words := strings.Fields(head)
		if len(words) != 4 || words[0] != "S" {
			continue
		}
		f := File{Path: path}
		if strings.HasPrefix(words[1], "100") {
			f.ID = words[2]
		}
		absent = append(absent, f)
	}
	return absent, nil
}

// Files is IndexFiles for files that are known already.
func Files(ctx context.Context, root string, list []File, limit int64, yield func(File) error) error {
	if len(list) == 0 {
		return nil
	}
	return contents(eachOf(ctx, root), list, notFetched(root, "HEAD", folderOf(pathsOf(list)), nil), bounded(limit, yield))
}

// folderOf returns the folder that all files are in.
func folderOf(paths []string) string {
	folder := path.Dir(paths[0])
	for _, p := range paths {
		for folder != "." && !strings.HasPrefix(p, folder+"/") {
			folder = path.Dir(folder)
		}
	}
	return folder
}

func pathsOf(files []File) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return paths
}

// Held returns the ids of the files whose content is on this machine. It is nil if all are,
// because the repository is not a partial clone.
func Held(ctx context.Context, root string, files []File) (map[string]bool, error) {
	o := objectsOf(root)
	if !o.partial {
		return nil, nil
	}
	ids := make([]string, len(files))
	for i, f := range files {
		ids[i] = f.ID
	}
	list, err := o.here(ctx, slices.DeleteFunc(ids, func(id string) bool { return id == "" }))
	held := make(map[string]bool, len(list))
	for _, i := range list {
		held[ids[i]] = true
	}
	return held, err
}

// NotFetched returns the error for files of the last commit that are not on this machine.
func NotFetched(root string, files []File) *NotFetchedError {
	paths := pathsOf(files)
	return notFetched(root, "HEAD", folderOf(paths), paths)
}

// Packs returns a fingerprint of the packs of root's repository, which changes when git
// fetches something.
func Packs(root string) string {
	info, err := os.Stat(filepath.Join(CommonDir(root), "objects", "pack"))
	if err != nil {
		return ""
	}
	return info.ModTime().String()
}

// Unchanged reports which files in the work tree equal the index, byte for byte. If git
// cannot tell, it reports none.
func Unchanged(ctx context.Context, root string, paths []string) map[string]bool {
	staged, err := inIndex(ctx, root, paths...)
	if err != nil {
		return nil
	}
	same := map[string]bool{}
	for _, f := range staged {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.Path)))
		same[f.Path] = err == nil && f.ID == blobID(b, len(f.ID))
	}
	return same
}

// blobID returns git's name for a content, in a repository whose names have the given
// number of digits.
func blobID(content []byte, digits int) string {
	h := sha1.New()
	if digits == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// WorkTree returns the files at or below root that git tracks or could track, relative to root.
// Some may be missing. The error is [ErrNoRepository] if root is in none.
func WorkTree(ctx context.Context, root string) ([]string, error) {
	return list(ctx, root, []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"})
}

// list runs a git command that lists files at or below some paths, relative to root and
// NUL-terminated.
func list(ctx context.Context, root string, args []string, paths ...string) ([]string, error) {
	if Dir(root) == "" {
		return nil, fmt.Errorf("%s: %w", root, ErrNoRepository)
	}
	args = append(slices.Clone(args), "--")
	for _, path := range paths {
		if path == "" {
			path = "."
		}
		if !filepath.IsLocal(filepath.FromSlash(path)) {
			return nil, fmt.Errorf("%s: outside the workspace", path)
		}
		args = append(args, path)
	}
	return readList(ctx, root, args...)
}

// readList returns the NUL-terminated words that a git command prints.
func readList(ctx context.Context, root string, args ...string) ([]string, error) {
	out, err := read(ctx, root, args...)
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), nil
}
