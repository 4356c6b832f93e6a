package rawjson

import (
	"bytes"
	"iter"
)

// The functions below read JSON that is known to be valid, such as a record of package
// jsonl or a value from [Members]. They check nothing, which makes them several times as
// fast. On other input the result is undefined, but they terminate and stay within the
// given bytes. They ignore a value that is cut off.

// Fields yields the members of a valid object in order: names without quotation marks,
// and values that are slices of the object. The bytes of a name are valid until the next
// one is yielded.
func Fields(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := skipSpace(object, 0)
		if i >= len(object) || object[i] != '{' {
			return
		}
		for i++; ; i++ {
			start := skipSpace(object, i)
			if start >= len(object) || object[start] != '"' {
				return // the end, or not an object
			}
			end := stringEnd(object, start)
			name := fieldName(object[start+1 : max(end-1, start+1)])
			from := skipSpace(object, skipSpace(object, end)+1) // after the colon
			to := valueEnd(object, from)
			if to <= from || to == len(object) || !yield(name, object[from:to]) {
				return
			}
			if i = skipSpace(object, to); i == len(object) || object[i] != ',' {
				return
			}
		}
	}
}

// fieldName decodes a name, which it gets without quotation marks.
func fieldName(name []byte) []byte {
	if bytes.IndexByte(name, '\\') >= 0 {
		return []byte(decode(name))
	}
	return name
}

// Elements yields the elements of a valid array. They are slices of it.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		i := skipSpace(array, 0)
		if i == len(array) || array[i] != '[' {
			return
		}
		for i++; ; i++ {
			from := skipSpace(array, i)
			to := valueEnd(array, from)
			if to <= from || to == len(array) || !yield(array[from:to]) {
				return
			}
			if i = skipSpace(array, to); i == len(array) || array[i] != ',' {
				return
			}
		}
	}
}

// Get returns the value of the first member of that name in a valid object, or nil if
// there is none.
func Get(object []byte, name string) []byte {
	for n, value := range Fields(object) {
		if string(n) == name {
			return value
		}
	}
	return nil
}

// String decodes a valid JSON string like [Unquote]. For anything else it returns "".
func String(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' || isEscaped(raw[1:len(raw)-1]) {
		return ""
	}
	return decode(raw[1 : len(raw)-1])
}

// End returns the end of the value that b begins with.
func End(b []byte) int { return valueEnd(b, 0) }

// valueEnd returns the end of the value that begins at b[i], or i if there is none.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
	default:
		for ; i < len(b); i++ {
			switch b[i] {
			case ',', ']', '}', ' ', '\t', '\r', '\n':
				return i
			}
		}
		return i
	}
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

// stringEnd returns the end of the string that begins at b[i].
func stringEnd(b []byte, i int) int {
	for from := i + 1; ; {
		n := bytes.IndexByte(b[from:], '"')
		if n < 0 {
			return len(b)
		}
		end := from + n
		escaped := isEscaped(b[from:end])
		if from = end + 1; !escaped {
			return from
		}
	}
}

// isEscaped reports whether the backslashes at the end of b escape the next byte.
func isEscaped(b []byte) bool {
	i := len(b)
	for i > 0 && b[i-1] == '\\' {
		i--
	}
	return (len(b)-i)%2 == 1
}
