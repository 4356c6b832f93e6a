package store

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

// A merge may leave several lines for one record, some of which still contain text that a
// user redacted. The next write settles the log ([logWriter.settle]). Until then, readers
// that pass lines on must not pass these.

// Settled has the records of a conversation as the next write leaves them.
type Settled struct{ of *Reader }

// Settled returns the records as the next write leaves them.
func (r *Reader) Settled() Settled { return Settled{r} }

// Messages yields the messages. A message that was redacted after it was stored comes once,
// where its first line is, with everything redacted that is redacted in any of its lines. A
// line that only places the message precedes it. Messages reads the log up to three times.
func (s Settled) Messages() iter.Seq2[schema.Message, error] {
	return settledLines(s.of, messageLog(), messageHeads())
}

// Tools is Messages for tools.jsonl.
func (s Settled) Tools() iter.Seq2[schema.Tool, error] {
	return settledLines(s.of, toolLog(), toolHeads())
}

// CallsTo is Tools for the calls to the tools that wanted accepts. It does not decode
// the others.
func (s Settled) CallsTo(wanted func(tool string) bool) iter.Seq2[schema.Tool, error] {
	log := toolLog()
	parse := log.parse
	log.parse = func(line []byte) (t schema.Tool, err error) {
		if wanted(rawjson.String(rawjson.Get(line, "name"))) {
			t, err = parse(line)
		}
		return t, err
	}
	return func(yield func(schema.Tool, error) bool) {
		for t, err := range settledLines(s.of, log, toolHeads()) {
			if (err != nil || t.ID != "" && wanted(t.Name)) && !yield(t, err) {
				return
			}
		}
	}
}

func settledLines[R any](r *Reader, k logKind[R], heads headReader) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		counts, err := redactedRecords(r, k, heads)
		if err != nil {
			var none R
			yield(none, err)
			return
		}
		if len(counts) == 0 {
			readAll(r, k)(yield)
			return
		}
		done := map[string]bool{}
		for line, err := range readAll(r, k) {
			id := k.record(&line).id()
			now, redacted := counts[id]
			if err != nil || !redacted {
				if !yield(line, err) {
					return
				}
				continue
			}
			if done[id] {
				continue
			}
			done[id] = true
			if k.record(&now).rev() > 0 {
				place, err := k.parse(bytes.TrimSpace(k.record(&now).skeleton().encode(0)))
				if err == nil && !yield(place, nil) {
					return
				}
			}
			if !yield(now, nil) {
				return
			}
		}
	}
}

// redactedRecords returns the records to read that have a line that lists a redaction,
// by id.
func redactedRecords[R any](r *Reader, k logKind[R], heads headReader) (counts map[string]R, err error) {
	some := map[string]bool{}
	for _, f := range r.folders() {
		l := r.openIn(f, k.file)
		for _, rec := range l.held {
			if len(*rec.redactions()) > 0 && rec.id() != "" {
				some[rec.id()] = true
			}
		}
		if l.held != nil {
			_ = l.close()
			continue
		}
		log := io.NewSectionReader(l, 0, l.size)
		found, err := contains(log, "", []byte(`"redacted":`))
		if found { // parsing the lines takes much longer than this search
			_, err = heads.read(log, 0, l.size, func(h head, _ int64) {
				if h.redacted && len(h.id) > 0 {
					some[string(h.id)] = true
				}
			})
		}
		_ = l.close()
		if err != nil {
			return nil, explain(err)
		}
	}
	if len(some) == 0 {
		return nil, nil
	}
	counts = map[string]R{}
	for line, err := range Undamaged(readAll(r, k)) {
		if err != nil {
			return nil, err
		}
		id := k.record(&line).id()
		if !some[id] {
			continue
		}
		if have, ok := counts[id]; ok {
			line = k.choose(line, have)
		}
		counts[id] = line
	}
	for id, now := range counts {
		if len(*k.record(&now).redactions()) == 0 {
			delete(counts, id)
		}
	}
	return counts, nil
}

// Redacted returns the messages and calls that list a redaction, by id, as they count.
func (s Settled) Redacted() (messages map[string]schema.Message, calls map[string]schema.Tool, err error) {
	if messages, err = redactedRecords(s.of, messageLog(), messageHeads()); err == nil {
		calls, err = redactedRecords(s.of, toolLog(), toolHeads())
	}
	return messages, calls, err
}

// contains reports whether a log contains a text, or would if other text preceded it.
func contains(log *io.SectionReader, before string, text []byte) (bool, error) {
	buf := make([]byte, min(64<<10, log.Size()+int64(len(before)+len(text)+1)))
	kept := copy(buf, before) // bytes in which the text may begin
	for {
		n, err := log.Read(buf[kept:])
		n += kept
		if bytes.Contains(buf[:n], text) {
			return true, nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return false, err
		}
		kept = copy(buf, buf[max(n-len(text)+1, 0):n])
	}
}

// combineMessages returns a message with what is redacted in m or in o, two lines of one.
// ok is false if one of them has all of it.
func combineMessages(m, o *schema.Message) (both schema.Message, ok bool) {
	if both, ok = m.Combine(o); ok {
		both.Tokens = tokens.Count(both.Content)
	}
	return both, ok
}

// combineTools is combineMessages for calls.
func combineTools(t, o *schema.Tool) (both schema.Tool, ok bool) {
	if both, ok = t.Combine(o); ok {
		both.Tokens = countTool(&both)
	}
	return both, ok
}
