package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/schema"
)

// A Look is the state of the files that decide how a list describes a conversation. Two
// equal looks mean that nothing changed in between, if the first was settled.
type Look struct{ dir, session, messages look }

// LookBytes is the length of an encoded Look.
const LookBytes = 3 * 40

// Look looks at the folder of a conversation in the work tree. ok is false if there is
// none.
func (s *Store) Look(folder string) (l Look, ok bool) {
	if dir, ok := s.lookAt(folder); !ok || dir.kind != folderKind {
		return l, false
	}
	return s.LookIn(folder), true
}

// LookIn is Look for a folder that exists, as a listing of its day says.
func (s *Store) LookIn(folder string) (l Look) {
	name := filepath.Join(s.dir, filepath.FromSlash(folder), sessionDir)
	dir, _ := lookAt(name)
	l.dir.kind = dir.kind
	l.session, _ = lookAt(name + string(filepath.Separator) + sessionFile)
	l.messages, _ = lookAt(name + string(filepath.Separator) + messagesFile)
	return l
}

// Settled reports whether any change after a time would change the look.
func (l Look) Settled(at time.Time) bool {
	last := max(l.session.written, l.session.changed, l.messages.written, l.messages.changed)
	return at.Sub(time.Unix(0, last)) >= unsettled
}

// whole reports whether the look says all that the entry depends on: session.json and the
// log are files where they belong.
func (l Look) whole() bool {
	return l.dir.kind == folderKind && l.session.kind == regularKind && (l.messages.kind == regularKind || l.messages == look{})
}

// AppendTo appends the encoded look, always of [LookBytes] bytes.
func (l Look) AppendTo(b []byte) []byte {
	for _, k := range []look{l.dir, l.session, l.messages} {
		b = k.appendTo(b)
	}
	return b
}

func (l look) appendTo(b []byte) []byte {
	for _, n := range [...]uint64{uint64(l.kind), l.inode, uint64(l.size), uint64(l.written), uint64(l.changed)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// DecodeLook decodes what AppendTo made.
func DecodeLook(b []byte) Look {
	return Look{decodeLook(b), decodeLook(b[40:]), decodeLook(b[80:])}
}

func decodeLook(b []byte) look {
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return look{int64(n(0)), n(1), int64(n(2)), int64(n(3)), int64(n(4))}
}

// LookAtDay looks at a day's folder, or at the folder of all days if name is "". The look
// changes whenever a conversation is added, renamed or removed. It is "" if there is no
// such folder, or if it changed so recently that it could change again without a visible
// difference.
func (s *Store) LookAtDay(name string) string {
	now := time.Now()
	l, ok := s.lookAt(strings.TrimSuffix(conversationsDir+"/"+name, "/"))
	if !ok || l.kind != folderKind || now.Sub(time.Unix(0, max(l.written, l.changed))) < unsettled {
		return ""
	}
	return string(l.appendTo(nil))
}

// LookBelow looks at everything in the folder of a conversation. Two equal looks mean that
// no file changed in between, as far as the file system says when a file was changed last. It
// is "" if it does not say that, or if a file changed a moment ago and could change again
// without a visible difference.
func (s *Store) LookBelow(folder string) string {
	sum := sha256.New()
	top := filepath.Join(s.dir, filepath.FromSlash(folder))
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

// Days lists the folders of days, sorted.
func (s *Store) Days() (days []string, err error) {
	entries, err := s.readDir(conversationsDir)
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

// FoldersOf lists the conversations of a day, unsorted. The error says that the folder of
// the day cannot be read, or nothing in it.
func (s *Store) FoldersOf(day string) (folders []string, err error) {
	dir := conversationsDir + "/" + day
	if l, ok := s.lookAt(dir); !ok || l.kind != folderKind {
		return nil, nil
	}
	d, err := os.Open(filepath.Join(s.dir, filepath.FromSlash(dir)))
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
	if err == nil && len(folders) > 0 { // who may list a folder need not be allowed to enter it
		if _, err = os.Lstat(filepath.Join(s.dir, filepath.FromSlash(folders[0]))); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return folders, err
}

// Describe describes the conversation in a folder of the work tree as [Store.List] does,
// but without its twins and what waits for it. known reports that the description holds as
// long as [Store.Look] returns the same look. ok is false if there is no such folder.
func (s *Store) Describe(folder string) (e Entry, l Look, known, ok bool) {
	now := time.Now()
	if l, ok = s.Look(folder); !ok {
		return e, l, false, false
	}
	c := s.at("", folder)
	if l.whole() {
		if raw, ok := s.readLooked(c.file(sessionFile), l.session); ok {
			if sess := c.plain(raw, l.messages.size); sess != nil && l.messages.kind == regularKind {
				return Entry{Path: folder, Session: sess}, l, l.Settled(now), true
			}
		}
	}
	e = lister{s: s}.entry(c, row{})
	return e, l, len(e.Damage) == 0 && l.whole() && l.Settled(now), true
}

// readLooked reads the file that a look described.
func (s *Store) readLooked(name string, l look) ([]byte, bool) {
	if l.inode == 0 || l.size > maxFile {
		return nil, false
	}
	f, err := os.Open(filepath.Join(s.dir, filepath.FromSlash(name)))
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
