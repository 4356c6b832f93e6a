package redact

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"cortext/store"
	"cortext/store/secrets"
)

// A Request says what to redact.
type Request struct {
	Documents bool // also change documents that people wrote
	Rename    bool // also rename folders that git knows

	name    string         // name in the markers
	pattern *regexp.Regexp // matches the text after decoding
	text    string         // the literal text, if there is just one
	known   *secrets.Found // the texts so far, of which there may be shortened copies
}

// An InputError reports a request that cannot be carried out.
type InputError struct{ Why, Hint string }

func (e *InputError) Error() string { return e.Why }

// DefaultName is the name in the markers if the user gives none.
const DefaultName = "by-user"

var names = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`) })

// maxName is the maximum length of a name.
const maxName = 40

// ForPattern returns the request to redact the matches of an RE2 expression.
func ForPattern(expr, name string) (r Request, err error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return r, &InputError{"the pattern is not a valid expression: " + syntax(err, expr), "the syntax is that of RE2"}
	}
	if re.MatchString("") {
		return r, &InputError{"the pattern matches the empty text", "make it match at least one character"}
	}
	return checked(Request{name: name, pattern: re})
}

// syntax describes a syntax error without repeating the expression.
func syntax(err error, expr string) string {
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), "error parsing regexp: "), expr, "…")
}

// minSecret is the minimum length of a text to redact, in bytes.
const minSecret = 4

// ForText returns the request to redact a literal text.
func ForText(text, name string) (r Request, err error) {
	text = strings.TrimRight(text, "\r\n")
	if len(text) < minSecret {
		return r, &InputError{fmt.Sprintf("the secret has %d bytes, but needs at least %d", len(text), minSecret), "use --pattern for a shorter text"}
	}
	if !utf8.ValidString(text) {
		return r, &InputError{"the secret is not valid UTF-8", "conversations are: convert it first"}
	}
	r, err = checked(Request{name: name, pattern: regexp.MustCompile(regexp.QuoteMeta(text)), text: text})
	if err == nil {
		_, err = secrets.Matching(r.pattern, r.name, r.known).Text(text, nil)
	}
	return r, err
}

func checked(r Request) (Request, error) {
	if r.name == "" {
		r.name = DefaultName
	}
	switch {
	case len(r.name) > maxName || !names().MatchString(r.name):
		return r, &InputError{fmt.Sprintf("the name must have 1 to %d of the characters a-z and 0-9, with single hyphens between them", maxName), ""}
	case r.pattern.MatchString(r.name):
		return r, &InputError{"the name for the markers contains the text", "choose another with --name"}
	}
	r.known = &secrets.Found{}
	return r, nil
}

// texts returns a redactor that applies the request and adds the texts that it replaces to
// found.
func (r *Request) texts(found *secrets.Found) *secrets.Redactor {
	return secrets.Matching(r.pattern, r.name, found).AndShortened(r.known, found)
}

// count returns b redacted and the number of replacements.
func (r *Request) count(b []byte) ([]byte, int) {
	counts := secrets.Counts{}
	out, err := r.texts(nil).Loose(b, counts)
	if err != nil {
		return b, 0
	}
	return out, counts.Sum()
}

// has reports whether a file contains the text.
func (r *Request) has(b []byte) bool {
	_, n := r.count(b)
	return n > 0
}

// lines returns the numbers, from 1, of the lines that contain the text. It returns none if
// the text spans lines.
func (r *Request) lines(b []byte) (list []int) {
	n := 0
	for line := range bytes.Lines(b) {
		if n++; r.has(line) {
			list = append(list, n)
		}
	}
	return list
}

// minSlug is the length in bytes of the shortest part of a folder's name that counts.
const minSlug = 4

// named returns the words of a folder's name without the text and the texts in found. ok is
// false if the name has none of them.
func (r *Request) named(folder string, found *secrets.Found) (words string, ok bool) {
	name := path.Base(folder)
	words = name
	if parts := strings.SplitN(name, "-", 3); len(parts) == 3 {
		words = parts[2]
	}
	if i := strings.LastIndexByte(words, '-'); i > 0 {
		words = words[:i] // cut off the id
	}
	had := words
	words = r.pattern.ReplaceAllString(words, "redacted")
	without := func(text string) bool {
		slug := store.Slug(text)
		if len(slug) < minSlug || slug == "untitled" {
			return false
		}
		for n := len(slug); n >= minSlug; n-- { // the name may end within the text
			if n < len(slug) && !strings.HasSuffix(words, slug[:n]) || !strings.Contains(words, slug[:n]) {
				continue
			}
			if n < len(slug) && n < 2*minSlug {
				break
			}
			words = strings.ReplaceAll(words, slug[:n], "redacted")
			break
		}
		return false
	}
	without(r.text)
	found.Any(without)
	return words, words != had // the text may be "redacted" itself
}
