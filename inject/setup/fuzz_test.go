package setup

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"cortext/schema/rawjson"
)

// tokens splits JSON into strings, numbers, words and brackets, verbatim, without
// commas and colons.
func tokens(b []byte) []string {
	var all []string
	for i := 0; i < len(b); {
		end := i + 1
		switch c := b[i]; {
		case strings.IndexByte(jsonSpace+",:", c) >= 0:
			i++
			continue
		case c == '"':
			for ; b[end] != '"'; end++ {
				if b[end] == '\\' {
					end++
				}
			}
			end++
		case strings.IndexByte("{}[]", c) < 0:
			for end < len(b) && strings.IndexByte(jsonSpace+",]}", b[end]) < 0 {
				end++
			}
		}
		all = append(all, string(b[i:end]))
		i = end
	}
	return all
}

func compact(b []byte) string { return strings.Join(tokens(b), " ") }

// without returns value as compact JSON without what Settings added. was is the
// earlier value, nil if there was none.
func without(t *testing.T, value, was []byte, path string) string {
	under, event, _ := strings.Cut(path, "/")
	switch {
	case value[0] == '{' && (path == "" || path == "hooks"):
		before := map[string][]byte{}
		if was != nil {
			members, _ := rawjson.Members(was)
			for _, m := range members {
				before[m.Name] = m.Value
			}
		}
		members, _ := rawjson.Members(value)
		var left []string
		for _, m := range members {
			text := compact(m.Value)
			if old, ok := before[m.Name]; path == "" && m.Name == "hooks" || path == "hooks" {
				text = without(t, m.Value, old, strings.TrimPrefix(path+"/"+m.Name, "/"))
				if !ok && (text == "[]" || text == "{}") {
					continue // it was only added to hold what has been removed from it
				}
			}
			left = append(left, string(rawjson.AppendQuote(nil, m.Name))+" "+text)
		}
		return "{" + strings.Join(left, " ") + "}"
	case value[0] == '[' && under == "hooks" && event != "":
		groups, _ := rawjson.Array(value)
		n := 0
		if was != nil {
			old, _ := rawjson.Array(was)
			n = len(old)
		}
		var left []string
		for i, g := range groups {
			if i < n || compact(g) != compact([]byte(hooks.group(event))) {
				left = append(left, compact(g))
			}
		}
		return "[" + strings.Join(left, " ") + "]"
	}
	return compact(value)
}

// FuzzSettings checks that any file either is left alone with an error or becomes valid
// JSON with all hooks. A second run must not change it again, all previous content must
// still be there in order, and without the hooks the file must mean the same as before.
func FuzzSettings(f *testing.F) {
	f.Fuzz(func(t *testing.T, have []byte) {
		given := bytes.Clone(have)
		want, changes, err := hooks.settings(have)
		if !bytes.Equal(have, given) {
			t.Fatal("the input was written to")
		}
		before := bytes.TrimPrefix(have, []byte(bom))
		if len(bytes.Trim(before, jsonSpace)) == 0 {
			before = []byte("{}")
		}
		if err != nil {
			var invalid *invalidError
			if errors.As(err, &invalid) && (invalid.Line < 1 || invalid.Line > bytes.Count(have, []byte("\n"))+1 || invalid.Column < 1 || invalid.Column > len(have)+1) {
				t.Errorf("no such place: %v", err)
			}
			if want != nil || changes != nil || rawjson.Valid(before) != nil && invalid == nil {
				t.Errorf("%q, %q with the error %v", want, changes, err)
			}
			return
		}
		if bytes.HasPrefix(have, []byte(bom)) != bytes.HasPrefix(want, []byte(bom)) {
			t.Error("the byte order mark came or went")
		}
		after := bytes.TrimPrefix(want, []byte(bom))
		if err := rawjson.Valid(after); err != nil {
			t.Fatalf("%v in\n%s", err, after)
		}
		again, none, err := hooks.settings(want)
		if err != nil || len(none) > 0 || !bytes.Equal(again, want) {
			t.Errorf("again %q, %v:\n%s", none, err, again)
		}
		if (len(changes) == 0) != bytes.Equal(have, want) {
			t.Errorf("changes %q:\n%s", changes, want)
		}
		for _, event := range hooks.Events {
			hook := compact([]byte(hooks.group(event)))
			n := strings.Count(compact(after), hook) - strings.Count(compact(before), hook)
			if reported := slices.Contains(changes, "hook "+event); reported && n != 1 || !reported && n != 0 {
				t.Errorf("%d hooks %s came in, changes %q:\n%s", n, event, changes, after)
			}
		}
		if !bytes.ContainsRune(have, '\r') && bytes.ContainsRune(want, '\r') {
			t.Error("a carriage return came in")
		}
		rest := tokens(after)
		for _, token := range tokens(before) {
			i := 0
			for i < len(rest) && rest[i] != token {
				i++
			}
			if i == len(rest) {
				t.Fatalf("%s is gone from\n%s", token, after)
			}
			rest = rest[i+1:]
		}
		root, _, _ := rawjson.Next(before)
		now, _, _ := rawjson.Next(after)
		if got, want := without(t, now, root, ""), without(t, root, root, ""); got != want {
			t.Errorf("without the hooks it is\n%s\nnot\n%s", got, want)
		}
	})
}
