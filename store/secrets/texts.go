package secrets

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A [Redactor] made by [Matching] or [Recognizing] replaces what a person named instead of
// what the rules recognize. It never replaces a part of a marker, so that a second run
// finds nothing.

// texts are texts to replace, with the names for their markers.
type texts struct {
	names []string
	ids   []string // of redactions, to count by instead of names; may be nil
	find  func(s string, add func(start, end, name int))
}

func (t *texts) search(s string) (found []span) {
	t.find(s, func(start, end, name int) { found = append(found, span{start, end, name}) })
	return found
}

func (r *Redactor) nameOf(rule int) string {
	if r.texts != nil {
		return r.texts.names[rule]
	}
	return r.rules[rule].ID
}

// countedAs returns what the replacements of a rule are counted as.
func (r *Redactor) countedAs(rule int) string {
	if r.texts != nil && r.texts.ids != nil {
		return r.texts.ids[rule]
	}
	return r.nameOf(rule)
}

// marks matches markers, of rules and of people.
var marks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[redacted: [a-z0-9-]{1,64}\]`) })

// beyondMarkers leaves out spans that consist of markers, and extends those that cut one.
func (r *Redactor) beyondMarkers(s string, spans []span) []span {
	if r.texts == nil || len(spans) == 0 || !strings.Contains(s, markerStart) {
		return spans
	}
	all := marks().FindAllStringIndex(s, -1)
	at := 0
	kept := spans[:0]
	for _, sp := range spans {
		for at < len(all) && all[at][1] <= sp.start {
			at++
		}
		covered := sp.start // up to here, the span is made of markers
		for _, m := range all[at:] {
			if m[0] >= sp.end {
				break
			}
			if m[0] <= covered {
				covered = max(covered, m[1])
			}
			sp.start, sp.end = min(sp.start, m[0]), max(sp.end, m[1])
		}
		if covered < sp.end {
			kept = append(kept, sp)
		}
	}
	return merge(kept)
}

// Loose returns b with texts replaced, whatever b is: JSON, lines of JSON, plain text or
// something damaged. It replaces them in the strings of each line that is valid JSON, then
// in all of b as it is and with escape sequences decoded. It returns b itself if it finds
// nothing.
func (r *Redactor) Loose(b []byte, counts Counts) ([]byte, error) {
	var out []byte
	for line := range bytes.Lines(b) {
		if raw := bytes.TrimSpace(line); len(raw) > 1 && raw[0] == '{' && raw[len(raw)-1] == '}' {
			if replaced, err := r.JSON(line, counts); err == nil {
				line = replaced
			}
		}
		out = append(out, line...)
	}
	text, err := r.Text(string(out), counts)
	if err != nil || counts.Sum() == 0 {
		return b, err
	}
	return []byte(text), nil
}

// Matching returns a Redactor for the matches of an expression, whose markers have the
// given name. It ignores empty matches. found collects the matches.
func Matching(re *regexp.Regexp, name string, found *Found) *Redactor {
	return &Redactor{texts: &texts{names: []string{name}, find: func(s string, add func(start, end, name int)) {
		for _, m := range re.FindAllStringIndex(s, -1) {
			if m[0] == m[1] {
				continue
			}
			if !madeOfMarkers(s[m[0]:m[1]]) && !insideMarker(s, m[0]) {
				found.add(s, m[0], m[1])
			}
			add(m[0], m[1], 0)
		}
	}}}
}

func madeOfMarkers(s string) bool {
	return strings.HasPrefix(s, markerStart) && marks().ReplaceAllString(s, "") == ""
}

// Found collects the distinct texts that a [Redactor] replaced. It is only ever in memory.
type Found struct {
	texts map[string]edges
	full  bool
}

// edges says whether each occurrence of a text began and ended at the edge of a word.
type edges struct {
	start, end bool
	line       string // the text on one line
}

// maxKnown bounds the texts that a [Known] recognizes.
const maxKnown = 2000

func (f *Found) add(s string, start, end int) {
	if f == nil {
		return
	}
	at := edges{start: isEdge(s, start), end: isEdge(s, end)}
	old, ok := f.texts[s[start:end]]
	switch {
	case ok:
		at.start, at.end, at.line = at.start && old.start, at.end && old.end, old.line
	case len(f.texts) >= maxKnown:
		f.full = true
		return
	case f.texts == nil:
		f.texts = map[string]edges{}
	}
	text := strings.Clone(s[start:end])
	if at.line == "" {
		at.line = text
		if strings.ContainsAny(text, "\n\r\t") || strings.Contains(text, "  ") {
			at.line = strings.Join(strings.Fields(text), " ")
		}
	}
	f.texts[text] = at
}

// Len returns the number of distinct texts.
func (f *Found) Len() int { return len(f.texts) }

// Any reports whether f accepts one of the texts.
func (f *Found) Any(accepts func(text string) bool) bool {
	for text := range f.texts {
		if accepts(text) {
			return true
		}
	}
	return false
}

// isEdge reports whether a word begins or ends at s[at:].
func isEdge(s string, at int) bool {
	return (at > 0 && isWord(s[at-1])) != (at < len(s) && isWord(s[at]))
}

func isWord(c byte) bool { return isAlnum(c) || c == '_' || c >= 0x80 }

// A Known recognizes texts that were redacted, without holding them: it has a salted hash
// of each. So it can be kept to redact them again when a transcript, which still has them,
// is read once more.
type Known struct {
	ID    string `json:"id"`   // of the redaction
	Name  string `json:"name"` // for the markers
	Salt  []byte `json:"salt"`
	Texts []Text `json:"texts"`

	// Partial says that there were too many texts to recognize all of them.
	Partial bool `json:"partial,omitempty"`
}

// A Text is one text that a [Known] recognizes.
type Text struct {
	Bytes int    `json:"bytes"`           // its length
	Quick uint16 `json:"quick"`           // a weak hash, which excludes nearly all others
	Sum   []byte `json:"sum"`             // a strong one
	Start bool   `json:"start,omitempty"` // only at the start of a word, or at its end
	End   bool   `json:"end,omitempty"`
}

// Is reports whether k recognizes the texts in found and no others.
func (k *Known) Is(found *Found) bool {
	if k.Partial || found.full || len(k.Texts) != len(found.texts) {
		return false
	}
	for text := range found.texts {
		if k.text(text) == nil {
			return false
		}
	}
	return true
}

// Add makes k recognize the texts in found, too.
func (k *Known) Add(found *Found) {
	k.Partial = k.Partial || found.full
	for _, text := range sortedTexts(found) {
		at := found.texts[text]
		if k.add(text, at) {
			continue
		}
		if len(k.Texts) >= maxKnown {
			k.Partial = true
			return
		}
		k.Texts = append(k.Texts, Text{len(text), k.quick(text), k.sum(text), at.start, at.end})
	}
}

// add notes another occurrence of a text that k knows; it returns false for others.
func (k *Known) add(text string, at edges) bool {
	t := k.text(text)
	if t == nil {
		return false
	}
	t.Start, t.End = t.Start && at.start, t.End && at.end
	return true
}

// text returns what k has of a text; nil if it does not know the text.
func (k *Known) text(text string) *Text {
	quick := k.quick(text)
	for i := range k.Texts {
		t := &k.Texts[i]
		if t.Bytes == len(text) && t.Quick == quick && k.isSum(t, text) {
			return t
		}
	}
	return nil
}

func sortedTexts(f *Found) []string {
	list := make([]string, 0, len(f.texts))
	for text := range f.texts {
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

// sumRounds makes it slow to guess a short text from its hash.
const sumRounds = 1 << 10

func (k *Known) sum(text string) []byte {
	sum, err := pbkdf2.Key(sha256.New, text, k.Salt, sumRounds, 16)
	if err != nil {
		return nil // no text has this sum
	}
	return sum
}

func (k *Known) isSum(t *Text, text string) bool {
	return subtle.ConstantTimeCompare(t.Sum, k.sum(text)) == 1
}

// base is the base of the quick hash, an odd number made from the salt.
func (k *Known) base() uint32 {
	sum := sha256.Sum256(k.Salt)
	return binary.LittleEndian.Uint32(sum[:]) | 1
}

// quick is a polynomial hash that can be moved along a text byte by byte. It is short, so
// that it reveals little of the text.
func (k *Known) quick(text string) uint16 {
	base, h := k.base(), uint32(0)
	for i := range len(text) {
		h = h*base + uint32(text[i]) + 1
	}
	return shorten(h)
}

func shorten(h uint32) uint16 { return uint16((h * 0x9E3779B1) >> 16) }

// Recognizing returns a Redactor for the texts that known recognizes. It counts by the ids of
// the redactions.
func Recognizing(known []Known) *Redactor {
	t := &texts{}
	for i := range known {
		t.names, t.ids = append(t.names, known[i].Name), append(t.ids, known[i].ID)
	}
	finders := make([]finder, len(known))
	for i := range known {
		finders[i] = newFinder(&known[i])
	}
	t.find = func(s string, add func(start, end, name int)) {
		for i := range finders {
			finders[i].find(s, func(start, end int) { add(start, end, i) })
		}
	}
	return &Redactor{texts: t}
}

// A finder finds the texts of one [Known].
type finder struct {
	known  *Known
	base   uint32
	byLen  map[int]map[uint16][]*Text
	length []int
}

func newFinder(k *Known) finder {
	f := finder{known: k, base: k.base(), byLen: map[int]map[uint16][]*Text{}}
	for i := range k.Texts {
		t := &k.Texts[i]
		if t.Bytes <= 0 {
			continue
		}
		if f.byLen[t.Bytes] == nil {
			f.byLen[t.Bytes] = map[uint16][]*Text{}
			f.length = append(f.length, t.Bytes)
		}
		f.byLen[t.Bytes][t.Quick] = append(f.byLen[t.Bytes][t.Quick], t)
	}
	slices.Sort(f.length)
	return f
}

// find calls add for each of the texts in s.
func (f *finder) find(s string, add func(start, end int)) {
	confirmed := map[string]bool{} // a long run of one character repeats the same part
	for _, n := range f.length {
		if n > len(s) {
			return
		}
		wanted := f.byLen[n]
		top := uint32(1) // base to the power n-1
		for range n - 1 {
			top *= f.base
		}
		h := uint32(0)
		for i := range len(s) {
			if i >= n {
				h -= top * (uint32(s[i-n]) + 1)
			}
			h = h*f.base + uint32(s[i]) + 1
			if i < n-1 {
				continue
			}
			for _, t := range wanted[shorten(h)] { // nearly always at most one
				start, end := i+1-n, i+1
				if t.Start && !isEdge(s, start) || t.End && !isEdge(s, end) {
					continue
				}
				is, asked := confirmed[s[start:end]]
				if !asked {
					is = f.known.isSum(t, s[start:end])
					if len(confirmed) < maxKnown {
						confirmed[s[start:end]] = is
					}
				}
				if is {
					add(start, end)
					break
				}
			}
		}
	}
}
