package store

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cortext/schema"
)

// Describe describes the conversation in a folder of the work tree as [Store.List] does,
// but without its twins and what waits for it. known reports that the description holds as
// long as [Folders.Look] returns the same look. ok is false if there is no such folder.
func (s *Store) Describe(folder string) (e Entry, l Look, known, ok bool) {
	now := time.Now()
	if l, ok = s.Folders().Look(folder); !ok {
		return e, l, false, false
	}
	c := s.at("", folder)
	if l.whole() {
		if raw, ok := readLooked(filepath.Join(s.dir, filepath.FromSlash(c.file(sessionFile))), l.session); ok {
			if sess := c.plain(raw, l.messages.size); sess != nil && l.messages.kind == regularKind {
				return Entry{Path: folder, Session: sess}, l, l.Settled(now), true
			}
		}
	}
	e = lister{s: s}.entry(c, row{})
	return e, l, len(e.Damage) == 0 && l.whole() && l.Settled(now), true
}

// readLooked reads the file that a look described.
func readLooked(name string, l look) ([]byte, bool) {
	if l.inode == 0 || l.size > maxFile {
		return nil, false
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || inode(info) != l.inode || !info.Mode().IsRegular() {
		return nil, false
	}
	b := make([]byte, l.size)
	_, err = io.ReadFull(f, b)
	return b, err == nil && info.Size() == l.size
}

// plain returns what Session returns for a whole session.json that counts everything in a
// log of that size; otherwise nil.
func (l *Location) plain(raw []byte, size int64) *schema.Session {
	sess, err := schema.ParseSession(raw)
	if err != nil || sess.Repair != nil || sess.CountedBytes != size {
		return nil
	}
	complete(sess, l.path)
	return sess
}

// ListOf is [Store.List] for the conversations in some folders, and those that wait and
// are in none of them. Folders that do not exist are left out. It reads their files and
// neither uses nor fills a cache.
func (s *Store) ListOf(folders []string) []Entry {
	var there []string
	for _, name := range folders {
		if l, ok := s.lookAt(name); ok && l.kind == folderKind {
			there = append(there, name)
		}
	}
	l := lister{s: s}
	entries := make([]Entry, len(there))
	inParallel(len(there), func(i int) { entries[i] = l.entry(s.at("", there[i]), row{}) })
	entries = l.withWaiting(withoutTwins(entries))
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return entries
}

// KnowsID reports whether the id of a conversation comes from its session.json.
func (e Entry) KnowsID() bool { return knowsID(e) }
