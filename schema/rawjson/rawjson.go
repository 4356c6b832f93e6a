// Package rawjson takes JSON apart without changing it: values stay the bytes
// they were, and strings survive decoding and encoding exactly.
//
// It exists because every Go decoder loses something that a store of verbatim
// conversations must keep or refuse: encoding/json replaces a lone surrogate
// escape (which agents write when they cut text inside an emoji) by U+FFFD,
// matches names without regard to case, and lets the last duplicate name win.
package rawjson

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting that is read. Real records stay below 50; the
// bound stops a hostile line from taking memory.
const MaxDepth = 10_000

// SyntaxError says where a value stops being JSON.
type SyntaxError struct {
	Offset int // bytes from the start of the input
	Msg    string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Msg, e.Offset) }

func fail(off int, format string, args ...any) error {
	return &SyntaxError{Offset: off, Msg: fmt.Sprintf(format, args...)}
}

// Member is one name of an object with its value as it stands in the file.
type Member struct {
	Name  string
	Value []byte
}

// Next returns the first value of b without the space around it, and what
// follows that space. A damaged file may hold two records on one line; Next is
// how a reader gets at both.
func Next(b []byte) (value, rest []byte, err error) {
	start := skipSpace(b, 0)
	end, err := skipValue(b, start)
	if err != nil {
		return nil, nil, err
	}
	return b[start:end], b[skipSpace(b, end):], nil
}

// Valid reports whether b is exactly one JSON value, as an error with the place
// where it stops being one.
func Valid(b []byte) error {
	_, rest, err := Next(b)
	if err == nil && len(rest) > 0 {
		return fail(len(b)-len(rest), "more text after the value")
	}
	return err
}

// Members returns the members of the object b in their order, duplicates
// included. The values are parts of b.
func Members(b []byte) ([]Member, error) {
	if err := Valid(b); err != nil {
		return nil, err
	}
	i := skipSpace(b, 0)
	if b[i] != '{' {
		return nil, fail(i, "an object was expected")
	}
	var members []Member
	err := elements(b, i, func(name []byte, value []byte) error {
		s, err := Unquote(name)
		members = append(members, Member{s, value})
		return err
	})
	return members, err
}

// Object is Members with two refusals: a name that stands twice, since two
// readers could take different values, and a name that is not valid UTF-8, since
// it could not be written back as it is.
func Object(b []byte) ([]Member, error) {
	members, err := Members(b)
	if err != nil {
		return nil, err
	}
	var seen names
	for _, m := range members {
		if err := seen.add(m.Name, offset(b, m.Value)); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// names holds the names of one object that were seen, in a list while they are
// few and in a map beyond that, so that many names cost no square.
type names struct {
	few  []string
	many map[string]bool
}

func (n *names) add(name string, at int) error {
	if !utf8.ValidString(name) {
		return fail(at, "name %q is not valid UTF-8", name)
	}
	if n.many[name] || slices.Contains(n.few, name) {
		return fail(at, "name %q stands twice", name)
	}
	if n.few = append(n.few, name); len(n.few) > 32 {
		if n.many == nil {
			n.many = map[string]bool{}
		}
		for _, name := range n.few {
			n.many[name] = true
		}
		n.few = n.few[:0]
	}
	return nil
}

// Get returns the value of a member of an object, nil if there is none.
func Get(object []byte, name string) []byte {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	members, err := Members(object)
	if err != nil {
		return nil
	}
	for _, m := range members {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// Array returns the elements of the array b. They are parts of b.
func Array(b []byte) ([][]byte, error) {
	if err := Valid(b); err != nil {
		return nil, err
	}
	i := skipSpace(b, 0)
	if b[i] != '[' {
		return nil, fail(i, "an array was expected")
	}
	var values [][]byte
	err := elements(b, i, func(_, value []byte) error {
		values = append(values, value)
		return nil
	})
	return values, err
}

// Strict refuses what a control file may not hold at any depth: duplicate names,
// invalid UTF-8, lone surrogates.
func Strict(b []byte) error {
	if err := Valid(b); err != nil {
		return err
	}
	_, err := strict(b, skipSpace(b, 0))
	return err
}

// strict checks the valid value that begins at b[i] in one pass and returns its
// end.
func strict(b []byte, i int) (int, error) {
	c := b[i]
	if c != '{' && c != '[' {
		end, err := skipValue(b, i)
		if err == nil && c == '"' {
			if s, _ := Unquote(b[i:end]); !utf8.ValidString(s) {
				err = fail(i, "text is not valid UTF-8")
			}
		}
		return end, err
	}
	var seen names
	for i = skipSpace(b, i+1); b[i] != c+2; {
		if c == '{' {
			end, err := skipString(b, i)
			if err != nil {
				return 0, err
			}
			name, _ := Unquote(b[i:end])
			if err := seen.add(name, i); err != nil {
				return 0, err
			}
			i = skipSpace(b, skipSpace(b, end)+1)
		}
		end, err := strict(b, i)
		if err != nil {
			return 0, err
		}
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return i + 1, nil
}

// offset returns where part, a slice of whole, begins in it.
func offset(whole, part []byte) int { return cap(whole) - cap(part) }

// elements calls f for each element of the valid array or object that begins at
// b[i]; name is nil in an array.
func elements(b []byte, i int, f func(name, value []byte) error) error {
	object := b[i] == '{'
	for i = skipSpace(b, i+1); b[i] != '}' && b[i] != ']'; {
		var name []byte
		if object {
			end, err := skipString(b, i)
			if err != nil {
				return err
			}
			name = b[i:end]
			i = skipSpace(b, skipSpace(b, end)+1)
		}
		end, err := skipValue(b, i)
		if err != nil {
			return err
		}
		if err := f(name, b[i:end]); err != nil {
			return err
		}
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the end of the value that begins at b[i]. It keeps its own
// stack, so that depth costs a byte and no call.
func skipValue(b []byte, i int) (int, error) {
	var open []byte // the closing bracket of each open array or object
	for {
		if i >= len(b) {
			return 0, fail(i, "the value is cut off")
		}
		var err error
		switch c := b[i]; {
		case c == '{' || c == '[':
			if len(open) == MaxDepth {
				return 0, fail(i, "nested deeper than %d", MaxDepth)
			}
			open = append(open, c+2) // '{'+2 is '}', '['+2 is ']'
			i = skipSpace(b, i+1)
			if i < len(b) && b[i] == c+2 {
				break // empty: closed below
			}
			if c == '{' {
				if i, err = skipName(b, i); err != nil {
					return 0, err
				}
			}
			continue
		case c == '"':
			i, err = skipString(b, i)
		case c == '-' || c >= '0' && c <= '9':
			i, err = skipNumber(b, i)
		default:
			i, err = skipWord(b, i)
		}
		if err != nil {
			return 0, err
		}
		for { // after a value: close what ends here, or go on to the next element
			if len(open) == 0 {
				return i, nil
			}
			i = skipSpace(b, i)
			if i >= len(b) {
				return 0, fail(i, "the value is cut off")
			}
			last := open[len(open)-1]
			if b[i] == last {
				open = open[:len(open)-1]
				i++
				continue
			}
			if b[i] != ',' {
				return 0, fail(i, "%q where a comma or %q was expected", b[i], last)
			}
			if i = skipSpace(b, i+1); last == '}' {
				if i, err = skipName(b, i); err != nil {
					return 0, err
				}
			}
			break
		}
	}
}

func skipName(b []byte, i int) (int, error) {
	if i >= len(b) {
		return 0, fail(i, "the value is cut off")
	}
	if b[i] != '"' {
		return 0, fail(i, "%q where a name was expected", b[i])
	}
	i, err := skipString(b, i)
	if err != nil {
		return 0, err
	}
	if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
		return 0, fail(i, "a colon was expected")
	}
	return skipSpace(b, i+1), nil
}

func skipString(b []byte, i int) (int, error) {
	start := i
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c < 0x20:
			return 0, fail(i, "control byte %#02x in a string", c)
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return 0, fail(i, "broken escape in a string")
			}
			i += n - 1
		}
	}
	return 0, fail(start, "the string is not closed")
}

// escapeLen returns the length of the escape that b begins with, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), b[1]) < 0 {
			return 0
		}
		return 2
	}
	if _, ok := hex4(b); !ok {
		return 0
	}
	return 6
}

func skipNumber(b []byte, i int) (int, error) {
	start := i
	digits := func() bool {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if b[i] == '-' {
		i++
	}
	ok := true
	if i < len(b) && b[i] == '0' {
		i++
	} else {
		ok = digits()
	}
	if ok && i < len(b) && b[i] == '.' {
		i++
		ok = digits()
	}
	if ok && i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		ok = digits()
	}
	if !ok {
		return 0, fail(start, "not a number")
	}
	return i, nil
}

func skipWord(b []byte, i int) (int, error) {
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(b[i:], []byte(w)) {
			return i + len(w), nil
		}
	}
	return 0, fail(i, "%q where a value was expected", b[i])
}
