package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cortext/schema/jsonl"
	"cortext/schema/rawjson"
	"cortext/store/internal/lines"
)

// A logFile is a log open for writing, with an index of its records. The index is only
// valid under the conversation's lock, and is checked against the file each time.
type logFile struct {
	*lines.File
	name string // relative to the workspace
	kept string // prefix of the names, below kept/torn, of bytes set aside

	since  int64     // earlier records need no index; see Conversation.BeginAt
	from   int64     // where the index begins
	places index     // nil before the first use
	marked []string  // ids of redacted records among them
	end    int64     // places covers the file up to this offset
	mod    time.Time // mtime of the file at that length
	last   []byte    // the last bytes before end, to recognise the content
}

// An index gives the positions of the records in a log, by id.
type index map[string]places

// places are the offsets of the records with the same id, in order. Nearly all ids have
// only one.
type places struct {
	first int64
	more  []int64
}

// lastBytes is how many bytes at its end identify a log.
const lastBytes = 64

// look describes the file that the log's name leads to. It tries the path of the workspace
// first: looking is harmless wherever the path leads, and costs one call instead of two for
// each folder on the way.
func (l *logFile) look(s *Files) (fs.FileInfo, error) {
	if info, err := os.Lstat(filepath.Join(s.dir, l.name)); err == nil && l.Is(info) {
		return info, nil
	}
	return s.root.Lstat(l.name)
}

// startAt promises that no record before an offset needs an index.
func (l *logFile) startAt(since int64) {
	l.since = since
	if l.from > since {
		l.places = nil
	}
}

// refresh prepares the log for an append: it indexes what other processes wrote and sets
// a torn tail aside.
func (l *logFile) refresh(s *Files) (aside []SetAside, err error) {
	info, err := l.Refresh()
	if err != nil {
		return nil, err
	}
	if l.places != nil && l.end == info.Size() && l.mod.Equal(info.ModTime()) {
		return nil, nil
	}
	aside, err = l.mendTail(s)
	if err != nil {
		return aside, err
	}
	first := l.places == nil
	if first || !l.continues() {
		l.places, l.marked, l.from, l.end = index{}, nil, 0, 0
		if first {
			l.from = min(l.since, l.Size())
			l.end = l.from
		}
	}
	marked, err := l.places.scan(l, l.end, l.Size())
	if err != nil {
		return aside, err
	}
	l.marked = append(l.marked, marked...)
	return aside, l.note(nil)
}

// scan indexes the records in a part of a log. It does not parse lines that look like
// ours; [index.at] checks them. It returns the ids of records that may have been redacted.
func (x index) scan(log io.ReaderAt, from, to int64) (marked []string, err error) {
	heads := headReader{idHead, func(rec jsonl.Record) (head, error) { return head{id: []byte(recordID(rec.Raw))}, nil }}
	_, err = heads.read(log, from, to, func(h head, offset int64) {
		id := string(h.id)
		x.add(id, offset)
		if h.redacted && id != "" {
			marked = append(marked, id)
		}
	})
	return marked, err
}

// continues reports whether the file, which changed, still begins with the indexed
// content.
func (l *logFile) continues() bool {
	if l.Size() <= l.end {
		return false
	}
	now := make([]byte, len(l.last))
	_, err := l.ReadAt(now, l.end-int64(len(now)))
	return err == nil && bytes.Equal(now, l.last)
}

// note records the state of the file now that all of it is indexed. line is the last
// line, if available.
func (l *logFile) note(line []byte) error {
	info, err := l.Refresh()
	if err != nil {
		return err
	}
	l.end, l.mod = info.Size(), info.ModTime()
	n := min(l.end, lastBytes)
	if int64(len(line)) >= n {
		l.last = append(l.last[:0], line[int64(len(line))-n:]...)
		return nil
	}
	l.last = make([]byte, n)
	_, err = l.ReadAt(l.last, l.end-n)
	return err
}

func (x index) add(id string, offset int64) {
	if id == "" {
		return
	}
	p, ok := x[id]
	if ok {
		p.more = append(p.more, offset)
	} else {
		p.first = offset
	}
	x[id] = p
}

// at returns the records with the given id, as stored in the log.
func (x index) at(r io.ReaderAt, id string) ([][]byte, error) {
	p, ok := x[id]
	if !ok {
		return nil, nil
	}
	var raws [][]byte
	for _, offset := range append([]int64{p.first}, p.more...) {
		raw, err := recordAt(r, offset)
		if err != nil {
			return nil, err
		}
		if raw != nil && recordID(raw) == id {
			raws = append(raws, raw)
		}
	}
	return raws, nil
}

// recordAt returns the record that begins at an offset, or nil if none does.
func recordAt(r io.ReaderAt, offset int64) (raw []byte, err error) {
	for size := 4 << 10; size <= 2*jsonl.MaxLine; size *= 4 {
		line := make([]byte, size)
		n, err := r.ReadAt(line, offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		line = line[:n]
		end := bytes.IndexByte(line, '\n')
		if end < 0 && n == size {
			continue
		}
		if end >= 0 {
			line = line[:end]
		}
		jsonl.Split(jsonl.Line{Text: line, Offset: offset, Terminated: true}, func(rec jsonl.Record, err error) bool {
			if err == nil && rec.Offset == offset {
				raw = rec.Raw
			}
			return err != nil
		})
		return raw, nil
	}
	return nil, nil
}

// recordID returns the id of a record, "" if it has none.
func recordID(raw []byte) string {
	if id, _ := member(raw, `{"id":"`); id != nil {
		return string(id)
	}
	members, err := rawjson.Members(raw)
	if err != nil {
		return ""
	}
	for _, m := range members {
		if m.Name == "id" && len(m.Value) > 0 && m.Value[0] == '"' {
			id, _ := rawjson.Unquote(m.Value)
			return id
		}
	}
	return ""
}

// SetAside describes bytes that were moved out of a log because they were not a whole
// record: a writer died while writing them, and they never counted.
type SetAside struct {
	File   string // the log
	Offset int64  // their original position
	Bytes  int64
	Kept   string // their file now; both are relative to the workspace
}

// mendTail closes or cuts the last line of a log if it lacks its newline. Whole records
// in it stay; other bytes are first kept elsewhere, durably.
func (l *logFile) mendTail(s *Files) ([]SetAside, error) {
	offset, text, err := l.Tail(jsonl.MaxLine)
	if err != nil || offset == l.Size() {
		return nil, err
	}
	// Whole records at its beginning stay. After a broken record, what looks like a
	// record may be part of the broken one: an object within a call's input.
	keep := offset
	jsonl.Split(jsonl.Line{Text: text, Offset: offset}, func(rec jsonl.Record, err error) bool {
		var damage *jsonl.Damage
		if errors.As(err, &damage) {
			return damage.Kind != jsonl.Broken && damage.Kind != jsonl.TornTail
		}
		keep = rec.Offset + int64(len(rec.Raw))
		return true
	})
	var aside []SetAside
	if rest := l.Size() - keep; rest > 0 && len(bytes.Trim(text[min(keep-offset, int64(len(text))):], " \t\r")) > 0 || text == nil {
		kept, err := keeper{s}.copy(fmt.Sprintf("torn/%s-%d", l.kept, keep), io.NewSectionReader(l, keep, rest))
		if err != nil {
			return nil, fmt.Errorf("set %d bytes of a torn line of %q aside: %w", rest, l.name, err)
		}
		aside = append(aside, SetAside{File: l.name, Offset: keep, Bytes: rest, Kept: kept})
		if err := l.Cut(keep); err != nil {
			return aside, fmt.Errorf("cut a torn line of %q: %w", l.name, err)
		}
	}
	if keep > offset {
		if err := l.Append([]byte{'\n'}); err != nil {
			return aside, fmt.Errorf("close the last line of %q: %w", l.name, err)
		}
	}
	return aside, nil
}
