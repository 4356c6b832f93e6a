package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"cortext/schema/jsonl"
)

// A logWriter writes to the two logs of a conversation under its lock: it appends records
// to them, and replaces whole logs.
type logWriter struct {
	*writeLock
	knows func() (*known, error)

	since Checkpoint // the caller's checkpoint
	began int64      // length of messages.jsonl at the start, 0 if unknown
	whole bool       // index the whole logs: records of other folders may be anywhere

	aside     []SetAside // torn lines of an earlier writer
	rewritten bool       // a log was replaced: the counters do not fit it
}

// begin prepares the logs for a writer that returns with a checkpoint. whole says that
// other folders have records, too.
func (w *logWriter) begin(cp Checkpoint, whole bool) {
	w.since, w.whole = cp, whole
	if info, err := w.c.messages.Refresh(); err == nil { // other processes may have written
		w.began = info.Size()
	}
	w.c.messages.startAt(w.indexFrom(cp.Messages))
	if w.c.tools != nil {
		w.c.tools.startAt(w.indexFrom(cp.Tools))
	}
}

// indexFrom returns the offset at which the index of a log must begin.
func (w *logWriter) indexFrom(at LogCheckpoint) int64 {
	if w.whole {
		return 0
	}
	return at.Since
}

// refresh brings the index of a log up to date.
func (w *logWriter) refresh(l *logFile) error {
	aside, err := l.refresh(w.c.s.Files)
	w.aside = append(w.aside, aside...)
	return err
}

// openTools opens tools.jsonl, or checks that the open file is still the conversation's.
func (w *logWriter) openTools() error {
	c := w.c
	var info fs.FileInfo
	if c.tools != nil {
		var err error
		if info, err = c.tools.look(c.s.Files); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !c.tools.Is(info) {
			_ = c.tools.Close()
			c.tools = nil
		}
	}
	if c.tools == nil {
		l, created, err := c.openLog(toolsFile)
		if err != nil {
			return err
		}
		if created {
			w.made = append(w.made, l.name)
		}
		l.startAt(w.indexFrom(w.since.Tools))
		c.tools = l
		if info, err = l.Refresh(); err != nil {
			return err
		}
	}
	return fixMode(c.tools.File.File(), info, privateFileMode)
}

// openWhole opens a log for [logWriter.rewrite] and indexes all of it. It returns nil if
// there is none.
func (w *logWriter) openWhole(name string) (*logFile, error) {
	c := w.c
	if name == toolsFile {
		if missing, err := c.s.missing(c.file(name)); missing || err != nil {
			return nil, err
		}
		if err := w.openTools(); err != nil {
			return nil, err
		}
	}
	l := c.messages
	if name == toolsFile {
		l = c.tools
	}
	l.startAt(0)
	return l, w.refresh(l)
}

// write appends records to the logs, calls first. The result covers what was written,
// even after an error.
func (w *logWriter) write(p *pending) (r Result, err error) {
	if len(p.tools) > 0 {
		if err := w.openTools(); err != nil {
			return r, err
		}
		if r.Tools, err = w.appendTo(w.c.tools, p.tools, &r); err != nil {
			return r, err
		}
	}
	if len(p.messages) > 0 {
		if r.Appended, err = w.appendTo(w.c.messages, p.messages, &r); err != nil {
			return r, err
		}
	}
	*p = pending{}
	return r, nil
}

// appendTo appends the new records to a log, each with one write, and syncs once. After
// an error it removes what it wrote: a later append must not count as safe what a failed
// sync left only in memory.
func (w *logWriter) appendTo(l *logFile, records []record, r *Result) (written int, err error) {
	if err := w.refresh(l); err != nil {
		return 0, err
	}
	known, err := w.knows()
	if err != nil {
		return 0, err
	}
	if err := w.settle(l, known); err != nil {
		return 0, err
	}
	begin := l.Size()
	defer func() {
		if err != nil {
			w.c.written = nil
			err = errors.Join(err, l.Cut(begin))
		}
	}()
	var line, last []byte // last is the end of the last line written
	for _, rec := range records {
		rev := 0
		if rec.copied {
			rev = rec.rev()
		}
		line = rec.appendLine(line[:0], rev)
		if rec.id() != "" && !rec.copied {
			stored, err := l.places.at(l, rec.id())
			if err != nil {
				return 0, err
			}
			if len(stored) > 0 {
				if !rec.inherit(stored, known) {
					r.Skipped++
					continue
				}
				var isNew bool
				if rev, isNew = rec.revise(stored); !isNew {
					r.Skipped++
					continue
				}
				line = rec.appendLine(line[:0], rev)
			}
		}
		if len(line) > jsonl.MaxLine {
			return 0, fmt.Errorf("record %q has %d bytes, more than the %d that can be read again", rec.id(), len(line), jsonl.MaxLine)
		}
		offset := l.Size()
		if err := l.Append(line); err != nil {
			return 0, err
		}
		l.places.add(rec.id(), offset)
		if len(*rec.redactions()) > 0 && rec.id() != "" {
			l.marked = append(l.marked, rec.id())
		}
		if rec.setRev(rev); w.c.written != nil {
			w.c.written.add(path.Base(l.name), rec, len(line))
		}
		last = append(last[:0], line[max(0, len(line)-lastBytes):]...)
		if written++; rec.message != nil {
			r.Last = *rec.message
		}
	}
	// The records count from here on. The caller writes what refers to them only afterwards.
	if err := l.Sync(); err != nil {
		return 0, err
	}
	// git may have replaced the file meanwhile.
	if info, err := l.look(w.c.s.Files); err != nil || !l.Is(info) {
		return 0, &replacedError{l.name}
	}
	if err := l.note(last); err != nil {
		return 0, err
	}
	return written, nil
}
