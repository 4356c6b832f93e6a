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

// Messages yields every whole line of messages.jsonl in file order, each rev of a message
// separately, and a [*Damage] for anything else. An error of another type ends the
// sequence. It needs memory for only one line.
func (c *Conversation) Messages() iter.Seq2[schema.Message, error] {
	return readLog(c, messagesFile, schema.ParseMessage)
}

// Tools is Messages for tools.jsonl.
func (c *Conversation) Tools() iter.Seq2[schema.Tool, error] {
	return readLog(c, toolsFile, schema.ParseTool)
}

func readLog[R any](c *Conversation, name string, parse func([]byte) (R, error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		// A writer may be moving records into the first folder. Opening the others before
		// it makes sure that each record is in one of the open files.
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

// readHeld reads an open log and closes it.
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

// A heldLog is a log open for reading, with its length when it was opened. It does not
// change if git replaces the log.
type heldLog struct {
	name string
	file *os.File    // nil if there is none
	r    io.ReaderAt // never nil
	size int64
	err  error // why it is unreadable
}

// hold opens a log in one of the conversation's folders for reading.
func (c *Conversation) hold(dir, name string) heldLog {
	if l := c.stagedLog(name); l != nil && dir == c.dir {
		return heldLog{name: l.name, r: l.File, size: l.Size()}
	}
	return c.s.hold(dir + "/" + name)
}

// hold opens a log for reading. A missing log counts as empty.
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

// records yields the raw records of the log, and a [*Damage] for anything else.
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

// records yields the records of a log, starting at an offset and a line number, and a
// [*jsonl.Damage] for anything else.
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
