package portable

import (
	"errors"
	"iter"

	"cortext/schema/rawjson"
)

// object returns the values of an object by name. Names that are there twice are an error.
func object(raw []byte) (map[string][]byte, error) {
	members, err := rawjson.Object(raw)
	if err != nil {
		return nil, err
	}
	return byName(members), nil
}

func byName(members []rawjson.Member) map[string][]byte {
	values := make(map[string][]byte, len(members))
	for _, m := range members {
		values[m.Name] = m.Value
	}
	return values
}

// each yields the elements of a list; of nothing, if there is none.
func each(raw []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if raw == nil || string(raw) == "null" {
			return
		}
		if raw[0] != '[' {
			yield(nil, errors.New("a list is missing"))
			return
		}
		for item := range rawjson.Elements(raw) {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// texts reads a list of strings.
func texts(raw []byte) (list []string, err error) {
	for item, err := range each(raw) {
		if err != nil {
			return nil, err
		}
		text, err := rawjson.Unquote(item)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}
