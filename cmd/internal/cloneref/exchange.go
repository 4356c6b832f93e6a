package cloneref

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/git"
)

func (r Ref) exchange() git.Exchange {
	return git.Exchange{Root: r.Store.Root(), Jitter: func(most time.Duration) time.Duration { return rand.N(most) }}
}

// Push sends our own ref to the remote. sent is false if nothing was ever committed.
func (r Ref) Push(ctx context.Context) (sent bool, err error) {
	root := r.Store.Root()
	x := r.exchange()
	remote, err := x.PushRemote(ctx)
	if err != nil {
		return false, err
	}
	file := filepath.Join(git.CommonDir(root), "cortext-clone")
	for range tries {
		st, err := r.look(ctx)
		if err != nil || st.own == "" {
			return false, err
		}
		name, err := identity(file)
		if err != nil {
			return false, err
		}
		if err = x.PushRef(ctx, remote, st.own, sharedRefs+name); !errors.Is(err, git.ErrMoved) {
			return err == nil, err
		}
		// Either another push of this clone was faster, or this clone is a copy of the one
		// that has the name, or somebody deleted our own ref and it was recreated.
		if again, err := r.look(ctx); err != nil || again.own != st.own {
			continue
		}
		if err := newIdentity(file); err != nil {
			return false, err
		}
	}
	return false, git.ErrMoved
}

// Pull fetches the refs of all clones and merges their conversations into our own ref and
// into the work tree. changed lists the conversations that changed in the work tree.
func (r Ref) Pull(ctx context.Context) (changed []string, err error) {
	root := r.Store.Root()
	if op := git.Operation(root); op != "" {
		return nil, &git.UnfinishedError{Operation: op}
	}
	if err := r.Exclude(); err != nil {
		return nil, err
	}
	x := r.exchange()
	remote, err := x.Remote(ctx)
	if err != nil {
		return nil, err
	}
	if err := x.FetchRefs(ctx, remote, "+"+sharedRefs+"*:"+fetchedRefs+remote+"/*"); err != nil {
		return nil, err
	}
	st, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range st.fetched {
		if err := r.mergeTip(ctx, t.Commit); err != nil {
			return nil, err
		}
	}
	for range tries {
		more, err := r.update(ctx)
		changed = append(changed, more...)
		if !errors.Is(err, git.ErrMoved) {
			slices.Sort(changed)
			return slices.Compact(changed), err
		}
	}
	return changed, git.ErrMoved
}

// mergeTip merges the ref of another clone into our own.
func (r Ref) mergeTip(ctx context.Context, theirs string) (err error) {
	for range tries {
		if err = r.tryMerge(ctx, theirs); !errors.Is(err, git.ErrMoved) {
			break
		}
	}
	return err
}

func (r Ref) tryMerge(ctx context.Context, theirs string) error {
	root := r.Store.Root()
	st, err := r.look(ctx)
	if err != nil {
		return err
	}
	switch {
	case st.own == "" || git.IsAncestor(ctx, root, st.own, theirs):
		if st.own == theirs {
			return nil
		}
		return git.MoveRef(ctx, root, ownRef, theirs, st.own)
	case git.IsAncestor(ctx, root, theirs, st.own):
		return nil
	}
	// The result is the same in every clone.
	first, second := min(st.own, theirs), max(st.own, theirs)
	a, err := git.FilesOf(ctx, root, first)
	if err != nil {
		return err
	}
	b, err := git.FilesOf(ctx, root, second)
	if err != nil {
		return err
	}
	if maps.Equal(a, b) {
		return nil
	}
	common := git.MergeBase(ctx, root, first, second)
	base, err := git.FilesOf(ctx, root, common)
	if err != nil {
		return err
	}
	err = errors.Join(git.FetchChanged(ctx, root, common, first), git.FetchChanged(ctx, root, common, second))
	if err != nil {
		return err
	}
	m, merged := r.merger(ctx, st), map[string]string{}
	inBase, inA, inB := r.parts(base, ""), r.parts(a, ""), r.parts(b, "")
	for part := range names(inA, inB) {
		merge := m.folder
		if inA[part][part] != "" || inB[part][part] != "" { // the part is a file
			merge = m.files
		}
		got, err := merge(inBase[part], inA[part], inB[part])
		if err != nil {
			return err
		}
		maps.Copy(merged, got)
	}
	at, err := git.LatestTime(ctx, root, first, second)
	if err != nil {
		return err
	}
	w := git.Writing{Ref: ownRef, From: first, Merged: []string{second}, By: nobody(at), Message: "Merge the conversations of two clones\n"}
	m.fill(&w, a, merged)
	return w.Write(ctx, root)
}

// parts groups files by what is merged as one: the folder of a conversation, or a removal
// file. Other files, and those outside of prefix, are left out. The keys are paths from the
// top of the work tree, like those of the files.
func (r Ref) parts(files map[string]string, prefix string) map[string]map[string]string {
	parts := map[string]map[string]string{}
	for name, id := range files {
		within, ok := strings.CutPrefix(name, prefix)
		if !ok || !allowed(name) {
			continue
		}
		part := name
		if before, rest, ok := cutFolder(within, "conversations"); ok {
			words := strings.SplitN(rest, "/", 3)
			if len(words) < 3 {
				continue
			}
			part = name[:len(name)-len(within)] + before + "conversations/" + words[0] + "/" + words[1]
		} else if _, _, ok := cutFolder(within, r.Removed); !ok {
			continue
		}
		if parts[part] == nil {
			parts[part] = map[string]string{}
		}
		parts[part][name] = id
	}
	return parts
}

// cutFolder cuts a path around the first folder of a name.
func cutFolder(path, name string) (before, after string, ok bool) {
	if rest, ok := strings.CutPrefix(path, name+"/"); ok {
		return "", rest, true
	}
	before, after, ok = strings.Cut(path, "/"+name+"/")
	return before + "/", after, ok
}

func names(groups ...map[string]map[string]string) map[string]bool {
	all := map[string]bool{}
	for _, g := range groups {
		for name := range g {
			all[name] = true
		}
	}
	return all
}

// update merges our own ref into the files of the work tree. It returns the folders of the
// conversations that changed.
func (r Ref) update(ctx context.Context) (changed []string, err error) {
	root := r.Store.Root()
	st, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	base, err := git.FilesOf(ctx, root, st.base)
	if err != nil {
		return nil, err
	}
	own, err := git.FilesOf(ctx, root, st.own)
	if err != nil {
		return nil, err
	}
	if err := git.FetchChanged(ctx, root, st.base, st.own); err != nil {
		return nil, err
	}
	inBase, inOwn := r.parts(base, st.prefix), r.parts(own, st.prefix)
	want := only(base, func(name string) bool { return !strings.HasPrefix(name, st.prefix) })
	var failed []error
	for _, part := range slices.Sorted(maps.Keys(names(inBase, inOwn))) {
		folder, old, now := strings.TrimPrefix(part, st.prefix), inBase[part], inOwn[part]
		m := r.merger(ctx, st)
		did := false
		switch {
		case strings.HasPrefix(folder, r.Removed+"/"):
			err = r.updateRemoval(m, folder, old[part], now[part])
		case !strings.HasPrefix(folder, "conversations/"):
			now = old // of a workspace in a folder below this one
		default:
			did, err = r.updateFolder(m, st.prefix, folder, old, now)
		}
		if did {
			changed = append(changed, folder)
		}
		if err != nil {
			failed = append(failed, err)
			now = old // the next pull tries again
		}
		maps.Copy(want, now)
	}
	return changed, cmp.Or(errors.Join(failed...), r.setBase(ctx, r.merger(ctx, st), st, want))
}

// updateFolder merges a conversation of our own ref into its folder.
func (r Ref) updateFolder(m merger, prefix, folder string, old, now map[string]string) (did bool, err error) {
	_, missing := os.Lstat(filepath.Join(r.Store.Root(), filepath.FromSlash(folder)))
	if maps.Equal(old, now) && missing == nil {
		return false, nil
	}
	if len(now) == 0 {
		return r.follow(m, prefix, folder, old)
	}
	var names []string
	for name := range joined(old, now) {
		if old[name] != now[name] || missing != nil {
			names = append(names, name)
		}
	}
	differ := func(name string) bool { return slices.Contains(names, name) }
	if err := m.load(only(old, differ), only(now, differ)); err != nil {
		return false, err
	}
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, prefix+folder+"/")
	}
	err = r.Store.MergeFiles(folder, names, func(name string, ours []byte) ([]byte, error) {
		full := prefix + folder + "/" + name
		base := m.contents[old[full]]
		if missing != nil {
			base = nil // nobody removed it here
		}
		text, err := m.file(full, base, ours, m.contents[now[full]])
		did = did || err == nil && string(text) != string(ours)
		return text, err
	})
	return did, err
}

// follow removes a conversation that another clone removed, unless it was continued here.
func (r Ref) follow(m merger, prefix, folder string, old map[string]string) (did bool, err error) {
	here, err := r.onDisk(folder)
	if err != nil || len(here) == 0 {
		return false, err
	}
	for name, content := range here {
		if old[prefix+name] != git.BlobID(content, m.like) {
			return false, nil
		}
	}
	c, err := r.Store.Conversation(folder)
	if err != nil {
		return false, err
	}
	err = errors.Join(c.Delete(), c.Close())
	return err == nil, err
}

// updateRemoval brings a removal file in line with our own ref.
func (r Ref) updateRemoval(m merger, name, old, now string) error {
	if old == now {
		return nil
	}
	if now == "" {
		return r.Store.RemoveFile(name)
	}
	if err := m.load(map[string]string{name: now}); err != nil {
		return err
	}
	return r.Store.WriteFile(name, m.contents[now])
}
