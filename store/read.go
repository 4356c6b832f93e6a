package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"

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
		for _, dir := range c.dirs() {
			for r, err := range readLogFile(c.s, dir+"/"+name, parse) {
				if !yield(r, err) {
					return
				}
			}
		}
	}
}

func readLogFile[R any](s *Store, name string, parse func([]byte) (R, error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for rec, err := range s.readRaw(name) {
			var r R
			if err == nil {
				r, err = parseRecord(rec, parse)
			}
			if !yield(r, damageIn(name, err)) {
				return
			}
		}
	}
}

// readRaw yields the records of a log as they stand there, and a [*Damage] for what is
// none.
func (s *Store) readRaw(name string) iter.Seq2[jsonl.Record, error] {
	return func(yield func(jsonl.Record, error) bool) {
		if content, ok := s.borrowedFile(name); ok {
			for rec, err := range jsonl.Read(bytes.NewReader(content), 0, 1) {
				if !yield(rec, damageIn(name, err)) {
					return
				}
			}
			return
		}
		f, info, _, err := lines.Open(s.root, name, os.O_RDONLY, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return
		case errors.Is(err, lines.ErrNotRegular):
			yield(jsonl.Record{}, &Damage{name, jsonl.Damage{Kind: NotRegular, Detail: err.Error()}})
			return
		case err != nil:
			yield(jsonl.Record{}, explain(err))
			return
		}
		defer f.Close()
		for rec, err := range jsonl.Read(io.NewSectionReader(f, 0, info.Size()), 0, 1) {
			if !yield(rec, damageIn(name, err)) {
				return
			}
		}
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
