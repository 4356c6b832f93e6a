package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"cortext/schema"
	"cortext/store/internal/lines"
)

// A sessionFolder is one folder .session/, or that of a sub-agent in it: session.json, the
// two logs, summaries and sub-agents. The folder and each of its files may be missing. A
// conversation may have records in several such folders: see [Location].
type sessionFolder struct {
	s   *Store
	dir string // relative to the workspace, or below borrowedDir

	borrowed *map[string][]byte // what its files hold, by name: see [Location.Borrow]; nil: they are on disk
}

// file returns the path of one of its files.
func (f sessionFolder) file(name string) string { return f.dir + "/" + name }

// at returns another folder of the same workspace.
func (f sessionFolder) at(dir string) sessionFolder { return sessionFolder{s: f.s, dir: dir} }

// borrowedFile returns what one of its files holds if it was borrowed.
func (f sessionFolder) borrowedFile(name string) (content []byte, ok bool) {
	if f.borrowed != nil {
		content, ok = (*f.borrowed)[name]
	}
	return content, ok
}

// exists reports whether the folder exists, as a hint; see [Files.isFolder].
func (f sessionFolder) exists() bool { return f.s.isFolder(f.dir) }

// idOf returns the id of the conversation whose folder is at path, or "" if unknown.
func (f sessionFolder) idOf(path string) string {
	st, err := f.read()
	if err != nil || st.session == nil {
		return ""
	}
	complete(st.session, path)
	return st.session.ID
}

// subagents returns the names of the folders in subagents/, sorted.
func (f sessionFolder) subagents() (names []string, err error) {
	return foldersIn(f.s.Files, f.file(subagentsDir))
}

// foldersIn returns the names of the folders in a folder, sorted; none if it is missing.
func foldersIn(s *Files, dir string) (names []string, err error) {
	entries, err := s.readDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// subagent returns the folder of a sub-agent by its name in subagents/.
func (f sessionFolder) subagent(name string) sessionFolder {
	return f.at(f.file(subagentsDir + "/" + name))
}

// hasLog reports whether the folder contains a log of messages, with records or
// without.
func (f sessionFolder) hasLog() bool {
	_, there := f.s.lookAt(f.file(messagesFile))
	return there
}

// emptied reports whether the folder of a twin, or of a sub-agent in one, has nothing
// left to move.
func (f sessionFolder) emptied() bool {
	for _, name := range []string{messagesFile, toolsFile} {
		if info, err := os.Lstat(f.s.dir + "/" + f.file(name)); err == nil && info.Size() > 0 {
			return false
		}
	}
	st, err := f.read()
	if err != nil || st.session != nil && (st.mend || st.session.MessageCount > 0 || st.session.CountedBytes > 0) {
		return false
	}
	names, err := f.subagents()
	for _, name := range names {
		if !f.subagent(name).emptied() {
			return false
		}
	}
	return err == nil
}

// A stored holds session.json as read.
type stored struct {
	session *schema.Session // nil if it is unreadable
	raw     []byte          // the file; nil if there is none
	info    fs.FileInfo     // of the file, from before the read
	damage  []Damage        // why the session was rebuilt, or what a merge left
	rebuilt bool            // session does not come from a file in use
	blocked bool            // something other than a file has its name
	mend    bool            // replace the file at the next write even if nothing else changed
}

// read reads session.json.
func (f sessionFolder) read() (stored, error) {
	name := f.file(sessionFile)
	info, _ := f.s.root.Lstat(name)
	raw, err := f.readRaw()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := f.s.root.Lstat(f.dir); err == nil {
			return stored{damage: []Damage{damaged(name, Missing, "")}}, nil
		}
		return stored{}, nil
	case errors.Is(err, lines.ErrNotRegular), errors.Is(err, errTooLarge):
		detail := err.Error()
		if f.isLocked(sessionFile) {
			detail = annexed
		}
		return stored{damage: []Damage{damaged(name, Unreadable, detail)}, info: info, blocked: true}, nil
	case err != nil:
		return stored{}, err
	}
	sess, err := schema.ParseSession(raw)
	if errors.As(err, new(*schema.VersionError)) {
		return stored{}, fmt.Errorf("%q: %w", name, err)
	}
	st := stored{session: sess, raw: raw, info: info}
	says := standIn(bytes.NewReader(raw), int64(len(raw)))
	switch {
	case says != "":
		st.damage = []Damage{damaged(name, Unreadable, says)}
	case err != nil:
		st.damage = []Damage{damaged(name, Unreadable, err.Error())}
	case sess.Repair != nil:
		st.mend = true
		if at := sess.Repair.Conflict; at >= 0 {
			st.damage = []Damage{conflictIn(name, raw, at)}
		} else if sess.Repair.Partial {
			st.damage = []Damage{damaged(name, Unreadable, "some lines cannot be read")}
		}
	}
	return st, nil
}

// readRaw returns session.json, from memory if the file has not changed since it was
// read.
func (f sessionFolder) readRaw() ([]byte, error) {
	if content, ok := f.borrowedFile(sessionFile); ok {
		return content, nil
	}
	name := f.file(sessionFile)
	info, err := f.s.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if raw, ok := f.s.sessions.get(name, info); ok {
		return raw, nil
	}
	raw, err := f.s.readRegular(name)
	f.dropBackup(raw)
	if err == nil {
		f.s.sessions.put(name, info, raw)
	}
	return raw, err
}

var redactedMark = []byte("[redacted: ")

// dropBackup removes the backup if session.json has more redactions than it. A merge may have
// brought them from another clone. The next write makes another backup.
func (f sessionFolder) dropBackup(now []byte) {
	redactions := bytes.Count(now, redactedMark)
	if redactions == 0 {
		return
	}
	backup := backupFile(strings.TrimSuffix(f.dir, "/"+sessionDir))
	if raw, err := f.s.readRegular(backup); err == nil && bytes.Count(raw, redactedMark) < redactions {
		_ = f.s.root.Remove(backup)
	}
}

// HasRecords reports whether one of the logs in a conversation's folder is not empty.
func (s *Store) HasRecords(folder string) bool {
	f := s.at("", folder)
	return checkConversationPath(folder) == nil && f.exists() && !f.emptied()
}
