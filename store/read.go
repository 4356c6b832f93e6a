package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/store/internal/lines"
)

// Messages yields every whole line of messages.jsonl in the order of the file,
// each rev of a message by itself, and a [*Damage] wherever something else
// stands. An error of another type is the last. It needs the memory of one line.
func (c *Conversation) Messages() iter.Seq2[schema.Message, error] {
	return readLog(c, messagesFile, schema.ParseMessage)
}

// Tools yields the lines of tools.jsonl as Messages does those of messages.jsonl.
func (c *Conversation) Tools() iter.Seq2[schema.Tool, error] {
	return readLog(c, toolsFile, schema.ParseTool)
}

func readLog[R any](c *Conversation, name string, parse func([]byte) (R, error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		// A writer may move records into the first folder meanwhile. Where the others
		// are opened before it, each record is in one of the open files.
		dirs := c.dirs()
		logs := make([]heldLog, len(dirs))
		for i := range slices.Backward(dirs) {
			logs[i] = c.hold(dirs[i], name)
			defer logs[i].close()
		}
		for _, l := range logs {
			for r, err := range parseLog(l, parse) {
				if !yield(r, err) {
					return
				}
			}
		}
	}
}

// readHeld reads a log that is open, and closes it.
func readHeld[R any](l heldLog, parse func([]byte) (R, error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		defer l.close()
		parseLog(l, parse)(yield)
	}
}

func parseLog[R any](l heldLog, parse func([]byte) (R, error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for rec, err := range l.records() {
			var r R
			if err == nil {
				r, err = parseRecord(rec, parse)
			}
			if !yield(r, damageIn(l.name, err)) {
				return
			}
		}
	}
}

// A heldLog is a log that is open for reading, as long as it was when it was opened.
// It stays what it is if git puts another in its place.
type heldLog struct {
	name string
	file *os.File    // nil where there is none
	r    io.ReaderAt // never nil
	size int64
	err  error // why it cannot be read
}

// hold opens a log in one of the conversation's folders for reading.
func (c *Conversation) hold(dir, name string) heldLog {
	if l := c.stagedLog(name); l != nil && dir == c.dir {
		return heldLog{name: l.name, r: l.File, size: l.Size()}
	}
	return c.s.hold(dir + "/" + name)
}

// hold opens a log for reading. One that is missing is empty.
func (s *Store) hold(name string) heldLog {
	l := heldLog{name: name, r: bytes.NewReader(nil)}
	if content, ok := s.borrowedFile(name); ok {
		l.r, l.size = bytes.NewReader(content), int64(len(content))
		return l
	}
	f, info, _, err := lines.Open(s.root, name, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, lines.ErrNotRegular):
		l.err = &Damage{name, jsonl.Damage{Kind: NotRegular, Detail: err.Error()}}
	case err != nil:
		l.err = explain(err)
	default:
		l.file, l.r, l.size = f, f, info.Size()
	}
	return l
}

func (l heldLog) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// records yields the records of the log as they stand there, and a [*Damage] for what
// is none.
func (l heldLog) records() iter.Seq2[jsonl.Record, error] {
	return func(yield func(jsonl.Record, error) bool) {
		if l.err != nil {
			yield(jsonl.Record{}, l.err)
			return
		}
		for rec, err := range jsonl.Read(io.NewSectionReader(l.r, 0, l.size), 0, 1) {
			if !yield(rec, damageIn(l.name, err)) {
				return
			}
		}
	}
}

// readRaw yields the records of a log; see [heldLog.records].
func (s *Store) readRaw(name string) iter.Seq2[jsonl.Record, error] {
	return func(yield func(jsonl.Record, error) bool) {
		l := s.hold(name)
		defer l.close()
		l.records()(yield)
	}
}

// records yields the records of a log from an offset and a line on, and a
// [*jsonl.Damage] for what is none.
func records[R any](r io.Reader, offset int64, line int, parse func([]byte) (R, error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for rec, err := range jsonl.Read(r, offset, line) {
			var v R
			if err == nil {
				v, err = parseRecord(rec, parse)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

func parseRecord[R any](rec jsonl.Record, parse func([]byte) (R, error)) (R, error) {
	r, err := parse(rec.Raw)
	if err != nil {
		return r, &jsonl.Damage{Line: rec.Line, Offset: rec.Offset, Kind: NotRecord, Detail: err.Error()}
	}
	return r, nil
}
