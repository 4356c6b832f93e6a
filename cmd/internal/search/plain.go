package search

import (
	"bytes"
	"slices"

	"cortext/cmd/internal/search/needle"
	"cortext/schema/rawjson"
)

// Lines that begin as cortext writes them are searched without decoding them, because
// decoding every line that has a common word takes ten times as long as finding it. Such a
// line counts as whole unless it looks like several lines, as in package store.

// A plainLine is a line that begins as cortext writes it. Its members are slices of it.
type plainLine struct {
	id, messageID []byte
	texts         [2]rawText
}

// A rawText is a text as encoded in a line.
type rawText struct {
	place Place
	// json is the rest of the line after the text's opening quotation mark, or the input of
	// a call: a JSON value in which each string and number is a text.
	// It is nil if there is no text.
	json  []byte
	input bool

	checked int // the text does not end before this
	ended   bool
	end     int // where it ends, if ended
}

// plainMessage takes a line of messages.jsonl apart. ok is false if it must be decoded.
func plainMessage(line []byte) (p plainLine, ok bool) {
	rest := line
	if p.id, rest = member(rest, `{"id":"`); len(p.id) == 0 {
		return p, false
	}
	p.messageID = p.id
	_, rest = member(rest, `,"parent_id":"`)
	_, rest = member(rest, `,"timestamp":"`)
	role, rest := member(rest, `,"role":"`)
	switch string(role) {
	case "user":
		p.texts[0].place = InUser
	case "assistant":
		p.texts[0].place = InAssistant
	case "system":
		p.texts[0].place = InSystem
	default:
		return p, false
	}
	if text, ok := bytes.CutPrefix(rest, []byte(`,"content":"`)); ok {
		p.texts[0].json = text
		return p, true
	}
	return p, !bytes.Contains(rest, []byte(`"content"`))
}

// plainTool takes a line of tools.jsonl apart. ok is false if it must be decoded.
func plainTool(line []byte) (p plainLine, ok bool) {
	rest := line
	if p.id, rest = member(rest, `{"id":"`); len(p.id) == 0 {
		return p, false
	}
	if p.messageID, rest = member(rest, `,"message_id":"`); len(p.messageID) == 0 {
		return p, false
	}
	_, rest = member(rest, `,"name":"`)
	if input, ok := bytes.CutPrefix(rest, []byte(`,"input":`)); ok {
		end := rawjson.End(input)
		p.texts[0] = rawText{place: InInput, json: input[:end], input: true}
		rest = input[end:]
	}
	if output, ok := bytes.CutPrefix(rest, []byte(`,"output":"`)); ok && len(output) > 0 && output[0] != '"' {
		p.texts[1] = rawText{place: InOutput, json: output}
		return p, true
	}
	return p, bytes.HasPrefix(rest, []byte("}")) // otherwise it may have an error instead of an output
}

// member returns the string that a line begins with, after its name, and the rest of the
// line. It returns nil and the whole line if there is none, or one with an escape.
func member(line []byte, name string) (value, rest []byte) {
	if len(line) < len(name) || string(line[:len(name)]) != name {
		return nil, line
	}
	value = line[len(name):]
	end := bytes.IndexByte(value, '"')
	if end < 0 || bytes.IndexByte(value[:end], '\\') >= 0 {
		return nil, line
	}
	return value[:end], value[end+1:]
}

// candidates are the terms that may be in a text, and where: not before offset from.
type candidates struct {
	terms uint64
	from  int
}

// matchPlain adds the terms in the texts of a line to a record.
func (q *Query) matchPlain(r *record, line []byte, p *plainLine, in candidates) {
	for i := range p.texts {
		t := &p.texts[i]
		if t.json == nil || !q.In.searched(t.place) {
			continue
		}
		c := candidates{in.terms, max(0, in.from-(cap(line)-cap(t.json)))}
		if t.input {
			if q.maybeIn(t.json, c) {
				c.from = 0
				scalars(t.json, func(v []byte) {
					if v[0] == '"' {
						r.add(q.inRaw(&rawText{json: v[1:], end: len(v) - 2, ended: true}, c))
					} else {
						r.add(q.in(string(v)))
					}
				})
			}
			continue
		}
		r.add(q.inRaw(t, c))
	}
}

// passages returns the texts of the line.
func (p *plainLine) passages() (list []passage) {
	for i := range p.texts {
		switch t := &p.texts[i]; {
		case t.input:
			list = values(list, t.json)
		case t.json != nil:
			list = append(list, passage{t.place, t.decode()})
		}
	}
	return list
}

// maybeIn reports whether a candidate may be in a part of a line.
func (q *Query) maybeIn(json []byte, c candidates) bool {
	for i, t := range q.terms {
		if c.terms>>i&1 != 0 && slices.ContainsFunc(t.needles, func(n *needle.Needle) bool { return n.Next(json, c.from) >= 0 }) {
			return true
		}
	}
	return false
}

// inRaw returns the set of candidates that occur in a text.
func (q *Query) inRaw(t *rawText, c candidates) (set uint64) {
	decoded := ""
	for i := range q.terms {
		if c.terms>>i&1 == 0 {
			continue
		}
		term := &q.terms[i]
		for _, n := range term.needles {
			at := n.Next(t.json, c.from)
			if at < 0 || !t.reaches(at) {
				continue
			}
			found := term.simple && n.Certain(t.json, at)
			if !found {
				if decoded == "" {
					decoded = t.decode()
				}
				at, _ := term.find(decoded, 0)
				found = at >= 0
			}
			if found {
				set |= 1 << i
				break
			}
		}
	}
	return set
}

// reaches reports whether a text that is not an input reaches an offset.
func (t *rawText) reaches(at int) bool {
	for !t.ended && t.checked < at {
		n := bytes.IndexByte(t.json[t.checked:at], '"')
		if n < 0 {
			t.checked = at
			break
		}
		quote := t.checked + n
		if t.checked = quote + 1; !needle.Escapes(t.json[:quote]) {
			t.end, t.ended = quote, true
		}
	}
	return !t.ended || at < t.end
}

// decode returns a text that is not an input.
func (t *rawText) decode() string {
	t.reaches(len(t.json))
	text := make([]byte, 0, t.end+2)
	text = append(text, '"')
	text = append(text, t.json[:t.end]...)
	return rawjson.String(append(text, '"'))
}

// whole reports whether a plain line counts as whole.
func whole(line []byte) bool {
	return bytes.HasSuffix(line, []byte("}")) && !needle.Joined(line)
}
