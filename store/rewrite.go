package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"cortext/schema"
	"cortext/schema/tokens"
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
func (w *logWriter) rewrite(l *logFile, edit func(line []byte, out io.Writer) error) error {
	return w.replace(l, func(out io.Writer) error {
		return eachLine(l, l.Size(), func(line []byte) error { return edit(line, out) })
	})
}

// replace is rewrite for a caller that writes the whole log.
func (w *logWriter) replace(l *logFile, write func(out io.Writer) error) (err error) {
	c := w.c
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
	if err := write(out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	// The new log must be durable before it gets the name of the old one.
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
		_ = w.unlock()
		w.unlock = unlock
	}
	_ = l.Close()
	*l = logFile{File: f, name: l.name, kept: l.kept}
	c.written, w.rewritten, w.since = nil, true, Checkpoint{}
	return c.calls().SyncDir(c.s.root, c.dir) // or a power cut may bring the old log back
}

// settle tidies a log after a merge added the lines of a clone that did not know about a
// redaction: it drops the lines that the redacted one replaced. If such a line says more,
// or redacts something else, and this machine can repeat the redactions, the record gets
// all of them. It looks only at a log that is indexed from its beginning, as after a
// merge.
func (w *logWriter) settle(l *logFile, k *known) error {
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
	if err := w.replaceRecords(l, settled); err != nil {
		return err
	}
	return w.refresh(l)
}

// settleMerged settles the logs and the summaries if session.json shows a merge, or if the
// records of another folder were appended.
func (tx *Tx) settleMerged() error {
	if !tx.doc.mend && !tx.merge.appended || tx.c.staged() {
		return nil
	}
	if err := tx.c.settleSummaries(); err != nil {
		return err
	}
	known, err := tx.knows()
	for _, name := range []string{toolsFile, messagesFile} {
		var l *logFile
		if err == nil {
			l, err = tx.logs.openWhole(name)
		}
		if err == nil && l != nil {
			err = tx.logs.settle(l, known)
		}
	}
	return err
}

// If a merge combined the lines of two summaries, one of them redacted, settleSummaries
// writes the summary as it is read.
func (f sessionFolder) settleSummaries() error {
	for _, name := range f.s.ListFiles(f.file(summariesDir)) {
		name = f.file(summariesDir + "/" + name)
		raw, err := f.s.readRegular(name)
		if err != nil || !bytes.Contains(raw, []byte("[redacted: ")) {
			continue
		}
		sum, damage := readSummary(f.s.Files, name)
		if damage != nil {
			continue
		}
		sum.Tokens = tokens.Count(sum.Content)
		if now, err := sum.Marshal(); err == nil && bytes.Count(now, []byte("\n")) < bytes.Count(raw, []byte("\n")) {
			if err := f.s.replaceUnsynced(name, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// settled returns the record with the given id that counts. changed reports whether the log
// must hold it instead of the lines that it has. What this machine knows about redactions
// is first repeated in all lines, so that the one that says most counts.
func (l *logFile) settled(id string, k *known) (best record, changed bool, err error) {
	raws, err := l.places.at(l, id)
	if err != nil {
		return best, false, err
	}
	var lines []record
	var all []string // redactions of any line
	rev := 0
	for _, raw := range raws {
		r, err := l.parse(raw)
		if err != nil || bytes.Equal(r.encode(0), r.skeleton().encode(0)) {
			continue
		}
		rev, all = max(rev, r.rev()), append(all, *r.redactions()...)
		lines = append(lines, r)
	}
	if len(all) == 0 {
		return best, false, nil
	}
	lines, combined := combineRedacted(lines)
	repeats := !slices.ContainsFunc(all, func(redaction string) bool { return !k.repeats(redaction) })
	var altered bool // the best line is not in the log
	for _, r := range lines {
		marks, n := len(*r.redactions()), 0
		if k != nil {
			if r, n, err = k.record(r); err != nil {
				return best, false, err
			}
		}
		if repeats {
			r.mark(all...)
		}
		if best == (record{}) || r.beats(best) {
			best, altered = r, n > 0 || len(*r.redactions()) != marks
		}
	}
	old := slices.ContainsFunc(lines, func(r record) bool {
		return len(*r.redactions()) < len(*best.redactions()) && r.rev() < best.rev()
	})
	if altered {
		best.setRev(min(rev+1, schema.MaxRev))
	}
	return best, altered || old || combined, nil
}

// combineRedacted replaces two versions of a record that redact different texts with
// one that redacts both. It reports whether it did.
func combineRedacted(lines []record) (list []record, done bool) {
	for _, r := range lines {
		for i, o := range list {
			var ok bool
			if m := r.message; m != nil {
				var both schema.Message
				if both, ok = combineMessages(m, o.message); ok {
					r = messageRecord(both)
				}
			} else {
				var both schema.Tool
				if both, ok = combineTools(r.tool, o.tool); ok {
					r = toolRecord(both)
				}
			}
			if ok {
				list, done = slices.Delete(list, i, i+1), true
				break
			}
		}
		list = append(list, r)
	}
	return list, done
}

// replaceRecords replaces all lines of some records, at the place of the first.
func (w *logWriter) replaceRecords(l *logFile, by map[string]record) error {
	done := map[string]bool{}
	return w.rewrite(l, func(line []byte, out io.Writer) error {
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
