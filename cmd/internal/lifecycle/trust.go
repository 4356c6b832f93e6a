package lifecycle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cortext/store/atomicfile"
	"cortext/store/filelock"
)

// A Register is the file with this user's decisions about which programs may run and which
// guarded settings apply, by workspace folder. It belongs to the machine, not the
// repository.
type Register struct{ File string }

// Trusted is what the user allowed in a workspace.
type Trusted struct {
	Hooks
	Settings map[string]string `json:"settings,omitempty"` // the SHA-256 of each value, in hexadecimal, by name
}

// Trusts reports whether the user allowed this value of a setting.
func (t Trusted) Trusts(name, value string) bool {
	sum, ok := t.Settings[name]
	return ok && sum == SumOf(value)
}

// SumOf returns the SHA-256 of a setting's value, in hexadecimal.
func SumOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// RegisterIn returns the register in a state folder, $XDG_STATE_HOME or ~/.local/state.
// The folder must be absolute: a file in the work tree is not the user's decision.
func RegisterIn(state string) Register {
	return Register{filepath.Join(state, "cortext", "trusted.json")}
}

var errNoState = errors.New("cannot find this user's settings: set HOME")

// read returns the register's content by folder. An entry is a [Trusted], or a string that
// an older release wrote and that no longer allows anything.
func (r Register) read() (map[string]json.RawMessage, error) {
	if !filepath.IsAbs(r.File) {
		return nil, errNoState
	}
	list := map[string]json.RawMessage{}
	b, err := os.ReadFile(r.File)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("%s: %w: mend the file or delete it", r.File, err)
	}
	return list, nil
}

// Allowed returns what the user has allowed in a workspace, which may be nothing.
func (r Register) Allowed(root string) (Trusted, error) {
	list, err := r.read()
	if err != nil {
		return Trusted{}, err
	}
	var t Trusted
	if json.Unmarshal(list[root], &t) != nil {
		return Trusted{}, nil
	}
	return t, nil
}

// Allows reports whether the user has allowed the current programs of a workspace. any is
// false if there are none.
func (r Register) Allows(root string) (yes, any bool, err error) {
	now, err := Read(root)
	if err != nil || len(now.Programs()) == 0 {
		return false, false, err
	}
	was, err := r.Allowed(root)
	return err == nil && was.Same(now), true, err
}

// Allow records that the programs of a workspace may run as long as they and the files
// beside them match t, and that its settings with the values in t apply.
func (r Register) Allow(root string, t Trusted) error {
	entry, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return r.set(root, entry)
}

// Revoke records that no program of a workspace may run and no guarded setting applies.
func (r Register) Revoke(root string) error { return r.set(root, nil) }

// lockWait is how long a writer waits for another writer.
const lockWait = 5 * time.Second

// set replaces the entry of a workspace; nil deletes it. It is safe for several processes
// at once.
func (r Register) set(root string, entry json.RawMessage) error {
	if !filepath.IsAbs(r.File) {
		return errNoState
	}
	return filelock.With(r.File+".lock", lockWait, func() error { return r.replace(root, entry) })
}

// replace is set for a caller that holds the lock.
func (r Register) replace(root string, entry json.RawMessage) error {
	list, err := r.read()
	if err != nil {
		return err
	}
	delete(list, root)
	if entry != nil {
		list[root] = entry
	}
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	dir, err := os.OpenRoot(filepath.Dir(r.File))
	if err != nil {
		return err
	}
	defer dir.Close()
	return atomicfile.Write(dir, filepath.Base(r.File), append(b, '\n'), 0o600, ".")
}
