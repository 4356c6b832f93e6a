package git

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A RefTip is the commit that a ref points to.
type RefTip struct{ Ref, Commit, Subject string }

// RefTips lists the refs below some prefixes, by name.
func RefTips(ctx context.Context, root string, prefixes ...string) (tips []RefTip, err error) {
	out, err := read(ctx, root, append([]string{"for-each-ref", "--format=%(refname) %(objectname) %(contents:subject)"}, prefixes...)...)
	for line := range strings.Lines(out) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(words) == 3 {
			tips = append(tips, RefTip{words[0], words[1], words[2]})
		}
	}
	return tips, err
}

// Prefix returns the path of a folder within its work tree, with a slash at its end unless
// it is empty.
func Prefix(ctx context.Context, root string) (string, error) {
	out, err := read(ctx, root, "rev-parse", "--show-prefix")
	return strings.TrimSuffix(out, "\n"), err
}

// IsAncestor reports whether a commit is another one or an ancestor of it. It returns false
// if either is unknown.
func IsAncestor(ctx context.Context, root, commit, of string) bool {
	_, err := read(ctx, root, "merge-base", "--is-ancestor", commit, of)
	return err == nil
}

// MergeBase returns a common ancestor of two commits, or "".
func MergeBase(ctx context.Context, root, a, b string) string {
	out, err := read(ctx, root, "merge-base", a, b)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// FilesOf maps the regular files of a commit, at or below some paths or everywhere, to the
// ids of their contents. The paths are relative to the top of the work tree. An empty commit
// has none.
func FilesOf(ctx context.Context, root, commit string, paths ...string) (map[string]string, error) {
	files := map[string]string{}
	if commit == "" {
		return files, nil
	}
	args := []string{"ls-tree", "-r", "-z", "--full-tree", commit}
	if len(paths) > 0 {
		args = append(append(args, "--"), paths...)
	}
	out, err := read(ctx, root, args...)
	for line := range strings.SplitSeq(out, "\x00") {
		if f, ok := fileIn(line); ok {
			files[f.Path] = f.ID
		}
	}
	return files, err
}

// BlobID returns the id that git gives a file's content in a repository whose ids are as
// long as like.
func BlobID(content []byte, like string) string { return blobID(content, max(len(like), 40)) }

// FetchChanged fetches, in one request, the contents that differ between two commits and are
// not on this machine. It does nothing except in a partial clone. An empty from stands for a
// commit without files.
func FetchChanged(ctx context.Context, root, from, to string) error {
	if to == "" || from == to || !partialClone(root) {
		return nil
	}
	args := []string{"diff", "--shortstat", "--no-renames", "--no-ext-diff", "--no-textconv", cmp.Or(from, emptyTreeLike(to)), to}
	_, err := output(attend(command(ctx, root, args)))
	return err
}

// Blobs returns the contents of blobs by id. In a partial clone git fetches those that are
// missing, one by one.
func Blobs(ctx context.Context, root string, ids []string) (map[string][]byte, error) {
	contents := map[string][]byte{}
	if len(ids) == 0 {
		return contents, nil
	}
	out, err := output(withInput(command(ctx, root, []string{"cat-file", "--batch"}), []byte(strings.Join(ids, "\n")+"\n")))
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(strings.NewReader(out))
	for _, id := range ids {
		found := false
		err := one(in, func(_ int64, r io.Reader) (err error) {
			contents[id], err = io.ReadAll(r)
			found = true
			return err
		})
		if err == nil && !found {
			err = fmt.Errorf("git has lost %s: git fsck says more", id)
		}
		if err != nil {
			return nil, err
		}
	}
	return contents, nil
}

// A Writing is a commit on a ref that is not a branch. It touches neither the index nor the
// work tree.
type Writing struct {
	Ref     string
	From    string   // the ref's commit; empty if it does not exist yet
	Merged  []string // other parents
	By      string   // who commits, and when: "Name <address> 1767600000 +0000"
	Message string

	Files map[string][]byte // new contents, by path relative to the top of the work tree
	Known map[string]string // likewise, the ids of contents that git has
	Gone  []string          // paths to remove
}

// ErrMoved is returned if a ref is no longer where the caller saw it.
var ErrMoved = errors.New("another process has moved the ref")

// Write makes a commit. The error is ErrMoved if the ref has moved since.
func (w Writing) Write(ctx context.Context, root string) error {
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit %s\ncommitter %s\ndata %d\n%s\n", w.Ref, w.By, len(w.Message), w.Message)
	if w.From != "" {
		fmt.Fprintf(&in, "from %s\n", w.From)
	}
	for _, parent := range w.Merged {
		fmt.Fprintf(&in, "merge %s\n", parent)
	}
	for _, path := range w.Gone {
		fmt.Fprintf(&in, "D %s\n", quoted(path))
	}
	for _, path := range slices.Sorted(maps.Keys(w.Known)) {
		fmt.Fprintf(&in, "M 100644 %s %s\n", w.Known[path], quoted(path))
	}
	for _, path := range slices.Sorted(maps.Keys(w.Files)) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n", quoted(path), len(w.Files[path]))
		in.Write(w.Files[path])
		in.WriteByte('\n')
	}
	in.WriteString("done\n")
	cmd := command(ctx, root, []string{"fast-import", "--quiet", "--done"})
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	cmd.Stdin = &in
	_, err := output(cmd)
	if err != nil && (strings.Contains(strings.ToLower(err.Error()), "not updating") || locked().MatchString(err.Error())) {
		return ErrMoved
	}
	return err
}

// quoted spells a path for git fast-import.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// MoveRef makes a ref point to a commit. The error is ErrMoved if it does not point to from,
// which is empty if the ref must not exist.
func MoveRef(ctx context.Context, root, ref, to, from string) error {
	if from == "" {
		from = strings.Repeat("0", len(to))
	}
	_, err := run(ctx, root, "update-ref", ref, to, from)
	if err != nil && strings.Contains(err.Error(), "cannot lock ref") {
		return ErrMoved
	}
	return err
}

// Committer returns the user's identity and the given time, as in [Writing]. The error is
// git's own if it has none.
func Committer(ctx context.Context, root string, at time.Time) (string, error) {
	out, err := run(ctx, root, "var", "GIT_COMMITTER_IDENT")
	end := strings.LastIndexByte(out, '>')
	if err != nil || end < 0 {
		return "", err
	}
	return fmt.Sprintf("%s %d +0000", out[:end+1], at.Unix()), nil
}

// LatestTime returns the time of the latest of some commits.
func LatestTime(ctx context.Context, root string, commits ...string) (time.Time, error) {
	out, err := read(ctx, root, append([]string{"log", "--no-walk", "--format=%ct"}, commits...)...)
	var latest int64
	for _, word := range strings.Fields(out) {
		var at int64
		if _, err := fmt.Sscan(word, &at); err == nil {
			latest = max(latest, at)
		}
	}
	return time.Unix(latest, 0), err
}

// Remote returns the remote to exchange with: that of the current branch, or origin, or the
// only one.
func (x Exchange) Remote(ctx context.Context) (string, error) {
	if up, err := x.upstream(ctx); err == nil && up.remote != "." { // a local branch
		return up.remote, nil
	}
	names, err := remotes(ctx, x.Root)
	if err != nil || usual(names) != "" {
		return usual(names), err
	}
	if len(names) > 0 {
		return "", fmt.Errorf("there are several remotes (%s): git branch -u REMOTE/BRANCH chooses one", strings.Join(names, ", "))
	}
	return "", errors.New("there is no remote origin: git remote add origin URL")
}

// PushRemote returns the remote to push to: what the user has set for pushes, or that of [Exchange.Remote].
func (x Exchange) PushRemote(ctx context.Context) (string, error) {
	at, _ := Head(x.Root)
	for _, key := range []string{"branch." + at.Branch + ".pushRemote", "remote.pushDefault"} {
		if remote := setting(ctx, x.Root, "--get", key); remote != "" {
			return remote, nil
		}
	}
	return x.Remote(ctx)
}

// FetchRefs fetches refs, as a refspec names them. It changes nothing else.
func (x Exchange) FetchRefs(ctx context.Context, remote, refspec string) error {
	return x.patiently(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", remote, refspec)
}

// lockWait is the longest wait for a lock.
const lockWait = 500 * time.Millisecond

// patiently runs a git command that asks nothing, again and again while another process has
// a lock that it needs.
func (x Exchange) patiently(ctx context.Context, args ...string) error {
	for races := 0; ; races++ {
		err := call(x.asking(ctx, args...))
		if err == nil || races >= mostRaces {
			return err
		}
		if text := err.Error(); outdated().MatchString(text) || !lostRace().MatchString(text) && !locked().MatchString(text) {
			return err
		}
		if err := sleep(ctx, x.Jitter(lockWait)); err != nil {
			return err
		}
	}
}

// PushRef pushes a ref under another name. The error is ErrMoved if the remote has a ref
// of that name that is not an ancestor.
func (x Exchange) PushRef(ctx context.Context, remote, ref, as string) error {
	err := x.patiently(ctx, "push", "--quiet", remote, ref+":"+as)
	if err != nil && outdated().MatchString(err.Error()) {
		return ErrMoved
	}
	return err
}

// UnionText merges two versions of a text. Where both changed the same lines, it keeps both.
func UnionText(ctx context.Context, root string, base, a, b []byte) (merged []byte, err error) {
	dir, err := os.MkdirTemp("", "cortext-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	args := []string{"merge-file", "--quiet", "-p", "--union"}
	for i, text := range [][]byte{a, base, b} {
		name := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return nil, err
		}
		args = append(args, name)
	}
	out, err := read(ctx, root, args...)
	return []byte(out), err
}

// SetExcluded makes git ignore some patterns in this clone, which begin with a slash and are
// relative to root; without patterns it undoes that. A comment above the lines says what
// they are for. Equal lines that somebody else wrote stay.
func SetExcluded(root, comment string, patterns []string) error {
	common := CommonDir(root)
	if common == "" {
		return ErrNoRepository
	}
	file := filepath.Join(common, "info", "exclude")
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	lines := []string{"# " + comment + " (/" + within(root) + ")"}
	for _, p := range patterns {
		lines = append(lines, "/"+within(root)+strings.TrimPrefix(p, "/"))
	}
	block := strings.Join(lines, "\n") + "\n"
	at := strings.Index("\n"+string(text), "\n"+lines[0]+"\n")
	switch {
	case at >= 0 && len(patterns) > 0 && strings.HasPrefix(string(text[at:]), block), at < 0 && len(patterns) == 0:
		return nil
	case at >= 0: // from the comment to the next one, or to an empty line
		rest := string(text[at+len(lines[0])+1:])
		for rest != "" && rest[0] != '#' && rest[0] != '\n' {
			_, rest, _ = strings.Cut(rest, "\n")
		}
		text = append(text[:at:at], strings.TrimPrefix(rest, "\n")...)
	}
	if len(patterns) > 0 {
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		text = append(text, block+"\n"...)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return replaceFile(file, text)
}
