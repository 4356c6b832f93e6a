package excerpt

import "strings"

// names calls f for each specific name in text, with where it begins: a path, an identifier, a flag, an
// error code, an id. It is a run of letters, digits and _ . / ~ - of at least five
// characters that does not begin with a digit, without the . / - ~ around it, in
// which something tells that it is no plain word: a slash, an underscore, a dot or
// a change from small to capital letters inside, or a digit beside a letter.
func names(text string, f func(at int, name string)) {
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

// The classes of bytes that names are made of.
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
		case c == '/' || c == '_' || c == '.': // a dot at the ends was trimmed
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

// within calls f for each part of a name that begins and ends where its elements
// do, the whole included: who reads cmd/serve/main.go has read main.go too.
func within(name string, f func(part string)) {
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

// maxElements bounds how many elements of a name are looked at: a path of a
// thousand is nobody's.
const maxElements = 16

func joint(c byte) bool { return c == '/' || c == '.' || c == '-' || c == '~' }
