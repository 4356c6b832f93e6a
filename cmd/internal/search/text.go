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
	if len(value) == 0 {
		return list
	}
	switch value[0] {
	case '{':
		for _, v := range rawjson.Fields(value) {
			list = values(list, v)
		}
		return list
	case '[':
		for v := range rawjson.Elements(value) {
			list = values(list, v)
		}
		return list
	case '"':
		return append(list, passage{InInput, rawjson.String(value)})
	}
	return append(list, passage{InInput, string(value)})
}
