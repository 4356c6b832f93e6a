package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/schema/tokens"
	"cortext/store/internal/lines"
)

// summarySuffix is the suffix of files in summaries/; others are ignored.
const summarySuffix = ".json"

// Summaries returns the summaries of the conversation in the order of their file names,
// and the damage of those that are skipped. A skipped summary loses nothing, since it can
// be generated again. Tokens are counted here, because a person who edits a file does not
// update them.
func (r *Reader) Summaries() (list []*schema.Summary, damage []Damage) {
	folders := r.folders()
	for _, f := range folders {
		there, d := f.summaries()
		damage = append(damage, d...)
		list = slices.DeleteFunc(list, func(old *schema.Summary) bool { // the waiting one was written later
			return slices.ContainsFunc(there, func(sum *schema.Summary) bool { return sum.First == old.First })
		})
		list = append(list, there...)
	}
	if len(folders) > 1 {
		slices.SortStableFunc(list, func(a, b *schema.Summary) int { return strings.Compare(a.FileName(), b.FileName()) })
	}
	return list, damage
}

// summaries reads the summaries in the folder.
func (f sessionFolder) summaries() (list []*schema.Summary, damage []Damage) {
	dir := f.file(summariesDir)
	entries, err := f.s.readDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, []Damage{damagedSummary(dir, NotRegular, err.Error())}
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if !strings.HasSuffix(name, summarySuffix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			continue // a power cut left only the name; the next stop writes it again
		}
		sum, d := readSummary(f.s.Files, name)
		if d != nil {
			damage = append(damage, *d)
			continue
		}
		sum.Tokens = tokens.Count(sum.Content)
		list = append(list, sum)
	}
	return list, damage
}

// readSummary returns one summary, or its damage.
func readSummary(s *Files, name string) (*schema.Summary, *Damage) {
	var sum *schema.Summary
	raw, err := s.readRegular(name)
	read := err == nil
	if read {
		sum, err = schema.ParseSummary(raw)
	}
	conflict := firstMarker(raw)
	var d Damage
	switch {
	case err == nil:
		return sum, nil
	case errors.As(err, new(*schema.VersionError)):
		d = damaged(name, Newer, err.Error())
	case errors.Is(err, lines.ErrNotRegular):
		d = damagedSummary(name, NotRegular, err.Error())
	case conflict >= 0:
		d = conflictIn(name, raw, conflict)
		d.Detail = damagedSummary(name, jsonl.Conflict, "").Detail
	case read && len(raw) == 0:
		d = damagedSummary(name, Unreadable, "the file is empty")
	default:
		d = damagedSummary(name, Unreadable, err.Error())
	}
	return nil, &d
}

// firstMarker returns the offset of the first conflict marker in a file, or -1.
func firstMarker(file []byte) int64 {
	at := 0
	for line := range bytes.Lines(file) {
		if c, _ := jsonl.Marker(line); c == '<' {
			return int64(at)
		}
		at += len(line)
	}
	return -1
}

// damagedSummary describes a damaged summary, and says that nothing is lost.
func damagedSummary(name string, kind jsonl.Kind, detail string) Damage {
	if detail != "" {
		detail += ": "
	}
	way := "delete it, or cortext compact --apply makes it again"
	if kind == NotRegular {
		way = "delete it, then cortext compact --apply makes one"
	}
	return damaged(name, kind, detail+"nothing is lost; "+way)
}

// WriteSummary writes a summary, with its secrets redacted and its tokens counted. It
// does not replace one that a later cortext wrote; the error is then a
// [*schema.VersionError]. It keeps summaries of shorter versions of the same range: if
// two clones each replaced one with a different file, git would see two renames, which
// conflict.
func (c *Conversation) WriteSummary(sum *schema.Summary) error {
	tx, err := c.Begin()
	if err == nil {
		known, knowsErr := tx.knows()
		if err = knowsErr; err == nil {
			err = c.putSummary(sum, known)
		}
		if err == nil {
			return tx.Commit()
		}
		tx.Rollback()
	}
	return fmt.Errorf("write a summary of %q: %w", c.path, err)
}

// putSummary is WriteSummary under the lock.
func (f sessionFolder) putSummary(sum *schema.Summary, known *known) error {
	ready, err := f.s.policy.redactor(nil).knowing(known).summary(sum)
	if err != nil {
		return err
	}
	b, err := ready.Marshal()
	if err != nil {
		return err
	}
	dir := f.file(summariesDir)
	name := dir + "/" + ready.FileName()
	old, err := f.s.readRegular(name)
	if errors.Is(err, lines.ErrNotRegular) {
		return err
	}
	if err == nil {
		if _, err := schema.ParseSummary(old); errors.As(err, new(*schema.VersionError)) {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	if _, err := f.s.makeDirs(dir); err != nil {
		return explain(err)
	}
	if bytes.Equal(b, old) {
		return nil
	}
	return f.s.replaceUnsynced(name, b)
}

// isSummary reports whether a path names a file in summaries/.
func isSummary(name string) bool {
	dir := path.Dir(name)
	return path.Base(dir) == summariesDir && path.Base(path.Dir(dir)) == sessionDir
}
