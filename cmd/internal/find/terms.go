package find

import (
	"bytes"
	"unicode/utf8"
)

// inTerm says which ASCII bytes are in folded terms.
var inTerm = func() (is [utf8.RuneSelf]bool) {
	for c := range is {
		is[c] = letter(rune(c))
	}
	return is
}()

// EachTerm calls f with the terms of a folded text: its longest runs of letters and digits.
func EachTerm(text []byte, f func(term []byte)) {
	begin := 0
	for at := 0; at < len(text); {
		size, is := 1, false
		if c := text[at]; c < utf8.RuneSelf {
			is = inTerm[c]
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[at:])
			is = letter(r)
		}
		if !is {
			if at > begin {
				f(text[begin:at])
			}
			begin = at + size
		}
		at += size
	}
	if len(text) > begin {
		f(text[begin:])
	}
}

// A Word is a word of a query, with its terms. A text that contains the word has, for each of
// these, a term that contains it. If the word is a single term, the reverse is also true.
type Word struct {
	Terms  [][]byte
	Single bool // the word is a term
}

// Words returns the words of a query, for a search in terms. It returns none for a path to no
// conversation.
func (q *Query) Words() []Word { return wordTerms(q.words) }

func wordTerms(words [][]byte) []Word {
	list := make([]Word, len(words))
	for i, w := range words {
		EachTerm(w, func(term []byte) { list[i].Terms = append(list[i].Terms, term) })
		list[i].Single = len(list[i].Terms) == 1 && bytes.Equal(list[i].Terms[0], w)
	}
	return list
}

// Beginnings returns texts to search names for; see [AppendName]. Each name that the query
// hits in tier [Beginning] contains at least one of them.
func (q *Query) Beginnings() [][]byte {
	list := [][]byte{append([]byte("\n"), q.text...)}
	if len(q.place) > 0 {
		list = append(list, append([]byte("/"), q.place...))
		if !bytes.Equal(q.place, q.text) {
			list = append(list, append([]byte("\n"), q.place...))
		}
	}
	return list
}

// Title returns the folded title of conversations that the query hits in tier [ByTitle].
func (q *Query) Title() string { return string(q.text) }

// FoldTitle folds a title to compare it with [Query.Title].
func FoldTitle(title string) string { return string(AppendText(nil, title)) }
