package store

import (
	"cmp"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// An Entry is one conversation of a list.
type Entry struct {
	Path    string          // of its folder, relative to the workspace, with slashes
	Session *schema.Session // never nil: rebuilt as far as possible where it cannot be read
	Damage  []Damage        // of session.json; the logs are not looked at
}

// List returns all conversations, the one that was active last first. Each folder
// below conversations/<day>/ is one, with or without a .session/; damage in one
// hides none.
func (s *Store) List() ([]Entry, error) {
	folders, _, err := s.folders()
	if err != nil {
		return nil, explain(err)
	}
	entries := make([]Entry, len(folders))
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(folders)); i = next.Add(1) - 1 {
				entries[i] = s.entry(folders[i])
			}
		})
	}
	group.Wait()
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(b.Session.LastActive.Time().Compare(a.Session.LastActive.Time()), strings.Compare(b.Path, a.Path))
	})
	return entries, nil
}

// folders returns the folders of the conversations, by name, and what stands
// where one should and is none.
func (s *Store) folders() (folders []string, damage []Damage, err error) {
	days, err := s.readDir(conversationsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	keep := func(dir string, e fs.DirEntry) bool {
		if e.Type()&fs.ModeSymlink != 0 {
			damage = append(damage, Damage{dir + "/" + e.Name(), jsonl.Damage{Kind: NotRegular, Detail: "a symlink is not followed"}})
		}
		return e.IsDir() && !strings.HasPrefix(e.Name(), ".")
	}
	for _, day := range days {
		if !keep(conversationsDir, day) {
			continue
		}
		dir := conversationsDir + "/" + day.Name()
		entries, err := s.readDir(dir)
		if err != nil {
			damage = append(damage, Damage{dir, jsonl.Damage{Kind: Unreadable, Detail: err.Error()}})
			continue
		}
		for _, e := range entries {
			if keep(dir, e) {
				folders = append(folders, dir+"/"+e.Name())
			}
		}
	}
	return folders, damage, nil
}

// entry describes the conversation in a folder.
func (s *Store) entry(name string) Entry {
	c := &Conversation{s: s, path: name, dir: name + "/" + sessionDir}
	sess, damage, err := c.Session()
	if err == nil {
		return Entry{name, sess, damage}
	}
	return Entry{name, c.fromName(), []Damage{c.unreadable(err)}}
}

// unreadable describes why session.json cannot be read at all.
func (c *Conversation) unreadable(err error) Damage {
	kind := Unreadable
	if version := (*schema.VersionError)(nil); errors.As(err, &version) {
		kind = Newer
	}
	return Damage{c.file(sessionFile), jsonl.Damage{Kind: kind, Detail: err.Error()}}
}
