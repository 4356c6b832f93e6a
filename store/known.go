package store

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"iter"
	"maps"
	"slices"
	"sync"

	"cortext/schema"
)

// The index is a file of the cache with each session.json as it was read, so that a list
// opens those that have changed since. A row counts only while its file is the one that was
// read, as far as length, times and inode tell. Rows are appended, and the last one of a
// file counts: among ten thousand conversations a hook must not write all of them again.

const (
	indexFile    = cacheDir + "/sessions"
	indexVersion = "cortext sessions 1\n"
)

// A Known is what the index tells of a conversation without parsing its session.json.
type Known struct {
	ID      []byte
	Status  []byte
	natives []byte // ids of the sources, each between line ends
}

// Has reports whether a native session with an id is among the sources.
func (k Known) Has(nativeID string) bool {
	return bytes.Contains(k.natives, []byte("\n"+nativeID+"\n"))
}

// A row of the index.
type row struct {
	look look
	Known
	raw  []byte
	size int // in the file
}

type knownSessions struct {
	mu    sync.Mutex
	read  bool
	rows  map[string]row // by the path of session.json
	size  int            // of the file, as it was read
	live  int            // bytes of the rows
	fresh []string       // the names of rows that the file lacks
	stale bool           // the file is to be written again: it has a defect, or what was removed
}

// find returns the row of a file that is still as it was.
func (x *knownSessions) find(s *Store, name string, now look) (row, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load(s)
	if r, ok := x.rows[name]; ok && r.look == now {
		return r, true
	}
	return row{}, false
}

// load reads the index once.
func (x *knownSessions) load(s *Store) {
	if x.read {
		return
	}
	x.read, x.rows = true, map[string]row{}
	all, err := s.readWhole(indexFile)
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

// add takes in a file that was read, if it cannot have changed since it was looked at.
func (x *knownSessions) add(name string, at look, raw []byte, sess *schema.Session) {
	if !at.settled() {
		return
	}
	natives := "\n"
	for _, src := range sess.Sources {
		natives += src.NativeID + "\n"
	}
	r := row{look: at, Known: Known{[]byte(sess.ID), []byte(sess.Status), []byte(natives)}, raw: raw}
	r.size = len(appendRow(nil, name, r))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.live += r.size - x.rows[name].size
	x.rows[name] = r
	x.fresh = append(x.fresh, name)
}

// forget drops a conversation that is removed, from the file, too: its title is content.
func (x *knownSessions) forget(s *Store, folder string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load(s)
	delete(x.rows, folder+"/"+sessionDir+"/"+sessionFile)
	x.stale = x.size > 0
}

// prune drops the rows of conversations that are gone, if they are many.
func (x *knownSessions) prune(folders []string) {
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

// save writes what was read since, as part of a command that writes, but for what has
// changed meanwhile or was removed by another. A failure costs the next list time only.
func (x *knownSessions) save(s *Store) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.fresh) == 0 && !x.stale {
		return
	}
	rows := x.appendRows(s, nil, slices.Values(x.fresh))
	if !x.stale && x.size > 0 && x.size+len(rows) < 2*x.live+1<<16 {
		_ = s.appendUnsynced(indexFile, rows)
	} else {
		_ = s.replaceUnsynced(indexFile, x.appendRows(s, []byte(indexVersion), maps.Keys(x.rows)))
	}
	x.fresh, x.stale = nil, false
}

// appendRows writes the rows of files that are still as they were.
func (x *knownSessions) appendRows(s *Store, b []byte, names iter.Seq[string]) []byte {
	for name := range names {
		r, ok := x.rows[name]
		if now, there := s.lookAt(name); ok && there && now == r.look {
			b = appendRow(b, name, r)
		}
	}
	return b
}

// appendRow writes a row: its length, a checksum of the rest, and the rest.
func appendRow(b []byte, name string, r row) []byte {
	at := len(b)
	b = append(b, make([]byte, 8)...)
	for _, n := range [...]int64{r.look.kind, int64(r.look.inode), r.look.size, r.look.written, r.look.changed} {
		b = binary.AppendVarint(b, n)
	}
	for _, text := range [][]byte{[]byte(name), r.ID, r.Status, r.natives, r.raw} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at))
	binary.LittleEndian.PutUint32(b[at+4:], crc32.Checksum(b[at+8:], crc32.IEEETable))
	return b
}

// parseRow reads the row that b begins with.
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
	var texts [5][]byte
	for i := range texts {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return "", r, false
		}
		texts[i], rest = rest[n:n+int(size):n+int(size)], rest[n+int(size):]
	}
	r.ID, r.Status, r.natives, r.raw = texts[1], texts[2], texts[3], texts[4]
	return string(texts[0]), r, true
}

// known returns the row of a conversation whose session.json has not changed since it was
// read. No file is opened.
func (c *Conversation) known() (row, bool) {
	if dir, ok := c.s.lookAt(c.dir); !ok || dir.kind != folderKind {
		return row{}, false // what a link leads to is not ours
	}
	name := c.file(sessionFile)
	now, ok := c.s.lookAt(name)
	if !ok {
		return row{}, false
	}
	return c.s.known.find(c.s, name, now)
}
