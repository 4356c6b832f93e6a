package registry

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Workspaces are the user's workspaces on this machine.
type Workspaces struct{ files files }

// seenFolder returns the folder with a file for each workspace that cortext has seen.
func (l Workspaces) seenFolder() string { return l.files.path("workspaces") }

// seenWorkspace is the content of such a file.
type seenWorkspace struct {
	Workspace string   `json:"workspace"`         // the absolute path of its folder
	Commits   []string `json:"commits,omitempty"` // as in its [Place]
	Shallow   bool     `json:"shallow,omitempty"`
}

// See records where a workspace is, and which repository it is in. It writes, and runs git, only
// the first time.
func (l Workspaces) See(h *Here) error {
	if !l.files.known() {
		return errNoHome
	}
	name := l.seenFile(h)
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	p := h.KnowClones(context.Background())
	return l.files.write(name, seenWorkspace{p.Workspace, p.Commits, p.Shallow})
}

func (l Workspaces) seenFile(h *Here) string {
	return filepath.Join(l.seenFolder(), placeKey(h.Workspace())+".json")
}

// Place is [Here.Place] with what was recorded about the repository: it does not run git.
func (l Workspaces) Place(h *Here) Place {
	p := h.Place()
	var seen seenWorkspace
	if p.Repository != "" && p.Commits == nil && l.files.known() && l.files.read(l.seenFile(h), &seen) {
		p.Commits, p.Shallow = seen.Commits, seen.Shallow
	}
	return p
}

// Seen lists the workspaces that cortext has seen on this machine and that still exist,
// sorted by path. A workspace with several paths is listed once.
func (l Workspaces) Seen() (dirs []string) {
	if !l.files.known() {
		return nil
	}
	files, err := os.ReadDir(l.seenFolder())
	if err != nil {
		return nil
	}
	for _, f := range files {
		var seen seenWorkspace
		if !l.files.read(filepath.Join(l.seenFolder(), f.Name()), &seen) || !filepath.IsAbs(seen.Workspace) {
			continue
		}
		if info, err := os.Stat(filepath.Join(seen.Workspace, ".workspace")); err == nil && info.IsDir() {
			dirs = append(dirs, seen.Workspace)
		}
	}
	return Distinct(dirs)
}

// Others lists what [Workspaces.Seen] lists, except one folder.
func (l Workspaces) Others(here string) []string {
	return slices.DeleteFunc(l.Seen(), func(dir string) bool { return len(Distinct([]string{here, dir})) == 1 })
}

// Distinct sorts folders and removes each that a path before it also leads to. A mount gives
// a folder a second path, and so does a file system that ignores case.
func Distinct(dirs []string) []string {
	slices.Sort(dirs)
	var before []fs.FileInfo
	return slices.DeleteFunc(slices.Compact(dirs), func(dir string) bool {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		if slices.ContainsFunc(before, func(other fs.FileInfo) bool { return os.SameFile(info, other) }) {
			return true
		}
		before = append(before, info)
		return false
	})
}

// placesFile returns the file that lists the folders a workspace has been in. mark moves
// with the workspace.
func (l Workspaces) placesFile(mark string) string {
	return l.files.file("places", mark)
}

// Places returns the folders that the workspace with a mark has been in. It returns none if
// the mark is not this user's on this machine.
func (l Workspaces) Places(mark string) (dirs []string) {
	if mark == "" || !l.files.read(l.placesFile(mark), &dirs) {
		return nil
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// NotePlace records that the workspace with a mark is in a folder.
func (l Workspaces) NotePlace(mark, dir string) error {
	dirs := l.Places(mark)
	if slices.Contains(dirs, dir) {
		return nil
	}
	return l.files.write(l.placesFile(mark), append(dirs, dir))
}

// Known lists the existing workspace folders that bindings and notes of places name, sorted,
// each by one path.
func (r Registry) Known(agents []string) (dirs []string) {
	add := func(dir string) {
		if !filepath.IsAbs(dir) || slices.Contains(dirs, dir) {
			return
		}
		if info, err := os.Stat(filepath.Join(dir, ".workspace")); err == nil && info.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	for _, agent := range agents {
		_ = r.Sessions.Each(agent, func(_ string, s Session) { // skip what cannot be read
			for _, b := range s.Bindings {
				add(b.Workspace)
			}
		})
	}
	marks, _ := os.ReadDir(r.files.path("places"))
	for _, e := range marks {
		mark, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		for _, dir := range r.Workspaces.Places(mark) {
			add(RealDir(dir))
		}
	}
	return Distinct(dirs)
}
