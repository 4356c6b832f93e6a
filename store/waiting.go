package store

import (
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"cortext/schema"
)

// While the work tree must not be written to (the checked-out branch lacks the folder, or
// git is in the middle of a merge), records wait below .workspace/local/kept, in the same
// layout. Readers treat them as part of their conversation, and the next write to it in
// the work tree moves them there.

// Waiting returns the place where the records of a conversation wait if they cannot be
// written to the work tree now. It need not exist; the first write creates it. If the
// folder is in the work tree, that is read too.
//
// Two branches may have two conversations with the same name. If records of another
// conversation wait under that name, those of id wait under a different one. An empty id
// matches whatever waits there.
func (s *Store) Waiting(name, id string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	name = s.nameFor(waitingDir+"/", name, id)
	c := s.conversation(name)
	tree := c.dir
	c.base, c.dir = waitingDir, waitingDir+"/"+c.dir
	if s.checkFolder(name) == nil && s.isFolder(tree) {
		if id == "" {
			id = s.idIn(c.dir, name)
		}
		if isSame(id, s.idIn(tree, name)) {
			c.setOthers([]string{tree})
		}
	}
	return c, nil
}

// nameFor returns the name of a conversation's folder below base. It is a different name
// if another conversation has the folder.
func (s *Store) nameFor(base, name, id string) string {
	key := schema.IDKey(id)
	for _, n := range []int{0, 4, 8, len(key)} {
		is := name
		if n > 0 && len(key) >= n {
			is += "-" + key[len(key)-n:]
		}
		if isSame(id, s.idIn(base+is+"/"+sessionDir, is)) {
			return is
		}
	}
	return name
}

// idIn returns the id of the conversation in a folder, or "" if unknown.
func (s *Store) idIn(dir, name string) string {
	st, err := s.readStored(dir)
	if err != nil || st.session == nil {
		return ""
	}
	s.conversation(name).complete(st.session)
	return st.session.ID
}

// isSame reports whether two ids belong to the same conversation, as far as both are
// known.
func isSame(a, b string) bool { return a == "" || b == "" || schema.SameConversation(a, b) }

// IsWaiting reports whether records written to the conversation wait for its folder in
// the work tree.
func (c *Conversation) IsWaiting() bool { return c.base == waitingDir }

// WaitingPaths lists the conversations with waiting records, sorted.
func (s *Store) WaitingPaths() []string { return s.pathsBelow(waitingDir) }

// WaitsFor reports whether the records waiting under a name belong to the conversation
// with an id.
func (s *Store) WaitsFor(name, id string) bool {
	return isSame(id, s.idIn(waitingDir+"/"+name+"/"+sessionDir, name))
}

// pathsBelow lists the conversations with a folder below base, sorted.
func (s *Store) pathsBelow(base string) (names []string) {
	folders, _, err := s.foldersIn(base + "/" + conversationsDir)
	if err != nil {
		return nil
	}
	for _, name := range folders {
		if info, err := s.root.Lstat(name + "/" + sessionDir); err == nil && info.IsDir() {
			names = append(names, strings.TrimPrefix(name, base+"/"))
		}
	}
	return names
}

// WaitingCount counts the messages that wait for a conversation and that its logs in the
// work tree lack.
func (s *Store) WaitingCount(name string) (n int, err error) {
	have := map[string]bool{}
	if s.checkFolder(name) == nil {
		for m, err := range readHeld(s.hold(name+"/"+sessionDir+"/"+messagesFile), schema.ParseMessage) {
			if err == nil {
				have[m.ID] = true
			}
		}
	}
	for m, err := range readHeld(s.hold(waitingDir+"/"+name+"/"+sessionDir+"/"+messagesFile), schema.ParseMessage) {
		if err == nil && !have[m.ID] {
			have[m.ID] = m.ID != ""
			n++
		}
		if err != nil && !isDamage(err) {
			return n, err
		}
	}
	return n, nil
}

// PutBack moves the waiting records of a conversation into the work tree, recreating its
// folder if necessary. The error is [ErrNotFound] if there is neither.
func (s *Store) PutBack(name string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	open := s.Conversation
	if dir := waitingDir + "/" + name + "/" + sessionDir; s.isFolder(dir) {
		id := s.idIn(dir, name)
		open = func(name string) (*Conversation, error) { return s.MakeFolder(name, id) }
	}
	c, err := open(name)
	if err != nil {
		return nil, err
	}
	return c, errors.Join(c.Update(func(*Tx, *schema.Session) error { return nil }), c.Close())
}

// leaveWaiting removes the files of a folder whose records were moved, and the folders
// that are then empty. It keeps logs with unreadable content aside as they are. The lock
// goes last: a writer waiting for it starts another folder.
func (tx *Tx) leaveWaiting() error {
	c := tx.c
	st, err := c.s.readStored(c.dir)
	if err != nil {
		return err
	}
	tx.damaged[sessionFile] = len(st.damage) > 0
	if runtime.GOOS == "windows" { // it cannot remove an open file
		_ = c.drop()
	}
	for _, name := range []string{toolsFile, sessionFile, messagesFile} {
		file := c.file(name)
		if is, err := c.s.missing(file); err != nil {
			return err
		} else if is {
			continue
		}
		if tx.damaged[name] {
			err = c.s.setAside(file, c.path+"/"+name)
		} else {
			err = c.s.root.Remove(file)
		}
		if err != nil {
			return err
		}
	}
	c.s.sessions.forget(c.file(sessionFile))
	_ = c.s.root.Remove(c.file(subagentsDir))
	for dir := c.dir; dir != c.base && within(c.base, dir); dir = path.Dir(dir) {
		if c.s.root.Remove(dir) != nil {
			break // something else waits there
		}
	}
	return nil
}

// moveFiles moves the files of a folder below waitingDir, except some, to their place in
// the work tree. Existing files stay and the moved one is kept aside, unless it is a
// summary, which is newer.
func (s *Store) moveFiles(from, to string, but ...string) error {
	entries, err := s.readDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	moved := false
	for _, e := range entries {
		source, target := from+"/"+e.Name(), to+"/"+e.Name()
		info, err := s.root.Lstat(target)
		free := errors.Is(err, fs.ErrNotExist)
		switch {
		case slices.Contains(but, e.Name()):
		case e.IsDir() && (free || err == nil && info.IsDir()):
			if _, err := s.makeDirs(target); err != nil {
				return err
			}
			if err := s.moveFiles(source, target); err != nil {
				return err
			}
			_ = s.root.Remove(source)
		case err != nil && !free:
			return err
		case e.Type().IsRegular() && (free || isSummary(target) && s.replaceable(target)):
			if err := s.files.RenameIn(s.root, source, target); err != nil {
				return err
			}
			moved = true
		case e.Type().IsRegular() && s.same(source, target):
			if err := s.root.Remove(source); err != nil {
				return err
			}
		default:
			if err := s.setAside(source, target); err != nil {
				return err
			}
		}
	}
	if !moved {
		return nil
	}
	return s.files.SyncDir(s.root, to)
}

// replaceable reports whether a summary may be replaced.
func (s *Store) replaceable(name string) bool {
	_, d := s.readSummary(name)
	return d == nil || d.Kind != Newer && d.Kind != NotRegular
}

// same reports whether two files have the same bytes.
func (s *Store) same(a, b string) bool {
	x, err := s.readRegular(a)
	if err != nil {
		return false
	}
	y, err := s.readRegular(b)
	return err == nil && string(x) == string(y)
}
