package search

import (
	"cortext/schema"
	"cortext/schema/rawjson"
)

// A Place says which text of a conversation it is.
type Place string

// The places.
const (
	InTitle     Place = "title"
	InSummary   Place = "summary"
	InUser      Place = "user"
	InAssistant Place = "assistant"
	InSystem    Place = "system"
	InInput     Place = "tool input"
	InOutput    Place = "tool output"
)

// searched reports whether a query restricted to a field searches a place.
func (f Field) searched(p Place) bool {
	switch f {
	case "":
		return true
	case Tools:
		return p == InInput || p == InOutput
	}
	return string(f) == string(p)
}

// A passage is a text of a record, with its place.
type passage struct {
	place Place
	text  string
}

// messagePassages returns the texts of a message, without the model's reasoning.
func messagePassages(m *schema.Message) []passage {
	return []passage{{Place(m.Role), m.Content}}
}

// toolPassages returns the texts of a call: each string and number in its input, without
// the names of members; and its output, or its error if it has none.
func toolPassages(t *schema.Tool) []passage {
	output := t.Output
	if output == "" {
		output = t.Error
	}
	return append(values(nil, t.Input), passage{InOutput, output})
}

// values appends the strings and numbers in a valid JSON value.
func values(list []passage, value []byte) []passage {
	scalars(value, func(v []byte) {
		text := string(v)
		if v[0] == '"' {
			text = rawjson.String(v)
		}
		list = append(list, passage{InInput, text})
	})
	return list
}

// scalars calls found with each string, number and word in a valid JSON value, in order.
func scalars(value []byte, found func(scalar []byte)) {
	if len(value) == 0 {
		return
	}
	switch value[0] {
	case '{':
		for _, v := range rawjson.Fields(value) {
			scalars(v, found)
		}
	case '[':
		for v := range rawjson.Elements(value) {
			scalars(v, found)
		}
	default:
		found(value)
	}
}
