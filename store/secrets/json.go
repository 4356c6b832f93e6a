package secrets

import (
	"errors"
	"strings"
)

var errJSON = errors.New("secrets: invalid JSON")

// JSON returns raw, one valid JSON value, with the secrets in its strings and member
// names replaced, and adds the replacements to counts, which may be nil. Every byte that
// is not part of a secret stays as it was: spaces, numbers, the order of members, the
// spelling of escapes, lone surrogates. It returns raw itself if it finds nothing. After
// an error the caller must not store the value.
func (r *Redactor) JSON(raw []byte, counts Counts) ([]byte, error) {
	s := string(raw)
	for pass := range maxPasses {
		w := walker{r: r, s: s}
		w.space()
		if err := w.value(""); err != nil {
			return nil, err
		}
		if w.space(); w.pos != len(s) {
			return nil, errJSON
		}
		if len(w.found) == 0 {
			if pass == 0 {
				return raw, nil
			}
			return []byte(s), nil
		}
		var b strings.Builder
		b.Grow(len(s))
		last := 0
		for _, sp := range w.found {
			b.WriteString(s[last:sp.start])
			b.WriteString(r.marker(sp, counts))
			last = sp.end
		}
		b.WriteString(s[last:])
		s = b.String()
	}
	if r.texts != nil {
		return []byte(s), nil
	}
	return nil, errNoFixedPoint
}

// maxDepth limits the nesting of JSON values, like encoding/json.
const maxDepth = 10000

// A walker goes through a JSON value and collects the parts to replace. It checks the
// structure only as far as it needs it.
type walker struct {
	r     *Redactor
	s     string
	pos   int
	depth int
	found []span
}

func (w *walker) space() {
	for w.pos < len(w.s) && strings.IndexByte(" \t\r\n", w.s[w.pos]) >= 0 {
		w.pos++
	}
}

// value walks over the value at pos. name is the decoded name of the member that has it,
// if any.
func (w *walker) value(name string) error {
	if w.pos >= len(w.s) {
		return errJSON
	}
	switch w.s[w.pos] {
	case '{', '[':
		if w.depth++; w.depth > maxDepth {
			return errJSON
		}
		defer func() { w.depth-- }()
		return w.members(name)
	case '"':
		return w.text(name)
	}
	start := w.pos
	for w.pos < len(w.s) && (isAlnum(w.s[w.pos]) || strings.IndexByte("+-.", w.s[w.pos]) >= 0) {
		w.pos++
	}
	if w.pos == start {
		return errJSON
	}
	return nil
}

// members walks over an object or an array. Elements of an array are treated as if they
// had the array's name.
func (w *walker) members(name string) error {
	object, closing := w.s[w.pos] == '{', byte(']')
	if object {
		closing = '}'
	}
	w.pos++
	w.space()
	if w.pos < len(w.s) && w.s[w.pos] == closing {
		w.pos++
		return nil
	}
	for {
		w.space()
		if object {
			v, inner, err := w.string()
			if err != nil {
				return err
			}
			if err := w.search(v, inner); err != nil {
				return err
			}
			name = v.text
			w.space()
			if w.pos >= len(w.s) || w.s[w.pos] != ':' {
				return errJSON
			}
			w.pos++
			w.space()
		}
		if err := w.value(name); err != nil {
			return err
		}
		w.space()
		if w.pos >= len(w.s) {
			return errJSON
		}
		w.pos++
		switch w.s[w.pos-1] {
		case closing:
			return nil
		case ',':
		default:
			return errJSON
		}
	}
}

// string reads the string at pos. Its content starts at s[inner:], after the quote.
func (w *walker) string() (v view, inner int, err error) {
	if w.pos >= len(w.s) || w.s[w.pos] != '"' {
		return view{}, 0, errJSON
	}
	inner = w.pos + 1
	for i := inner; i < len(w.s); i++ {
		switch w.s[i] {
		case '\\':
			i++
		case '"':
			w.pos = i + 1
			v, err = unescapeJSON(w.s[inner:i])
			return v, inner, err
		}
	}
	return view{}, 0, errJSON
}

// search collects the findings in a string whose content starts at s[inner:].
func (w *walker) search(v view, inner int) error {
	spans, err := w.r.spans(v.text)
	if err != nil {
		return err
	}
	w.add(spans, v, inner)
	return nil
}

func (w *walker) add(spans []span, v view, inner int) {
	for _, sp := range spans {
		start, end := v.source(sp.start, sp.end)
		w.found = append(w.found, span{inner + start, inner + end, sp.rule})
	}
}

// text walks over a string value. If a member has it, the value is also a secret if a
// text that assigns it to the member's name would contain one.
func (w *walker) text(name string) error {
	v, inner, err := w.string()
	if err != nil {
		return err
	}
	spans, err := w.r.spans(v.text)
	if err != nil {
		return err
	}
	if name != "" && v.text != "" && w.r.texts == nil {
		named, err := w.r.named(name, v.text)
		if err != nil {
			return err
		}
		if len(named) > 0 {
			spans = merge(append(spans, named...))
		}
	}
	w.add(spans, v, inner)
	return nil
}

// named returns the findings in value that depend on its name.
func (r *Redactor) named(name, value string) ([]span, error) {
	telling := false
	_ = r.index().scan(name, func(w *keyword, _ int) error {
		telling = telling || w.fold // token prefixes are not folded
		return nil
	})
	if !telling {
		return nil, nil
	}
	var inside []span
	if namesSecret(name, value) {
		for id := range r.rules {
			if r.rules[id].ID == assignmentID {
				inside = append(inside, span{0, len(value), id})
			}
		}
	}
	if strings.ContainsAny(name, "\"\\\n") || strings.ContainsAny(value, "\"\\\n") {
		return inside, nil
	}
	found, err := r.search(`"` + name + `": "` + value + `"`)
	if err != nil {
		return nil, err
	}
	shift := len(name) + 5
	for _, sp := range found {
		sp.start, sp.end = sp.start-shift, sp.end-shift
		if sp.start >= 0 && sp.end <= len(value) {
			inside = append(inside, sp)
		}
	}
	return inside, nil
}
