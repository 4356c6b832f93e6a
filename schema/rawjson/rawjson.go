// Package rawjson takes JSON apart without changing it: values keep their bytes, and
// strings survive decoding and encoding exactly.
//
// It exists because every Go decoder loses something that a store of verbatim
// conversations must keep or reject. encoding/json replaces a lone surrogate escape
// (which agents write when they cut text inside an emoji) with U+FFFD, matches names
// case-insensitively, and lets the last duplicate name win.
package rawjson

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting that is read. Real records stay below 50; the bound
// keeps a hostile line from using up memory.
const MaxDepth = 10_000

// A SyntaxError reports where a value stops being JSON.
type SyntaxError struct {
	Offset int // bytes from the start of the input
	Msg    string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Msg, e.Offset) }

func fail(off int, format string, args ...any) error {
	return &SyntaxError{Offset: off, Msg: fmt.Sprintf(format, args...)}
}

// A Member is one name of an object with its value as in the file.
type Member struct {
	Name  string
	Value []byte
}

// Next returns the first value of b without surrounding space, and the rest after that
// space. A damaged file may have two records on one line; Next reads both.
func Next(b []byte) (value, rest []byte, err error) {
	start := skipSpace(b, 0)
	end, err := skipValue(b, start, 0)
	if err != nil {
		return nil, nil, err
	}
	return b[start:end], b[skipSpace(b, end):], nil
}

// A Field is a member of an object as [Fields] yields it.
type Field struct{ Name, Value []byte }

// NextFields is [Next], and if the value is an object, it appends the members to fields.
func NextFields(b []byte, fields []Field) (value, rest []byte, all []Field, err error) {
	start := skipSpace(b, 0)
	if start == len(b) || b[start] != '{' {
		value, rest, err = Next(b)
		return value, rest, fields, err
	}
	var name []byte
	end, err := elements(b, start, func(quoted []byte, _ int) error {
		name = fieldName(quoted[1 : len(quoted)-1])
		return nil
	}, func(i int) (int, error) {
		end, err := skipValue(b, i, 1)
		if err == nil {
			fields = append(fields, Field{name, b[i:end]})
		}
		return end, err
	})
	if err != nil {
		return nil, nil, fields, err
	}
	return b[start:end], b[skipSpace(b, end):], fields, nil
}

// Valid returns an error with the offset where b stops being exactly one JSON value, or
// nil if it is one.
func Valid(b []byte) error {
	_, rest, err := Next(b)
	if err == nil && len(rest) > 0 {
		return fail(len(b)-len(rest), "more text after the value")
	}
	return err
}

// Members returns the members of the object b in order, duplicates included. The values
// are slices of b.
func Members(b []byte) ([]Member, error) {
	members := make([]Member, 0, 12) // as many as most records have
	var name string
	err := whole(b, '{', func(quoted []byte, _ int) (err error) {
		name, err = Unquote(quoted)
		return err
	}, func(i int) (int, error) {
		end, err := skipValue(b, i, 1)
		if err == nil {
			members = append(members, Member{name, b[i:end]})
		}
		return end, err
	})
	if err != nil {
		return nil, err
	}
	return members, nil
}

// A LimitError means that an object or an array has more members than its reader accepts.
type LimitError struct {
	Offset int // of the first member beyond the limit
	Limit  int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("more than %d members in one object or list at byte %d", e.Limit, e.Offset)
}

// StrictMembers returns the members of the object b in order, duplicates included. In the
// same pass it rejects whatever [Strict] rejects in their values, and any object or array
// of more than limit members.
func StrictMembers(b []byte, limit int) ([]Member, error) {
	var members []Member
	var name string
	n := 0
	err := whole(b, '{', func(quoted []byte, at int) (err error) {
		if n++; n > limit {
			return &LimitError{at, limit}
		}
		if name, err = Unquote(quoted); err == nil && !utf8.ValidString(name) {
			err = fail(at, "name %q is not valid UTF-8", name)
		}
		return err
	}, func(i int) (int, error) {
		end, err := strict(b, i, 1, limit)
		if err == nil {
			members = append(members, Member{name, b[i:end:end]})
		}
		return end, err
	})
	if err != nil {
		return nil, err
	}
	return members, nil
}

// NextMember returns the member that b begins with, after space, and the rest. It also
// reads the members of a line that is not a whole object, as a merge may leave.
func NextMember(b []byte) (m Member, rest []byte, err error) {
	start := skipSpace(b, 0)
	nameEnd, i, err := skipName(b, start)
	if err != nil {
		return Member{}, nil, err
	}
	if m.Name, err = Unquote(b[start:nameEnd]); err != nil {
		return Member{}, nil, err
	}
	end, err := skipValue(b, i, 1)
	if err != nil {
		return Member{}, nil, err
	}
	m.Value = b[i:end:end]
	return m, b[end:], nil
}

// Object is Members but rejects a duplicate name, since two readers could take different
// values, and a name that is not valid UTF-8, since it could not be written back
// unchanged.
func Object(b []byte) ([]Member, error) {
	members, err := Members(b)
	if err != nil {
		return nil, err
	}
	seen := names{few: make([]string, 0, min(len(members), maxFew))}
	for _, m := range members {
		if err := seen.add(m.Name, offset(b, m.Value)); err != nil {
			return nil, err
		}
	}
	return members, nil
}

const maxFew = 32

// names holds the names already seen in one object: a list while there are few, a map
// beyond that, so that many names do not take quadratic time.
type names struct {
	few  []string
	many map[string]bool
}

func (n *names) add(name string, at int) error {
	if !utf8.ValidString(name) {
		return fail(at, "name %q is not valid UTF-8", name)
	}
	if n.many[name] || slices.Contains(n.few, name) {
		return fail(at, "name %q appears twice", name)
	}
	if n.few = append(n.few, name); len(n.few) == maxFew {
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

// Array returns the elements of the array b. They are slices of b.
func Array(b []byte) ([][]byte, error) {
	var values [][]byte
	err := whole(b, '[', nil, func(i int) (int, error) {
		end, err := skipValue(b, i, 1)
		if err == nil {
			values = append(values, b[i:end])
		}
		return end, err
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// whole is elements for all of b, which must be one value that begins with open.
func whole(b []byte, open byte, name func(quoted []byte, at int) error, value func(i int) (int, error)) error {
	i := skipSpace(b, 0)
	if i == len(b) || b[i] != open {
		if err := Valid(b); err != nil {
			return err
		}
		return fail(i, "%s was expected", map[byte]string{'{': "an object", '[': "an array"}[open])
	}
	end, err := elements(b, i, name, value)
	if err != nil {
		return err
	}
	if end = skipSpace(b, end); end < len(b) {
		return fail(end, "more text after the value")
	}
	return nil
}

// Strict rejects anything a control file must not hold at any depth: duplicate names,
// invalid UTF-8, lone surrogates.
func Strict(b []byte) error {
	end, err := strict(b, skipSpace(b, 0), 0, math.MaxInt)
	if err != nil {
		return err
	}
	if end = skipSpace(b, end); end < len(b) {
		return fail(end, "more text after the value")
	}
	return nil
}

// strict checks the value that begins at b[i], depth levels below the top, in one pass
// and returns its end. No object or array in it may have more than limit members.
func strict(b []byte, i, depth, limit int) (int, error) {
	if i == len(b) || b[i] != '{' && b[i] != '[' {
		end, err := skipValue(b, i, depth)
		if err == nil && b[i] == '"' {
			if s, _ := Unquote(b[i:end]); !utf8.ValidString(s) {
				err = fail(i, "text is not valid UTF-8")
			}
		}
		return end, err
	}
	if depth == MaxDepth {
		return 0, fail(i, "nested deeper than %d", MaxDepth)
	}
	var seen names
	n := 0
	return elements(b, i, func(quoted []byte, at int) error {
		name, _ := Unquote(quoted)
		return seen.add(name, at)
	}, func(i int) (int, error) {
		if n++; n > limit {
			return 0, &LimitError{i, limit}
		}
		return strict(b, i, depth+1, limit)
	})
}

// offset returns where part, a slice of whole, begins in it.
func offset(whole, part []byte) int { return cap(whole) - cap(part) }

// elements walks the array or object that begins at b[i] and returns its end. It calls
// name with the quoted name of each member, and value with the start of each value; value
// returns where that value ends.
func elements(b []byte, i int, name func(quoted []byte, at int) error, value func(i int) (end int, err error)) (int, error) {
	last := b[i] + 2 // '{'+2 is '}', '['+2 is ']'
	if i = skipSpace(b, i+1); i < len(b) && b[i] == last {
		return i + 1, nil
	}
	for {
		if last == '}' {
			end, next, err := skipName(b, i)
			if err == nil {
				err = name(b[i:end], i)
			}
			if err != nil {
				return 0, err
			}
			i = next
		}
		end, err := value(i)
		if err != nil {
			return 0, err
		}
		if i = skipSpace(b, end); i >= len(b) {
			return 0, errCut(i)
		}
		if b[i] == last {
			return i + 1, nil
		}
		if b[i] != ',' {
			return 0, errComma(b, i, last)
		}
		i = skipSpace(b, i+1)
	}
}

func errCut(i int) error { return fail(i, "the value is cut off") }

func errComma(b []byte, i int, last byte) error {
	return fail(i, "%q where a comma or %q was expected", b[i], last)
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the end of the value that begins at b[i], depth levels below the top.
// It keeps its own stack, so each level costs a byte instead of a call.
func skipValue(b []byte, i, depth int) (int, error) {
	var open []byte // the closing bracket of each open array or object
	for {
		if i >= len(b) {
			return 0, errCut(i)
		}
		var err error
		switch c := b[i]; {
		case c == '{' || c == '[':
			if depth+len(open) == MaxDepth {
				return 0, fail(i, "nested deeper than %d", MaxDepth)
			}
			open = append(open, c+2)
			i = skipSpace(b, i+1)
			if i < len(b) && b[i] == c+2 {
				break // empty: closed below
			}
			if c == '{' {
				if _, i, err = skipName(b, i); err != nil {
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
		for { // after a value: close what ends here, or continue with the next element
			if len(open) == 0 {
				return i, nil
			}
			i = skipSpace(b, i)
			if i >= len(b) {
				return 0, errCut(i)
			}
			last := open[len(open)-1]
			if b[i] == last {
				open = open[:len(open)-1]
				i++
				continue
			}
			if b[i] != ',' {
				return 0, errComma(b, i, last)
			}
			if i = skipSpace(b, i+1); last == '}' {
				if _, i, err = skipName(b, i); err != nil {
					return 0, err
				}
			}
			break
		}
	}
}

// skipName returns the end of the name that begins at b[i], and the start of its value.
func skipName(b []byte, i int) (end, next int, err error) {
	if i >= len(b) {
		return 0, 0, errCut(i)
	}
	if b[i] != '"' {
		return 0, 0, fail(i, "%q where a name was expected", b[i])
	}
	if end, err = skipString(b, i); err != nil {
		return 0, 0, err
	}
	if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
		return 0, 0, fail(i, "a colon was expected")
	}
	return end, skipSpace(b, i+1), nil
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
