package secrets

import "strings"

// An index finds the keywords of all rules in one pass over a text. Three consecutive
// bytes of each keyword, regardless of letter case, represent it. A hash of such trigrams
// rules out nearly all of the text; only the rest is compared with the keywords.
type index struct {
	known [1 << hashBits]bool
	heads [1 << chainBits]uint16 // last entry+1 of each chain
	words []keyword
}

// A keyword is one entry of an index.
type keyword struct {
	text   string // lower case if fold is set
	rules  []uint16
	gram   uint32 // the trigram that represents it
	offset int    // position of the trigram in text
	next   uint16 // next entry+1 of the chain
	fold   bool
}

const (
	hashBits  = 14
	chainBits = 8
	gramMask  = 1<<24 - 1
	// hashMul, as a factor, shifts out all but the last three bytes of a number.
	hashMul = 0x3779B1 << 8
)

// foldByte removes letter case. It also maps other bytes, consistently.
func foldByte(c byte) uint32 { return uint32(c | 0x20) }

func newIndex(rules []lazyRule) *index {
	x := &index{words: make([]keyword, 0, 3*len(rules))}
	type key struct {
		text string
		fold bool
	}
	seen := make(map[key]int, cap(x.words))
	for i := range rules {
		for _, text := range rules[i].Keywords {
			k := key{text, rules[i].Fold}
			if k.fold {
				k.text = strings.ToLower(text)
			}
			n, ok := seen[k]
			if !ok {
				n = len(x.words)
				seen[k] = n
				x.add(k.text, k.fold)
			}
			x.words[n].rules = append(x.words[n].rules, uint16(i))
		}
	}
	return x
}

func (x *index) add(text string, fold bool) {
	w := keyword{text: text, fold: fold}
	best := -1
	for at := 0; at+3 <= len(text); at++ {
		if c := commonness(text[at]) + commonness(text[at+1]) + commonness(text[at+2]); best < 0 || c < best {
			best, w.offset = c, at
			w.gram = foldByte(text[at])<<16 | foldByte(text[at+1])<<8 | foldByte(text[at+2])
		}
	}
	h := w.gram * hashMul
	x.known[h>>(32-hashBits)] = true
	w.next = x.heads[h>>(32-chainBits)]
	x.words = append(x.words, w)
	x.heads[h>>(32-chainBits)] = uint16(len(x.words))
}

// commonness estimates how often a byte occurs in conversations about code. A keyword is
// represented by its rarest three bytes.
func commonness(c byte) int {
	const byFrequency = "zqjxkvbwygfpmudchlrsnioate"
	if i := strings.IndexByte(byFrequency, c|0x20); i >= 0 {
		return 4 + i
	}
	switch {
	case c >= '0' && c <= '9':
		return 8
	case c == ' ':
		return 30
	}
	return 12
}

// matches reports whether s[at:] begins with the keyword.
func (w *keyword) matches(s string, at int) bool {
	if at < 0 || at+len(w.text) > len(s) {
		return false
	}
	if !w.fold {
		return s[at:at+len(w.text)] == w.text
	}
	for i := range len(w.text) {
		c := s[at+i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != w.text[i] {
			return false
		}
	}
	return true
}

// scan calls hit for each keyword in s, in the order of the text. An error from hit ends
// the scan.
func (x *index) scan(s string, hit func(w *keyword, at int) error) error {
	var g uint32
	for i := range len(s) {
		g = g<<8 | foldByte(s[i])
		h := g * hashMul
		if !x.known[h>>(32-hashBits)] {
			continue
		}
		for n := x.heads[h>>(32-chainBits)]; n != 0; n = x.words[n-1].next {
			w := &x.words[n-1]
			if at := i - 2 - w.offset; w.gram == g&gramMask && w.matches(s, at) {
				if err := hit(w, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
