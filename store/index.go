package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"iter"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"cortext/schema"
	"cortext/store/internal/lines"
)

// The index is a cache file with each session.json as last read, so that a list opens
// only those that have changed since. A row counts only while its file is unchanged,
// judging by length, times and inode. Rows are appended and the last row of a file
// counts, because with ten thousand conversations a hook must not rewrite all of them.

const (
	indexFile    = cacheDir + "/sessions"
	indexVersion = "cortext sessions 2\n"
)

// A row of the index.
type row struct {
	look look
	id   []byte
	raw  []byte
	size int // in the file
}

type sessionIndex struct {
	files *Files

	mu    sync.Mutex
	read  bool
	rows  map[string]row // by the path of session.json
	size  int            // size of the file when read
	live  int            // bytes in current rows
	fresh []string       // names of rows missing from the file
	stale bool           // the file must be rewritten: it is damaged or holds removed conversations
}

// find returns the row of a file that has not changed.
func (x *sessionIndex) find(name string, now look) (row, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load()
	if r, ok := x.rows[name]; ok && r.look == now {
		return r, true
	}
	return row{}, false
}

// load reads the index once.
func (x *sessionIndex) load() {
	if x.read {
		return
	}
	x.read, x.rows = true, map[string]row{}
	all, err := x.files.readBounded(indexFile, math.MaxInt64-1)
	rest, ok := bytes.CutPrefix(all, []byte(indexVersion))
	if x.size, x.stale = len(all), err == nil && !ok; !ok {
		return
	}
	for len(rest) > 0 {
		name, r, ok := parseRow(rest)
		if !ok {
			x.stale = true
			return
		}
		x.live += r.size - x.rows[name].size
		x.rows[name] = r
		rest = rest[r.size:]
	}
}

// appendFile appends to the index file. If another process appends at the same time, its
// rows come before or after these, never in between.
func (x *sessionIndex) appendFile(rows []byte) error {
	f, _, _, err := lines.Open(x.files.root, indexFile, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(rows)
	return errors.Join(err, f.Close())
}

// add adds a file that was read, if it cannot have changed since the look.
func (x *sessionIndex) add(name string, at look, raw []byte, sess *schema.Session) {
	if !at.settled() {
		return
	}
	r := row{look: at, id: []byte(sess.ID), raw: raw}
	r.size = len(appendRow(nil, name, r))
	x.mu.Lock()
	defer x.mu.Unlock()
	if bytes.Contains(raw, redactedMark) {
		x.dropRedacted(name, r)
	}
	x.live += r.size - x.rows[name].size
	x.rows[name] = r
	x.fresh = append(x.fresh, name)
}

var redactedMark = []byte("[redacted: ")

// dropRedacted drops earlier versions of a session.json in which a merge redacted something:
// rows of the index, also under another name of the folder, and the backups.
func (x *sessionIndex) dropRedacted(name string, now row) {
	marks := bytes.Count(now.raw, redactedMark)
	for other, r := range x.rows {
		if !bytes.Equal(r.id, now.id) || bytes.Count(r.raw, redactedMark) >= marks {
			continue
		}
		x.stale = true
		if other != name {
			x.live -= r.size
			delete(x.rows, other)
		}
		dropBackup(x.files, strings.TrimSuffix(other, "/"+sessionDir+"/"+sessionFile), marks)
	}
}

// dropBackup removes the backup of a conversation if it has fewer redactions than its
// session.json, where a merge may have brought them from another clone. The next write makes
// another backup.
func dropBackup(s *Files, conversation string, redactions int) {
	backup := backupFile(conversation)
	if raw, err := s.readRegular(backup); err == nil && bytes.Count(raw, redactedMark) < redactions {
		_ = s.root.Remove(backup)
	}
}

// forget drops a removed conversation, also from the index file, because its title is
// content.
func (x *sessionIndex) forget(folder string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load()
	delete(x.rows, folder+"/"+sessionDir+"/"+sessionFile)
	x.stale = x.size > 0
}

// prune drops the rows of conversations that are gone, if there are many.
func (x *sessionIndex) prune(folders []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.rows) < 2*len(folders)+64 {
		return
	}
	rows := make(map[string]row, len(folders))
	x.live = 0
	for _, name := range folders {
		name += "/" + sessionDir + "/" + sessionFile
		if r, ok := x.rows[name]; ok {
			rows[name] = r
			x.live += r.size
		}
	}
	x.rows = rows
}

// save writes the rows read since the load, except files that changed meanwhile or that
// another process removed. Commands that write call it. A failure only makes the next
// list slower.
func (x *sessionIndex) save() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.fresh) == 0 && !x.stale {
		return
	}
	rows := x.appendRows(nil, slices.Values(x.fresh))
	if !x.stale && x.size > 0 && x.size+len(rows) < 2*x.live+1<<16 {
		_ = x.appendFile(rows)
	} else {
		_ = x.files.replaceUnsynced(indexFile, x.appendRows([]byte(indexVersion), maps.Keys(x.rows)))
	}
	x.fresh, x.stale = nil, false
}

// appendRows appends the rows of files that have not changed.
func (x *sessionIndex) appendRows(b []byte, names iter.Seq[string]) []byte {
	for name := range names {
		r, ok := x.rows[name]
		if now, there := x.files.lookAt(name); ok && there && now == r.look {
			b = appendRow(b, name, r)
		}
	}
	return b
}

// appendRow appends a row: its length, a checksum of the rest, and the rest.
func appendRow(b []byte, name string, r row) []byte {
	at := len(b)
	b = append(b, make([]byte, 8)...)
	for _, n := range [...]int64{r.look.kind, int64(r.look.inode), r.look.size, r.look.written, r.look.changed} {
		b = binary.AppendVarint(b, n)
	}
	for _, text := range [][]byte{[]byte(name), r.id, r.raw} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at))
	binary.LittleEndian.PutUint32(b[at+4:], crc32.Checksum(b[at+8:], crc32.IEEETable))
	return b
}

// parseRow parses the first row of b.
func parseRow(b []byte) (name string, r row, ok bool) {
	if len(b) < 8 {
		return "", r, false
	}
	r.size = int(binary.LittleEndian.Uint32(b))
	if r.size < 8 || r.size > len(b) || crc32.Checksum(b[8:r.size], crc32.IEEETable) != binary.LittleEndian.Uint32(b[4:]) {
		return "", r, false
	}
	rest := b[8:r.size]
	var numbers [5]int64
	for i := range numbers {
		n := 0
		if numbers[i], n = binary.Varint(rest); n <= 0 {
			return "", r, false
		}
		rest = rest[n:]
	}
	r.look = look{numbers[0], uint64(numbers[1]), numbers[2], numbers[3], numbers[4]}
	var texts [3][]byte
	for i := range texts {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return "", r, false
		}
		texts[i], rest = rest[n:n+int(size):n+int(size)], rest[n+int(size):]
	}
	r.id, r.raw = texts[1], texts[2]
	return string(texts[0]), r, true
}

// known returns the row of a conversation whose session.json has not changed since it was
// read. It opens no file.
func (f sessionFolder) known() (row, bool) {
	if dir, ok := f.s.lookAt(f.dir); !ok || dir.kind != folderKind {
		return row{}, false // a link leads to a file that is not ours
	}
	name := f.file(sessionFile)
	now, ok := f.s.lookAt(name)
	if !ok {
		return row{}, false
	}
	return f.s.index.find(name, now)
}
