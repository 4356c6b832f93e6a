package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cortext/store/atomicfile"
)

// A Register is the file in which this user's word on workspaces is kept: which
// programs may run, by the workspace's folder. It is the machine's, not the
// repository's.
type Register struct{ File string }

// RegisterIn returns the register in a folder for state, $XDG_STATE_HOME or
// ~/.local/state. It must be absolute: a file in the work tree is no word of the
// user's.
func RegisterIn(state string) Register {
	return Register{filepath.Join(state, "cortext", "trusted.json")}
}

// allowed is the register's content: the fingerprint that was allowed, by folder.
type allowed map[string]string

func (r Register) read() (allowed, error) {
	if !filepath.IsAbs(r.File) {
		return nil, fmt.Errorf("where this user's settings lie is not known: set HOME")
	}
	b, err := os.ReadFile(r.File)
	if errors.Is(err, fs.ErrNotExist) {
		return allowed{}, nil
	}
	if err != nil {
		return nil, err
	}
	list := allowed{}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("%s: %w: mend the file or delete it", r.File, err)
	}
	return list, nil
}

// Allows reports whether the user has allowed the programs of a workspace as they
// are now. any is false where there are none.
func (r Register) Allows(root string) (yes, any bool, err error) {
	print, err := Fingerprint(root)
	if err != nil || print == "" {
		return false, false, err
	}
	list, err := r.read()
	return err == nil && list[root] == print, true, err
}

// Allow notes that the programs of a workspace may run as long as they have that
// fingerprint; with an empty one none may.
func (r Register) Allow(root, print string) error {
	list, err := r.read()
	if err != nil {
		return err
	}
	delete(list, root)
	if print != "" {
		list[root] = print
	}
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.File), 0o700); err != nil {
		return err
	}
	dir, err := os.OpenRoot(filepath.Dir(r.File))
	if err != nil {
		return err
	}
	defer dir.Close()
	return atomicfile.Write(dir, filepath.Base(r.File), append(b, '\n'), 0o600, ".")
}
