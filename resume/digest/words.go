package digest

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed words.txt
var wordLists string

// words are the lists of words.txt by their names.
var words = sync.OnceValue(func() map[string][]string {
	lists, name := map[string][]string{}, ""
	for line := range strings.Lines(wordLists) {
		line = strings.TrimRight(line, "\n")
		switch list, ok := strings.CutPrefix(line, "["); {
		case line == "", strings.HasPrefix(line, "#"):
		case ok:
			name = strings.TrimSuffix(list, "]")
		default:
			if entry, err := strconv.Unquote(line); err == nil {
				line = entry
			}
			lists[name] = append(lists[name], line)
		}
	}
	return lists
})

// listed reports whether a list has an entry.
func listed(list, entry string) bool { return slices.Contains(words()[list], entry) }

// has reports whether a text in lower case has an entry of a list in it.
func has(list, text string) bool {
	return slices.ContainsFunc(words()[list], func(w string) bool { return strings.Contains(text, w) })
}

// begins reports whether a text in lower case begins with an entry of a list.
func begins(list, text string) bool {
	return slices.ContainsFunc(words()[list], func(w string) bool { return strings.HasPrefix(text, w) })
}
