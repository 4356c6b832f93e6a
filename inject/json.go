package inject

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"cortext/schema/rawjson"
)

// Agents write JSON for their own use, so we read it tolerantly: a member of an
// unexpected type counts as missing. Transcripts are read with package rawjson, which
// preserves every byte.

// RawJSON is an undecoded value.
type RawJSON = json.RawMessage

// DecodeJSON decodes JSON that an agent wrote into v, a pointer. If members have an
// unexpected type, it returns an error but still fills in all others.
func DecodeJSON(text []byte, v any) error { return json.Unmarshal(text, v) }

// ReadJSON is [DecodeJSON] for a file. If the file cannot be read, v stays as it is.
func ReadJSON(file string, v any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return DecodeJSON(text, v)
}

// JSONLines encodes each value on a line of its own. Values may only consist of strings
// and numbers.
func JSONLines(values ...any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		_ = enc.Encode(v) // it cannot fail
	}
	return b.String()
}

// IsTrue reports whether a value is true.
func IsTrue(raw []byte) bool { return string(raw) == "true" }

// Number decodes a JSON number. It returns 0 for anything else and for a number that is
// too large.
func Number(raw []byte) int64 {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f < -1e18 || f > 1e18 {
		return 0
	}
	return int64(f)
}

// Count returns the named member of an object as a number, or 0 if it is missing or
// negative.
func Count(object []byte, name string) int64 { return max(0, Number(rawjson.Get(object, name))) }

// CompactJSON removes the space between the tokens of a value, so that a value is the
// same however its document is indented.
func CompactJSON(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted && i+1 < len(raw):
			out = append(out, c)
			i++
		case !quoted && (c == ' ' || c == '\n' || c == '\r' || c == '\t'):
			continue
		}
		out = append(out, raw[i])
	}
	return out
}

// BlankComments replaces the comments that some agents allow in their JSON with blanks.
// Offsets and line breaks stay.
func BlankComments(text []byte) []byte {
	out := bytes.Clone(text)
	for i := 0; i < len(out); {
		end := i + 1
		switch {
		case out[i] == '"':
			for ; end < len(out) && out[end] != '"'; end++ {
				if out[end] == '\\' {
					end++
				}
			}
			i = end + 1
			continue
		case bytes.HasPrefix(out[i:], []byte("//")):
			end = len(out)
			if n := bytes.IndexByte(out[i:], '\n'); n >= 0 {
				end = i + n
			}
		case bytes.HasPrefix(out[i:], []byte("/*")):
			end = len(out)
			if n := bytes.Index(out[i+2:], []byte("*/")); n >= 0 {
				end = i + 2 + n + 2
			}
		default:
			i++
			continue
		}
		for ; i < end; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	return out
}

// WalkObject calls f for each member of the object at the start of data, until f
// returns false; rest begins at the member's value. If the object is cut off or
// malformed, WalkObject returns an error after the members that precede the fault.
func WalkObject(data []byte, f func(name string, rest []byte) (skip bool)) error {
	b := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")), " \t\r\n")
	if len(b) == 0 || b[0] != '{' {
		return errors.New("not an object")
	}
	for b = bytes.TrimLeft(b[1:], " \t\r\n,"); len(b) > 0 && b[0] != '}'; b = bytes.TrimLeft(b, " \t\r\n,") {
		name, rest, err := rawjson.Next(b)
		if err != nil {
			return err
		}
		if len(rest) == 0 || rest[0] != ':' || name[0] != '"' {
			return errors.New("no member")
		}
		if rest = bytes.TrimLeft(rest[1:], " \t\r\n"); len(rest) == 0 {
			return io.ErrUnexpectedEOF
		}
		if !f(rawjson.String(name), rest) {
			return nil
		}
		if _, b, err = rawjson.Next(rest); err != nil {
			return err
		}
	}
	if len(b) == 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// WalkArray calls f for each complete element of the array at the start of data, until
// f returns false. If the array is cut off, it returns an error and what is left of the
// incomplete element.
func WalkArray(data []byte, f func(value []byte) bool) (rest []byte, err error) {
	if len(data) == 0 || data[0] != '[' {
		return nil, nil
	}
	b := bytes.TrimLeft(data[1:], " \t\r\n")
	for len(b) > 0 && b[0] != ']' {
		value, after, err := rawjson.Next(b)
		if err != nil {
			return b, err
		}
		if !f(value) {
			return nil, nil
		}
		b = bytes.TrimLeft(after, " \t\r\n,")
	}
	if len(b) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return nil, nil
}
