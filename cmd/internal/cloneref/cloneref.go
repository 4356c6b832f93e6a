// Package cloneref keeps the conversations of a clone in git, but in no branch: in a ref of
// the clone.
//
// # Design
//
// Each clone has one ref, refs/cortext/own, whose tree holds the conversations' folders and
// the removal files of all of its work trees. A stop commits the folder there. It touches
// neither the branch nor the index and runs none of git's hooks; .git/info/exclude keeps
// the folders out of git status. A push sends the ref as refs/cortext/<clone>, which no
// other clone writes, so that no push loses a race. A pull fetches the refs of all clones
// into refs/cortext-remotes/<remote>/, merges those that our own ref does not contain into
// it, file by file as the merge driver does, and then merges our own ref into the files of
// the work tree, under the locks of the conversations. Clones that merge the same refs make
// the same commit, so they soon agree on one.
//
// A third ref, refs/cortext-worktrees/<work tree>, has what the files of a work tree and
// our own ref have in common. It is the base of their merges. It only counts while our own ref
// contains the commit that it was made for. Without it, all lines of both sides stay.
//
// Nothing is ever taken from a log: a commit holds the records of our own ref and those of
// the work tree. A conversation leaves the ref only by an explicit removal, and other clones
// follow unless they continued it. A folder that is missing in the work tree comes back
// with the next pull.
package cloneref

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/git"
	"cortext/store"
	"cortext/store/filelock"
)

// The refs of a clone.
const (
	ownRef      = "refs/cortext/own"
	sharedRefs  = "refs/cortext/"            // at a remote, each followed by the name of a clone
	fetchedRefs = "refs/cortext-remotes/"    // followed by the remote
	treeRefs    = "refs/cortext-worktrees/"  // followed by the name of a work tree
	baseOf      = "conversations as in own " // begins the message of a commit there
)

// A Ref is the ref of the clone that a workspace is in.
type Ref struct {
	Store   *store.Store
	Removed string           // the folder of removal files, relative to the workspace
	Now     func() time.Time // for commits
}

// excludedFor says in .git/info/exclude what its lines are for.
const excludedFor = "cortext: conversations, because of commit: ref"

// Exclude keeps conversations out of git status.
func (r Ref) Exclude() error {
	return git.SetExcluded(r.Store.Root(), excludedFor, []string{"/conversations/", "/" + r.Removed + "/"})
}

// Include undoes [Ref.Exclude]. It does nothing outside of git.
func (r Ref) Include() error {
	err := git.SetExcluded(r.Store.Root(), excludedFor, nil)
	if errors.Is(err, git.ErrNoRepository) {
		return nil
	}
	return err
}

// A state holds the refs as a command found them.
type state struct {
	prefix  string // of the workspace in the work tree
	own     string // the commit of our own ref, or empty
	treeRef string // the ref of the work tree
	treeTip string // its commit, or empty
	base    string // the same, or empty if it does not count
	fetched []git.RefTip
	like    string // any commit of the repository, for the length of its ids; or empty
}

// look reads the refs.
func (r Ref) look(ctx context.Context) (st state, err error) {
	root := r.Store.Root()
	if st.prefix, err = git.Prefix(ctx, root); err != nil {
		return st, err
	}
	name, err := identity(filepath.Join(git.Dir(root), "cortext-worktree"))
	if err != nil {
		return st, err
	}
	st.treeRef = treeRefs + name
	tips, err := git.RefTips(ctx, root, ownRef, st.treeRef, fetchedRefs)
	if err != nil {
		return st, err
	}
	for _, t := range tips {
		switch {
		case t.Ref == ownRef:
			st.own = t.Commit
		case t.Ref == st.treeRef:
			st.treeTip = t.Commit
			if own, ok := strings.CutPrefix(t.Subject, baseOf); ok {
				st.base = own
			}
		default:
			st.fetched = append(st.fetched, t)
		}
	}
	if at, ok := git.Head(root); ok {
		st.like = at.Commit
	}
	for _, t := range tips {
		st.like = t.Commit
	}
	if st.base != "" && st.own != "" && (st.base == st.own || git.IsAncestor(ctx, root, st.base, st.own)) {
		st.base = st.treeTip
	} else {
		st.base = ""
	}
	return st, nil
}

func (r Ref) merger(ctx context.Context, st state) merger {
	return merger{ctx: ctx, root: r.Store.Root(), like: st.like, contents: map[string][]byte{}}
}

// identityWait is how long a process waits for another one that is creating the name.
const identityWait = 5 * time.Second

// identity reads a random name from a file, which it creates once. An empty file counts as
// none: a power cut may leave one.
func identity(file string) (name string, err error) {
	if name, err = readIdentity(file); err != nil || name != "" {
		return name, err
	}
	// A hard link would need no lock, but FAT and many network file systems have none.
	err = filelock.With(file+"-lock", identityWait, func() error {
		if name, err = readIdentity(file); err != nil || name != "" {
			return err
		}
		if err := newIdentity(file); err != nil {
			return err
		}
		name, err = readIdentity(file)
		return err
	})
	return name, err
}

// readIdentity returns "" if the file is missing or empty.
func readIdentity(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

// newIdentity puts another random name into a file. It takes no source of randomness: a test
// that fixed it would give two clones one name.
func newIdentity(file string) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	var name [6]byte
	_, _ = rand.Read(name[:])
	_, err = tmp.WriteString(hex.EncodeToString(name[:]) + "\n")
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(tmp.Name()))
	}
	return err
}

// tries is how often a write is repeated because another process was faster.
const tries = 50

// Commit commits the folders of conversations, and the removal files. It reports whether
// there was anything to commit. It holds the files of all folders in memory.
func (r Ref) Commit(ctx context.Context, message string, folders ...string) (done bool, err error) {
	root := r.Store.Root()
	if op := git.Operation(root); op != "" { // new records wait until it ends
		return false, &git.UnfinishedError{Operation: op, Then: "commit the folder"}
	}
	if err := r.Exclude(); err != nil {
		return false, err
	}
	by, err := r.committer(ctx)
	if err != nil {
		return false, err
	}
	for range tries {
		done, err = r.commit(ctx, message, by, folders)
		if !errors.Is(err, git.ErrMoved) {
			break
		}
	}
	return done, err
}

func (r Ref) commit(ctx context.Context, message, by string, folders []string) (done bool, err error) {
	root := r.Store.Root()
	st, err := r.look(ctx)
	if err != nil {
		return false, err
	}
	m := r.merger(ctx, st)
	parts := append(slices.Clone(folders), r.Removed)
	paths := make([]string, len(parts))
	for i, part := range parts {
		paths[i] = st.prefix + part
	}
	base, err := git.FilesOf(ctx, root, st.base, paths...)
	if err != nil {
		return false, err
	}
	own, err := git.FilesOf(ctx, root, st.own, paths...)
	if err != nil {
		return false, err
	}
	merged, ours := map[string]string{}, map[string]string{}
	inBase, inOwn := below(base, paths), below(own, paths)
	for i, part := range parts {
		contents, err := r.onDisk(part)
		if err != nil {
			return false, err
		}
		here := map[string]string{}
		for name, content := range contents {
			id := git.BlobID(content, st.like)
			here[st.prefix+name], m.contents[id] = id, content
		}
		merge := m.files
		if part != r.Removed {
			merge = m.folder
			if len(here) == 0 {
				here = inOwn[i] // only [Ref.Remove] removes a conversation
			}
		}
		got, err := merge(inBase[i], here, inOwn[i])
		if err != nil {
			return false, err
		}
		maps.Copy(merged, got)
		maps.Copy(ours, here)
	}
	w := git.Writing{Ref: ownRef, From: st.own, By: by, Message: message}
	if m.fill(&w, own, merged) {
		if err := w.Write(ctx, root); err != nil {
			return false, err
		}
		done = true
	}
	return done, r.setBase(ctx, m, st, ours, paths...) // our own ref has what is here now
}

// below groups files by the given path that each is equal to or below.
func below(files map[string]string, paths []string) []map[string]string {
	at, groups := map[string]int{}, make([]map[string]string, len(paths))
	for i, path := range paths {
		at[path], groups[i] = i, map[string]string{}
	}
	for name, id := range files {
		for dir := name; ; dir = path.Dir(dir) {
			if i, ok := at[dir]; ok {
				groups[i][name] = id
				break
			}
			if dir == "." {
				break
			}
		}
	}
	return groups
}

// setBase records what the files of the work tree and our own ref have in common at and
// below some paths, or everywhere.
func (r Ref) setBase(ctx context.Context, m merger, was state, want map[string]string, paths ...string) error {
	root := r.Store.Root()
	now, err := r.look(ctx)
	if err != nil {
		return err
	}
	if now.treeTip != was.treeTip {
		return git.ErrMoved
	}
	if now.base == "" { // nothing that was recorded counts
		paths = nil
	}
	have, err := git.FilesOf(ctx, root, now.treeTip, paths...)
	if err != nil {
		return err
	}
	w := git.Writing{Ref: now.treeRef, From: now.treeTip, By: nobody(r.Now()), Message: baseOf + now.own}
	if !m.fill(&w, have, want) && now.base != "" {
		return nil
	}
	return w.Write(ctx, root)
}

// nobody returns the identity for commits that no user makes.
func nobody(at time.Time) string {
	return fmt.Sprintf("cortext <cortext@localhost> %d +0000", at.Unix())
}

// committer returns the user's identity for a commit.
func (r Ref) committer(ctx context.Context) (string, error) {
	// A folder that git takes for a repository may have come with this one: reading refuses it.
	if _, err := git.Prefix(ctx, r.Store.Root()); err != nil {
		return "", err
	}
	return git.Committer(ctx, r.Store.Root(), r.Now())
}

// Remove removes conversations from our own ref, and adds the removal files.
func (r Ref) Remove(ctx context.Context, message string, folders ...string) error {
	by, err := r.committer(ctx)
	if err != nil {
		return err
	}
	for range tries {
		if err = r.remove(ctx, message, by, folders); !errors.Is(err, git.ErrMoved) {
			break
		}
	}
	return err
}

func (r Ref) remove(ctx context.Context, message, by string, folders []string) error {
	root := r.Store.Root()
	st, err := r.look(ctx)
	if err != nil || st.own == "" {
		return err
	}
	own, err := git.FilesOf(ctx, root, st.own)
	if err != nil {
		return err
	}
	removals, err := r.onDisk(r.Removed)
	if err != nil {
		return err
	}
	w := git.Writing{Ref: ownRef, From: st.own, By: by, Message: message, Files: map[string][]byte{}}
	for name := range own {
		if slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(name, st.prefix+f+"/") }) {
			w.Gone = append(w.Gone, name)
		}
	}
	if len(w.Gone) == 0 {
		return nil
	}
	for name, content := range removals {
		w.Files[st.prefix+name] = content
	}
	return w.Write(ctx, root)
}

// Has reports whether our own ref has files at or below a path.
func (r Ref) Has(ctx context.Context, path string) (bool, error) {
	st, err := r.look(ctx)
	if err != nil {
		return false, err
	}
	files, err := git.FilesOf(ctx, r.Store.Root(), st.own, st.prefix+path)
	return len(files) > 0, err
}

// File returns a file of our own ref; nil if it is not there.
func (r Ref) File(ctx context.Context, name string) []byte {
	st, err := r.look(ctx)
	if err != nil || st.own == "" {
		return nil
	}
	files, err := git.FilesOf(ctx, r.Store.Root(), st.own, st.prefix+name)
	if err != nil || files[st.prefix+name] == "" {
		return nil
	}
	contents, err := git.Blobs(ctx, r.Store.Root(), []string{files[st.prefix+name]})
	if err != nil {
		return nil
	}
	return contents[files[st.prefix+name]]
}

// onDisk reads the files of a folder of the work tree, by their names relative to the
// workspace. It has none while a conversation is kept from git, as before its first answer.
func (r Ref) onDisk(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	root, err := os.OpenRoot(r.Store.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if b, err := root.ReadFile(filepath.FromSlash(folder + "/.session/.gitignore")); err == nil && bytes.Contains(append([]byte("\n"), b...), []byte("\n*\n")) {
		return files, nil
	}
	err = fs.WalkDir(root.FS(), folder, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() || !allowed(name) {
			return err
		}
		files[name], err = root.ReadFile(filepath.FromSlash(name))
		return err
	})
	return files, err
}

// allowed reports whether a path may be in the ref: another clone may have anything in its
// own.
func allowed(name string) bool {
	parts := strings.Split(name, "/")
	return filepath.IsLocal(filepath.FromSlash(name)) && path.Clean(name) == name && !strings.Contains(name, `\`) &&
		!slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(strings.ToLower(p), ".git") })
}

// only returns the entries of a map whose keys are wanted.
func only(files map[string]string, wanted func(string) bool) map[string]string {
	some := map[string]string{}
	for name, id := range files {
		if wanted(name) {
			some[name] = id
		}
	}
	return some
}
