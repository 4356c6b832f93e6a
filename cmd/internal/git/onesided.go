package git

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A OneSided is a folder that one side of a merge deleted and the other changed. Git leaves
// such a conflict to the user and calls no merge driver: reverting the commit that began a
// conversation causes one if somebody continued the conversation. Git may also have deleted
// files of the folder that the other side did not change.
type OneSided struct {
	Path  string // relative to the root, with slashes
	files []string
	ours  bool // the current branch changed it
}

// A Stray is a file that one side of a merge changed while the other moved the folder root to
// another place, and changed the file so much there that git does not recognize it. Git leaves it
// where it was.
type Stray struct {
	Path string // relative to the root, with slashes
	Home string // its path where root is now, relative to the root
}

// A Renamed is a folder that both sides of a merge renamed, to different names.
type Renamed struct {
	Ours, Theirs string   // relative to the root, with slashes
	resolved     []string // for git update-index --index-info: both stay
}

// Conflicts are the files and folders that git could not merge.
type Conflicts struct {
	OneSided []OneSided
	Renamed  []Renamed
	Strays   []Stray
	Other    []string // paths of all other conflicts, and of strays, relative to the root
}

// any reports whether there are conflicts in conversations that [Exchange] can resolve.
func (c Conflicts) any() bool { return len(c.OneSided)+len(c.Renamed) > 0 }

// conversationDepth is how many elements the path of a conversation's folder has.
const conversationDepth = 3

// ConflictsIn lists what is unmerged in the index of a work tree. Among the folders below
// dir, it lists those that one side deleted, and what belongs into one of them.
func ConflictsIn(ctx context.Context, root, dir string) (Conflicts, error) {
	var found Conflicts
	at, err := read(ctx, root, "rev-parse", "--show-prefix", "--show-cdup")
	if err != nil {
		return found, err
	}
	prefix, top, _ := strings.Cut(strings.TrimSuffix(at, "\n"), "\n")
	entries, err := readList(ctx, root, "ls-files", "--unmerged", "-z", "--full-name", "--", cmp.Or(top, "."))
	if err != nil {
		return found, err
	}
	stages, blobs := map[string]string{}, map[string]string{} // by path; the last stage's mode and blob
	for _, entry := range entries {
		if info, path, ok := strings.Cut(entry, "\t"); ok {
			stages[path] += info[len(info)-1:]
			blobs[path] = info[:len(info)-2]
		}
	}
	var renamed map[string]bool
	found.Renamed, renamed = renamedTwice(stages, blobs, prefix+dir)
	for i, r := range found.Renamed {
		found.Renamed[i].Ours, found.Renamed[i].Theirs = strings.TrimPrefix(r.Ours, prefix), strings.TrimPrefix(r.Theirs, prefix)
	}
	folders := map[string]*OneSided{}
	for _, path := range slices.Sorted(maps.Keys(stages)) {
		if renamed[path] {
			continue
		}
		name, within := strings.CutPrefix(path, prefix)
		parts := strings.Split(name, "/")
		side := stages[path]
		if !within || !strings.HasPrefix(name, dir+"/") || len(parts) <= conversationDepth || side != "12" && side != "13" {
			if home := homeOf(root, dir, path); home != "" && home != name && (side == "12" || side == "13") {
				if !within {
					name = top + path
				}
				found.Strays = append(found.Strays, Stray{name, home})
			}
			found.Other = append(found.Other, name)
			continue
		}
		folder := strings.Join(parts[:conversationDepth], "/")
		if folders[folder] == nil {
			folders[folder] = &OneSided{Path: folder, ours: side == "12"}
		}
		if f := folders[folder]; f.ours == (side == "12") {
			f.files = append(f.files, name)
		} else {
			found.Other = append(found.Other, name)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		found.OneSided = append(found.OneSided, *folders[folder])
	}
	return found, nil
}

// renamedTwice finds the folders below dir that both sides renamed: of each file, git leaves one
// stage in each of three folders, and has merged its contents in the new ones. It also returns the
// paths of these files. The paths are relative to the top of the work tree.
func renamedTwice(stages, blobs map[string]string, dir string) (list []Renamed, paths map[string]bool) {
	files := map[string]map[string][]string{} // paths by stage, by name below the conversation's folder
	for _, path := range slices.Sorted(maps.Keys(stages)) {
		below, ok := strings.CutPrefix(path, dir+"/")
		if parts := strings.SplitN(below, "/", conversationDepth); ok && len(parts) == conversationDepth && len(stages[path]) == 1 {
			name := parts[conversationDepth-1]
			if files[name] == nil {
				files[name] = map[string][]string{}
			}
			files[name][stages[path]] = append(files[name][stages[path]], path)
		}
	}
	paths = map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		gone, ours, theirs := files[name]["1"], files[name]["2"], files[name]["3"]
		byBlob := func(a, b string) int { return cmp.Compare(blobs[a], blobs[b]) }
		slices.SortStableFunc(ours, byBlob)
		slices.SortStableFunc(theirs, byBlob)
		same := slices.EqualFunc(ours, theirs, func(a, b string) bool { return blobs[a] == blobs[b] })
		alone := len(ours) == 1 && len(theirs) == 1 // git before 2.33 leaves both versions, not what it merged
		if len(gone) != len(ours) || !same && !alone {
			continue
		}
		for i, path := range gone {
			paths[path], paths[ours[i]], paths[theirs[i]] = true, true, true
			r := Renamed{Ours: strings.TrimSuffix(ours[i], "/"+name), Theirs: strings.TrimSuffix(theirs[i], "/"+name)}
			at := slices.IndexFunc(list, func(o Renamed) bool { return o.Ours == r.Ours && o.Theirs == r.Theirs })
			if at < 0 {
				at, list = len(list), append(list, r)
			}
			_, id, _ := strings.Cut(blobs[path], " ")
			list[at].resolved = append(list[at].resolved, "0 "+strings.Repeat("0", len(id))+"\t"+path, blobs[ours[i]]+"\t"+ours[i], blobs[theirs[i]]+"\t"+theirs[i])
		}
	}
	return list, paths
}

// homeOf returns where a file that git put into another folder belongs: the part of its path that
// begins with dir. It returns "" if there is none, or if that conversation's folder does not
// exist.
func homeOf(root, dir, path string) string {
	at := strings.LastIndex("/"+path, "/"+dir+"/")
	if at < 0 {
		return ""
	}
	home := path[at:]
	parts := strings.Split(home, "/")
	if len(parts) <= conversationDepth || !exists(filepath.Join(root, filepath.FromSlash(strings.Join(parts[:conversationDepth], "/")))) {
		return ""
	}
	return home
}

// theirs returns the commit that is merged into the current branch, or applied to it.
func theirs(ctx context.Context, root, folder string) (commit string, err error) {
	switch Operation(root) {
	case "merge":
		return "MERGE_HEAD", nil
	case "cherry-pick":
		return "CHERRY_PICK_HEAD", nil
	case "rebase":
		return "REBASE_HEAD", nil
	case "revert":
		return "REVERT_HEAD^", nil
	}
	// A stash, a squash or a pick that commits nothing does not say. What it left as it was is in
	// the commit before the one that deleted the folder.
	deleted, err := read(ctx, root, "rev-list", "--max-count=1", "HEAD", "--", folder)
	if err != nil || deleted == "" {
		return "", err
	}
	return strings.TrimSpace(deleted) + "^", nil
}

// keep resolves a conflict for the side that changed the folder: its version of the files
// that the other side deleted is in the work tree and the index afterwards. A file that is in the
// work tree stays as it is there.
func keep(ctx context.Context, root string, f OneSided) error {
	from, side := "HEAD", "--ours"
	if !f.ours {
		side = "--theirs"
		var err error
		if from, err = theirs(ctx, root, f.Path); err != nil {
			return err
		}
	}
	var deleted []string
	if from != "" {
		have, err := namedPaths(ctx, root, "ls-tree", "-r", from, "--", f.Path)
		if err != nil {
			return err
		}
		known, err := Known(ctx, root, have)
		if err != nil {
			return err
		}
		deleted = slices.DeleteFunc(have, func(name string) bool { return known[name] != Unknown })
	}
	there := func(name string) bool { return exists(filepath.Join(root, filepath.FromSlash(name))) }
	for _, step := range []struct {
		files []string
		there bool // the step is for files that are in the work tree, or for those that are not
		args  []string
	}{
		{f.files, false, []string{"checkout", "--quiet", side}},
		{f.files, true, slices.Concat(everywhere, []string{"add"})},
		{deleted, true, []string{"reset", "--quiet", from}},
		{deleted, false, []string{"checkout", "--quiet", from}},
	} {
		files := slices.DeleteFunc(slices.Clone(step.files), func(name string) bool { return there(name) != step.there })
		if len(files) == 0 {
			continue
		}
		if _, err := output(withPaths(ctx, root, files, step.args...)); err != nil {
			return err
		}
	}
	return nil
}

// keepBoth resolves the conflicts of folders that both sides renamed: both folders are in the
// index afterwards, and the store merges what it finds in two folders.
func keepBoth(ctx context.Context, root string, list []Renamed) error {
	var info strings.Builder
	for _, r := range list {
		for _, entry := range r.resolved {
			info.WriteString(entry + "\x00")
		}
	}
	if info.Len() == 0 {
		return nil
	}
	_, err := output(withInput(command(ctx, root, []string{"update-index", "-z", "--index-info"}), []byte(info.String())))
	return err
}

// keepChanged resolves the conflicts in conversations that one side deleted in favor of the
// side that continued them, and keeps both folders of those that both sides renamed. If nothing
// else is unmerged and a merge is under way, it commits that merge.
func (x Exchange) keepChanged(ctx context.Context) (kept Conflicts, done bool, err error) {
	found, err := ConflictsIn(ctx, x.Root, x.Folders[0])
	if err != nil {
		return kept, false, err
	}
	for _, f := range found.OneSided {
		if err := keep(ctx, x.Root, f); err != nil {
			return kept, false, err
		}
		kept.OneSided = append(kept.OneSided, f)
	}
	if err := keepBoth(ctx, x.Root, found.Renamed); err != nil {
		return kept, false, err
	}
	kept.Renamed = found.Renamed
	if !kept.any() || len(found.Other) > 0 || Operation(x.Root) != "merge" {
		return kept, false, nil
	}
	err = call(x.asking(ctx, "commit", "--quiet", "--no-edit"))
	return kept, err == nil, err
}
