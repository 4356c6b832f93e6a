package gemini

import (
	"bytes"
	"cmp"
	"errors"

	"cortext/inject"
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

// document reads a session that is one document. If it is truncated or broken, document
// reads the messages before that point and returns an error.
func (x *index) document(data []byte) error {
	var broken error
	err := inject.WalkObject(data, func(name string, rest []byte) bool {
		value := func() []byte { v, _, _ := rawjson.Next(rest); return v }
		switch name {
		case "sessionId":
			x.native = cmp.Or(x.native, rawjson.String(value()))
		case "kind":
			x.subagent = rawjson.String(value()) == "subagent"
		case "messages", "history":
			_, broken = inject.WalkArray(rest, func(e []byte) bool {
				x.element(e, inject.Span{Offset: int64(cap(data) - cap(e)), Size: len(e)})
				return true
			})
			return broken == nil
		}
		return true
	})
	return errors.Join(broken, err)
}

// element reads a message of a document.
func (x *index) element(raw []byte, at inject.Span) {
	r, err := parseRecord(raw)
	if err != nil {
		x.losses.Unknown("message that is not an object")
		return
	}
	if r.ID == "" {
		r.ID = derivedID(len(x.units), raw)
	}
	x.message(r, at)
}

func detectDocument(data []byte) bool {
	id, hash, found := false, false, false
	_ = inject.WalkObject(data, func(name string, rest []byte) bool {
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
	_, _ = inject.WalkArray(array, func(e []byte) bool {
		r, err := parseRecord(e)
		ok = err == nil && !r.Foreign && r.Type != "" && kindOf(r) != unknownUnit && r.Content != nil
		return false
	})
	return ok
}

// holdsTurns reports whether an array begins with a turn of the Gemini API.
func holdsTurns(array []byte) (ok bool) {
	_, _ = inject.WalkArray(array, func(e []byte) bool {
		ok = rawjson.String(rawjson.Get(e, "role")) != "" && len(rawjson.Get(e, "parts")) > 0 && rawjson.Get(e, "parts")[0] == '['
		return false
	})
	return ok
}
