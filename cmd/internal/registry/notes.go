package registry

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cortext/schema"
)

// notes is a folder of small JSON files about one workspace, named by id.
type notes struct {
	r   Registry
	dir string
}

// notesOf returns the notes of one kind about a workspace.
func (r Registry) notesOf(kind, workspace string) notes {
	return notes{r, filepath.Join(r.dir, kind, placeKey(workspace))}
}

// placeKey names a workspace in file names, by the real path of its folder.
func placeKey(workspace string) string { return hashOf(workspace)[:16] }

func (n notes) file(id string) string {
	return filepath.Join(n.dir, schema.PathElement(id)+".json")
}

func (n notes) ids() (ids []string) {
	if !filepath.IsAbs(n.dir) {
		return nil
	}
	if _, err := os.Lstat(n.dir); err != nil {
		return nil // most workspaces have none: a stat costs less than an open
	}
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

func (n notes) read(id string, v any) bool { return n.r.readState(n.file(id), v) }

func (n notes) write(id string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return n.r.writeState(n.file(id), b)
}

func (n notes) remove(id string) error {
	err := os.Remove(n.file(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readState reads a file of the registry into v; ok is false if no readable file exists.
func (r Registry) readState(name string, v any) (ok bool) {
	if !filepath.IsAbs(r.dir) {
		return false // the name would be relative to the current folder
	}
	b, err := os.ReadFile(name)
	return err == nil && json.Unmarshal(b, v) == nil
}

// writeState replaces a file of the registry.
func (r Registry) writeState(name string, b []byte) error {
	if !filepath.IsAbs(r.dir) {
		return errNoHome
	}
	return r.write(name, b)
}

var errNoHome = errors.New("cannot find this user's state folder: set HOME")
