package search

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"cortext/cmd/internal/find"
	"cortext/cmd/internal/search/needle"
)

// A Query holds terms that must all occur in a conversation.
type Query struct {
	In    Field // the field to search; zero: all
	terms []term
}

// A Field is a part of conversations that can be searched separately.
type Field string

// The fields.
const (
	User      Field = "user"
	Assistant Field = "assistant"
	Tools     Field = "tools"
)

// Fields lists the fields, for help and completion.
var Fields = []Field{User, Assistant, Tools}

// A QueryError reports an invalid query.
type QueryError struct{ text string }

func (e *QueryError) Error() string { return e.text }

// Parse reads a query: words, and phrases in quotation marks. Case counts only if the
// query has an upper-case letter. A word may be part of a longer one. Any white space in a
// phrase stands for any white space in a text.
func Parse(text string) (*Query, error) {
	var words []string
	for text != "" {
		before, rest, quoted := strings.Cut(text, `"`)
		words = append(words, strings.Fields(before)...)
		if text = rest; quoted {
			phrase, rest, _ := strings.Cut(rest, `"`)
			if text = rest; strings.TrimSpace(phrase) != "" {
				words = append(words, phrase)
			}
		}
	}
	fold := !slices.ContainsFunc(words, func(w string) bool { return strings.ContainsFunc(w, unicode.IsUpper) })
	return newQuery(words, func(word string) (term, error) { return newPhrase(word, fold), nil })
}

// ParseArguments is Parse for the arguments of a command, where an argument with white
// space is a phrase unless it has quotation marks.
func ParseArguments(args []string) (*Query, error) {
	words := make([]string, len(args))
	for i, a := range args {
		if words[i] = a; strings.ContainsFunc(a, unicode.IsSpace) && !strings.Contains(a, `"`) {
			words[i] = `"` + a + `"`
		}
	}
	return Parse(strings.Join(words, " "))
}

// ParseRegexps reads regular expressions in the syntax of Go. ^ and $ match at the
// beginning and the end of a line.
func ParseRegexps(patterns []string) (*Query, error) {
	fold := !hasUpper(patterns)
	return newQuery(patterns, func(pattern string) (term, error) { return newPattern(pattern, fold) })
}

func newQuery(words []string, newTerm func(word string) (term, error)) (*Query, error) {
	if len(words) == 0 {
		return nil, &QueryError{"there is nothing to search for"}
	}
	if len(words) > maxTerms {
		return nil, &QueryError{fmt.Sprintf("more than %d words", maxTerms)}
	}
	q := &Query{}
	for _, w := range words {
		t, err := newTerm(strings.ToValidUTF8(w, "\uFFFD"))
		if err != nil {
			return nil, err
		}
		q.terms = append(q.terms, t)
	}
	return q, nil
}

// maxTerms is the maximum number of terms in a query, because a bit set of terms is one integer.
const maxTerms = 64

// hasUpper reports whether a pattern has an upper-case letter that does not follow a backslash.
func hasUpper(patterns []string) bool {
	for _, w := range patterns {
		escaped := false
		for _, r := range w {
			if unicode.IsUpper(r) && !escaped {
				return true
			}
			escaped = r == '\\' && !escaped
		}
	}
	return false
}

// A term is a word, phrase or regular expression to search for.
type term struct {
	// find returns the first occurrence in text that begins at an offset or later, or -1.
	find    func(text string, from int) (start, end int)
	needles []*needle.Needle // each occurrence has a place where one of them may be
	simple  bool             // a place where a needle is certain is an occurrence
}

// newPattern returns the term for a regular expression.
func newPattern(pattern string, fold bool) (term, error) {
	flags := syntax.Perl &^ syntax.OneLine
	if fold {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return term{}, &QueryError{fmt.Sprintf("%q is not a regular expression: %s", pattern, strings.TrimPrefix(err.Error(), "error parsing regexp: "))}
	}
	options := "(?m)"
	if fold {
		options = "(?mi)"
	}
	re, err := regexp.Compile(options + pattern)
	if err != nil {
		return term{}, &QueryError{err.Error()}
	}
	if re.MatchString("") {
		return term{}, &QueryError{fmt.Sprintf("%q matches the empty text", pattern)}
	}
	n := needle.Any()
	if text, fold := required(tree.Simplify()); text != "" {
		n = needle.New(text, fold)
	}
	return term{needles: []*needle.Needle{n}, find: func(text string, from int) (int, int) { return findPattern(re, text, from) }}, nil
}

// findPattern returns the first match that is not empty.
func findPattern(re *regexp.Regexp, text string, from int) (start, end int) {
	// The line before from decides whether ^ and \b match there.
	before := strings.LastIndexByte(text[:from], '\n') + 1
	for n := 1; ; n *= 8 {
		all := re.FindAllStringIndex(text[before:], n)
		for _, m := range all {
			if m[0]+before >= from && m[1] > m[0] {
				return m[0] + before, m[1] + before
			}
		}
		if len(all) < n {
			return -1, -1
		}
	}
}

// required returns the longest text known to be in every match of a regular expression, and
// whether its case may differ.
func required(re *syntax.Regexp) (longest string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune), re.Flags&syntax.FoldCase != 0
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if text, f := required(sub); len(text) > len(longest) {
				longest, fold = text, f
			}
		}
	}
	return longest, fold
}

// newPhrase returns the term for a word or a phrase, in each of its [spellings].
func newPhrase(text string, fold bool) (t term) {
	var list []*literal
	for _, s := range spellings(text) {
		l := newLiteral(s, fold)
		list = append(list, l)
		t.needles = append(t.needles, l.needle)
		t.simple = len(l.words) == 1
	}
	t.find = list[0].find
	if len(list) > 1 {
		t.find = func(text string, from int) (int, int) { return findFirst(list, text, from) }
	}
	return t
}

// spellings returns a text as typed, with composed letters (NFC) and with decomposed ones (NFD):
// file names on macOS have those.
func spellings(text string) []string {
	list := []string{text}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		if s := form.String(text); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// findFirst returns the first occurrence of any of the literals.
func findFirst(list []*literal, text string, from int) (start, end int) {
	start, end = -1, -1
	for _, l := range list {
		if s, e := l.find(text, from); s >= 0 && (start < 0 || s < start) {
			start, end = s, e
		}
	}
	return start, end
}

func newLiteral(text string, fold bool) *literal {
	l := &literal{fold: fold}
	longest := ""
	for _, w := range strings.Fields(text) {
		if len(w) > len(longest) {
			longest = w
		}
		if fold {
			w = strings.Map(find.FoldRune, w)
		}
		l.words = append(l.words, w)
	}
	first, _ := utf8.DecodeRuneInString(l.words[0])
	for c := range l.first {
		l.first[c] = byte(c) == l.words[0][0]
	}
	if fold {
		for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
			l.first[utf8.AppendRune(nil, r)[0]] = true
		}
	}
	l.needle = needle.New(longest, fold)
	return l
}

// A literal is a word, or the words of a phrase.
type literal struct {
	words []string // folded if fold
	fold  bool
	first [256]bool // the bytes that the first word may begin with

	needle *needle.Needle
}

func (l *literal) find(text string, from int) (start, end int) {
	if !l.needle.In(text[from:]) {
		return -1, -1
	}
	for i := from; i < len(text); i++ {
		if l.first[text[i]] {
			if end := l.matchAt(text, i); end >= 0 {
				return i, end
			}
		}
	}
	return -1, -1
}

// matchAt returns the end of the occurrence that begins at an offset, or -1.
func (l *literal) matchAt(text string, at int) int {
	for i, word := range l.words {
		if i > 0 {
			from := at
			for at < len(text) {
				r, n := utf8.DecodeRuneInString(text[at:])
				if !unicode.IsSpace(r) {
					break
				}
				at += n
			}
			if at == from {
				return -1
			}
		}
		if at = l.wordAt(text, at, word); at < 0 {
			return -1
		}
	}
	return at
}

func (l *literal) wordAt(text string, at int, word string) int {
	if !l.fold {
		if !strings.HasPrefix(text[at:], word) {
			return -1
		}
		return at + len(word)
	}
	for i := 0; i < len(word); {
		if at == len(text) {
			return -1
		}
		if c := text[at]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != word[i] {
				return -1
			}
			i, at = i+1, at+1
			continue
		}
		want, size := utf8.DecodeRuneInString(word[i:])
		r, n := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && n == 1 || find.FoldRune(r) != want {
			return -1
		}
		i, at = i+size, at+n
	}
	return at
}
