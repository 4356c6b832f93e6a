package store

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
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
	days := map[string]*os.Root{} // opened once: in a list of a thousand, walking paths is most of the time
	for _, name := range folders {
		day := path.Dir(name)
		if _, ok := days[day]; ok {
			continue
		}
		if days[day], err = s.root.OpenRoot(day); err == nil {
			defer days[day].Close()
		}
	}
	entries := make([]Entry, len(folders))
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(folders)); i = next.Add(1) - 1 {
				entries[i] = s.entry(days[path.Dir(folders[i])], folders[i])
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

// entry describes the conversation in a folder; day is the folder above it, nil if
// that could not be opened.
func (s *Store) entry(day *os.Root, name string) Entry {
	c := &Conversation{s: s, path: name, dir: name + "/" + sessionDir}
	if sess := c.healthy(day); sess != nil {
		return Entry{name, sess, nil}
	}
	sess, damage, err := c.Session()
	if err == nil {
		return Entry{name, sess, damage}
	}
	return Entry{name, c.fromName(), []Damage{c.unreadable(err)}}
}

// healthy returns what Session does where session.json is whole and nothing was
// appended since, else nil.
func (c *Conversation) healthy(day *os.Root) *schema.Session {
	if day == nil {
		return nil
	}
	dir, err := day.OpenRoot(path.Base(c.path) + "/" + sessionDir)
	if err != nil {
		return nil
	}
	defer dir.Close()
	raw, err := readRegular(dir, sessionFile)
	if err != nil {
		return nil
	}
	sess, err := schema.ParseSession(raw)
	if err != nil {
		return nil
	}
	if log, err := dir.Lstat(messagesFile); err != nil || log.Size() != sess.CountedBytes {
		return nil
	}
	c.complete(sess)
	return sess
}

// unreadable describes why session.json cannot be read at all.
func (c *Conversation) unreadable(err error) Damage {
	kind := Unreadable
	if version := (*schema.VersionError)(nil); errors.As(err, &version) {
		kind = Newer
	}
	return Damage{c.file(sessionFile), jsonl.Damage{Kind: kind, Detail: err.Error()}}
}
