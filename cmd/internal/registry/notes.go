package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cortext/schema"
)

// notes is a folder of small JSON files about one workspace, named by id.
type notes struct {
	files files
	dir   string
}

// notesOf returns the notes of one kind about a workspace.
func (f files) notesOf(kind, workspace string) notes {
	return notes{f, f.path(kind, placeKey(workspace))}
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

func (n notes) read(id string, v any) bool { return n.files.read(n.file(id), v) }

func (n notes) write(id string, v any) error { return n.files.write(n.file(id), v) }

func (n notes) remove(id string) error {
	err := os.Remove(n.file(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
