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

// A Removing is a removal of a conversation in progress. Its note is deleted when the
// removal has ended, so a remaining note shows a killed removal.
type Removing struct {
	ID    string   `json:"id"`    // of the conversation
	Paths []string `json:"paths"` // of its folders, relative to the workspace
}

func (r Registry) removingFolder(workspace string) string {
	return filepath.Join(r.dir, "removing", placeKey(workspace))
}

func (r Registry) removingFile(workspace, id string) string {
	return filepath.Join(r.removingFolder(workspace), schema.PathElement(schema.IDKey(id))+".json")
}

// BeginRemoval records that a conversation is being removed from a workspace.
func (r Registry) BeginRemoval(workspace string, v Removing) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return r.writeState(r.removingFile(workspace, v.ID), b)
}

// EndRemoval removes the note of BeginRemoval.
func (r Registry) EndRemoval(workspace, id string) error {
	err := os.Remove(r.removingFile(workspace, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Removals lists the unfinished removals from a workspace.
func (r Registry) Removals(workspace string) (list []Removing) {
	if !filepath.IsAbs(r.dir) {
		return nil
	}
	folder := r.removingFolder(workspace)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		var v Removing
		if strings.HasSuffix(e.Name(), ".json") && r.readState(filepath.Join(folder, e.Name()), &v) {
			list = append(list, v)
		}
	}
	return list
}
