// Package mergefile merges two versions of one file of a conversation, for git's merge
// driver: bytes in, bytes out.
//
// The result does not depend on which side is ours and holds every record of both sides.
// Merging it with either side again does not change it.
package mergefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cortext/schema"
	"cortext/store"
)

// ErrUnsure is returned if it is safer to keep the lines of both sides, as the workspace's
// .gitattributes makes git do.
var ErrUnsure = errors.New("not sure how to merge the two sides: keep the lines of both")

// Merge merges two versions of a file. name is its slash-separated path in the repository.
// base is the common ancestor, or empty. On an error the caller must keep the lines of both
// sides.
func Merge(name string, base, ours, theirs []byte) ([]byte, error) {
	switch file := path.Base(name); {
	case file == "session.json":
		return schema.MergeSessionFiles(base, ours, theirs)
	case file == path.Base(store.MessagesLog):
		return mergeLogs(messageLine, base, ours, theirs)
	case file == path.Base(store.ToolsLog):
		return mergeLogs(toolLine, base, ours, theirs)
	case path.Base(path.Dir(name)) == "summaries" && strings.HasSuffix(file, ".json"):
		return schema.MergeSummaryFiles(ours, theirs)
	case path.Base(path.Dir(name)) == "attachments":
		return mergeAttachment(base, ours, theirs), nil
	}
	return nil, fmt.Errorf("%q is not a file of a conversation: %w", name, ErrUnsure)
}

// leastCovered is the length, in bytes, of the shortest redacted text that a merge also
// redacts in other places. A shorter one may be part of any word.
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

// mergeAttachment merges two versions of an attachment, which changes only when somebody
// redacts a text in it. If it is not clear where the texts of both sides are, the version in
// which more is redacted counts.
func mergeAttachment(base, ours, theirs []byte) []byte {
	_, a, b := Redact(base, ours, theirs)
	marks := func(text []byte) int { return bytes.Count(text, []byte(redactedPrefix)) }
	if cmp.Or(cmp.Compare(marks(a), marks(b)), bytes.Compare(a, b)) < 0 {
		return b
	}
	return a
}

// redactedPrefix begins a marker.
const redactedPrefix = "[redacted: "

// redactedMarks matches markers that follow each other.
var redactedMarks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:` + schema.MarkPattern + `)+`)
})

// A covering is a text and the marker in its place.
type covering struct{ text, mark string }

// cover replaces texts with markers.
func cover(text []byte, by []covering) []byte {
	if len(text) == 0 {
		return text
	}
	slices.SortFunc(by, func(x, y covering) int {
		return cmp.Or(cmp.Compare(len(y.text), len(x.text)), cmp.Compare(x.text, y.text), cmp.Compare(x.mark, y.mark))
	})
	var pairs []string
	for _, c := range slices.Compact(by) { // the longest first
		pairs = append(pairs, c.text, c.mark)
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(text)))
}

// covered returns the texts of an older version that a newer one has markers for. It looks
// where lines of the older version gave way to lines with markers.
func covered(older, newer []byte) (list []covering) {
	from, to := strings.SplitAfter(string(older), "\n"), strings.SplitAfter(string(newer), "\n")
	places, kept := map[string][]int{}, map[string]bool{} // where each line is in from; the lines of to
	for i, line := range from {
		places[line] = append(places[line], i)
	}
	for _, line := range to {
		kept[line] = true
	}
	gone := slices.DeleteFunc(slices.Clone(from), func(line string) bool { return kept[line] })
	begin := 0 // the first line of from that no line of to took
	next := func(line string) (at int, ok bool) {
		list := places[line]
		i, _ := slices.BinarySearch(list, begin)
		if i == len(list) {
			return 0, false
		}
		return list[i], true
	}
	for i := 0; i < len(to); i++ {
		if at, ok := next(to[i]); ok {
			begin = at + 1
			continue
		}
		first := i
		end := len(from) // of the lines that gave way
		for ; i < len(to); i++ {
			if at, ok := next(to[i]); ok {
				end = at
				break
			}
		}
		list = append(list, coveredIn(from[begin:end], to[first:i], gone)...)
		begin = end
		i--
	}
	return list
}

// coveredIn compares lines with those that took their place: first all of them, then one by
// one, and with what is gone elsewhere.
func coveredIn(from, to, gone []string) (list []covering) {
	if !slices.ContainsFunc(to, isMarked) {
		return nil
	}
	all := strings.Join(from, "")
	if list, ok := versionOf(strings.Join(to, "")).covers(all); ok {
		return list
	}
	find := func(v version, olds []string) (at int) {
		for at, old := range olds {
			if found, ok := v.covers(old); ok {
				list = append(list, found...)
				return at
			}
		}
		return -1
	}
	begin := 0 // of the lines after the last that was found: most lines stay in order
	for i, line := range to {
		if !isMarked(line) {
			continue
		}
		v := versionOf(line)
		switch {
		case strings.TrimSpace(redactedMarks().ReplaceAllString(line, "")) != "":
			if at := find(v, from[begin:]); at >= 0 {
				begin += at + 1
			} else if find(v, from[:begin]) < 0 {
				find(v, gone)
			}
		case len(from) == len(to):
			find(v, from[i:i+1])
		default: // any line would do
			find(v, []string{all})
		}
	}
	return list
}

func isMarked(line string) bool { return strings.Contains(line, redactedPrefix) }

// A version is a text in which some parts may be redacted.
type version struct {
	text  string
	marks [][]int // where the markers are
}

func versionOf(text string) version {
	return version{text, redactedMarks().FindAllStringIndex(text, -1)}
}

// covers aligns an older text with the version.
func (v version) covers(older string) (list []covering, ok bool) {
	newer, marks := v.text, v.marks
	if len(marks) == 0 {
		return nil, older == newer
	}
	rest, ok := strings.CutPrefix(older, newer[:marks[0][0]])
	for i, m := range marks {
		if !ok || rest == "" {
			return nil, false
		}
		end := 0 // of the text in the place of the marker
		after := newer[m[1]:]
		if i < len(marks)-1 {
			after = newer[m[1]:marks[i+1][0]]
			end = strings.Index(rest[1:], after) + 1
		} else if strings.HasSuffix(rest, after) {
			end = len(rest) - len(after)
		}
		if end == 0 {
			return nil, false
		}
		mark, text := newer[m[0]:m[1]], strings.TrimSpace(rest[:end])
		if len(text) >= leastCovered && !strings.Contains(mark, text) && !strings.Contains(text, redactedPrefix) {
			list = append(list, covering{text, mark})
		}
		rest = rest[end+len(after):]
	}
	return list, true
}
