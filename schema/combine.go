package schema

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Two clones may redact different texts of one record, or of one session. Each version then
// has a marker where the other still contains the text. What is redacted in either must be in
// the merged version.

var redactedMarks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(MarkPattern)
})

var redactionMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + MarkPattern + `)+`)
})

// redactedPrefix begins a marker.
const redactedPrefix = "[redacted: "

// MarkPattern is a regular expression that matches a marker.
const MarkPattern = `\[redacted: [a-z0-9-]+\]`

// combineSteps bounds the work for a text that fits in many ways.
const combineSteps = 200_000

// CombineRedacted returns a text with what is redacted in a or in b, which were redacted
// from one text. ok is false if they cannot come from one.
func CombineRedacted(a, b string) (text string, ok bool) {
	if a == b {
		return a, true
	}
	if b < a { // so that the order does not matter
		a, b = b, a
	}
	c := combining{a: a, b: b, failed: map[[2]int]bool{}}
	ok = c.from(0, 0)
	return string(c.out), ok
}

// HasRedacted reports whether a text contains what is redacted in o, another version of it.
func HasRedacted(text, o string) bool {
	both, ok := CombineRedacted(text, o)
	return ok && redactedMarks().ReplaceAllString(both, "") != redactedMarks().ReplaceAllString(text, "")
}

// combining aligns two versions of a text.
type combining struct {
	a, b   string
	out    []byte
	failed map[[2]int]bool // places that do not lead to the end
	steps  int
}

// from aligns a[i:] with b[j:], and appends what they have in common to out.
func (c *combining) from(i, j int) bool {
	begun := len(c.out)
	at := [2]int{i, j}
	for {
		if c.steps++; c.steps > combineSteps || c.failed[[2]int{i, j}] {
			break
		}
		if i == len(c.a) && j == len(c.b) {
			return true
		}
		x, y := markAt(c.a[i:]), markAt(c.b[j:])
		if x != "" || y != "" {
			if c.covered(i, j, x, y) {
				return true
			}
			break
		}
		n := 0
		for i+n < len(c.a) && j+n < len(c.b) && c.a[i+n] == c.b[j+n] && (n == 0 || c.a[i+n] != '[') {
			n++
		}
		if n == 0 {
			break
		}
		c.out = append(c.out, c.a[i:i+n]...)
		i, j = i+n, j+n
	}
	c.failed[at] = true
	c.out = c.out[:begun]
	return false
}

// covered aligns what follows a marker in a or b, which stands for some text of the other.
func (c *combining) covered(i, j int, x, y string) bool {
	mark := x
	if x == "" || y != "" && y < x {
		mark = y
	}
	begun := len(c.out)
	c.out = append(c.out, mark...)
	if x != "" && y != "" && c.from(i+len(x), j+len(y)) {
		return true
	}
	if x != "" && c.after(c.a[i+len(x):], c.b, j+max(len(y), 1), func(j int) bool { return c.from(i+len(x), j) }) {
		return true
	}
	if y != "" && c.after(c.b[j+len(y):], c.a, i+max(len(x), 1), func(i int) bool { return c.from(i, j+len(y)) }) {
		return true
	}
	c.out = c.out[:begun]
	return false
}

// after aligns rest, which follows a marker, with the first place in the other text from
// which alignFrom succeeds.
func (c *combining) after(rest, other string, from int, alignFrom func(j int) bool) bool {
	for j := from; j <= len(other) && c.steps <= combineSteps; j++ {
		end := rest == "" || j == len(other)
		if end && (rest != "" || j < len(other)) || !end && rest[0] != other[j] && markAt(other[j:]) == "" {
			c.steps++
			continue
		}
		if alignFrom(j) {
			return true
		}
	}
	return false
}

// markAt returns the markers that a text begins with.
func markAt(s string) string {
	if !strings.HasPrefix(s, redactedPrefix) {
		return ""
	}
	return redactionMark().FindString(s)
}

// Combine returns the message with what is redacted in m or in o, another version of it,
// and a rev greater than theirs; its tokens are not counted. ok is false if neither lacks a
// redaction of the other, or if they are not from one message.
func (m *Message) Combine(o *Message) (both Message, ok bool) {
	redacted, apart := redactedApart(m.Redacted, o.Redacted)
	if !apart {
		return both, false
	}
	var lines [2]string
	var texts [2][]string
	for i, version := range []*Message{m, o} {
		rest := *version
		rest.Content, rest.Tokens, rest.Rev, rest.Redacted, rest.Blocks = "", 0, 0, nil, slices.Clone(version.Blocks)
		var ok bool
		if texts[i], ok = version.Texts(); !ok {
			rest.Blocks, texts[i] = nil, []string{version.Content}
		}
		for k := range rest.Blocks {
			rest.Blocks[k].Bytes = 0
		}
		lines[i] = string(AppendMessage(nil, &rest))
	}
	if len(texts[0]) != len(texts[1]) { // a text that spans blocks was redacted in one
		texts = [2][]string{{m.Content}, {o.Content}}
	}
	line, ok := CombineRedacted(lines[0], lines[1])
	if !ok {
		return both, false
	}
	both, err := ParseMessage([]byte(strings.TrimSuffix(line, "\n")))
	if err != nil {
		return both, false
	}
	for i := range texts[0] {
		if texts[0][i], ok = CombineRedacted(texts[0][i], texts[1][i]); !ok {
			return both, false
		}
	}
	both.Content = strings.Join(texts[0], TextJoint)
	at := 0
	for i := range both.Blocks {
		if both.Blocks[i].Type == TextBlock && at < len(texts[0]) {
			both.Blocks[i].Bytes = len(texts[0][at])
			at++
		}
	}
	both.Redacted, both.Rev = redacted, min(max(m.Rev, o.Rev)+1, MaxRev)
	return both, true
}

// Combine is [Message.Combine] for a call.
func (t *Tool) Combine(o *Tool) (both Tool, ok bool) {
	redacted, apart := redactedApart(t.Redacted, o.Redacted)
	if !apart {
		return both, false
	}
	var lines [2]string
	for i, rest := range []Tool{*t, *o} {
		rest.Tokens, rest.Rev, rest.Redacted = 0, 0, nil
		lines[i] = string(AppendTool(nil, &rest))
	}
	line, ok := CombineRedacted(lines[0], lines[1])
	if !ok {
		return both, false
	}
	both, err := ParseTool([]byte(strings.TrimSuffix(line, "\n")))
	both.Redacted, both.Rev = redacted, min(max(t.Rev, o.Rev)+1, MaxRev)
	return both, err == nil
}

// combineValues returns a value with what is redacted in a or b, two variants of a member.
// ok is false if they differ in anything else.
func combineValues(a, b reflect.Value) (both reflect.Value, ok bool) {
	both = cloneValue(a)
	switch a.Kind() {
	case reflect.String:
		text, ok := CombineRedacted(a.String(), b.String())
		both.SetString(text)
		return both, ok
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return both, a.IsNil() && b.IsNil()
		}
		elem, ok := combineValues(a.Elem(), b.Elem())
		both.Elem().Set(elem)
		return both, ok
	case reflect.Slice:
		if a.Len() != b.Len() {
			return both, false
		}
		for i := range a.Len() {
			elem, ok := combineValues(a.Index(i), b.Index(i))
			if !ok {
				return both, false
			}
			both.Index(i).Set(elem)
		}
		return both, true
	case reflect.Struct:
		for i := range a.NumField() {
			field, ok := combineValues(a.Field(i), b.Field(i))
			if !ok {
				return both, false
			}
			both.Field(i).Set(field)
		}
		return both, true
	}
	return both, a.Equal(b)
}

// combineTags replaces two versions of a tag that redact different texts with one that
// redacts both, and drops a version that lacks a redaction of another. Only their text
// says which tags are versions of one: a session that redacted a tag no longer names what
// it was before. A version that is redacted as a whole says too little.
func combineTags(is map[string]bool, last map[string]TagStamp, tags [][]string, sets [][]TagStamp) {
	together := func(a, b string) bool {
		return slices.ContainsFunc(tags, func(list []string) bool { return slices.Contains(list, a) && slices.Contains(list, b) }) ||
			slices.ContainsFunc(sets, func(set []TagStamp) bool {
				names := func(tag string) bool {
					return slices.ContainsFunc(set, func(t TagStamp) bool { return t.Tag == tag })
				}
				return names(a) && names(b)
			})
	}
	for _, a := range slices.Sorted(maps.Keys(is)) {
		for _, b := range slices.Sorted(maps.Keys(is)) {
			if a == b || !is[a] || !is[b] || strings.Trim(redactedMarks().ReplaceAllString(b, ""), " ") == "" || !strings.Contains(b, redactedPrefix) || together(a, b) {
				continue
			}
			text, ok := CombineRedacted(a, b)
			if !ok || text == a || !strings.Contains(a, redactedPrefix) && compareTimes(last[a].At, last[b].At) > 0 {
				continue
			}
			later := last[a]
			if compareTimes(later.At, last[b].At) < 0 {
				later = last[b]
			}
			for _, tag := range []string{a, b} {
				delete(is, tag)
				delete(last, tag)
			}
			is[text] = true
			if later.At != "" { // else both are from the creation
				later.Tag = text
				last[text] = later
			}
		}
	}
}

// redactedApart returns the redactions of two versions. apart is false if one version has
// all of them.
func redactedApart(a, b []string) (all []string, apart bool) {
	all = slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
	return all, len(a) > 0 && len(b) > 0 && len(all) > max(len(a), len(b))
}
