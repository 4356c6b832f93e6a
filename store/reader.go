package store

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// A Reader reads a conversation in all of its folders. It takes no lock and sees every
// record that counts. Damage hides no whole record. Several goroutines may use it.
type Reader struct {
	Location

	// For a staged conversation, which no other process knows: its open logs, by name,
	// with everything in them; nil if unknown.
	unpublished map[string]*logFile
	written     *written
}

// Session returns what is known about the conversation. The counters and LastActive
// include records appended after session.json was written. If session.json is missing or
// broken, the session is rebuilt as far as possible from the sides of a merge conflict,
// the backup, or the logs, and the damage says so. The error is a [*schema.VersionError]
// if a later cortext wrote it.
func (r *Reader) Session() (*schema.Session, []Damage, error) {
	st, err := r.load()
	if err != nil {
		return nil, nil, err
	}
	err = counter{r}.countRest(st.session)
	return st.session, st.damage, err
}

// ID returns the id of the conversation without updating its counters.
func (r *Reader) ID() (string, error) {
	st, err := r.load()
	if err != nil {
		return "", err
	}
	return st.session.ID, nil
}

// CountersCurrent reports whether the counters in session.json were taken at the present
// length of messages.jsonl: nothing has been appended since.
func (r *Reader) CountersCurrent() (bool, error) {
	st, err := r.load()
	if err != nil {
		return false, err
	}
	size := int64(0)
	l, err := r.openOwn(messagesFile)
	if l != nil {
		size, err = l.size, l.close()
	}
	return len(st.damage)+len(r.others()) == 0 && st.session.CountedBytes == size, err
}

// load reads session.json or rebuilds it. It merges in those of the other folders. The
// session is never nil.
func (r *Reader) load() (stored, error) {
	st, err := r.read()
	if err != nil {
		return stored{}, err
	}
	others := r.others()
	for _, f := range others {
		other, err := f.read()
		if err != nil {
			return stored{}, err
		}
		// If one of the two waits, it may only be derived from a folder's name.
		switch away := within(keptDir, r.dir); {
		case st.session == nil || other.session == nil || away == within(keptDir, f.dir):
		case away:
			st.session.Defer(other.session)
		default:
			other.session.Defer(st.session)
		}
		switch {
		case other.session == nil: // its records count anyway
		case st.session == nil:
			st.session, st.damage = other.session, nil
		default:
			merged, err := schema.MergeSessions(st.session, other.session)
			if err != nil {
				return stored{}, fmt.Errorf("%q: %w", f.file(sessionFile), err)
			}
			st.session = merged
		}
		if st.session != nil {
			st.session.CountedBytes = 0 // it covers only one log
		}
	}
	if st.session == nil {
		st.rebuilt = true
		if st.session, err = rebuild(r); err != nil {
			return stored{}, err
		}
	}
	if r.base != "" && st.raw == nil && !st.blocked {
		st.damage = nil // a waiting conversation begins without one
	}
	if len(others) > 0 {
		st.session.ConversationID = path.Base(r.path)
	}
	complete(st.session, r.path)
	return st, nil
}

// Messages yields every whole line of messages.jsonl in file order, each rev of a message
// separately, and a [*Damage] for anything else. An error of another type ends the
// sequence. It needs memory for only one line.
func (r *Reader) Messages() iter.Seq2[schema.Message, error] {
	return readAll(r, messageLog())
}

// Tools is Messages for tools.jsonl.
func (r *Reader) Tools() iter.Seq2[schema.Tool, error] {
	return readAll(r, toolLog())
}

func readAll[R any](r *Reader, k logKind[R]) iter.Seq2[R, error] {
	return readFolders(r, k.file, func(l *logReader) iter.Seq2[R, error] { return parseLog(l, 0, k) })
}

// readFolders yields what read yields of a log in each of the folders.
func readFolders[T any](r *Reader, file string, read func(*logReader) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		// A writer may be moving records into the first folder. Opening the others before
		// it makes sure that each record is in one of the open files.
		folders := r.folders()
		logs := make([]*logReader, len(folders))
		for i, f := range slices.Backward(folders) {
			logs[i] = r.openIn(f, file)
			defer logs[i].close()
		}
		for _, l := range logs {
			for v, err := range read(l) {
				if !yield(v, err) {
					return
				}
			}
		}
	}
}

// A LogLine is a record in the form of a line.
type LogLine struct {
	Text     []byte // as [schema.AppendMessage] or [schema.AppendTool] writes it, without its newline; valid until the next line
	Redacted bool   // whether text of the record was redacted after it was stored
}

// MessageLines yields what [Reader.Messages] does, each message as a line. Most lines of a
// log already have that form and are not decoded.
func (r *Reader) MessageLines() iter.Seq2[LogLine, error] {
	return linesOfLog(r, messageLog(), schema.IsCanonicalMessage)
}

// ToolLines is MessageLines for tools.jsonl.
func (r *Reader) ToolLines() iter.Seq2[LogLine, error] {
	return linesOfLog(r, toolLog(), schema.IsCanonicalTool)
}

func linesOfLog[R any](r *Reader, k logKind[R], canonical func([]byte) bool) iter.Seq2[LogLine, error] {
	return readFolders(r, k.file, func(l *logReader) iter.Seq2[LogLine, error] {
		asIs := false // the line being read
		records := l.named(jsonl.ReadKnown(io.NewSectionReader(l, 0, l.size), func(line []byte) bool {
			asIs = canonical(line)
			return asIs
		}))
		return recordsAs(l, records, func(rec jsonl.Record) (LogLine, error) {
			if asIs {
				return LogLine{Text: rec.Raw}, nil
			}
			v, err := parseRecord(rec, k)
			if err != nil {
				return LogLine{}, err
			}
			return LogLine{bytes.TrimSuffix(k.encode(&v), []byte("\n")), len(*k.record(&v).redactions()) > 0}, nil
		})
	})
}

// MessageIDs returns the ids of the messages in the logs.
func (r *Reader) MessageIDs() (map[string]bool, error) {
	ids := map[string]bool{}
	for m, err := range Undamaged(r.Messages()) {
		if err != nil {
			return nil, err
		}
		ids[m.ID] = true
	}
	return ids, nil
}
