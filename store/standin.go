package store

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// standIns are the beginnings of what git puts in place of a file if this clone has not set up
// or run the filter that the file is stored with, and what to do then.
var standIns = []struct{ begin, says string }{
	{"version https://git-lfs.github.com/spec/", "a pointer of git-lfs to what belongs here: git lfs pull"},
	{"/annex/objects/", "a pointer of git-annex to what belongs here: git annex get"},
	{"\x00GITCRYPT\x00", "encrypted by git-crypt: git-crypt unlock"},
}

// annexed describes a file that git-annex has locked: a link to where it keeps the content.
const annexed = "locked by git-annex: git annex unlock"

// A StandInError means that git has a file, and the work tree has something else in its place.
// Whatever is written there would be lost when the file comes, or the file would be.
type StandInError struct {
	File string // relative to the workspace, with slashes
	Says string // what it is, and what to do
}

func (e *StandInError) Error() string { return fmt.Sprintf("%q is %s", e.File, e.Says) }

// standIn describes a file that stands in for another, or returns "" for any other file. A
// pointer to which records were added is a damaged log.
func standIn(file io.ReaderAt, size int64) string {
	for _, s := range standIns {
		begin, end := make([]byte, len(s.begin)), make([]byte, 2)
		if size < int64(len(begin)) {
			continue
		}
		if _, err := file.ReadAt(begin, 0); err != nil || string(begin) != s.begin {
			continue
		}
		if s.begin[0] == 0 { // no log begins so, whatever it ends with
			return s.says
		}
		if _, err := file.ReadAt(end, size-2); err == nil && string(end) != "}\n" {
			return s.says
		}
	}
	return ""
}

// StandIn returns a [*StandInError] if one of the conversation's logs or its session.json stands
// in for what git has.
func (l *Location) StandIn() error {
	for _, name := range []string{messagesFile, toolsFile} {
		log := l.open(name)
		says := log.standIn
		if err := log.close(); err != nil {
			return err
		}
		if says != "" {
			return &StandInError{log.name, says}
		}
	}
	raw, err := l.readRaw()
	says := standIn(bytes.NewReader(raw), int64(len(raw)))
	if err != nil && l.isLocked(sessionFile) {
		says = annexed // otherwise whoever reads it next says why it cannot be read
	}
	if says != "" {
		return &StandInError{l.file(sessionFile), says}
	}
	return nil
}

// isLocked reports whether git-annex has locked a file.
func (f sessionFolder) isLocked(name string) bool {
	target, err := f.s.root.Readlink(f.file(name))
	return err == nil && strings.Contains(filepath.ToSlash(target), ".git/annex/objects/")
}

// StandIn reports whether a file stands in for what git has. No repair changes it: what to do is in
// the detail.
func (d *Damage) StandIn() bool {
	is := d.Detail == annexed
	for _, s := range standIns {
		is = is || d.Detail == s.says
	}
	return is && d.Kind == Unreadable
}
