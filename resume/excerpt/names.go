package excerpt

import "strings"

// eachName calls f with each specific name in text and its position: a path, an
// identifier, a flag, an error code, an id. A name is a run of at least five letters,
// digits and _ . / ~ - that does not begin with a digit, trimmed of . / - ~.
// Something must set it apart from a plain word: a slash, underscore, dot or change
// from small to capital letters inside, or a digit next to a letter.
func eachName(text string, f func(at int, name string)) {
	for i := 0; i < len(text); {
		if nameClass[text[i]] != nameStart {
			i++
			continue
		}
		from := i
		for i++; i < len(text) && nameClass[text[i]] != 0; i++ {
		}
		if i-from < minName {
			continue
		}
		run := text[from:i]
		at := from + len(run) - len(strings.TrimLeft(run, "./-~"))
		if name := strings.Trim(run, "./-~"); specific(name) {
			f(at, name)
		}
	}
}

// minName is the length in bytes of the shortest name.
const minName = 5

// The classes of bytes in names.
const (
	nameStart = 1 // may begin a name
	nameRest  = 2 // may only follow
)

var nameClass = func() (class [256]byte) {
	for c := range class {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '~' || c == '.' || c == '/' || c == '-':
			class[c] = nameStart
		case c >= '0' && c <= '9':
			class[c] = nameRest
		}
	}
	return class
}()

// specific reports whether a run of name characters is more than a plain word.
func specific(name string) bool {
	if len(name) < minName {
		return false
	}
	digit, letter := false, false
	for i := range len(name) {
		c := name[i]
		capital := c >= 'A' && c <= 'Z'
		switch {
		case c == '/' || c == '_' || c == '.': // dots at the ends were trimmed
			return true
		case capital && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z':
			return true
		case c >= '0' && c <= '9':
			digit = true
		case capital || c >= 'a' && c <= 'z':
			letter = true
		}
	}
	return digit && letter
}

// eachPart calls f for each part of a name that begins and ends at element boundaries,
// including the whole: reading cmd/serve/main.go is reading main.go too.
func eachPart(name string, f func(part string)) {
	var ends [maxElements]int
	n := 0
	for i := 1; i <= len(name) && n < len(ends); i++ {
		if i == len(name) || joint(name[i]) && !joint(name[i-1]) {
			ends[n] = i
			n++
		}
	}
	starts := 0
	for i := 0; i < len(name) && starts < 2*maxElements; i++ {
		if i > 0 && joint(name[i]) == joint(name[i-1]) {
			continue
		}
		starts++
		for _, end := range ends[:n] {
			if end-i >= minName {
				f(name[i:end])
			}
		}
	}
}

// maxElements limits how many elements of a name are read: a path of a thousand is
// not a real one.
const maxElements = 16

func joint(c byte) bool { return c == '/' || c == '.' || c == '-' || c == '~' }
