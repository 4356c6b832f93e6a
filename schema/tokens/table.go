package tokens

import (
	_ "embed" // for index
	"io"
	"math/bits"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// The file has a line for each token, in order of rank: the token in base64, a space, its
// rank. Tokens are looked up in place, so nothing needs loading: the offset of a line
// serves as the rank.
const (
	tableFile = "o200k_base.tiktoken"
	maxToken  = 128 // length of the longest token in bytes
)

// The index is a perfect hash: the token with hash h can only be in slot slotOf(h,
// shift), with the shift of its group. A slot has the offset of a line in its low bits
// and bits of the hash in the others. Numbers are little-endian.
const (
	groupCount = 1 << 16 // of shifts, two bytes each, which come first
	slotCount  = 202_000 // four bytes each
	placeBits  = 22
	placeMask  = 1<<placeBits - 1
)

//go:generate go test -run ^TestIndex$ -update
//go:embed o200k_base.index
var index string

const briefBits = 15 // of an index into the cache of brief pieces

// noRank is the rank of anything that is not a token: it sorts after all ranks.
const noRank = ^uint32(0)

// hashed returns the hash of a token of at least two bytes.
func hashed(token string) uint64 {
	const k0, k1 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	n := len(token)
	h := uint64(n) * k0
	for i := 0; i+8 < n; i += 8 {
		h = mix(h^eight(token[i:i+8]), k1)
	}
	switch {
	case n >= 8:
		h ^= eight(token[n-8:])
	case n >= 4:
		h ^= uint64(four(token[:4])) | uint64(four(token[n-4:]))<<32
	default:
		h ^= uint64(token[0]) | uint64(token[1])<<8 | uint64(token[n-1])<<16
	}
	return mix(h, k1)
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func eight(s string) uint64 { return uint64(four(s[:4])) | uint64(four(s[4:8]))<<32 }

func four(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func groupOf(h uint64) int { return int(h % groupCount) }

func slotOf(h uint64, shift uint16) int {
	hi, _ := bits.Mul64(mix(h^uint64(shift), 0xa0761d6478bd642f), slotCount)
	return int(hi)
}

// A counter looks tokens up and caches some results.
type counter struct {
	file  io.ReaderAt
	line  [maxToken/3*4 + 5]byte // the base64 of a token and the space after it
	pairs [1 << 16]uint32        // by the two bytes of a token: rank + 2, 0 if not yet looked up
	known [1 << 15]known
	brief [1 << briefBits]uint64 // brief pieces, by a hash: bytes, then four bits each for tokens and length
}

// counters keeps a few counters for the next calls, with what they know. A [sync.Pool] would
// drop them at each collection of garbage, and more often under the race detector.
var counters = make(chan *counter, 4)

// takeCounter returns a counter that no other goroutine uses. Call done afterwards.
func takeCounter() *counter {
	select {
	case c := <-counters:
		return c
	default:
		return newCounter()
	}
}

func (c *counter) done() {
	select {
	case counters <- c:
	default:
	}
}

// newCounter opens the table. A test verifies its checksum. A damaged table would lack
// tokens, and text would count as more of them.
func newCounter() *counter {
	file, err := assets.Assets.Open(tableFile)
	if err != nil {
		panic(err) // it is part of the program
	}
	return &counter{file: file.(io.ReaderAt)} // as embed documents; reading it whole would copy it
}

// rank returns the rank of token, noRank if it is not a token. The length must be at
// least 2.
func (c *counter) rank(token string) uint32 {
	switch {
	case len(token) == 2:
		p := &c.pairs[int(token[0])<<8|int(token[1])]
		if *p == 0 {
			*p = c.find(token, hashed(token)) + 2
		}
		return *p - 2
	case len(token) > maxToken:
		return noRank
	}
	return c.find(token, hashed(token))
}

// find is rank for a token with hash h.
func (c *counter) find(token string, h uint64) uint32 {
	g := 2 * groupOf(h)
	shift := uint16(index[g]) | uint16(index[g+1])<<8
	at := 2*groupCount + 4*slotOf(h, shift)
	slot := four(index[at : at+4])
	if (slot^uint32(h>>32))&^placeMask != 0 {
		return noRank
	}
	place := slot & placeMask
	line := c.line[:(len(token)+2)/3*4+1]
	if n, _ := c.file.ReadAt(line, int64(place)); n < len(line) || !isLineOf(line, token) {
		return noRank
	}
	return place
}

// isLineOf reports whether line begins with token in base64 and a space.
func isLineOf(line []byte, token string) bool {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for len(token) >= 3 {
		b := uint(token[0])<<16 | uint(token[1])<<8 | uint(token[2])
		l := line[:4:len(line)]
		if l[0] != digits[b>>18] || l[1] != digits[b>>12&63] || l[2] != digits[b>>6&63] || l[3] != digits[b&63] {
			return false
		}
		token, line = token[3:], line[4:]
	}
	switch len(token) {
	case 1:
		b := uint(token[0]) << 4
		return line[0] == digits[b>>6] && line[1] == digits[b&63] && line[2] == '=' && line[4] == ' '
	case 2:
		b := uint(token[0])<<10 | uint(token[1])<<2
		return line[0] == digits[b>>12] && line[1] == digits[b>>6&63] && line[2] == digits[b&63] && line[3] == '='
	}
	return line[0] == ' '
}
