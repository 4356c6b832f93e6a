package opencode

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cortext/inject"
	"cortext/schema/rawjson"
)

// dataDir is where OpenCode keeps its data: the same on every system (1.18.33).
func dataDir(m inject.Machine) string {
	if dir := m.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "opencode")
	}
	return filepath.Join(m.Home, ".local", "share", "opencode")
}

// databases lists the databases of a machine, the usual one first, whether they
// are there or not. OPENCODE_DB names one, as a path from the data folder; else
// builds that are no releases have one of their own beside it, named by their
// channel (read in the program, 1.18.33).
func databases(m inject.Machine) []string {
	dir := dataDir(m)
	if name := m.Getenv("OPENCODE_DB"); name != "" {
		switch {
		case name == ":memory:":
			return nil
		case filepath.IsAbs(name):
			return []string{name}
		}
		return []string{filepath.Join(dir, name)}
	}
	list := []string{filepath.Join(dir, "opencode.db")}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "opencode-") && strings.HasSuffix(e.Name(), ".db") && e.Type().IsRegular() {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list
}

func isThere(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// sessions lists the sessions of all databases; where there is no database, those
// of the older storage.
func sessions(m inject.Machine) ([]inject.Native, error) {
	var list []inject.Native
	var errs []error
	seen := map[string]bool{} // a copy of a database is known by its sessions
	found := false
	for _, file := range databases(m) {
		if !isThere(file) {
			continue
		}
		found = true
		d, err := openDatabase(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		roots, err := d.roots()
		errs = append(errs, err, d.close())
		for _, n := range roots {
			if !seen[n.NativeID] {
				seen[n.NativeID] = true
				list = append(list, n)
			}
		}
	}
	if !found {
		list = oldSessions(m)
	}
	return list, errors.Join(errs...)
}

func oldSessions(m inject.Machine) (list []inject.Native) {
	files, _ := filepath.Glob(filepath.Join(escape(dataDir(m)), "storage", "session", "*", "*.json"))
	for _, file := range files {
		b, err := readSmall(file)
		if err != nil || kindOf(b) != oldSession {
			continue
		}
		own := begin(b)
		n := inject.Native{NativeID: rawjson.String(rawjson.Get(own, "id")), Path: file, Dir: rawjson.String(rawjson.Get(own, "directory"))}
		if rawjson.String(rawjson.Get(own, "parentID")) != "" {
			continue
		}
		if project := rawjson.String(rawjson.Get(own, "projectID")); isCommit(project) {
			n.Root = project
		}
		n.Updated = time.UnixMilli(number(rawjson.Get(rawjson.Get(own, "time"), "updated"))).UTC()
		list = append(list, n)
	}
	return list
}

// escape spells a path so that [filepath.Glob] takes it as it is.
func escape(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// stores are the folders of the databases: a -wal beside one changes with it.
func stores(m inject.Machine) []inject.Store {
	var list []inject.Store
	seen := map[string]bool{}
	for _, file := range databases(m) {
		if dir := filepath.Dir(file); !seen[dir] {
			seen[dir] = true
			list = append(list, inject.Store{Dir: dir})
		}
	}
	return list
}

func locate(m inject.Machine, nativeID string) (path string, ok bool) {
	if nativeID == "" {
		return "", false
	}
	found := false
	for _, file := range databases(m) {
		if !isThere(file) {
			continue
		}
		found = true
		if d, err := openDatabase(file); err == nil {
			_, err := d.meta(nativeID)
			_ = d.close()
			if err == nil {
				return file + "#" + nativeID, true
			}
		}
	}
	if !found {
		for _, n := range oldSessions(m) {
			if n.NativeID == nativeID {
				return n.Path, true
			}
		}
	}
	return "", false
}

// isCommit reports whether a project's id is the first commit of its repository;
// a folder without one is "global".
func isCommit(id string) bool {
	return len(id) == 40 && strings.Trim(id, "0123456789abcdef") == ""
}
