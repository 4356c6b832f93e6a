package store

import (
	"bytes"
	"fmt"
	"io"

	"cortext/schema/jsonl"
)

// dropMarkers removes the markers of a merge conflict from the logs, if git or a person
// changed messages.jsonl since it was last counted. The lines between them stay. It looks
// at whole logs only then.
func (tx *Tx) dropMarkers() error {
	switch {
	case tx.c.staged() || tx.c.base != "" || tx.doc.before == nil:
		return nil
	case !tx.doc.mend && (tx.logs.began == tx.doc.counted || tx.logs.began == tx.logs.since.Messages.End):
		return nil
	}
	for _, name := range []string{toolsFile, messagesFile} {
		found, err := hasMarkers(&tx.c.Reader, name)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		l, err := tx.logs.openWhole(name)
		if err == nil && l != nil {
			err = tx.logs.rewriteWithoutMarkers(l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasMarkers reports whether a log contains a line that begins like the first marker
// of a conflict. It does not look at logs that are too large for a repair.
func hasMarkers(r *Reader, name string) (bool, error) {
	l, err := r.openOwn(name)
	if l == nil {
		return false, err
	}
	defer l.close()
	if l.size > maxRepair {
		return false, nil
	}
	return contains(io.NewSectionReader(l, 0, l.size), "\n", []byte("\n<<<<<<<")) // the log begins a line
}

// rewriteWithoutMarkers sets the markers in a log aside. It also removes the byte that jj
// puts before each line of a side.
func (w *logWriter) rewriteWithoutMarkers(l *logFile) error {
	var aside []byte
	err := eachLine(l, l.Size(), func(line []byte) error {
		if jsonl.IsMarker(line) {
			aside = append(aside, line...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := (keeper{w.c.s.Files}).copy("damaged/"+l.name, bytes.NewReader(aside)); err != nil {
		return fmt.Errorf("set the conflict markers of %q aside: %w", l.name, err)
	}
	inside := false
	return w.rewrite(l, func(line []byte, out io.Writer) error {
		if jsonl.IsMarker(line) {
			inside = line[0] != '>'
			return nil
		}
		if inside && len(line) > 2 && (line[0] == '+' || line[0] == '-') && line[1] == '{' {
			line = line[1:]
		}
		_, err := out.Write(line)
		return err
	})
}
