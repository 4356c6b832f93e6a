package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/store/secrets"
)

// A Redaction says what to redact in what was stored before.
type Redaction struct {
	ID    string // marks the records; the same as that of the [secrets.Known] of the texts
	Name  string // in the markers of Texts
	Texts *secrets.Redactor
}

func (r Redaction) replacement() replacement {
	return replacement{r.Texts, map[string]string{r.Name: r.ID}}
}

// Places counts the places in each file, by its name relative to the workspace.
type Places map[string]int

func (p Places) add(name string, n int) {
	if n > 0 {
		p[name] += n
	}
}

// Texts counts, in all folders of the conversation, what a [Redaction] replaces in its
// logs, session.json with its backup, and summaries. It changes nothing.
func (r *Reader) Texts(by Redaction) (Places, error) {
	places := Places{}
	for _, f := range r.folders() {
		if strings.HasPrefix(f.dir, borrowedDir) {
			continue
		}
		if err := f.texts(by, places); err != nil {
			return places, err
		}
	}
	if r.base == "" || r.IsWaiting() {
		n, err := redactBackup(r.s, backupFile(r.path), by, func([]byte) error { return nil })
		places.add(backupFile(r.path), n)
		return places, err
	}
	return places, nil
}

func (f sessionFolder) texts(by Redaction, places Places) error {
	for _, name := range []string{toolsFile, messagesFile} {
		l := f.open(name)
		err := l.err
		if err == nil {
			err = eachLine(l, l.size, func(line []byte) error {
				_, n, err := by.replacement().line(name, line)
				places.add(l.name, n)
				return err
			})
		}
		if err = errors.Join(err, l.close()); err != nil && !isDamage(err) {
			return err
		}
	}
	if raw, err := f.readRaw(); err == nil {
		n, _, err := redactSession(raw, by)
		if err != nil {
			n = loosely(&raw, by.Texts)
		}
		places.add(f.file(sessionFile), n)
	}
	return f.redactSummaries(by, places, func(string, []byte) error { return nil })
}

// line returns what replaces a line of a log, and leaves its rev and id as they are.
func (p replacement) line(log string, line []byte) (r record, n int, err error) {
	l := logFile{name: log}
	if r, err = l.parse(bytes.TrimSpace(line)); err == nil {
		return p.record(r)
	}
	counts := secrets.Counts{}
	_, err = p.redactor.Loose(line, counts)
	return record{}, counts.Sum(), err
}

// loosely replaces texts in bytes that are not a valid record, and returns how
// many.
func loosely(b *[]byte, texts *secrets.Redactor) int {
	counts := secrets.Counts{}
	if out, err := texts.Loose(*b, counts); err == nil {
		*b = out
	}
	return counts.Sum()
}

// eachLine calls f with each line of a log, with its newline.
func eachLine(log io.ReaderAt, size int64, f func(line []byte) error) error {
	in := bufio.NewReaderSize(io.NewSectionReader(log, 0, size), 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) > 0 {
			if err := f(line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// Redact replaces texts in the conversation's logs, in session.json and its backup, and in
// the summaries. It first moves the records of the other folders into the logs. A redacted
// record keeps its id and its place; it gets a greater rev and names the redaction. It
// returns how many places it replaced in each file.
//
// It is safe to repeat after an error or a crash.
func (c *Conversation) Redact(by Redaction) (Places, error) {
	places := Places{}
	tx, err := c.Begin()
	if err == nil {
		if err = tx.redact(by, places); err == nil {
			err = tx.Commit()
		} else {
			tx.Rollback()
		}
	}
	if err == nil && (c.base == "" || c.IsWaiting()) {
		name := backupFile(c.path)
		var n int
		n, err = redactBackup(c.s, name, by, func(b []byte) error { return c.s.replace(name, b, privateFileMode) })
		places.add(name, n)
	}
	if err != nil {
		return places, fmt.Errorf("redact %q: %w", c.path, err)
	}
	return places, nil
}

func (tx *Tx) redact(by Redaction, places Places) error {
	c := tx.c
	if err := tx.Flush(); err != nil {
		return err
	}
	for _, name := range []string{toolsFile, messagesFile} { // calls first, as in every write
		l, err := tx.logs.openWhole(name)
		if l == nil || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := tx.logs.redactLog(l, by.replacement(), places); err != nil {
			return err
		}
	}
	if tx.Written() {
		counts := secrets.Counts{}
		r := recordRedactor{redactor: by.Texts, counts: counts}
		if err := errors.Join(r.session(tx.doc.session), r.rest(tx.doc.session), r.forget(tx.doc.session)); err != nil {
			return err
		}
		tx.doc.texts = recordRedactor{redactor: by.Texts}
		places.add(c.file(sessionFile), counts[by.Name])
	}
	return c.redactSummaries(by, places, c.s.replaceUnsynced)
}

// redactLog replaces texts in a log, if there are any.
func (w *logWriter) redactLog(l *logFile, by replacement, places Places) error {
	hits := map[string]bool{} // ids
	found := 0
	err := eachLine(l, l.Size(), func(line []byte) error {
		r, n, err := by.line(l.name, line)
		if found += n; n > 0 && r != (record{}) && r.id() != "" {
			hits[r.id()] = true
		}
		return err
	})
	if err != nil || found == 0 {
		return err
	}
	done := map[string]bool{}
	places.add(l.name, found)
	old := *l
	return w.rewrite(l, func(line []byte, out io.Writer) error {
		r, err := l.parse(bytes.TrimSpace(line))
		switch {
		case err != nil:
			loosely(&line, by.redactor)
		case r.id() == "":
			r, n, err := by.record(r)
			if err != nil {
				return err
			}
			if n > 0 {
				line = r.encode(r.rev())
			}
		case done[r.id()]:
			return nil
		case hits[r.id()]:
			done[r.id()] = true
			if r, err = old.redacted(r.id(), by); err != nil {
				return err
			}
			return writeRedacted(out, r)
		}
		_, err = out.Write(line)
		return err
	})
}

// redacted returns the record with the given id, redacted, with a rev greater than all
// others.
func (l *logFile) redacted(id string, by replacement) (best record, err error) {
	raws, err := l.places.at(l, id)
	if err != nil {
		return best, err
	}
	rev := 0
	for _, raw := range raws {
		r, err := l.parse(raw)
		if err != nil {
			continue
		}
		rev = max(rev, r.rev())
		if best == (record{}) || r.beats(best) {
			best = r
		}
	}
	if best == (record{}) {
		return best, fmt.Errorf("%q changed while it was redacted: run it again", l.name)
	}
	if best, _, err = by.record(best); err != nil {
		return best, err
	}
	best.mark(slices.Collect(maps.Values(by.ids))...)
	best.setRev(min(rev+1, schema.MaxRev))
	return best, nil
}

// redactSession returns a session.json with its texts replaced.
func redactSession(raw []byte, by Redaction) (n int, out []byte, err error) {
	sess, err := schema.ParseSession(raw)
	if err != nil {
		return 0, nil, err
	}
	before := sess.Clone()
	counts := secrets.Counts{}
	r := recordRedactor{redactor: by.Texts, counts: counts}
	if err := errors.Join(r.session(sess), r.rest(sess), r.forget(sess)); err != nil {
		return 0, nil, err
	}
	if len(counts) == 0 {
		return 0, raw, nil
	}
	sess.Stamp(before, before.LastActive.Time())
	if err := (recordRedactor{redactor: by.Texts}).forget(sess); err != nil {
		return 0, nil, err
	}
	sess.ForgetNotes()
	out, err = sess.Marshal()
	return counts[by.Name], out, err
}

// redactBackup redacts the backup of a session.json. One that cannot be parsed is redacted
// as text.
func redactBackup(s *Store, name string, by Redaction, replace func([]byte) error) (int, error) {
	raw, err := s.readRegular(name)
	if err != nil {
		return 0, nil // most conversations have none
	}
	n, out, err := redactSession(raw, by)
	if err != nil {
		n = loosely(&raw, by.Texts)
		out = raw
	}
	if n == 0 {
		return 0, nil
	}
	return n, replace(out)
}

// redactSummaries redacts the summaries in a folder.
func (f sessionFolder) redactSummaries(by Redaction, places Places, replace func(name string, b []byte) error) error {
	entries, err := f.s.readDir(f.file(summariesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		name := path.Join(f.file(summariesDir), e.Name())
		raw, readErr := f.s.readRegular(name)
		if readErr != nil {
			continue
		}
		n := 0
		if sum, damage := readSummary(f.s.Files, name); damage == nil {
			counts := secrets.Counts{}
			ready, err := recordRedactor{redactor: by.Texts, counts: counts}.summary(sum)
			if err != nil {
				return err
			}
			if n = counts[by.Name]; n > 0 {
				if raw, err = ready.Marshal(); err != nil {
					return err
				}
			}
		} else {
			n = loosely(&raw, by.Texts)
		}
		if n > 0 {
			if err := replace(name, raw); err != nil {
				return err
			}
			places.add(name, n)
		}
	}
	return err
}
