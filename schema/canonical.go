package schema

import (
	"bytes"
	"reflect"
	"unicode/utf8"

	"cortext/schema/rawjson"
)

// IsCanonicalMessage reports whether line is a message exactly as [AppendMessage] writes it,
// but for the newline: then it need not be decoded to be passed on. It misses rare ones,
// such as those with members that this version does not know, and all that were redacted.
func IsCanonicalMessage(line []byte) bool {
	if !isCanonical(line, reflect.TypeFor[Message]()) {
		return false
	}
	switch Role(rawjson.String(rawjson.Get(line, "role"))) {
	case User, Assistant, System:
		return true
	}
	return false
}

// IsCanonicalTool is IsCanonicalMessage for lines of tools.jsonl.
func IsCanonicalTool(line []byte) bool {
	return isCanonical(line, reflect.TypeFor[Tool]()) && len(rawjson.Get(line, "id")) > 0
}

func isCanonical(line []byte, t reflect.Type) bool {
	if !utf8.Valid(line) || bytes.IndexByte(line, '\r') >= 0 || bytes.IndexByte(line, '\n') >= 0 {
		return false
	}
	return canonicalStruct(line, t) == len(line)
}

// The functions below return the end of the value that b begins with, or 0 unless it is
// spelled as the codec spells a value of the type.

func canonicalStruct(b []byte, t reflect.Type) int {
	info := infoOf(t)
	if len(b) == 0 || b[0] != '{' {
		return 0
	}
	next := 0 // the first field that may come
	for i := 0; i < len(b) && (b[i] == ',' || i == 0); {
		i++ // the brace or the comma
		f, from := canonicalName(b[i:], info, next)
		if from == 0 {
			return 0
		}
		next = f + 1
		n := 0
		if info.fields[f].typ == reflect.TypeFor[Raw]() {
			n = canonicalRaw(b[i:], from)
		} else {
			n = canonicalField(b[i+from:], &info.fields[f])
		}
		if n == 0 {
			return 0
		}
		if i += from + n; i < len(b) && b[i] == '}' {
			return i + 1
		}
	}
	return 0
}

// canonicalName returns which of the fields from next on b names, and where its value begins.
func canonicalName(b []byte, info *structInfo, next int) (field, value int) {
	for f := next; f < len(info.fields); f++ {
		name := info.fields[f].name
		if n := len(name); len(b) > n+3 && b[0] == '"' && string(b[1:n+1]) == name && b[n+1] == '"' && b[n+2] == ':' {
			return f, n + 3
		}
	}
	return 0, 0
}

// canonicalRaw is for the value from an offset on of the member that b begins with. Values
// like it keep their spelling.
func canonicalRaw(b []byte, from int) int {
	m, _, err := rawjson.NextMember(b)
	if err != nil || string(m.Value) == "null" || m.Value[0] != b[from] {
		return 0
	}
	return len(m.Value)
}

// canonicalField is for a field of a struct, which is left out if it has no value.
func canonicalField(b []byte, f *fieldInfo) int {
	t := f.typ
	if f.keep || f.set || f.stamp >= 0 {
		return 0 // these are rare in the lines of logs
	}
	switch t.Kind() {
	case reflect.Pointer:
		return canonicalValue(b, t.Elem())
	case reflect.Slice, reflect.String:
		if len(b) > 1 && (b[1] == '"' && b[0] == '"' || b[1] == ']' && b[0] == '[') {
			return 0
		}
	default:
		if len(b) > 0 && (b[0] == '0' || b[0] == 'f') {
			return 0
		}
	}
	return canonicalValue(b, t)
}

func canonicalValue(b []byte, t reflect.Type) int {
	switch t.Kind() {
	case reflect.String:
		return rawjson.QuotedEnd(b)
	case reflect.Int, reflect.Int64:
		return canonicalInt(b)
	case reflect.Bool:
		for _, word := range []string{"true", "false"} {
			if bytes.HasPrefix(b, []byte(word)) {
				return len(word)
			}
		}
	case reflect.Struct:
		return canonicalStruct(b, t)
	case reflect.Slice:
		return canonicalList(b, t.Elem())
	}
	return 0
}

func canonicalList(b []byte, t reflect.Type) int {
	if len(b) == 0 || b[0] != '[' {
		return 0
	}
	for i := 0; i < len(b) && (b[i] == ',' || i == 0); {
		i++ // the bracket or the comma
		n := canonicalValue(b[i:], t)
		if n == 0 {
			return 0
		}
		if i += n; i < len(b) && b[i] == ']' {
			return i + 1
		}
	}
	return 0
}

// canonicalInt is for numbers from 0 to 999999999.
func canonicalInt(b []byte) (n int) {
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	if n > 9 || n > 1 && b[0] == '0' {
		return 0
	}
	return n
}
