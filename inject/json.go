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

// Agents write JSON for themselves, so reading it is tolerant: of a member with another
// type than expected, nothing is known. Transcripts are read with package rawjson, which
// loses no byte.

// RawJSON is a value that is not decoded.
type RawJSON = json.RawMessage

// DecodeJSON decodes a value that an agent wrote into v, a pointer. After an error, v has
// all members except those of another type.
func DecodeJSON(text []byte, v any) error { return json.Unmarshal(text, v) }

// ReadJSON is [DecodeJSON] for a file. An unreadable one has no members.
func ReadJSON(file string, v any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return DecodeJSON(text, v)
}

// JSONLines encodes values, which hold only texts and numbers, each on a line.
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

// Number decodes a JSON number. Anything else, or a number that is too large, is 0.
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

// Count returns a member that counts something; a missing or negative one is 0.
func Count(object []byte, name string) int64 { return max(0, Number(rawjson.Get(object, name))) }

// CompactJSON removes the space between the tokens of a value, so that it is the same
// in an indented document and elsewhere.
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

// WalkObject calls f for each member of the object at the start of data, until f returns
// false or the object is cut off; the error then says where. rest begins at the
// value.
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

// WalkArray calls f for each complete element of the array at the start of data, until f
// returns false or the array is cut off; rest is then what there is of the next element.
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
