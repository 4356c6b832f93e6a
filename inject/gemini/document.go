package gemini

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"cortext/inject"
	"cortext/schema/jsonl"
	"cortext/schema/rawjson"
)

// Versions before 0.4x wrote a session as one indented JSON document, and rewrote it
// for each message.

// isDocument reports whether a file that begins with data is such a document: its
// first line is just a bracket.
func isDocument(data []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")), []byte("\n"))
	return string(bytes.TrimSpace(line)) == "{"
}

// walk calls f for each member of the object at the start of data, until f returns
// false or the object is cut off; the error then says where. rest begins at the
// value.
func walk(data []byte, f func(name string, rest []byte) (skip bool)) error {
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

// elements calls f for each complete element of the array at the start of data.
func elements(data []byte, f func(value []byte) bool) error {
	if len(data) == 0 || data[0] != '[' {
		return nil
	}
	b := bytes.TrimLeft(data[1:], " \t\r\n")
	for len(b) > 0 && b[0] != ']' {
		value, rest, err := rawjson.Next(b)
		if err != nil {
			return err
		}
		if !f(value) {
			return nil
		}
		b = bytes.TrimLeft(rest, " \t\r\n,")
	}
	if len(b) == 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// document reads a session that is one document. From a truncated one it takes the
// messages before the cut. A cut by our own reader is not damage.
func (x *index) document(data []byte, cut bool) {
	var broken error
	err := walk(data, func(name string, rest []byte) bool {
		value := func() []byte { v, _, _ := rawjson.Next(rest); return v }
		switch name {
		case "sessionId":
			x.native = cmp.Or(x.native, rawjson.String(value()))
		case "kind":
			x.subagent = rawjson.String(value()) == "subagent"
		case "messages", "history":
			broken = elements(rest, func(e []byte) bool {
				x.element(e, inject.Span{Offset: int64(cap(data) - cap(e)), Size: len(e)})
				return true
			})
			return broken == nil
		}
		return true
	})
	if err = errors.Join(broken, err); err != nil && !cut {
		x.losses.Damaged(fmt.Sprintf("%s: the document is cut off or broken (%v)", jsonl.Broken, err))
	}
}

// element reads a message of a document.
func (x *index) element(raw []byte, at inject.Span) {
	r, err := parseRecord(raw)
	if err != nil {
		x.losses.Unknown("message that is no object")
		return
	}
	if r.ID == "" {
		r.ID = derivedID(len(x.units), raw)
	}
	x.message(r, at)
}

func detectDocument(data []byte) bool {
	id, hash, found := false, false, false
	_ = walk(data, func(name string, rest []byte) bool {
		switch name {
		case "sessionId":
			id = rest[0] == '"'
		case "projectHash":
			hash = rest[0] == '"'
		case "messages":
			found = holdsMessages(rest)
		case "history":
			if holdsTurns(rest) {
				id, found = true, true
			}
		}
		return !(id && (hash || found))
	})
	return id && (hash || found)
}

// holdsMessages reports whether an array begins with a message in the program's
// format.
func holdsMessages(array []byte) (ok bool) {
	_ = elements(array, func(e []byte) bool {
		r, err := parseRecord(e)
		ok = err == nil && !r.Foreign && r.Type != "" && kindOf(r) != unknownUnit && r.Content != nil
		return false
	})
	return ok
}

// holdsTurns reports whether an array begins with a turn of the Gemini API.
func holdsTurns(array []byte) (ok bool) {
	_ = elements(array, func(e []byte) bool {
		ok = rawjson.String(rawjson.Get(e, "role")) != "" && len(rawjson.Get(e, "parts")) > 0 && rawjson.Get(e, "parts")[0] == '['
		return false
	})
	return ok
}
