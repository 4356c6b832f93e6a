package notes

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

// words returns the lists of words.txt by name.
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

// A pattern is a list of regular expressions combined into one. Expressions anchored
// to the beginning of a line get a second one of their own, which checks nothing
// else: the two together are many times faster than one.
type pattern struct {
	*regexp.Regexp
	begins *regexp.Regexp // nil if none is anchored
}

// patterns returns the lists of regular expressions by name.
var patterns = sync.OnceValue(func() map[string]pattern {
	all := map[string]pattern{}
	for name, list := range words() {
		name, ok := strings.CutPrefix(name, "/")
		if !ok {
			continue
		}
		var begins, within []string
		for _, p := range list {
			if p[0] == '^' {
				begins = append(begins, p)
			} else {
				within = append(within, p)
			}
		}
		var p pattern
		if len(begins) > 0 {
			p.begins = regexp.MustCompile("^(?:(?:" + strings.Join(begins, ")|(?:") + "))")
		}
		if len(within) > 0 {
			p.Regexp = regexp.MustCompile("(?:" + strings.Join(within, ")|(?:") + ")")
		} else {
			p.Regexp, p.begins = p.begins, nil
		}
		all[name] = p
	}
	return all
})

// listed reports whether a list has an entry.
func listed(list, entry string) bool { return slices.Contains(words()[list], entry) }

// containsEntry reports whether a text in lower case contains an entry of a list.
func containsEntry(list, text string) bool {
	return slices.ContainsFunc(words()[list], func(w string) bool { return strings.Contains(text, w) })
}

// matches reports whether one of a list's regular expressions matches at the
// beginning of a line.
func matches(list, line string) bool {
	p, line := patterns()[list], line[:min(len(line), maxText)]
	return p.begins != nil && p.begins.MatchString(line) || p.MatchString(line)
}
