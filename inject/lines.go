package inject

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"cortext/schema/jsonl"
)

// A Span is the position of a record in a transcript.
type Span struct {
	Offset int64
	Size   int
}

// Read reads the record again.
func (s Span) Read(f io.ReaderAt) ([]byte, error) {
	raw := make([]byte, s.Size)
	if _, err := f.ReadAt(raw, s.Offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return raw, nil
}

// A SpanReader reads records again, into the same memory.
type SpanReader struct{ raw []byte }

// keptMost is the size in bytes above which the memory of a record is not reused.
const keptMost = 1 << 20

// Read reads a record. Its bytes are valid until the next one is read.
func (r *SpanReader) Read(f io.ReaderAt, at Span) ([]byte, error) {
	if at.Size > keptMost {
		return at.Read(f)
	}
	r.raw = slices.Grow(r.raw[:0], at.Size)[:at.Size]
	n, err := f.ReadAt(r.raw, at.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return r.raw[:n], nil
}

// Losses records what could not be read from a transcript.
type Losses struct {
	damage  []string
	torn    string         // the line cut off at the end
	unknown map[string]int // records and parts of unknown kinds
}

// Damaged records damage.
func (l *Losses) Damaged(what string) { l.damage = append(l.damage, what) }

// Unknown counts a record or part of an unknown kind.
func (l *Losses) Unknown(kind string) {
	if l.unknown == nil {
		l.unknown = map[string]int{}
	}
	l.unknown[kind]++
}

// KindName returns the name of a record type for [Losses.Unknown].
func KindName(typ string) string {
	if typ == "" {
		return "(no type)"
	}
	return typ
}

// Report adds the warnings about the losses to a transcript.
func (l *Losses) Report(t *Transcript) {
	t.Warnings, t.Unread, t.Torn = append(t.Warnings, l.damage...), l.damage, l.torn
	if l.torn != "" {
		t.Warnings = append(t.Warnings, l.torn)
	}
	for _, kind := range slices.Sorted(maps.Keys(l.unknown)) {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%d records of the unknown kind %q left out", l.unknown[kind], kind))
	}
}

// ReadLines calls add for each record of a transcript of size bytes, starting at
// o.From. It records damage in l.
func ReadLines(f io.ReaderAt, size int64, o Options, l *Losses, add func(jsonl.Record)) error {
	from, number := o.From.Offset, 1
	if from > 0 {
		number = 0
	}
	lines := 0
	for rec, err := range jsonl.Read(io.NewSectionReader(f, from, size-from), from, number) {
		if damage, damaged := err.(*jsonl.Damage); damaged {
			switch {
			case o.Head > 0 || damage.Kind == jsonl.Unterminated: // the limit cuts a line off
			case damage.Kind == jsonl.TornTail:
				l.torn = damage.Error()
			default:
				l.Damaged(damage.Error())
			}
			continue
		}
		if err != nil {
			return err
		}
		if lines++; lines%256 == 0 && o.Progress != nil {
			o.Progress(rec.Offset)
		}
		add(rec)
	}
	if o.Progress != nil {
		o.Progress(size)
	}
	return nil
}

// Records yields the undamaged records of a file, and an error if it cannot be read.
func Records(f io.Reader) iter.Seq2[jsonl.Record, error] {
	return func(yield func(jsonl.Record, error) bool) {
		for rec, err := range jsonl.Read(f, 0, 1) {
			if _, damaged := err.(*jsonl.Damage); !damaged && !yield(rec, err) {
				return
			}
		}
	}
}

// AnyRecord reports whether sought accepts one of the first records of a file; first is
// how many to try.
func AnyRecord(f io.Reader, first int, sought func(raw []byte) bool) bool {
	n := 0
	for rec, err := range Records(f) {
		if err != nil {
			return false
		}
		if sought(rec.Raw) {
			return true
		}
		if n++; n == first {
			return false
		}
	}
	return false
}

// fingerprinted is how many bytes a fingerprint covers at each end of what was read.
const fingerprinted = 4096

// Fingerprint returns hashes of a file's first bytes and of its last bytes before
// offset.
func Fingerprint(f io.ReaderAt, offset int64) (head, tail string, err error) {
	buf := make([]byte, min(offset, fingerprinted))
	hash := func(at int64) string {
		if _, e := f.ReadAt(buf, at); e != nil && e != io.EOF {
			err = e
		}
		sum := sha256.Sum256(buf)
		return hex.EncodeToString(sum[:8])
	}
	return hash(0), hash(offset - int64(len(buf))), err
}

// Check returns [ErrCursor] unless the file is unchanged up to the cursor.
func (c Cursor) Check(f io.ReaderAt, size int64) error {
	if c.Offset > size {
		return ErrCursor
	}
	head, tail, err := Fingerprint(f, c.Offset)
	if err == nil && (head != c.Head || tail != c.Tail) {
		err = ErrCursor
	}
	return err
}
