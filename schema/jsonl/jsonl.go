// Package jsonl reads files with one JSON object per line, whole or damaged. It returns
// the good records and describes each damage with line and byte.
//
// The kinds of damage are those seen in the field: torn tails, records of two writers on
// one line, runs of NUL left by a power cut, conflict markers of a merge, lines cut in
// the middle. A line ending of either kind, a byte order mark and blank lines are not
// damage.
package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"cortext/schema/rawjson"
)

// MaxLine is the longest line that is read, in bytes. Lines of 15 MB do occur; a longer
// line than this is reported and skipped, so that it cannot use up all memory.
const MaxLine = 256 << 20

// Kind is a kind of damage, as displayed.
type Kind string

// The kinds of damage.
const (
	TornTail     Kind = "torn tail"             // the last line is cut off: not a record
	Unterminated Kind = "no newline at the end" // the last record is complete except for its newline
	NULs         Kind = "NUL bytes"             // between or around records
	Welded       Kind = "welded records"        // more than one record on a line: each is read
	Conflict     Kind = "conflict marker"       // of a git merge
	Broken       Kind = "broken line"           // not JSON, or not an object
	BadUTF8      Kind = "invalid UTF-8"         // the record is still read
	TooLong      Kind = "line too long"         // longer than MaxLine: skipped
)

// Damage is a place where a file is not as it should be. It is an error so that it can be
// returned beside records.
type Damage struct {
	Line   int   // from 1; 0 if not counted
	Offset int64 // byte from the start of the file
	Kind   Kind
	Detail string
}

func (d *Damage) Error() string {
	s := fmt.Sprintf("byte %d: %s", d.Offset, d.Kind)
	if d.Line > 0 {
		s = fmt.Sprintf("line %d, %s", d.Line, s)
	}
	if d.Detail != "" {
		s += " (" + d.Detail + ")"
	}
	return s
}

// A Record is one object of a file. Raw and Fields are valid until the next record is read.
type Record struct {
	Line   int
	Offset int64
	Raw    []byte
	Fields []rawjson.Field // the members of Raw; nil if [ReadKnown] did not check it
}

// Read yields the records of r and the damage between them, in order. r begins at the
// given byte of its file, at the start of the given line (0 and 1 for a whole file). An
// error that is not a *[Damage] comes from r and ends the sequence.
func Read(r io.Reader, offset int64, line int) iter.Seq2[Record, error] {
	return read(r, offset, line, Split)
}

// ReadKnown is [Read] for a whole file, but it takes a line as one record, unchecked, if known
// returns true. It calls known with each line before it yields its content.
func ReadKnown(r io.Reader, known func(line []byte) bool) iter.Seq2[Record, error] {
	return read(r, 0, 1, func(line Line, yield func(Record, error) bool) bool {
		if known(line.Text) && line.Terminated {
			return yield(Record{Line: line.Number, Offset: line.Offset, Raw: line.Text}, nil)
		}
		return Split(line, yield)
	})
}

func read(r io.Reader, offset int64, line int, split func(Line, func(Record, error) bool) bool) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in := bufio.NewReaderSize(r, bufferSize(r))
		var buf []byte
		var fields []rawjson.Field
		for ; ; line++ {
			text, size, err := readLine(in, &buf)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Record{}, err)
				return
			}
			if size > MaxLine {
				if !yield(Record{}, &Damage{line, offset, TooLong, fmt.Sprintf("%d bytes, the limit is %d", size, MaxLine)}) {
					return
				}
			} else if !split(Line{text, offset, line, err == nil, &fields}, yield) {
				return
			}
			offset += size
			if err != nil {
				return
			}
		}
	}
}

// bufferSize is the size of the buffer to read r with. Short files need less, and counting
// or checking all conversations reads very many of them.
func bufferSize(r io.Reader) int {
	const most = 64 << 10
	if r, ok := r.(interface{ Size() int64 }); ok {
		return int(min(most, r.Size()+1))
	}
	return most
}

// readLine returns the next line without its newline, and its size including it. The
// error is io.EOF if the newline is missing. The text of a line longer than MaxLine is
// not kept.
func readLine(in *bufio.Reader, buf *[]byte) (text []byte, size int64, err error) {
	*buf = (*buf)[:0]
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		if err == nil && len(*buf) == 0 {
			return part[:len(part)-1], size, nil
		}
		if size <= MaxLine {
			*buf = append(*buf, part...)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(*buf, []byte{'\n'}), size, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return *buf, size, err
		}
	}
}

// A Line is one line of a file.
type Line struct {
	Text       []byte // without the newline
	Offset     int64
	Number     int
	Terminated bool // by a newline

	fields *[]rawjson.Field // memory for the members of its records; may be nil
}

// byteOrderMark may precede what an editor wrote.
const byteOrderMark = "\xEF\xBB\xBF"

// Split yields the content of a line: usually a record, nothing for a blank line, several
// records or damage for a damaged one. It returns false once yield does.
func Split(line Line, yield func(Record, error) bool) bool {
	s := splitter{line, yield}
	if line.fields == nil {
		s.line.fields = new([]rawjson.Field)
	}
	text := bytes.TrimPrefix(line.Text, []byte(byteOrderMark))
	if IsMarker(line.Text) {
		return s.damage(text, Conflict, "%.40q", text)
	}
	if checked := text[:len(text)-cutRune(text, line.Terminated)]; !utf8.Valid(checked) {
		at := 0
		for at < len(text) {
			r, n := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		if !s.damage(text[at:], BadUTF8, "%#02x", text[at]) {
			return false
		}
	}
	for len(text) > 0 {
		if n := len(text) - len(bytes.TrimLeft(text, "\x00")); n > 0 {
			if !s.damage(text, NULs, "%d", n) {
				return false
			}
			text = text[n:]
			continue
		}
		part := text
		if i := bytes.IndexByte(text, 0); i >= 0 {
			part = text[:i]
		}
		text = text[len(part):]
		if !s.records(part, line.Terminated || len(text) > 0) {
			return false
		}
	}
	return true
}

// A splitter yields the content of one line.
type splitter struct {
	line  Line
	yield func(Record, error) bool
}

// place returns the file offset of part, a suffix of the line.
func (s *splitter) place(part []byte) int64 { return s.line.Offset + int64(cap(s.line.Text)-cap(part)) }

func (s *splitter) damage(part []byte, kind Kind, format string, args ...any) bool {
	return s.yield(Record{}, &Damage{s.line.Number, s.place(part), kind, fmt.Sprintf(format, args...)})
}

// records yields the records in a part of the line that has no NUL.
func (s *splitter) records(part []byte, terminated bool) bool {
	for first := true; ; first = false {
		part = bytes.TrimLeft(part, " \t\r\n")
		if len(part) == 0 {
			return true
		}
		if !first && !s.damage(part, Welded, "") {
			return false
		}
		value, rest, fields, err := rawjson.NextFields(part, (*s.line.fields)[:0])
		*s.line.fields = fields
		if err == nil && value[0] != '{' {
			err = errors.New("not an object")
		}
		if err != nil {
			next := resync(part, err)
			if next == nil && terminated {
				next = spliced(part)
			}
			if bytes.HasPrefix(part, []byte("version https://git-lfs.github.com/spec/")) {
				err = errors.New("a pointer of git-lfs to what belongs here: git lfs pull")
			}
			kind := Broken
			if next == nil && !terminated {
				kind = TornTail
			}
			if !s.damage(part, kind, "%d bytes, %v", len(part)-len(next), err) {
				return false
			}
			if next == nil {
				return true
			}
			part = next
			continue
		}
		if len(rest) == 0 && !terminated && !s.damage(part[len(part):], Unterminated, "") {
			return false
		}
		if !s.yield(Record{s.line.Number, s.place(value), value, fields}, nil) {
			return false
		}
		part = rest
	}
}

// cutRune returns how many bytes at the end of an unterminated line begin an incomplete
// character: they belong to the torn tail.
func cutRune(text []byte, terminated bool) int {
	for n := 1; n < utf8.UTFMax && n <= len(text) && !terminated; n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				return n
			}
			break
		}
	}
	return 0
}

// resync finds a whole record after a torn one: a writer died in the middle of a record,
// and the next one appended to it. err gives the offset where the torn one stops being
// JSON. The next record begins there or later, or at the earliest two bytes before, if
// the tear is in a string, which the first quotation mark of the next record closes. What
// begins earlier is an object inside the torn record. If the torn record is JSON up to
// its end, no record follows it.
func resync(part []byte, err error) []byte {
	at := 0 // where the parse that failed with err began
	for {
		next := at + 1
		if e, ok := err.(*rawjson.SyntaxError); ok {
			next = max(next, at+e.Offset-2)
		}
		i := bytes.Index(part[next:], []byte(`{"`))
		if i < 0 {
			return nil
		}
		at = next + i
		var rest []byte
		if _, rest, err = rawjson.Next(part[at:]); err == nil {
			if len(rest) == 0 || rest[0] == '{' {
				return part[at:]
			}
			at = len(part) - len(rest) - 1 // an object inside the torn record
		}
	}
}

// spliceTries bounds the search in spliced.
const spliceTries = 64

// spliced finds a whole record after one that is torn where a value was due, so that the
// record reads as that value. Two things distinguish it from a value: the names of its
// first two members, which the records of one file share, and its end, which is that of
// the line.
func spliced(part []byte) []byte {
	first, second := firstNames(part)
	if second == nil {
		return nil
	}
	at := 0
	for range spliceTries {
		i := bytes.Index(part[at+1:], first)
		if i < 0 {
			return nil
		}
		at += 1 + i
		if a, b := firstNames(part[at:]); bytes.Equal(a, first) && bytes.Equal(b, second) {
			if _, rest, err := rawjson.Next(part[at:]); err == nil && len(rest) == 0 {
				return part[at:]
			}
		}
	}
	return nil
}

// firstNames returns the beginning of an object, up to the end of its first name, and its
// second name; nil if it has none.
func firstNames(object []byte) (first, second []byte) {
	rest, ok := bytes.CutPrefix(object, []byte("{"))
	if !ok {
		return nil, nil
	}
	var names [2][]byte
	for i := range names {
		name, after, err := rawjson.Next(rest)
		if err != nil || name[0] != '"' || len(after) == 0 || after[0] != ':' {
			return nil, nil
		}
		names[i] = name
		if i == 1 {
			break
		}
		_, after, err = rawjson.Next(after[1:])
		if err != nil || len(after) == 0 || after[0] != ',' {
			return nil, nil
		}
		rest = after[1:]
	}
	return object[:1+len(names[0])], names[1]
}

// IsMarker reports whether [Split] takes a line for a conflict marker.
func IsMarker(line []byte) bool {
	c, _ := Marker(bytes.TrimPrefix(line, []byte(byteOrderMark)))
	return c != 0
}

// Marker returns the byte and the length of a conflict marker: seven or more of one byte at
// the beginning of a line, followed by nothing or a space (FORMAT.md, section 13). Git writes
// longer ones for a conflict inside what both sides replaced, jj for a file that has such
// lines itself. Without a marker it returns 0, 0.
func Marker(line []byte) (c byte, n int) {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) < 7 || strings.IndexByte(`<|=>%\+-`, line[0]) < 0 { // the last four are jj's
		return 0, 0
	}
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if n < 7 || n < len(line) && line[n] != ' ' {
		return 0, 0
	}
	return line[0], n
}

// Joined reports whether lines may hold a record that does not begin a line, because a writer
// died in the middle of a line and another one appended to it. It takes a tenth of the time
// of [Split]. See [JoinedAt] for when false is certain.
func Joined(lines []byte) bool {
	for _, pair := range [][]byte{[]byte(`{"`), []byte("}{")} {
		for at := 0; ; at++ {
			i := bytes.Index(lines[at:], pair)
			if i < 0 {
				break
			}
			if at += i; JoinedAt(lines, at) {
				return true
			}
		}
	}
	return false
}

// JoinedAt reports whether a record that does not begin a line may begin at or after a pair of
// bytes in lines, which is {" or }{. If it is false for all of them, there is certainly none
// if records begin with an id and one of the names in beginsRecord, as ours do.
//
// Quotation marks in texts are escaped, and an object in a record follows a bracket, a comma
// or a colon. A brace before a quotation mark may also be the end of a text such as "x{".
func JoinedAt(lines []byte, at int) bool {
	rest := lines[at+2:]
	var next byte
	if len(rest) > 0 {
		next = rest[0]
	}
	if lines[at] == '}' { // what another program wrote may begin with a space
		return next == ' ' || next == '\t' || next == '\r'
	}
	if at == 0 || lines[at-1] == '\n' {
		return false
	}
	switch lines[at-1] {
	case '[', ',', ':':
		return beginsRecord(rest)
	}
	switch next {
	case ',', ':', ']', '}':
		return false
	}
	return true
}

// beginsRecord reports whether an object is a message or a tool call, by its first two
// members. It gets what follows the first quotation mark.
func beginsRecord(object []byte) bool {
	id, ok := bytes.CutPrefix(object, []byte(`id":"`))
	_, rest, _ := bytes.Cut(id, []byte(`"`))
	return ok && (bytes.HasPrefix(rest, []byte(`,"parent_id":`)) || bytes.HasPrefix(rest, []byte(`,"message_id":`)) || bytes.HasPrefix(rest, []byte(`,"timestamp":`)))
}
