package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"cortext/schema/jsonl"
	"cortext/schema/rawjson"
	"cortext/store/internal/lines"
)

// A logFile is a log that is open for writing, with an index of the records in
// it. What is known of it holds under the conversation's lock and is checked
// against the file each time.
type logFile struct {
	*lines.File
	name string // relative to the workspace
	kept string // below kept/torn: what the names of bytes set aside begin with

	since  int64     // records before it need no index; see Conversation.BeginAt
	from   int64     // where the index begins
	places index     // nil before the first use
	end    int64     // the file up to here is in places
	mod    time.Time // of the file when it had that length
	last   []byte    // the last bytes before end: another content would differ there
}

// An index says where the records of a log stand, by id.
type index map[string]places

// places are the offsets of the records with one id, in their order. Nearly all
// ids have one.
type places struct {
	first int64
	more  []int64
}

// lastBytes is how much of its end a log is recognised by.
const lastBytes = 64

// startAt promises that no record before an offset needs an index.
func (l *logFile) startAt(since int64) {
	l.since = since
	if l.from > since {
		l.places = nil
	}
}

// refresh makes the log ready for an append: what others wrote is indexed, and a
// torn tail is set aside.
func (l *logFile) refresh(s *Store) (aside []SetAside, err error) {
	info, err := l.Refresh()
	if err != nil {
		return nil, err
	}
	if l.places != nil && l.end == info.Size() && l.mod.Equal(info.ModTime()) {
		return nil, nil
	}
	aside, err = s.mendTail(l)
	if err != nil {
		return aside, err
	}
	first := l.places == nil
	if first || !l.continues() {
		l.places, l.from, l.end = index{}, 0, 0
		if first {
			l.from = min(l.since, l.Size())
			l.end = l.from
		}
	}
	if err := l.places.scan(l, l.end, l.Size()); err != nil {
		return aside, err
	}
	return aside, l.note(nil)
}

// scan notes where the records in a part of a log stand. A line that looks as ours do
// is not parsed: [index.at] sees what it is worth.
func (x index) scan(r io.ReaderAt, offset, end int64) error {
	in := bufio.NewReaderSize(io.NewSectionReader(r, offset, end-offset), 256<<10)
	for {
		line, err := in.ReadSlice('\n')
		size := int64(len(line))
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = in.ReadSlice('\n')
			size += int64(len(line))
			line = nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if id, ok := plainID(line); ok {
			x.add(id, offset)
		} else if addErr := x.addParsed(r, offset, size); addErr != nil {
			return addErr
		}
		offset += size
		if err != nil {
			return nil
		}
	}
}

// plainID returns the id of a line that is one record in our spelling, as far as
// can be told without parsing it.
func plainID(line []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"id":"`))
	i := bytes.IndexAny(rest[:min(len(rest), 200)], `"\`)
	if !ok || i <= 0 || rest[i] != '"' || !bytes.HasSuffix(line, []byte("}\n")) ||
		bytes.IndexByte(line, 0) >= 0 || bytes.Contains(line, []byte("}{")) {
		return "", false
	}
	return string(rest[:i]), true
}

// addParsed indexes the records of one line.
func (x index) addParsed(r io.ReaderAt, offset, size int64) error {
	for rec, err := range jsonl.Read(io.NewSectionReader(r, offset, size), offset, 0) {
		if err == nil {
			x.add(recordID(rec.Raw), rec.Offset)
		} else if !isDamage(err) {
			return err
		}
	}
	return nil
}

// continues reports whether the file, which changed, still begins with what was
// indexed.
func (l *logFile) continues() bool {
	if l.Size() <= l.end {
		return false
	}
	now := make([]byte, len(l.last))
	_, err := l.ReadAt(now, l.end-int64(len(now)))
	return err == nil && bytes.Equal(now, l.last)
}

// note remembers what the file looks like now that all of it is indexed. line is
// the last one, if it is at hand.
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

// at returns the records with one id as they stand in the log.
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

// recordAt returns the record that begins at an offset, nil if none does.
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
		jsonl.Split(line, offset, 0, true, func(rec jsonl.Record, err error) bool {
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
	if rest, ok := bytes.CutPrefix(raw, []byte(`{"id":"`)); ok {
		if i := bytes.IndexAny(rest, `"\`); i >= 0 && rest[i] == '"' {
			return string(rest[:i])
		}
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

// SetAside names bytes that were no whole record and stood in a log's way: a
// writer died in the middle of them, and they never counted.
type SetAside struct {
	File   string // the log
	Offset int64  // where they stood
	Bytes  int64
	Kept   string // where they are now; both relative to the workspace
}

// mendTail closes or cuts the last line of a log if it lacks its newline. Whole
// records in it stay; what is none is first kept elsewhere, durably.
func (s *Store) mendTail(l *logFile) ([]SetAside, error) {
	offset, text, err := l.Tail(jsonl.MaxLine)
	if err != nil || offset == l.Size() {
		return nil, err
	}
	// The whole records at its beginning stay. What looks like one behind a broken
	// one may be a part of that: an object within a call's input.
	keep := offset
	jsonl.Split(text, offset, 0, false, func(rec jsonl.Record, err error) bool {
		var damage *jsonl.Damage
		if errors.As(err, &damage) {
			return damage.Kind != jsonl.Broken && damage.Kind != jsonl.TornTail
		}
		keep = rec.Offset + int64(len(rec.Raw))
		return true
	})
	var aside []SetAside
	if rest := l.Size() - keep; rest > 0 && len(bytes.Trim(text[min(keep-offset, int64(len(text))):], " \t\r")) > 0 || text == nil {
		kept, err := s.keep(fmt.Sprintf("torn/%s-%d", l.kept, keep), io.NewSectionReader(l, keep, rest))
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
