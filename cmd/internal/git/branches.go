package git

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits for searching all branches.
const (
	branchTime  = 5 * time.Second
	maxTips     = 1000
	maxStashes  = 20
	maxVersions = 20_000
	maxRefs     = 10      // per version
	maxBlob     = 8 << 20 // bytes per version
	maxDepth    = 8       // of nested folders
)

// A branchTip is the end of a local or remote branch, or of a stash.
type branchTip struct {
	name string // as git accepts it
	tree string // id of the searched folder
}

// A Version is the content of a file on a branch.
type Version struct {
	Path    string // relative to the requested root, with slashes
	ID      string // of the content
	Content []byte
	Refs    []string // branches and stashes that have it, at most ten, newest first
}

// Versions calls yield once for each version, on the branches and stashes, of the files
// with the given name at any depth below folder, those of the newest branch first. The
// name is a folder and a file in it, as in ".session/session.json"; other folders beside
// such a folder are not searched. Folders that branches share are read once. If there is
// more than can be read in a few seconds, Versions yields what it could read and returns
// ErrLimit; if something is not fetched, it yields the rest and returns a
// *NotFetchedError.
func Versions(ctx context.Context, root, folder, name string, yield func(Version) error) error {
	v, end, err := lookAt(ctx, root)
	if err != nil {
		return err
	}
	defer end()
	if err := v.enter(folder); err != nil {
		return v.late(err)
	}
	s := search{view: v, byKey: map[versionKey]*Version{}, walked: map[versionKey]int{}}
	s.in, s.file = path.Split(name)
	s.in = strings.TrimSuffix(s.in, "/")
	if err := s.load(); err != nil {
		return v.late(err)
	}
	s.collect(folder)
	return v.late(s.read(yield))
}

// A view is one search of the tips of all branches.
type view struct {
	ctx     context.Context // ends when the time is up
	root    string
	objects objects
	tips    []branchTip        // newest first
	trees   map[string][]child // read so far, by id
	cut     bool               // there is more than the limits allow to read
}

// A child is an entry of a tree.
type child struct {
	name, id string
	dir      bool
	file     bool // a regular one
}

// lookAt finds the tips and enters root's folder in each.
func lookAt(ctx context.Context, root string) (*view, func(), error) {
	if Dir(root) == "" {
		return nil, nil, fmt.Errorf("%s: %w", root, ErrNoRepository)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, branchTime, ErrLimit)
	v := &view{ctx: ctx, root: root, objects: objectsOf(root), trees: map[string][]child{}}
	prefix, err := Prefix(ctx, root)
	if err == nil {
		err = v.findTips()
	}
	if err == nil {
		err = v.enter(prefix)
	}
	if err != nil {
		err = v.late(err)
		cancel()
		return nil, nil, err
	}
	return v, cancel, nil
}

// late returns the error if time is up or something was cut.
func (v *view) late(err error) error {
	if errors.Is(context.Cause(v.ctx), ErrLimit) || err == nil && v.cut {
		return fmt.Errorf("%s: not all branches were checked: %w", v.root, ErrLimit)
	}
	return err
}

func (v *view) findTips() error {
	out, err := read(v.ctx, v.root, "for-each-ref", "--sort=-committerdate", fmt.Sprintf("--count=%d", maxTips+1),
		"--format=%(tree)%00%(symref)%00%(refname)", "refs/heads", "refs/remotes", "refs/cortext", "refs/stash")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		words := strings.Split(strings.TrimRight(line, "\n"), "\x00")
		if len(words) != 3 || words[0] == "" || words[1] != "" {
			continue // not a commit, or another name for a branch
		}
		if words[2] == "refs/stash" {
			if err := v.findStashes(); err != nil {
				return err
			}
			continue
		}
		name := words[2]
		for _, before := range []string{"refs/heads/", "refs/remotes/"} {
			name = strings.TrimPrefix(name, before)
		}
		v.tips = append(v.tips, branchTip{name, words[0]})
	}
	if len(v.tips) > maxTips {
		v.cut = true
	}
	return nil
}

// findStashes finds the stashes. Untracked files are in a separate commit, the third
// parent of the stash.
func (v *view) findStashes() error {
	out, err := read(v.ctx, v.root, "rev-list", "-g", fmt.Sprintf("--max-count=%d", maxStashes), "--format=%T %P", "refs/stash", "--")
	if err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "commit" {
			continue
		}
		name := fmt.Sprintf("stash@{%d}", n)
		n++
		v.tips = append(v.tips, branchTip{name, words[0]})
		if len(words) < 4 {
			continue
		}
		untracked, err := read(v.ctx, v.root, "rev-list", "--no-walk", "--format=%T", words[3], "--")
		if err != nil {
			return err
		}
		if _, tree, ok := strings.Cut(strings.TrimSpace(untracked), "\n"); ok {
			v.tips = append(v.tips, branchTip{name + "^3", tree})
		}
	}
	return nil
}

// enter moves each tip to its subfolder at the given path, and drops tips without it.
func (v *view) enter(below string) error {
	for name := range strings.SplitSeq(path.Clean(filepath.ToSlash(below)), "/") {
		if name == "." {
			continue
		}
		var ids []string
		for _, t := range v.tips {
			ids = append(ids, t.tree)
		}
		if err := v.loadTrees(ids); err != nil {
			return err
		}
		v.tips = slices.DeleteFunc(v.tips, func(t branchTip) bool { return v.child(t.tree, name).id == "" })
		for i, t := range v.tips {
			v.tips[i].tree = v.child(t.tree, name).id
		}
	}
	return nil
}

func (v *view) child(tree, name string) child {
	for _, c := range v.trees[tree] {
		if c.name == name {
			return c
		}
	}
	return child{}
}

// loadTrees reads the trees that have not been read yet. A tree that is missing or is not a
// tree has no children.
func (v *view) loadTrees(ids []string) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, known := v.trees[id]; return known })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, id := range ids {
		v.trees[id] = nil
	}
	return v.objects.each(v.ctx, ids, func(i int, _ int64, r io.Reader) error {
		b, err := io.ReadAll(r)
		v.trees[ids[i]] = children(b, len(ids[i])/2)
		return err
	})
}

// children parses a tree, whose entries are a mode, a space, a name, a zero byte and the
// bytes of an id.
func children(b []byte, size int) []child {
	var list []child
	for {
		head, rest, ok := bytes.Cut(b, []byte{0})
		mode, name, fits := strings.Cut(string(head), " ")
		if !ok || !fits || len(rest) < size {
			return list
		}
		list = append(list, child{name, hex.EncodeToString(rest[:size]), mode == "40000", strings.HasPrefix(mode, "100")})
		b = rest[size:]
	}
}

// A search finds files of one name below the tips of a view.
type search struct {
	*view
	in, file string // a folder and a file in it
	byKey    map[versionKey]*Version
	walked   map[versionKey]int // number of refs recorded below a folder
	found    []*Version
}

type versionKey struct{ path, id string }

// load reads all trees that may lead to a file, level by level.
func (s *search) load() error {
	s.listFirst()
	level := map[string]bool{}
	for _, t := range s.tips {
		level[t.tree] = true
	}
	for range maxDepth {
		if len(level) == 0 {
			break
		}
		if err := s.loadTrees(slices.Collect(maps.Keys(level))); err != nil {
			return err
		}
		next, last := map[string]bool{}, map[string]bool{}
		for id := range level {
			if c := s.child(id, s.in); c.dir {
				last[c.id] = true
				continue
			}
			for _, c := range s.trees[id] {
				if c.dir {
					next[c.id] = true
				}
			}
		}
		if err := s.loadTrees(slices.Collect(maps.Keys(last))); err != nil {
			return err
		}
		level = next
	}
	return nil
}

// listFirst reads all trees of the newest tip with one command, which takes a tenth of
// the time; the other tips share most of them. If a tree is not fetched, the command
// fails, and the trees are read one by one.
func (s *search) listFirst() {
	if len(s.tips) == 0 {
		return
	}
	out, err := read(s.ctx, s.root, "ls-tree", "-r", "-t", "-z", "--full-tree", s.tips[0].tree)
	if err != nil {
		return
	}
	ids := map[string]string{"": s.tips[0].tree} // of folders, by path
	at := map[string]string{ids[""]: ""}         // the path from which a tree is read
	for id := range s.trees {
		at[id] = "/" // already read
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		head, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(head)
		if len(words) != 3 {
			continue
		}
		folder, base := path.Split(name)
		folder = strings.TrimSuffix(folder, "/")
		c := child{base, words[2], words[1] == "tree", strings.HasPrefix(words[0], "100")}
		if id := ids[folder]; at[id] == folder {
			s.trees[id] = append(s.trees[id], c)
		}
		if !c.dir {
			continue
		}
		ids[name] = c.id
		if _, known := at[c.id]; !known {
			at[c.id] = name
		}
	}
}

// collect finds the versions, those of the newest tip first.
func (s *search) collect(folder string) {
	refs := map[string][]string{}
	var order []string
	for _, t := range s.tips {
		if refs[t.tree] == nil {
			order = append(order, t.tree)
		}
		refs[t.tree] = append(refs[t.tree], t.name)
	}
	for _, tree := range order {
		s.walk(tree, path.Clean(folder), refs[tree], maxDepth)
	}
}

func (s *search) walk(tree, at string, refs []string, depth int) {
	if c := s.child(tree, s.in); c.dir {
		if f := s.child(c.id, s.file); f.file {
			s.add(versionKey{path.Join(at, s.in, s.file), f.id}, refs)
		}
		return
	}
	here := versionKey{at, tree}
	if depth == 0 || s.walked[here] >= maxRefs {
		return
	}
	s.walked[here] += len(refs)
	for _, c := range s.trees[tree] {
		if c.dir {
			s.walk(c.id, path.Join(at, c.name), refs, depth-1)
		}
	}
}

func (s *search) add(key versionKey, refs []string) {
	found := s.byKey[key]
	if found == nil {
		if len(s.found) == maxVersions {
			s.cut = true
			return
		}
		found = &Version{Path: key.path, ID: key.id}
		s.byKey[key] = found
		s.found = append(s.found, found)
	}
	if room := maxRefs - len(found.Refs); room > 0 {
		found.Refs = append(found.Refs, refs[:min(room, len(refs))]...)
	}
}

// read reads the versions found, each content once.
func (s *search) read(yield func(Version) error) error {
	var ids []string
	byID := map[string][]*Version{}
	for _, f := range s.found {
		if byID[f.ID] == nil {
			ids = append(ids, f.ID)
		}
		byID[f.ID] = append(byID[f.ID], f)
	}
	err := s.objects.each(s.ctx, ids, func(i int, size int64, r io.Reader) error {
		list := byID[ids[i]]
		delete(byID, ids[i])
		if size > maxBlob {
			s.cut = true
			return nil
		}
		b, err := io.ReadAll(r)
		for _, f := range list {
			if err == nil {
				f.Content = b
				err = yield(*f)
			}
		}
		return err
	})
	if err != nil || len(byID) == 0 {
		return err
	}
	var missing []*Version
	for _, list := range byID {
		missing = append(missing, list...)
	}
	slices.SortFunc(missing, func(a, b *Version) int { return cmp.Compare(a.Path, b.Path) })
	var paths []string
	for _, f := range missing {
		paths = append(paths, f.Path)
	}
	return notFetched(s.root, missing[0].Refs[0], path.Dir(path.Dir(missing[0].Path)), paths)
}
