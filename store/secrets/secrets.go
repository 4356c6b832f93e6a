// Package secrets replaces credentials in text before it is stored.
//
// A conversation with a coding agent holds whatever the agent read and ran: environment
// files, command lines, HTTP headers. The store passes every text through a [Redactor]
// before it writes the first byte. Whatever a rule recognizes becomes "[redacted:
// <rule-id>]"; every other byte stays as it was.
//
// Missing a secret is bad, but mangling a conversation is bad too. So a rule requires a
// vendor's published prefix, or a name that says what the value is. Text that merely
// looks random (a UUID, a hash, base64) is never enough.
//
// Text with backslashes is searched twice: as it is, and with its escape sequences
// decoded. This finds a key inside JSON inside JSON, however deeply it is escaped. A
// replacement never cuts an escape sequence, so valid JSON stays valid.
package secrets

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Counts is the number of replacements per rule id.
type Counts map[string]int

// Sum returns the number of all replacements.
func (c Counts) Sum() (n int) {
	for _, times := range c {
		n += times
	}
	return n
}

// A Redactor replaces secrets. Several goroutines may use it. The zero value is not
// usable; call [New].
type Redactor struct {
	source   func() []Rule
	prepare  sync.Once // sets rules and keywords
	rules    []lazyRule
	keywords *index

	texts *texts // what to replace instead of what the rules recognize; nil: the rules
}

// A lazyRule is a rule whose regexp is compiled when its keyword is first seen.
type lazyRule struct {
	Rule
	compile sync.Once
	re      *regexp.Regexp
	err     error
}

// New returns a Redactor with all [Rules]. It does nothing yet, because most programs that
// open a store redact nothing: the first search lists the rules, and compiles a rule's regexp
// when it first sees the rule's keyword.
func New() *Redactor { return &Redactor{source: Rules} }

// maxPasses limits how often a text is searched again after a replacement. A second pass
// normally finds nothing.
const maxPasses = 16

// errNoFixedPoint means that every pass over a text found another secret.
var errNoFixedPoint = errors.New("secrets: replacing secrets does not terminate")

// Text returns s with its secrets replaced and adds the replacements to counts, which may
// be nil. It returns s itself if it finds nothing. After an error the caller must not
// store the text.
func (r *Redactor) Text(s string, counts Counts) (string, error) {
	for range maxPasses {
		spans, err := r.spans(s)
		if err != nil {
			return "", err
		}
		if len(spans) == 0 {
			return s, nil
		}
		var b strings.Builder
		b.Grow(len(s))
		last := 0
		for _, sp := range spans {
			b.WriteString(s[last:sp.start])
			b.WriteString(r.marker(sp, counts))
			last = sp.end
		}
		b.WriteString(s[last:])
		s = b.String()
	}
	if r.texts != nil {
		return s, nil // a pattern that matches what surrounds a marker
	}
	return "", errNoFixedPoint
}

// markerStart begins every replacement.
const markerStart = "[redacted: "

// marker counts sp and returns its replacement.
func (r *Redactor) marker(sp span, counts Counts) string {
	id := r.nameOf(sp.rule)
	if counts != nil {
		counts[r.countedAs(sp.rule)]++
	}
	return markerStart + id + "]"
}

// spans returns the parts of s to replace, sorted and without overlaps. None of them cuts
// an escape sequence.
func (r *Redactor) spans(s string) ([]span, error) {
	found, err := r.search(s)
	if err != nil {
		return nil, err
	}
	if strings.IndexByte(s, '\\') < 0 {
		return r.beyondMarkers(s, merge(found)), nil
	}
	v := unescapeAll(s)
	inView, err := r.search(v.text)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && len(inView) == 0 {
		return nil, nil
	}
	whole := found[:0]
	for _, sp := range found {
		if sp.start, sp.end = v.outside(sp.start, sp.end); sp.start < sp.end {
			whole = append(whole, sp)
		}
	}
	for _, sp := range inView {
		sp.start, sp.end = v.source(sp.start, sp.end)
		whole = append(whole, sp)
	}
	return r.beyondMarkers(s, merge(whole)), nil
}

// regexp returns the compiled pattern of a rule.
func (l *lazyRule) regexp() (*regexp.Regexp, error) {
	l.compile.Do(func() {
		pattern := l.pattern
		if l.near == 0 {
			pattern = `\A(?:` + pattern + `)`
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			l.err = fmt.Errorf("secrets: rule %s: %w", l.ID, err)
			return
		}
		l.re = re
	})
	return l.re, l.err
}
