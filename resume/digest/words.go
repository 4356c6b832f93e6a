package digest

import (
	_ "embed"
	"regexp"
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
		line = strings.TrimSuffix(line, "\n")
		switch list, ok := strings.CutPrefix(line, "["); {
		case line == "", strings.HasPrefix(line, "#"):
		case ok && strings.HasSuffix(list, "]"):
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

// patterns are the lists of regular expressions, each as one, by their names. Where all
// begin at the beginning of a line, nothing else of it is looked at.
var patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for name, list := range words() {
		name, ok := strings.CutPrefix(name, "/")
		if !ok {
			continue
		}
		pattern := "(?:" + strings.Join(list, ")|(?:") + ")"
		if !slices.ContainsFunc(list, func(p string) bool { return p[0] != '^' }) {
			pattern = "^(?:" + pattern + ")"
		}
		all[name] = regexp.MustCompile(pattern)
	}
	return all
})

// listed reports whether a list has an entry.
func listed(list, entry string) bool { return slices.Contains(words()[list], entry) }

// has reports whether a text in lower case has an entry of a list in it.
func has(list, text string) bool {
	return slices.ContainsFunc(words()[list], func(w string) bool { return strings.Contains(text, w) })
}

// matches reports whether one of a list's regular expressions matches the beginning of a
// line.
func matches(list, line string) bool {
	return patterns()[list].MatchString(line[:min(len(line), maxText)])
}
