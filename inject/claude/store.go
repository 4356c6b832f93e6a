package claude

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cortext/inject"
)

// configDir returns the folder of the program's settings and transcripts.
func configDir(m inject.Machine) string {
	return cmp.Or(m.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(m.Home, ".claude"))
}

// Locate finds the transcript of a session in any project. Of several, it returns the
// one written last.
func (agent) Locate(m inject.Machine, nativeID string) (file string, ok bool, err error) {
	if nativeID == "" || strings.HasPrefix(nativeID, ".") || strings.ContainsAny(nativeID, `/\`) {
		return "", false, nil
	}
	projects, err := inject.ReadFolder(projectsDir(m))
	var newest os.FileInfo
	for _, p := range projects {
		f := filepath.Join(projectsDir(m), p.Name(), nativeID+".jsonl")
		info, e := os.Stat(f)
		if e != nil && !inject.IsAbsent(e) {
			_, e := inject.ReadFolder(filepath.Dir(f))
			err = errors.Join(err, e)
		}
		if e == nil && info.Mode().IsRegular() && (newest == nil || info.ModTime().After(newest.ModTime())) {
			file, newest = f, info
		}
	}
	if newest != nil {
		return file, true, nil
	}
	return "", false, err
}

// projectFiles lists the transcripts of all projects.
func projectFiles(m inject.Machine) (files []string, err error) {
	return inject.ProjectFiles(projectsDir(m), "", func(f fs.DirEntry) bool {
		return strings.HasSuffix(f.Name(), ".jsonl") && !strings.HasPrefix(f.Name(), "agent-") // of a sub-agent, in old versions
	})
}

// Stores lists the folders with transcripts: one per project, with one per session in
// it for sub-agents.
func (agent) Stores(m inject.Machine) []inject.Store {
	return []inject.Store{{Dir: projectsDir(m), Depth: 3}}
}

// projectsDir returns the folder with one transcript folder per project.
func projectsDir(m inject.Machine) string { return filepath.Join(configDir(m), "projects") }

// Sessions lists the transcripts of all projects. A session's folder comes from its
// lines, since the name of a project's folder does not determine it.
func (agent) Sessions(m inject.Machine) ([]inject.SessionRef, error) {
	var list []inject.SessionRef
	files, err := projectFiles(m)
	errs := []error{err}
	for _, file := range files {
		n := inject.SessionRef{NativeID: strings.TrimSuffix(filepath.Base(file), ".jsonl"), Path: file}
		info, err := os.Stat(file)
		if err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err == nil {
			n.Updated = info.ModTime()
			n.Dir, err = m.ReadHead(file, func() (string, error) { return heldIn(file) })
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, n)
	}
	return list, errors.Join(errs...)
}

// headBytes is how much of a transcript is read to find its folder: snapshots and a
// prompt of any length may come first.
const headBytes = 256 << 10

// heldIn returns the folder of a session, or "" if the beginning of its transcript does
// not name one.
func heldIn(file string) (string, error) {
	f, err := inject.OpenRegular(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for rec, err := range inject.Records(io.LimitReader(f, headBytes)) {
		if err != nil {
			return "", err
		}
		if dir := parseRecord(rec.Raw, nil).Cwd; dir != "" {
			return dir, nil
		}
	}
	return "", nil
}

// Running lists the open sessions: the program keeps a file for each in the folder
// sessions, named after its process (2.1.329).
func (agent) Running(m inject.Machine) (list []inject.Running) {
	files, _ := inject.FilesIn(filepath.Join(configDir(m), "sessions"))
	for _, file := range files {
		if filepath.Ext(file) != ".json" {
			continue
		}
		var s struct {
			PID       int
			SessionID string
			StartedAt int64
		}
		if inject.ReadJSON(file, &s) == nil && s.PID > 0 && s.SessionID != "" {
			list = append(list, inject.Running{NativeID: s.SessionID, PID: s.PID, Since: time.UnixMilli(s.StartedAt)})
		}
	}
	return list
}
