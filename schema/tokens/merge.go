package tokens

// shortPiece is the length in bytes up to which searching all pairs for the next merge is
// faster than a heap.
const shortPiece = 64

// A known is the number of tokens of a short piece. A counter caches it in the one slot
// given by the hash of the piece.
type known struct {
	length, count uint8
	piece         [22]byte
}

// countBrief is count for a piece of two to seven bytes, with the eight bytes of text that
// it begins. Most pieces are of this size, and comparing numbers is faster than strings.
func (c *counter) countBrief(piece string, text uint64) int {
	const (
		spread = 0x9e3779b97f4a7c15
		counts = 15 << 56
	)
	unused := 64 - 8*len(piece)
	key := text<<unused>>unused | uint64(len(piece))<<60
	e := &c.brief[key*spread>>(64-briefBits)]
	if *e&^counts != key {
		*e = key | uint64(c.count(piece))<<56
	}
	return int(*e & counts >> 56)
}

// count returns the number of tokens of a piece, which must not be empty.
func (c *counter) count(piece string) int {
	if len(piece) == 1 {
		return 1
	}
	if len(piece) > maxToken {
		return c.countLong(piece)
	}
	h := hashed(piece)
	e := &c.known[h>>32%uint64(len(c.known))]
	if string(e.piece[:e.length]) == piece {
		return int(e.count)
	}
	n := 1
	switch {
	case c.find(piece, h) != noRank:
	case len(piece) <= shortPiece:
		n = c.countShort(piece)
	default:
		return c.countLong(piece)
	}
	if len(piece) <= len(e.piece) {
		e.length, e.count = uint8(len(piece)), uint8(n)
		copy(e.piece[:], piece)
	}
	return n
}

// countShort repeatedly merges the two neighbouring parts that make the token of lowest
// rank, the leftmost first, until none do. The parts are initially the bytes of piece. It
// returns the number of parts left.
func (c *counter) countShort(piece string) int {
	var starts [shortPiece + 1]uint8
	var ranks [shortPiece]uint32 // of a part and the next one combined
	n := len(piece)
	for i := range n + 1 {
		starts[i] = uint8(i)
	}
	for i := range n - 1 {
		ranks[i] = c.rank(piece[i : i+2])
	}
	for n > 1 {
		at, least := 0, noRank
		for i, r := range ranks[:n-1] {
			if r < least {
				at, least = i, r
			}
		}
		if least == noRank {
			break
		}
		copy(starts[at+1:n], starts[at+2:n+1])
		copy(ranks[at:n-2], ranks[at+1:n-1])
		n--
		if at < n-1 {
			ranks[at] = c.rank(piece[starts[at]:starts[at+2]])
		}
		if at > 0 {
			ranks[at-1] = c.rank(piece[starts[at-1]:starts[at+1]])
		}
	}
	return n
}

// A node is a part of a piece, in a list indexed by the start of the part.
type node struct {
	prev, next int32
	rank       uint32 // of this part and the next one combined
}

// countLong returns the same as countShort.
func (c *counter) countLong(piece string) int {
	parts := c.merge(piece)
	n := 0
	for i := 0; i < len(piece); i = int(parts[i].next) {
		n++
	}
	return n
}

// merge does the same as countShort in n log n steps. It returns the parts that are left,
// the first at index 0, the last one followed by len(piece).
func (c *counter) merge(piece string) []node {
	n := len(piece)
	parts := make([]node, n+1)
	for i := range parts {
		parts[i] = node{int32(i - 1), int32(i + 1), noRank}
	}
	pairs := make(pairHeap, 0, n)
	rerank := func(i int32) {
		p := &parts[i]
		p.rank = noRank
		if int(p.next) < n {
			p.rank = c.rank(piece[i:parts[p.next].next])
		}
		if p.rank != noRank {
			pairs.push(uint64(p.rank)<<32 | uint64(i))
		}
	}
	for i := range parts[:n] {
		rerank(int32(i))
	}
	for len(pairs) > 0 {
		pair := pairs.pop()
		i := int32(uint32(pair))
		if parts[i].rank != uint32(pair>>32) {
			continue // one of the two has been merged with another
		}
		gone := parts[i].next
		next := parts[gone].next
		parts[gone].rank = noRank
		parts[i].next, parts[next].prev = next, i
		rerank(i)
		if i > 0 {
			rerank(parts[i].prev)
		}
	}
	return parts
}

// A pairHeap is a binary min-heap of pairs of neighbouring parts: their combined rank <<
// 32 | start of the first one.
type pairHeap []uint64

func (h *pairHeap) push(pair uint64) {
	s := append(*h, pair)
	*h = s
	i := len(s) - 1
	for i > 0 && s[(i-1)/2] > pair {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = pair
}

func (h *pairHeap) pop() uint64 {
	s := *h
	least, pair := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	i := 0
	for 2*i+1 < len(s) {
		child := 2*i + 1
		if child+1 < len(s) && s[child+1] < s[child] {
			child++
		}
		if s[child] >= pair {
			break
		}
		s[i] = s[child]
		i = child
	}
	if len(s) > 0 {
		s[i] = pair
	}
	return least
}
