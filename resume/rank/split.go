package rank

import (
	"strings"
	"unicode/utf8"
)

// A segment is the least that is told of a text: a line, or of a long one a part
// that ends where a sentence, a clause or at least a word does.
type segment struct {
	from, to int  // bytes of the text; the newline of its line is in it
	tokens   int  // about so many; 0: not counted yet
	shown    bool // it is told
	aside    bool // it is told only where there is room for all else
	key      bool // it is told with anything of its section
	names    []int32
}

// How long a segment is at most, about. Shorter ones tell more names in the same
// room, longer ones are easier to read: what was said in sentences.
const (
	segmentBytes = 50
	speechBytes  = 120
)

// longestCut is how many bytes a segment may have more, so that no name is cut.
const longestCut = 160

// segmentsOf cuts a part into segments, each of which lies in one of its spans or in
// none.
func segmentsOf(p Part) []segment {
	var out []segment
	at := 0
	add := func(to int, aside bool) {
		for _, s := range split(p.Text[at:to], p.Kind) {
			from, to := at+s.from, at+s.to
			out = append(out, segment{from: from, to: to, aside: aside, key: from < p.Key.To && to > p.Key.From})
		}
		at = to
	}
	for _, s := range p.Aside {
		add(s.From, false)
		add(s.To, true)
	}
	add(len(p.Text), false)
	return out
}

// split cuts a text of a kind into segments.
func split(text string, kind Kind) []segment {
	most := segmentBytes
	if kind == User || kind == Assistant {
		most = speechBytes
	}
	var out []segment
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		for at < end {
			n := cutAt(text[at:end], most, kind == Call)
			out = append(out, segment{from: at, to: at + n})
			at += n
		}
	}
	return out
}

// cutAt returns the length of the first segment of a line, at most about most bytes.
// The input of a call is JSON, in which line ends are escapes.
func cutAt(line string, most int, input bool) int {
	least := most / 2
	if input {
		if i := lineEnd(line[:min(len(line), most+most/4)]); i > 0 {
			return i
		}
	}
	if len(line) <= most+most/4 {
		return len(line)
	}
	for i := most; i > least; i-- {
		if strings.IndexByte(".;,:)}]!?", line[i-1]) >= 0 && line[i] == ' ' {
			return i + 1
		}
	}
	for i := most + most/8; i > least; i-- {
		if line[i-1] == ' ' || line[i-1] == '\t' {
			return i
		}
	}
	at := most
	for at < len(line) && at < most+longestCut && nameClass[line[at]] != 0 {
		at++
	}
	for at < len(line) && !utf8.RuneStart(line[at]) {
		at++
	}
	return at
}

// lineEnd is where the next line of a text in JSON ends, behind its first byte; -1 if
// it does not.
func lineEnd(text string) int {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\\' {
			if text[i+1] == 'n' && i > 0 {
				return i
			}
			i++ // what is escaped, be it a backslash
		}
	}
	return -1
}
