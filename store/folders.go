package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Folders are the folders of days in the work tree, and those of the conversations in
// them. Its methods say what the file system shows of them, and open no file.
type Folders struct{ files *Files }

// Folders returns the folders of the workspace.
func (s *Store) Folders() Folders { return Folders{s.Files} }

// Days lists the folders of days, sorted.
func (f Folders) Days() (days []string, err error) {
	entries, err := f.files.readDir(conversationsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			days = append(days, e.Name())
		}
	}
	return days, explain(err)
}

// Of lists the conversations of a day, unsorted. The error says that the folder of the day
// cannot be read, or nothing in it.
func (f Folders) Of(day string) (folders []string, err error) {
	dir := conversationsDir + "/" + day
	if l, ok := f.files.lookAt(dir); !ok || l.kind != folderKind {
		return nil, nil
	}
	d, err := os.Open(filepath.Join(f.files.dir, filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			folders = append(folders, dir+"/"+e.Name())
		}
	}
	if err == nil && len(folders) > 0 { // a user who may list a folder may not be allowed to enter it
		if _, err = os.Lstat(filepath.Join(f.files.dir, filepath.FromSlash(folders[0]))); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return folders, err
}

// Unlisted returns the folders of days that cannot be read, whose conversations
// [Store.List] lacks.
func (f Folders) Unlisted() (damage []Damage, err error) {
	days, err := f.Days()
	for _, day := range days {
		dir := conversationsDir + "/" + day
		opened, err := f.files.root.Open(dir) // who may open a folder may list it
		if err == nil {
			err = opened.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			damage = append(damage, damaged(dir, Unreadable, err.Error()))
		}
	}
	return damage, explain(err)
}

// HasSession reports whether there is a session.json in the folder of a conversation.
func (f Folders) HasSession(folder string) (bool, error) {
	return f.files.Exists(folder + "/" + sessionDir + "/" + sessionFile)
}

// Look looks at the folder of a conversation in the work tree. ok is false if there is
// none.
func (f Folders) Look(folder string) (l Look, ok bool) {
	if dir, ok := f.files.lookAt(folder); !ok || dir.kind != folderKind {
		return l, false
	}
	return f.LookIn(folder), true
}

// LookIn is Look for a folder that exists, as a listing of its day says.
func (f Folders) LookIn(folder string) (l Look) {
	name := filepath.Join(f.files.dir, filepath.FromSlash(folder), sessionDir)
	dir, _ := lookAt(name)
	l.dir.kind = dir.kind
	l.session, _ = lookAt(name + string(filepath.Separator) + sessionFile)
	l.messages, _ = lookAt(name + string(filepath.Separator) + messagesFile)
	return l
}

// LookAtDay looks at a day's folder, or at the folder of all days if name is "". The look
// changes whenever a conversation is added, renamed or removed. It is "" if there is no
// such folder, or if it changed so recently that it could change again without a visible
// difference.
func (f Folders) LookAtDay(name string) string {
	now := time.Now()
	l, ok := f.files.lookAt(strings.TrimSuffix(conversationsDir+"/"+name, "/"))
	if !ok || l.kind != folderKind || !settledAt(time.Unix(0, max(l.written, l.changed)), now) {
		return ""
	}
	return string(l.appendTo(nil))
}

// LookBelow looks at everything in the folder of a conversation. Two equal looks mean that
// no file changed in between, as far as the file system says when a file was changed last. It
// is "" if it does not say that, or if a file changed a moment ago and could change again
// without a visible difference.
func (f Folders) LookBelow(folder string) string {
	sum := sha256.New()
	top := filepath.Join(f.files.dir, filepath.FromSlash(folder))
	err := filepath.WalkDir(top, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		l, ok := lookAt(name)
		if !ok || l.changed == 0 || !l.settled() {
			return fs.ErrNotExist
		}
		_, err = sum.Write(l.appendTo(append([]byte(name[len(top):]), 0)))
		return err
	})
	if err != nil {
		return ""
	}
	return string(sum.Sum(nil))
}

// LogSize returns the length in bytes of the log of messages in a conversation's folder,
// without reading it. The error is [ErrNotFound] if there is none.
func (f Folders) LogSize(folder string) (int64, error) {
	if err := checkConversationPath(folder); err != nil {
		return 0, err
	}
	name := folder + "/" + MessagesLog
	info, err := f.files.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return 0, fmt.Errorf("file %q: %w", name, ErrNotFound)
	}
	if err != nil {
		return 0, explain(err)
	}
	return info.Size(), nil
}

// LogState describes the logs in a conversation's folder and those of its sub-agents: file
// identity, length and time of change. The result is "" if messages.jsonl or session.json
// is missing, and is only useful for comparison with another result.
func (f Folders) LogState(name string) string {
	if checkConversationPath(name) != nil {
		return ""
	}
	dir := name + "/" + sessionDir
	var b strings.Builder
	look := func(dir string) bool {
		for _, log := range []string{messagesFile, toolsFile} {
			l, there := f.files.lookAt(dir + "/" + log)
			if !there && log == messagesFile {
				return false
			}
			fmt.Fprintln(&b, l)
		}
		return true
	}
	if _, there := f.files.lookAt(dir + "/" + sessionFile); !there || !look(dir) {
		return ""
	}
	subagents := dir + "/" + subagentsDir
	if _, there := f.files.lookAt(subagents); !there {
		return b.String()
	}
	names, err := foldersIn(f.files, subagents)
	for _, sub := range names {
		fmt.Fprintln(&b, sub)
		_ = look(subagents + "/" + sub)
	}
	if err != nil {
		return ""
	}
	return b.String()
}

// LogStates returns the names and the states of the logs of a conversation in the work
// tree: of messages.jsonl, then of tools.jsonl. The state of a missing
// log is that of an empty one. ok is false if the system does not let us look at one, or
// one is not a regular file.
func (f Folders) LogStates(path string) (names [2]string, states [2]LogState, ok bool) {
	for i, name := range []string{messagesFile, toolsFile} {
		names[i] = path + "/" + sessionDir + "/" + name
		switch l, err := lookFor(f.files.dir + string(filepath.Separator) + filepath.FromSlash(names[i])); {
		case errors.Is(err, fs.ErrNotExist):
			states[i].Known = true
		case err == nil && l.kind == regularKind:
			states[i] = l.state()
		default:
			return names, states, false
		}
	}
	return names, states, true
}
