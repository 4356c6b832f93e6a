// Package registry records, for this user on this machine, which conversations the agents'
// native sessions belong to, which sessions the user does not want saved, and which
// belonged to a removed conversation.
//
// It survives what git does to a work tree, and applies to every work tree and clone on
// the machine. It contains ids and paths, never content.
package registry

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Registry is the folder cortext below $XDG_STATE_HOME or ~/.local/state.
type Registry struct {
	Sessions   Sessions
	Removed    RemovedConversations
	Redactions Redactions
	Workspaces Workspaces

	files files
}

// In returns the registry below a state folder.
func In(state string) Registry {
	f := files{filepath.Join(state, "cortext")}
	return Registry{Sessions{f}, RemovedConversations{f}, Redactions{f}, Workspaces{f}, f}
}

// A Place identifies a workspace, and relates the work trees and clones of one
// repository.
type Place struct {
	Workspace  string   `json:"workspace"`            // absolute path of its folder
	Repository string   `json:"repository,omitempty"` // absolute path of git's common folder; work trees share it
	Within     string   `json:"within,omitempty"`     // the workspace, relative to the top of its work tree
	Commits    []string `json:"commits,omitempty"`    // root commits of the repository, if known; clones share them
	Shallow    bool     `json:"shallow,omitempty"`    // Commits are where a shallow clone's history is cut: other clones have them, not as roots
}

// same reports whether two places are the same workspace, or the same workspace in
// another work tree or clone of the repository.
func (p Place) same(o Place) bool {
	if p.Workspace == o.Workspace {
		return true
	}
	if p.Within != o.Within {
		return false
	}
	return p.Repository != "" && p.Repository == o.Repository ||
		slices.ContainsFunc(p.Commits, func(c string) bool { return slices.Contains(o.Commits, c) })
}

// Files lists the absolute paths of the registry's files.
func (r Registry) Files() (names []string) {
	if !r.files.known() {
		return nil
	}
	_ = filepath.WalkDir(r.files.dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// Suggest reports whether a suggestion about a clone's workspace is due: the user gets each
// one once. It records the suggestion, and reports false if it cannot.
func (r Registry) Suggest(suggestion string, p Place) bool {
	return !r.Suggested(suggestion, p) && r.files.write(r.suggestion(suggestion, p), suggested{p.Repository, p.Within}) == nil
}

// Suggested reports whether the user got a suggestion, or cannot get it because nothing
// would record it.
func (r Registry) Suggested(suggestion string, p Place) bool {
	if !r.files.known() {
		return true
	}
	_, err := os.Lstat(r.suggestion(suggestion, p))
	return err == nil
}

func (r Registry) suggestion(name string, p Place) string {
	return r.files.path("suggested", name, placeKey(p.Repository+"\n"+p.Within)+".json")
}

// suggested is the content of a suggestion's file.
type suggested struct {
	Repository string `json:"repository"`
	Within     string `json:"within,omitempty"`
}
