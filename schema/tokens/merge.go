package tokens
import "hash/maphash"

// shortPiece is the length in bytes up to which looking at each pair for the
// next merge is faster than keeping the pairs in a heap.
const shortPiece = 64

const cacheSize = 1<<12
const cachedPiece = 14

type cached struct {
	len, count uint8
	text       [cachedPiece]byte
}
type cache [cacheSize]cached

// count returns the number of tokens of a piece.
func (t *table) count(piece string, c *cache) int {
	if len(piece) <= 2 {
		if len(piece) < 2 || t.rank(piece) != noRank {
			return 1
		}
		return 2
	}
	h := maphash.String(t.seed, piece)
	e := &c[h>>32%cacheSize]
	if int(e.len) == len(piece) && string(e.text[:e.len]) == piece {
		return int(e.count)
	}
	if len(piece) <= maxToken && t.find(piece, h) != noRank {
		return 1
	}
	if len(piece) > shortPiece {
		return t.mergeLong(piece)
	}
	n := t.mergeShort(piece)
	if len(piece) <= cachedPiece {
		e.len = uint8(len(piece))
		e.count = uint8(n)
		copy(e.text[:], piece)
	}
	return n
}

// mergeShort merges the pair of neighbouring parts with the lowest rank, the
// leftmost of them first, until no pair makes a token, and returns the number
// of parts. The parts are the bytes of the piece at first.
func (t *table) mergeShort(piece string) int {
	var starts [shortPiece + 1]uint8
	var ranks [shortPiece]uint32 // of the pair that starts with the part
	n := len(piece)
	for i := range n {
		starts[i] = uint8(i)
	}
	starts[n] = uint8(n)
	for i := range n - 1 {
		ranks[i] = t.rank(piece[i : i+2])
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
			ranks[at] = t.rank(piece[starts[at]:starts[at+2]])
		}
		if at > 0 {
			ranks[at-1] = t.rank(piece[starts[at-1]:starts[at+1]])
		}
	}
	return n
}

// A part is a token in the making, one of a list that is indexed by where
// the part starts in its piece.
type part struct {
	prev, next int32
	rank       uint32 // of the pair with the next part
}

// mergeLong does the same as mergeShort in n log n steps.
func (t *table) mergeLong(piece string) int {
	n := len(piece)
	parts := make([]part, n+1)
	pairs := make(pairHeap, 0, n)
	for i := range parts {
		parts[i] = part{int32(i - 1), int32(i + 1), noRank}
	}
	rerank := func(i int32) {
		p := &parts[i]
		p.rank = noRank
		if int(p.next) < n {
			p.rank = t.rank(piece[i:parts[p.next].next])
		}
		if p.rank != noRank {
			pairs.push(uint64(p.rank)<<32 | uint64(i))
		}
	}
	for i := range n - 1 {
		rerank(int32(i))
	}
	count := n
	for len(pairs) > 0 {
		pair := pairs.pop()
		i := int32(uint32(pair))
		if parts[i].rank != uint32(pair>>32) {
			continue // merged or changed since
		}
		gone := parts[i].next
		next := parts[gone].next
		parts[gone].rank = noRank
		parts[i].next, parts[next].prev = next, i
		count--
		rerank(i)
		if i > 0 {
			rerank(parts[i].prev)
		}
	}
	return count
}

// A pairHeap is a binary heap of pairs of parts, its least first: the rank in
// the upper 32 bits, where the pair starts in the lower.
type pairHeap []uint64

func (h *pairHeap) push(pair uint64) {
	*h = append(*h, pair)
	s := *h
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
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
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
