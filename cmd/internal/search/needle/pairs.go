package needle

import "bytes"

// pairs holds the pairs of adjacent bytes to look for at the same time.
type pairs struct {
	// The first pair: bytes b and c match if b|firstMask == first and c|secondMask ==
	// second. The masks let upper-case letters match as well.
	firstMask, first, secondMask, second byte

	other [3][2]byte // exact; the first begins a \u escape
	more  bool       // the last two of other are not the first again
}

// newPairs returns the pair that begins a \u escape, in every place.
func newPairs() pairs {
	u := [2]byte{'\\', 'u'}
	return pairs{first: u[0], second: u[1], other: [3][2]byte{u, u, u}}
}

// masked sets the first pair.
func (p *pairs) masked(first, second byte, fold bool) {
	mask := func(c byte) byte {
		if fold && 'a' <= c && c <= 'z' {
			return 'a' - 'A'
		}
		return 0
	}
	p.firstMask, p.first, p.secondMask, p.second = mask(first), first, mask(second), second
}

// index returns the first place in b where one of the pairs is, or -1.
func (p *pairs) index(b []byte) int {
	if n := (len(b) - 1) / stride; n > 0 && fast() {
		if i := indexBlocks(&b[0], n, p); i >= 0 {
			return i
		}
		done := n * stride
		if i := p.indexSlowly(b[done:]); i >= 0 {
			return done + i
		}
		return -1
	}
	return p.indexSlowly(b)
}

// indexSlowly is index without vector instructions. It visits each place with the first
// byte of a pair.
func (p *pairs) indexSlowly(b []byte) int {
	best := len(b)
	find := func(first byte, matches func(second byte) bool) {
		for i := 0; i < best; i++ {
			n := bytes.IndexByte(b[i:best], first)
			if n < 0 {
				return
			}
			if i += n; i+1 < len(b) && matches(b[i+1]) {
				best = i
			}
		}
	}
	second := func(c byte) bool { return c|p.secondMask == p.second }
	find(p.first, second)
	if p.firstMask != 0 {
		find(p.first&^p.firstMask, second)
	}
	for i, o := range p.other {
		if i == 0 || o != p.other[0] {
			find(o[0], func(c byte) bool { return c == o[1] })
		}
	}
	if best == len(b) {
		return -1
	}
	return best
}
