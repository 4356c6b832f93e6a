package registry

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// workspacesDir has a file for each of the user's workspaces that cortext has seen.
func (r Registry) workspacesDir() string { return filepath.Join(r.dir, "workspaces") }

// seenWorkspace is the content of such a file.
type seenWorkspace struct {
	Workspace string `json:"workspace"` // the absolute path of its folder
}

// SeeWorkspace records that a workspace is in a folder, given by its real path. It writes
// only the first time.
func (r Registry) SeeWorkspace(dir string) error {
	if !filepath.IsAbs(r.dir) {
		return errNoHome
	}
	name := filepath.Join(r.workspacesDir(), placeKey(dir)+".json")
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	b, err := json.Marshal(seenWorkspace{dir})
	if err != nil {
		return err
	}
	return r.writeState(name, b)
}

// Workspaces lists the existing folders of workspaces that cortext has seen on this
// machine, sorted.
func (r Registry) Workspaces() (dirs []string) {
	if !filepath.IsAbs(r.dir) {
		return nil
	}
	files, err := os.ReadDir(r.workspacesDir())
	if err != nil {
		return nil
	}
	for _, f := range files {
		var seen seenWorkspace
		if !r.readState(filepath.Join(r.workspacesDir(), f.Name()), &seen) || !filepath.IsAbs(seen.Workspace) {
			continue
		}
		if info, err := os.Stat(filepath.Join(seen.Workspace, ".workspace")); err == nil && info.IsDir() {
			dirs = append(dirs, seen.Workspace)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// Suggest reports whether a suggestion about a clone's workspace is due: the user gets each
// one once. It records the suggestion, and reports false if it cannot.
func (r Registry) Suggest(suggestion string, p Place) bool {
	if !filepath.IsAbs(r.dir) {
		return false
	}
	name := filepath.Join(r.dir, "suggested", suggestion, placeKey(p.Repository+"\n"+p.Within)+".json")
	if _, err := os.Lstat(name); err == nil {
		return false
	}
	b, err := json.Marshal(suggested{p.Repository, p.Within})
	return err == nil && r.writeState(name, b) == nil
}

// suggested is the content of a suggestion's file.
type suggested struct {
	Repository string `json:"repository"`
	Within     string `json:"within,omitempty"`
}
