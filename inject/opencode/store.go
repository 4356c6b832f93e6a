package opencode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/inject"
	"cortext/schema/rawjson"
)

// dataDir returns the folder of OpenCode's data, the same on every system (1.18.33).
func dataDir(m inject.Machine) string {
	return filepath.Join(baseDir(m, "XDG_DATA_HOME", ".local/share"), "opencode")
}

// databases lists the possible databases of a machine, the usual one first, whether
// or not they exist. OPENCODE_DB names one, relative to the data folder. Otherwise,
// builds that are not releases have a database of their own next to it, named after
// their channel (read in the program, 1.18.33).
func databases(m inject.Machine) ([]string, error) {
	dir := dataDir(m)
	if name := m.Getenv("OPENCODE_DB"); name != "" {
		switch {
		case name == ":memory:":
			return nil, nil
		case filepath.IsAbs(name):
			return []string{name}, nil
		}
		return []string{filepath.Join(dir, name)}, nil
	}
	list := []string{filepath.Join(dir, "opencode.db")}
	entries, err := inject.ReadFolder(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "opencode-") && strings.HasSuffix(e.Name(), ".db") && e.Type().IsRegular() {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list, err
}

// present lists the existing databases of a machine.
func present(m inject.Machine) ([]string, error) {
	files, err := databases(m)
	errs := []error{err}
	files = slices.DeleteFunc(files, func(file string) bool {
		info, err := os.Stat(file)
		if err != nil && !inject.IsAbsent(err) {
			errs = append(errs, &inject.StoreError{Path: filepath.Dir(file), Err: err})
		}
		return err != nil || !info.Mode().IsRegular() || info.Size() == 0
	})
	return files, errors.Join(errs...)
}

// Sessions lists the sessions of all databases or, without a database, those of the
// older storage.
func (agent) Sessions(m inject.Machine) ([]inject.SessionRef, error) {
	var list []inject.SessionRef
	files, err := present(m)
	errs := []error{err}
	seen := map[string]bool{} // sessions identify a copy of a database
	for _, file := range files {
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
	if len(files) == 0 {
		list, err = oldSessions(m)
		errs = append(errs, err)
	}
	return list, errors.Join(errs...)
}

func oldSessions(m inject.Machine) (list []inject.SessionRef, err error) {
	files, err := oldFiles(m)
	errs := []error{err}
	for _, file := range files {
		b, err := readSmall(file)
		if err != nil && !inject.IsAbsent(err) {
			errs = append(errs, err)
		}
		if err != nil || kindOf(b) != oldSession {
			continue
		}
		own := begin(b)
		n := inject.SessionRef{NativeID: rawjson.String(rawjson.Get(own, "id")), Path: file, Dir: rawjson.String(rawjson.Get(own, "directory"))}
		if rawjson.String(rawjson.Get(own, "parentID")) != "" {
			continue
		}
		if project := rawjson.String(rawjson.Get(own, "projectID")); isCommit(project) {
			n.Root = project
		}
		n.Updated = time.UnixMilli(inject.Number(rawjson.Get(rawjson.Get(own, "time"), "updated"))).UTC()
		list = append(list, n)
	}
	return list, errors.Join(errs...)
}

// oldFiles lists the session files in the older storage.
func oldFiles(m inject.Machine) (files []string, err error) {
	return inject.ProjectFiles(filepath.Join(dataDir(m), "storage", "session"), "", func(f fs.DirEntry) bool {
		return f.Type().IsRegular() && strings.HasSuffix(f.Name(), ".json")
	})
}

// Stores lists the folders of the databases: a -wal in one changes with its database.
func (agent) Stores(m inject.Machine) []inject.Store {
	var list []inject.Store
	seen := map[string]bool{}
	files, _ := databases(m) // at least the usual one
	for _, file := range files {
		if dir := filepath.Dir(file); !seen[dir] {
			seen[dir] = true
			list = append(list, inject.Store{Dir: dir})
		}
	}
	return list
}

// Locate returns the path of a session in a database or, without a database, of its file
// in the older storage.
func (agent) Locate(m inject.Machine, nativeID string) (path string, ok bool, err error) {
	if nativeID == "" {
		return "", false, nil
	}
	files, err := present(m)
	errs := []error{err}
	for _, file := range files {
		d, err := openDatabase(file)
		if err == nil {
			_, err = d.meta(nativeID)
			_ = d.close()
		}
		if err == nil {
			return file + "#" + nativeID, true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if len(files) == 0 {
		old, err := oldSessions(m)
		for _, n := range old {
			if n.NativeID == nativeID {
				return n.Path, true, nil
			}
		}
		errs = append(errs, err)
	}
	return "", false, errors.Join(errs...)
}

// isCommit reports whether a project's id is the first commit of its repository.
// Without a repository it is "global".
func isCommit(id string) bool {
	return len(id) == 40 && strings.Trim(id, "0123456789abcdef") == ""
}
