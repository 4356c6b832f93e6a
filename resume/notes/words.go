package notes

import (
	_ "embed"
	"regexp"
	"regexp/syntax"
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
	needs  []string       // a match has one of these texts, in lower case; empty: not known
}

// possible reports whether a text may match. It is several times faster than matching.
func (p pattern) possible(text string) bool {
	if len(p.needs) == 0 {
		return true
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(p.needs, func(need string) bool { return strings.Contains(text, need) })
}

// needsOf returns texts in lower case such that every match of a regular expression contains
// at least one of them. It returns nothing if it cannot find such texts.
func needsOf(re *syntax.Regexp) (needs []string) {
	switch re.Op {
	case syntax.OpLiteral:
		text := strings.ToLower(string(re.Rune))
		if re.Flags&syntax.FoldCase != 0 { // long s and the Kelvin sign are s and k, too
			text = longest(strings.FieldsFunc(text, func(r rune) bool { return r == 's' || r == 'k' }))
		}
		if text != "" {
			needs = []string{text}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needsOf(re.Sub[0])
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			some := needsOf(sub)
			if len(some) == 0 {
				return nil
			}
			needs = append(needs, some...)
		}
	case syntax.OpConcat: // the part that the fewest texts have
		for _, sub := range re.Sub {
			if some := needsOf(sub); len(some) > 0 && len(shortest(some)) > len(shortest(needs)) {
				needs = some
			}
		}
	}
	return needs
}

func shortest(texts []string) (text string) {
	for i, t := range texts {
		if i == 0 || len(t) < len(text) {
			text = t
		}
	}
	return text
}

func longest(texts []string) (text string) {
	for _, t := range texts {
		if len(t) > len(text) {
			text = t
		}
	}
	return text
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
		if all, err := syntax.Parse("(?:"+strings.Join(list, ")|(?:")+")", syntax.Perl); err == nil {
			needs := needsOf(all)
			for _, need := range needs {
				if !slices.ContainsFunc(needs, func(other string) bool { return other != need && strings.Contains(need, other) }) && !slices.Contains(p.needs, need) {
					p.needs = append(p.needs, need)
				}
			}
		}
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
	if !p.possible(line) {
		return false
	}
	return p.begins != nil && p.begins.MatchString(line) || p.MatchString(line)
}
