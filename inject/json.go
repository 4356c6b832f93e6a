package inject

import (
	"bytes"
	"encoding/json"
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
