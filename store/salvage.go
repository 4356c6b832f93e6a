package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"cortext/schema/jsonl"
)

// A RepairedLine says what a repair does about damage in a line.
type RepairedLine struct {
	jsonl.Damage
	Done string // "set aside", "split into lines"
}

func (l RepairedLine) String() string { return l.Error() + ": " + l.Done }

// What a repair does about damage in a line.
const (
	setAside  = "set aside"
	madeWhole = "newline added"
	split     = "each record gets its own line"
	replaced  = "replaced with U+FFFD"
	converted = "converted to UTF-8"
)

// salvaged is the part of a log that is worth keeping.
type salvaged struct {
	content []byte // the records, one per line; whole lines are byte for byte as they were
	done    []RepairedLine
	mangled []mangled
}

// A mangled record is one that had bytes which are not UTF-8.
type mangled struct {
	id       string
	from, to int // its line in the content
}

// A heldAt says where a record is, and whether it had bytes that are not UTF-8.
type heldAt struct {
	line    int
	mangled bool
}

// without drops a mangled record that another place has as it was.
func (s *salvaged) without(id string) {
	for i, m := range s.mangled {
		if m.id != id || m.to == m.from {
			continue
		}
		n := m.to - m.from
		s.content = slices.Delete(s.content, m.from, m.to)
		s.mangled[i].to = m.from
		for j := range s.mangled {
			if s.mangled[j].from > m.from {
				s.mangled[j].from, s.mangled[j].to = s.mangled[j].from-n, s.mangled[j].to-n
			}
		}
	}
}

// changed reports whether the content differs from that of the log.
func (s *salvaged) changed() bool { return len(s.done) > 0 }

// salvage takes the whole records of a log, and describes everything that it leaves out.
// Lines without damage keep their bytes. each gets every record that stays.
func salvage[R any](content []byte, k logKind[R], each func(r R, raw []byte, at heldAt)) (s salvaged) {
	if text, ok := fromUTF16(content); ok {
		s.done = append(s.done, RepairedLine{jsonl.Damage{Line: 1, Kind: jsonl.Broken, Detail: "UTF-16 text"}, converted})
		content = text
	}
	s.content = make([]byte, 0, len(content)+1)
	line, offset := 0, int64(0)
	for text := range bytes.Lines(content) {
		line++
		salvageLine(&s, jsonl.Record{Raw: text, Line: line, Offset: offset}, k, each)
		offset += int64(len(text))
	}
	return s
}

func salvageLine[R any](s *salvaged, line jsonl.Record, k logKind[R], each func(r R, raw []byte, at heldAt)) {
	bare, terminated := bytes.CutSuffix(line.Raw, []byte("\n"))
	if len(line.Raw) > jsonl.MaxLine {
		s.done = append(s.done, RepairedLine{jsonl.Damage{Line: line.Line, Offset: line.Offset, Kind: jsonl.TooLong, Detail: fmt.Sprintf("%d bytes", len(line.Raw))}, setAside})
		return
	}
	type found struct {
		r   R
		raw []byte
	}
	var records []found
	before := len(s.done)
	jsonl.Split(jsonl.Line{Text: bare, Offset: line.Offset, Number: line.Line, Terminated: terminated}, func(rec jsonl.Record, err error) bool {
		var r R
		if err == nil {
			if r, err = parseRecord(rec, k); err == nil {
				records = append(records, found{r, rec.Raw})
			}
		}
		var d *jsonl.Damage
		if errors.As(err, &d) {
			s.done = append(s.done, RepairedLine{*d, remedy(d.Kind)})
		}
		return true
	})
	whole := len(s.done) == before || len(s.done) == before+1 && s.done[before].Kind == jsonl.Unterminated
	for _, rec := range records {
		raw := rec.raw
		if !utf8.Valid(raw) {
			raw = bytes.TrimSuffix(k.encode(&rec.r), []byte("\n"))
			if !utf8.Valid(raw) { // in a member that we do not know
				raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
			}
		}
		bad := !utf8.Valid(rec.raw)
		each(rec.r, raw, heldAt{line.Line, bad})
		if !whole {
			if s.content = append(append(s.content, raw...), '\n'); bad {
				s.mangled = append(s.mangled, mangled{recordID(raw), len(s.content) - len(raw) - 1, len(s.content)})
			}
		}
	}
	if whole {
		s.content = append(append(s.content, bare...), '\n')
	}
}

// remedy says what a repair does about a kind of damage.
func remedy(kind jsonl.Kind) string {
	switch kind {
	case jsonl.Unterminated:
		return madeWhole
	case jsonl.Welded:
		return split
	case jsonl.BadUTF8:
		return replaced
	}
	return setAside
}

// fromUTF16 converts a log that an editor or a shell wrote as UTF-16, of either byte
// order. Lines after the first that is not UTF-16 stay as they are: another program may
// have appended to the log since.
func fromUTF16(content []byte) (text []byte, ok bool) {
	var order binary.ByteOrder
	rest := content
	switch {
	case bytes.HasPrefix(content, []byte{0xFF, 0xFE}):
		order, rest = binary.LittleEndian, content[2:]
	case bytes.HasPrefix(content, []byte{0xFE, 0xFF}):
		order, rest = binary.BigEndian, content[2:]
	case bytes.HasPrefix(content, []byte("{\x00\"\x00")):
		order = binary.LittleEndian
	case bytes.HasPrefix(content, []byte("\x00{\x00\"")):
		order = binary.BigEndian
	default:
		return nil, false
	}
	for len(rest) > 0 {
		line, size, whole := lineOfUTF16(rest, order)
		if !whole && !utf16Like(rest[:size], order) {
			break
		}
		text = append(text, line...)
		rest = rest[size:]
	}
	return append(text, rest...), true
}

// lineOfUTF16 decodes a line and returns the number of bytes that it takes. whole is false
// if it does not end in a newline.
func lineOfUTF16(b []byte, order binary.ByteOrder) (line []byte, size int, whole bool) {
	var units []uint16
	for size+1 < len(b) {
		u := order.Uint16(b[size:])
		size += 2
		units = append(units, u)
		if u == '\n' {
			whole = true
			break
		}
	}
	if !whole {
		size = len(b)
	}
	return []byte(string(utf16.Decode(units))), size, whole
}

// utf16Like reports whether bytes look like text in UTF-16: most of the letters of a record
// are ASCII.
func utf16Like(b []byte, order binary.ByteOrder) bool {
	plain := 0
	for i := 0; i+1 < len(b); i += 2 {
		if order.Uint16(b[i:]) < 0x80 {
			plain++
		}
	}
	return plain*4 > len(b)/2
}
