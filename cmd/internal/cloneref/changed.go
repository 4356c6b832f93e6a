package cloneref

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"cortext/cmd/internal/git"
)

// committedCache names the folders that were found to have nothing to commit, each with its
// state then. A push reads only the others.
const committedCache = "committed.json"

// Changed returns the given folders whose files are not all in our own ref.
func (r Ref) Changed(ctx context.Context, folders []string) (changed []string, err error) {
	st, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	base, err := git.FilesOf(ctx, r.Store.Root(), st.base)
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(folders))
	for i, folder := range folders {
		paths[i] = st.prefix + folder
	}
	known, now := map[string]string{}, map[string]string{}
	if b, ok := r.Store.ReadCache(committedCache); ok && json.Unmarshal(b, &known) != nil {
		known = nil
	}
	for i, committed := range below(base, paths) {
		folder := folders[i]
		state := stateOf(r.Store.Folders().LookBelow(folder), committed)
		if state == "" || known[folder] != state {
			here, err := r.onDisk(folder)
			if err != nil {
				return nil, err
			}
			if differs(st, here, committed) {
				changed = append(changed, folder)
				continue
			}
		}
		if state != "" {
			now[folder] = state
		}
	}
	if !maps.Equal(known, now) {
		if b, err := json.Marshal(now); err == nil {
			_ = r.Store.WriteCache(committedCache, b)
		}
	}
	return changed, nil
}

func differs(st state, here map[string][]byte, committed map[string]string) bool {
	for name, content := range here {
		if committed[st.prefix+name] != git.BlobID(content, st.like) {
			return true
		}
	}
	return false
}

// stateVersion changes with what onDisk leaves out.
const stateVersion = "1"

// stateOf summarizes the look of a folder ([store.Folders.LookBelow]) and its committed
// files. It is empty if the folder can change while its look stays the same.
func stateOf(look string, committed map[string]string) string {
	if look == "" {
		return ""
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s\n", stateVersion, look)
	for _, name := range slices.Sorted(maps.Keys(committed)) {
		fmt.Fprintf(sum, "%s %s\n", committed[name], name)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// LeftOut names what a folder has and a commit of it lacks: links, pipes and the like, names
// that other clones would refuse, and permissions.
func (r Ref) LeftOut(folder string) (names []string, err error) {
	root, err := os.OpenRoot(r.Store.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Where files have no modes, all may look executable, even one that no program runs.
	written, err := root.Stat(folder + "/.session/session.json")
	hasModes := err != nil || written.Mode()&0o111 == 0
	err = fs.WalkDir(root.FS(), folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".session":
			return fs.SkipDir
		case d.IsDir():
		case !d.Type().IsRegular():
			names = append(names, name+" (not a regular file)")
		case !allowed(name):
			names = append(names, name+" (its name)")
		default:
			if info, err := d.Info(); err == nil && hasModes && info.Mode()&0o111 != 0 {
				names = append(names, name+" (that it is executable)")
			}
		}
		return nil
	})
	return names, err
}
