// Package highlight finds the parts of source code to colour: comments, strings, numbers,
// keywords, functions and types.
// It knows the tokens of a language, not its grammar. A library with full lexers (chroma)
// registers them all before main runs, which adds 23 ms to every start, and takes minutes
// for a large conversation.
package highlight

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Kind is the kind of a part of a text.
type Kind byte

// The kinds.
const (
	Plain    Kind = 0
	Keyword  Kind = 'k'
	String   Kind = 's'
	Number   Kind = 'n'
	Comment  Kind = 'c'
	Function Kind = 'f'
	Type     Kind = 't'
)

// A Part is a part of a text.
type Part struct {
	Kind Kind
	Text string
}

// Language returns the lexer for the name of a language, such as the word after the fence of
// a code block, or for the name of a file. ok is false if the language is unknown.
func Language(name string) (l *Lexer, ok bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	name, _, _ = strings.Cut(name, " ")
	name, _, _ = strings.Cut(name, "{")
	name, _, _ = strings.Cut(name, ",")
	if l, ok = named(name); ok {
		return l, true
	}
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if l, ok = named(base); ok {
		return l, true
	}
	return named(strings.TrimPrefix(path.Ext(base), "."))
}

// Lines splits a text into lines, and each line into parts without its line ending.
func (l *Lexer) Lines(text string) [][]Part {
	lines := [][]Part{nil}
	l.scan(text, func(k Kind, s string) {
		for {
			head, rest, more := strings.Cut(s, "\n")
			if head != "" {
				last := len(lines) - 1
				lines[last] = append(lines[last], Part{k, head})
			}
			if !more {
				return
			}
			lines = append(lines, nil)
			s = rest
		}
	})
	return lines
}

// Parts splits a text into parts.
func (l *Lexer) Parts(text string) (parts []Part) {
	l.scan(text, func(k Kind, s string) { parts = append(parts, Part{k, s}) })
	return parts
}

// scan passes the parts of a text to emit.
func (l *Lexer) scan(text string, emit func(Kind, string)) {
	plain := 0 // start of the plain text not emitted yet
	i := 0
	take := func(k Kind, n int) {
		if plain < i {
			emit(Plain, text[plain:i])
		}
		emit(k, text[i:i+n])
		i += n
		plain = i
	}
	for i < len(text) {
		rest := text[i:]
		if n := l.comment(rest, i == 0 || text[i-1] == '\n' || text[i-1] == ' ' || text[i-1] == '\t'); n > 0 {
			take(Comment, n)
			continue
		}
		if n := l.quoted(rest); n > 0 {
			k := String
			if l.keys && strings.HasPrefix(strings.TrimLeft(rest[n:], " \t"), ":") {
				k = Function
			}
			take(k, n)
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r >= '0' && r <= '9':
			take(Number, numberLength(rest))
		case r == '_' || r == '$' && l.dollar || r == '@' && l.at || unicode.IsLetter(r):
			n := l.wordLength(rest, size)
			if k := l.kindOf(rest[:n], rest[n:]); k != Plain {
				take(k, n)
			} else {
				i += n
			}
		default:
			i += size
		}
	}
	if plain < len(text) {
		emit(Plain, text[plain:])
	}
}

// comment returns the length of the comment at the start of a text.
func (l *Lexer) comment(text string, separate bool) int {
	for _, begin := range l.line {
		if strings.HasPrefix(text, begin) && (begin != "#" || separate) {
			if end := strings.IndexByte(text, '\n'); end >= 0 {
				return end
			}
			return len(text)
		}
	}
	for _, pair := range l.block {
		if strings.HasPrefix(text, pair[0]) {
			if end := strings.Index(text[len(pair[0]):], pair[1]); end >= 0 {
				return len(pair[0]) + end + len(pair[1])
			}
			return len(text)
		}
	}
	return 0
}

// quoted returns the length of the string literal at the start of a text.
func (l *Lexer) quoted(text string) int {
	for _, q := range l.long {
		if strings.HasPrefix(text, q) {
			if end := strings.Index(text[len(q):], q); end >= 0 {
				return len(q) + end + len(q)
			}
			return len(text)
		}
	}
	if strings.IndexByte(l.quotes, text[0]) < 0 {
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		case '\n': // not the start of a string
			return 0
		}
	}
	return 0
}

func numberLength(text string) int {
	i := 0
	for i < len(text) && (text[i] == '.' || text[i] == '_' || text[i] >= '0' && text[i] <= '9' || text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z') {
		i++
	}
	if i > 1 && text[i-1] == '.' {
		i--
	}
	return i
}

func (l *Lexer) wordLength(text string, from int) int {
	for i, r := range text {
		if i < from || r == '_' || r == '$' && l.dollar || r == '-' && l.hyphen || unicode.IsLetter(r) || unicode.IsDigit(r) {
			continue
		}
		return i
	}
	return len(text)
}

// kindOf returns the kind of a word. after is the text that follows it.
func (l *Lexer) kindOf(word, after string) Kind {
	key := word
	if l.anyCase {
		key = strings.ToLower(word)
	}
	if l.words[key] {
		return Keyword
	}
	next := strings.TrimLeft(after, " \t")
	switch {
	case l.keys && strings.HasPrefix(next, ":"), l.assigns && strings.HasPrefix(next, "=") && !strings.HasPrefix(next, "=="):
		return Function
	case !l.keys && !l.noCalls && strings.HasPrefix(after, "("):
		return Function
	case l.types && unicode.IsUpper([]rune(word)[0]):
		return Type
	}
	return Plain
}
