package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"

	"cortext/schema/jsonl"
	"cortext/store/internal/lines"
)

// A logReader is a log open for reading, with its length when it was opened. What it
// reads stays the same if git replaces the log.
type logReader struct {
	io.ReaderAt
	name   string
	size   int64
	file   *os.File // nil if there is none
	shared bool     // a writer closes the file
	err    error    // why the log is unreadable

	standIn string // what it is if it stands in for the log

	held []record // its records, if they are in memory
}

// open opens a log for reading. A missing log counts as empty.
func (f sessionFolder) open(name string) *logReader {
	l := &logReader{name: f.file(name), ReaderAt: bytes.NewReader(nil)}
	if content, ok := f.borrowedFile(name); ok {
		l.size, l.ReaderAt = int64(len(content)), bytes.NewReader(content)
		return l
	}
	file, info, _, err := lines.Open(f.s.root, l.name, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, lines.ErrNotRegular):
		d := damaged(l.name, NotRegular, err.Error())
		if f.isLocked(name) {
			l.standIn, d = annexed, damaged(l.name, Unreadable, annexed)
		}
		l.err = &d
	case err != nil:
		l.err = explain(err)
	default:
		l.file, l.ReaderAt, l.size = file, file, info.Size()
		if l.standIn = standIn(l, l.size); l.standIn != "" {
			d := damaged(l.name, Unreadable, l.standIn)
			l.err = &d
		}
	}
	return l
}

// openIn opens a log in one of the conversation's folders for reading. In an unpublished
// conversation, which no other process knows, that is the file that it writes to.
func (r *Reader) openIn(f sessionFolder, name string) *logReader {
	if f == r.sessionFolder {
		if l := r.unpublished[name]; l != nil {
			open := &logReader{name: l.name, ReaderAt: l.File, size: l.Size(), file: l.File.File(), shared: true}
			if r.written != nil {
				open.held = r.written.held[name]
			}
			return open
		}
	}
	return f.open(name)
}

// openOwn opens one of the conversation's own logs for reading. It returns nil if the log
// is missing, is not a regular file or stands in for the log, which [Store.Check] reports.
func (r *Reader) openOwn(name string) (*logReader, error) {
	l := r.openIn(r.sessionFolder, name)
	switch {
	case l.standIn != "":
		return nil, l.close()
	case l.file != nil:
		return l, nil
	case isDamage(l.err):
		return nil, nil
	}
	return nil, l.err
}

func (l *logReader) close() error {
	if l.file == nil || l.shared {
		return nil
	}
	return l.file.Close()
}

// records yields the raw records from an offset, which must begin a line, to the end, and a
// [*Damage] for anything else. Only those from the start of the log have line numbers.
func (l *logReader) records(from int64) iter.Seq2[jsonl.Record, error] {
	line := 0
	if from == 0 {
		line = 1
	}
	return l.named(jsonl.Read(io.NewSectionReader(l, from, l.size-from), from, line))
}

// named yields the records of the log, with its name in damage.
func (l *logReader) named(records iter.Seq2[jsonl.Record, error]) iter.Seq2[jsonl.Record, error] {
	return func(yield func(jsonl.Record, error) bool) {
		if l.err != nil {
			yield(jsonl.Record{}, l.err)
			return
		}
		for rec, err := range records {
			if !yield(rec, damageIn(l.name, err)) {
				return
			}
		}
	}
}

// readIn yields the records of a log in one of the folders of r.
func readIn[R any](r *Reader, f sessionFolder, k logKind[R]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		l := r.openIn(f, k.file)
		defer l.close()
		parseLog(l, 0, k)(yield)
	}
}

// parseLog yields the records from an offset on, and a [*Damage] for anything else.
func parseLog[R any](l *logReader, from int64, k logKind[R]) iter.Seq2[R, error] {
	if from == 0 && l.held != nil {
		return func(yield func(R, error) bool) {
			for _, r := range l.held {
				if !yield(k.of(r), nil) {
					return
				}
			}
		}
	}
	return recordsAs(l, l.records(from), func(rec jsonl.Record) (R, error) { return parseRecord(rec, k) })
}

// recordsAs yields what read makes of each record of the log.
func recordsAs[T any](l *logReader, records iter.Seq2[jsonl.Record, error], read func(jsonl.Record) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for rec, err := range records {
			var v T
			if err == nil {
				v, err = read(rec)
			}
			if !yield(v, damageIn(l.name, err)) {
				return
			}
		}
	}
}

func parseRecord[R any](rec jsonl.Record, k logKind[R]) (R, error) {
	r, err := k.parse(rec.Raw)
	if err != nil {
		return r, &jsonl.Damage{Line: rec.Line, Offset: rec.Offset, Kind: NotRecord, Detail: err.Error()}
	}
	return r, nil
}

// Undamaged returns a sequence of records without its reports of damage.
func Undamaged[R any](seq iter.Seq2[R, error]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for r, err := range seq {
			if !isDamage(err) && !yield(r, err) {
				return
			}
		}
	}
}
