package registry

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"cortext/schema"
)

// placesFile returns the file that lists the folders a workspace has been in. mark moves
// with the workspace.
func (r Registry) placesFile(mark string) string {
	return filepath.Join(r.dir, "places", schema.PathElement(mark)+".json")
}

// Places returns the folders that the workspace with a mark has been in. It returns none if
// the mark is not this user's on this machine.
func (r Registry) Places(mark string) (dirs []string) {
	if mark == "" || !r.readState(r.placesFile(mark), &dirs) {
		return nil
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// NotePlace records that the workspace with a mark is in a folder.
func (r Registry) NotePlace(mark, dir string) error {
	dirs := r.Places(mark)
	if slices.Contains(dirs, dir) {
		return nil
	}
	b, err := json.Marshal(append(dirs, dir))
	if err != nil {
		return err
	}
	return r.writeState(r.placesFile(mark), b)
}
