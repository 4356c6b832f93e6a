package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A snippet is the smallest unit of a text to include: a sentence, a line, or a part
// of a long one that ends at a clause or at least at a word.
type snippet struct {
	from, to    int  // bytes of the text, with the newline of its line
	tokens      int  // estimate; 0 if not counted yet
	included    bool // it is included
	lowPriority bool // included only if there is room for everything else
	errorLine   bool // shown with its call
}

// Snippet sizes in bytes. A line or sentence stays whole up to longestWhole; parts of
// a longer one have about partBytes. A call's input is one line of JSON. It stays
// whole up to wholeInput, and its parts have at least leastInput.
const (
	longestWhole = 500
	partBytes    = 120
	wholeInput   = 200
	inputBytes   = 60
	leastInput   = 20
)

// longestCut is how many bytes a snippet may be longer to avoid cutting a name.
const longestCut = 160

// snippetsOf cuts a text into snippets. Each is inside one of the text's spans or
// outside all of them.
func snippetsOf(t Text) []snippet {
	var out []snippet
	at := 0
	add := func(to int, aside bool) {
		for at < to {
			n := next(t.Text[at:to], t.Kind)
			for from := at; at+n < to && strings.TrimSpace(t.Text[from:at+n]) == ""; { // blank lines belong to what follows
				from = at + n
				n += next(t.Text[from:to], t.Kind)
			}
			out = append(out, snippet{from: at, to: at + n, lowPriority: aside, errorLine: at < t.ErrorLine.To && at+n > t.ErrorLine.From})
			at += n
		}
	}
	for _, s := range t.LowPriority {
		add(s.From, false)
		add(s.To, true)
	}
	add(len(t.Text), false)
	return out
}

// next returns the length of the first snippet of a text.
func next(text string, kind Kind) int {
	if kind == Input {
		return nextInput(text)
	}
	text = text[:min(longestWhole+utf8.UTFMax, len(text))] // what follows decides nothing
	end := strings.IndexByte(text, '\n') + 1
	if end == 0 {
		end = len(text)
	}
	if kind != Output {
		end = sentences(text[:end])
	}
	if end <= longestWhole {
		return end
	}
	return cutAt(text[:end], partBytes)
}

// sentences returns the length of a line's first sentence with the space after it, or
// of the first few if one says too little: "2. Tests" must not end at its number.
func sentences(line string) int {
	const least = 25
	for i := least; i+2 < len(line); i++ {
		if strings.IndexByte(".!?", line[i]) >= 0 && line[i+1] == ' ' {
			if r, _ := utf8.DecodeRuneInString(line[i+2:]); unicode.IsUpper(r) {
				return i + 2
			}
		}
	}
	return len(line)
}

// nextInput returns the length of the first snippet of a JSON text, whose line ends
// are escapes.
func nextInput(text string) int {
	if len(text) <= wholeInput {
		return len(text)
	}
	if i := strings.Index(text[:inputBytes], patchBegin); i >= 0 {
		i += len(patchBegin)
		if n := strings.Index(text[i:min(i+longestCut, len(text))], `\n`); n > 0 {
			return i + n
		}
	}
	for i := 0; i+1 < inputBytes; i++ {
		switch {
		case text[i] == '\\' && text[i+1] == 'n' && i >= leastInput:
			return i
		case text[i] == '\\':
			i++ // the escaped character, even a backslash
		case text[i] == ',' && text[i+1] == '"' && i >= leastInput:
			return i + 1
		}
	}
	return cutAt(text, inputBytes)
}

// patchBegin is the beginning of a patch; the line that names its file belongs to it.
const patchBegin = `*** Begin Patch\n`

// cutAt returns the length of a snippet of about most bytes at the start of a line.
func cutAt(line string, most int) int {
	for i := most; i > most/2; i-- {
		if strings.IndexByte(".;,:)}]!?", line[i-1]) >= 0 && line[i] == ' ' {
			return i + 1
		}
	}
	for i := most + most/8; i > most/2; i-- {
		if i < len(line) && (line[i-1] == ' ' || line[i-1] == '\t') {
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

// around is how many non-space characters on each side of a name make its context.
const around = 30

// mostSpace is how many bytes of a text are searched for them.
const mostSpace = 400

// surrounding returns the first and last snippet with the context of t[from:to], which is in
// snippet j.
func (t *text) surrounding(j, from, to int) (first, last int32) {
	s := t.Text.Text
	n := 0
	for least := max(from-mostSpace, 0); from > least && n < around; from-- {
		if c := s[from-1]; c > ' ' && utf8.RuneStart(c) {
			n++
		}
	}
	n = 0
	for most := min(to+mostSpace, len(s)); to < most && n < around; to++ {
		if c := s[to]; c > ' ' && utf8.RuneStart(c) {
			n++
		}
	}
	a, b := j, j
	for a > 0 && t.snippets[a].from > from && !t.snippets[a-1].lowPriority {
		a--
	}
	for b+1 < len(t.snippets) && t.snippets[b].to < to && !t.snippets[b+1].lowPriority {
		b++
	}
	return int32(a), int32(b)
}
