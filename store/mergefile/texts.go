package mergefile

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cortext/schema"
)

// leastCovered is the length in bytes from which a text that was redacted is looked for in
// other places. A shorter one may be a part of any word.
const leastCovered = 4

// Redact returns the versions of a document or an attachment, before their lines are merged,
// with what one side redacted since base redacted in all of them. Otherwise a merge that
// keeps the lines of both sides would bring it back from the other one.
func Redact(base, a, b []byte) (base2, a2, b2 []byte) {
	if !bytes.Contains(a, []byte(redactedPrefix)) && !bytes.Contains(b, []byte(redactedPrefix)) {
		return base, a, b
	}
	if text, ok := schema.CombineRedacted(string(a), string(b)); ok {
		return base, []byte(text), []byte(text)
	}
	byA, byB := covered(base, a), covered(base, b)
	if base == nil { // neither side is known to be the older one
		byA, byB = covered(b, a), covered(a, b)
	}
	both := append(slices.Clone(byA), byB...)
	return cover(base, both), cover(a, byB), cover(b, byA)
}

// redactedPrefix begins a marker.
const redactedPrefix = "[redacted: "

// redactedMarks matches markers that follow each other.
var redactedMarks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:` + schema.MarkPattern + `)+`)
})

// A covering is a text and the marker in its place.
type covering struct{ text, mark string }

// cover puts markers in the place of texts.
func cover(text []byte, by []covering) []byte {
	slices.SortFunc(by, func(x, y covering) int {
		return cmp.Or(cmp.Compare(len(y.text), len(x.text)), cmp.Compare(x.text, y.text), cmp.Compare(x.mark, y.mark))
	})
	for _, c := range by {
		text = bytes.ReplaceAll(text, []byte(c.text), []byte(c.mark))
	}
	return text
}

// covered returns the texts of an older version that a newer one has markers for. It looks
// where lines of the older version gave way to lines with markers.
func covered(older, newer []byte) (list []covering) {
	from, to := strings.SplitAfter(string(older), "\n"), strings.SplitAfter(string(newer), "\n")
	var gone []string // lines that the newer version lacks
	for _, line := range from {
		if !slices.Contains(to, line) {
			gone = append(gone, line)
		}
	}
	at := 0 // the first line of from that no line of to took
	for i := 0; i < len(to); i++ {
		if n := slices.Index(from[at:], to[i]); n >= 0 {
			at += n + 1
			continue
		}
		first := i
		end := len(from) // of the lines that gave way
		for ; i < len(to); i++ {
			if n := slices.Index(from[at:], to[i]); n >= 0 {
				end = at + n
				break
			}
		}
		list = append(list, coveredIn(from[at:end], to[first:i], gone)...)
		at = end
		i--
	}
	return list
}

// coveredIn compares lines with those that took their place: first all of them, then one by
// one, also with what is gone elsewhere.
func coveredIn(from, to, gone []string) (list []covering) {
	marked := func(line string) bool { return strings.Contains(line, redactedPrefix) }
	if !slices.ContainsFunc(to, marked) {
		return nil
	}
	if list, ok := coveredBy(strings.Join(from, ""), strings.Join(to, "")); ok {
		return list
	}
	for i, line := range to {
		var olds []string
		switch {
		case !marked(line):
		case strings.TrimSpace(redactedMarks().ReplaceAllString(line, "")) != "":
			olds = slices.Concat(from, gone)
		case len(from) == len(to):
			olds = from[i : i+1]
		default: // any line would do
			olds = []string{strings.Join(from, "")}
		}
		for _, old := range olds {
			if found, ok := coveredBy(old, line); ok {
				list = append(list, found...)
				break
			}
		}
	}
	return list
}

// coveredBy aligns a text with a version of it in which some parts are redacted.
func coveredBy(older, newer string) (list []covering, ok bool) {
	marks := redactedMarks().FindAllStringIndex(newer, -1)
	var pattern strings.Builder
	pattern.WriteString(`(?s)\A`)
	at := 0
	for _, m := range marks {
		pattern.WriteString(regexp.QuoteMeta(newer[at:m[0]]) + `(.+?)`)
		at = m[1]
	}
	pattern.WriteString(regexp.QuoteMeta(newer[at:]) + `\z`)
	re, err := regexp.Compile(pattern.String())
	if err != nil { // too long, or not UTF-8
		return nil, false
	}
	groups := re.FindStringSubmatch(older)
	for i, text := range groups[min(1, len(groups)):] {
		mark := newer[marks[i][0]:marks[i][1]]
		if text = strings.TrimSpace(text); len(text) >= leastCovered && !strings.Contains(mark, text) && !strings.Contains(text, redactedPrefix) {
			list = append(list, covering{text, mark})
		}
	}
	return list, groups != nil
}
