package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"cortext/schema"
	"cortext/store/filelock"
	"cortext/store/internal/lines"
)

// Logs are append-only, with one exception: text that a user redacts after it was stored
// must leave the work tree. Then the log is replaced by a new file, under the lock, so that
// a reader sees either the old log or the new. A writer that waits for the lock finds
// another file under the name and starts over, as after git replaced it. A checkpoint into
// the old log is no longer confirmed.

// rewrite replaces a log. edit is called with each line of the old log, which has its
// newline unless it is a torn tail, and writes what replaces it to out.
func (tx *Tx) rewrite(l *logFile, edit func(line []byte, out io.Writer) error) (err error) {
	c := tx.c
	if err := c.s.makeLocal(tmpDir); err != nil {
		return err
	}
	tmp := tmpDir + "/" + digest([]byte(l.name))
	if err := c.s.root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, created, err := lines.OpenAppend(c.s.root, tmp, privateFileMode, c.logCalls())
	if err == nil && !created {
		err = errors.Join(fmt.Errorf("%q: %w", tmp, ErrExist), f.Close())
	}
	if err != nil {
		return err
	}
	unlock, placed := func() error { return nil }, false
	defer func() {
		if !placed {
			_ = errors.Join(f.Close(), c.s.root.Remove(tmp))
		}
	}()
	if _, err := l.Refresh(); err != nil {
		return err
	}
	out := bufio.NewWriterSize(appender{f}, 1<<20)
	if err := eachLine(l, l.Size(), func(line []byte) error { return edit(line, out) }); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if l == c.messages { // whoever opens the new log must wait for us
		if unlock, err = filelock.Lock(f.File(), 0); err != nil {
			return err
		}
	}
	if info, err := l.look(c.s.Files); err != nil || !l.Is(info) {
		return &replacedError{l.name}
	}
	if err := c.s.files.RenameIn(c.s.root, tmp, l.name); err != nil {
		return err
	}
	placed = true
	if l == c.messages {
		_ = tx.unlock()
		tx.unlock = unlock
	}
	_ = l.Close()
	*l = logFile{File: f, name: l.name, kept: l.kept}
	c.written, tx.rewritten, tx.since = nil, true, Checkpoint{}
	return c.calls().SyncDir(c.s.root, c.dir)
}

// openWhole opens a log for [Tx.rewrite] and indexes all of it. It returns nil if there
// is none.
func (tx *Tx) openWhole(name string) (*logFile, error) {
	c := tx.c
	if name == toolsFile {
		if missing, err := c.s.missing(c.file(name)); missing || err != nil {
			return nil, err
		}
		if err := tx.openTools(); err != nil {
			return nil, err
		}
	}
	l := c.messages
	if name == toolsFile {
		l = c.tools
	}
	l.startAt(0)
	return l, tx.refresh(l)
}

// settle brings a log in order in which a merge put the lines of a clone that did not know
// of a redaction: it drops the lines that the redacted one replaced. If such a line says
// more and this machine can repeat the redaction, the redacted line of it counts. It looks
// only at a log that is indexed from its beginning, as after a merge.
func (tx *Tx) settle(l *logFile, k *known) error {
	if l.from != 0 || len(l.marked) == 0 {
		return nil
	}
	settled := map[string]record{}
	for _, id := range l.marked {
		if len(l.places[id].more) == 0 {
			continue
		}
		r, changed, err := l.settled(id, k)
		if err != nil {
			return err
		}
		if changed {
			settled[id] = r
		}
	}
	if l.marked = nil; len(settled) == 0 {
		return nil
	}
	if err := tx.replaceRecords(l, settled); err != nil {
		return err
	}
	return tx.refresh(l)
}

// settled returns the redacted record with an id, if other lines with that id must go.
func (l *logFile) settled(id string, k *known) (best record, changed bool, err error) {
	raws, err := l.places.at(l, id)
	if err != nil {
		return best, false, err
	}
	var plain []record
	for _, raw := range raws {
		r, err := l.parse(raw)
		if err != nil {
			continue
		}
		if len(*r.redactions()) == 0 {
			plain = append(plain, r)
		}
		if best == (record{}) || r.beats(best) {
			best = r
		}
	}
	if len(*best.redactions()) == 0 || len(plain) == 0 {
		return best, false, nil
	}
	skeleton := best.skeleton().encode(0)
	var more record
	for _, r := range plain {
		switch {
		case bytes.Equal(r.encode(0), skeleton):
		case r.rev() < best.rev():
			changed = true
		case more == (record{}) || r.beats(more):
			more = r
		}
	}
	if more == (record{}) {
		return best, changed, nil
	}
	for _, redaction := range *best.redactions() {
		if !k.repeats(redaction) {
			return best, false, nil // another machine has to do it
		}
	}
	redacted, _, err := k.record(more)
	if err != nil {
		return best, false, err
	}
	redacted.mark(*best.redactions()...)
	if says, isNew := redacted.revise([][]byte{bytes.TrimSuffix(best.encode(best.rev()), []byte("\n"))}); isNew {
		best = redacted
		best.setRev(max(says, min(more.rev()+1, schema.MaxRev)))
	} else {
		best.setRev(min(more.rev()+1, schema.MaxRev))
	}
	return best, true, nil
}

// replaceRecords replaces all lines of some records, at the place of the first.
func (tx *Tx) replaceRecords(l *logFile, by map[string]record) error {
	done := map[string]bool{}
	return tx.rewrite(l, func(line []byte, out io.Writer) error {
		r, err := l.parse(bytes.TrimSpace(line))
		if err != nil {
			_, err := out.Write(line)
			return err
		}
		id := r.id()
		now, ok := by[id]
		if id == "" || !ok {
			_, err := out.Write(line)
			return err
		}
		if done[id] {
			return nil
		}
		done[id] = true
		return writeRedacted(out, now)
	})
}

// writeRedacted writes the lines of a redacted record. A reader may rely on the first line
// of an id having no rev, so a line without content comes first.
func writeRedacted(out io.Writer, r record) error {
	if r.rev() > 0 {
		if _, err := out.Write(r.skeleton().encode(0)); err != nil {
			return err
		}
	}
	_, err := out.Write(r.encode(r.rev()))
	return err
}

// parse reads a record of the log.
func (l *logFile) parse(raw []byte) (record, error) {
	if path.Base(l.name) == toolsFile {
		t, err := schema.ParseTool(raw)
		return record{tool: &t}, err
	}
	m, err := schema.ParseMessage(raw)
	return record{message: &m}, err
}
