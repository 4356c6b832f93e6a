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
	names    []int32
}

// segmentBytes is how long a segment is, about. Shorter ones tell more names in the
// same room, longer ones are easier to read.
const segmentBytes = 96

// split cuts text into segments.
func split(text string) []segment {
	var out []segment
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		for at < end {
			n := cutAt(text[at:end])
			out = append(out, segment{from: at, to: at + n})
			at += n
		}
	}
	return out
}

// cutAt returns the length of the first segment of a line.
func cutAt(line string) int {
	const least, most = segmentBytes / 2, segmentBytes
	// Text in JSON has its line ends as escapes.
	if i := strings.Index(line[:min(len(line), most+most/4)], `\n`); i > 0 {
		return i
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
	for at < len(line) && at < 2*most && nameClass[line[at]] != 0 {
		at++
	}
	for at < len(line) && !utf8.RuneStart(line[at]) {
		at++
	}
	return at
}
