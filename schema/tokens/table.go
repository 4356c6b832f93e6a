package tokens

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"io"
	"sync"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// The file has a line for each token, in the order of their ranks: the token
// in base64, a space, its rank.
const (
	tableFile  = "o200k_base.tiktoken"
	tokenCount = 199_998
	tokenBytes = 1_397_670 // length of all tokens together
	maxToken   = 128       // length of the longest token in bytes
)

const (
	slotCount = 1 << 18
	placeBits = 21 // of a slot; the others are bits of the hash
	placeMask = 1<<placeBits - 1
)

// noRank stands for the rank of what is not a token: it comes after all ranks.
const noRank = ^uint32(0)

// A table knows the rank of each token. It is a hash table with open
// addressing over tokens that lie one behind the other in memory, in the order
// of their ranks. So where a token lies serves as its rank.
type table struct {
	seed   maphash.Seed
	slots  []uint32  // hash bits and place in arena + 1, 0 if empty
	pairs  []uint32  // by the two bytes of a token: place in arena + 1, 0 if none
	arena  []byte    // for each token its length and its bytes
	caches sync.Pool // of *cache
}

// loaded returns the table, which the first call reads.
var loaded = sync.OnceValue(load)

// load reads the table from the program. A test verifies the checksum of the
// file, so that only a build that did not pass it can hold a damaged one.
// There is no error for that: tokens that are missing then make text count as
// more of them, up to one for each byte.
func load() *table {
	t := &table{
		seed:  maphash.MakeSeed(),
		slots: make([]uint32, slotCount),
		pairs: make([]uint32, 1<<16),
		arena: make([]byte, tokenCount+tokenBytes+3),
	}
	t.caches.New = func() any { return new(cache) }
	file, err := assets.Assets.Open(tableFile)
	if err != nil {
		return t
	}
	defer file.Close()           // behind the last read
	in, ok := file.(io.ReaderAt) // as embed says; to read it whole makes a copy
	if !ok {
		return t
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var digits [256]uint32
	for i := range alphabet {
		digits[alphabet[i]] = uint32(i)
	}
	// The tokens are entered while the next ones are decoded: a hook that captures
	// one turn spends most of its time here.
	decoded := make(chan int, 64)
	go func() {
		defer close(decoded)
		buf := make([]byte, 32<<10)
		at := 0
		for off := int64(0); ; {
			n, _ := in.ReadAt(buf, off)
			n = bytes.LastIndexByte(buf[:n], '\n') + 1
			if n == 0 {
				return
			}
			off += int64(n)
			at = decode(t.arena, at, buf[:n], &digits)
			decoded <- at
		}
	}()
	from := 0
	for to := range decoded {
		t.enter(from, to)
		from = to
	}
	return t
}

// Warm loads the table in the background, so that the first count need not wait
// for all of it.
func Warm() { go loaded() }

// decode appends the tokens of whole lines to the arena, which is filled up to
// at, and returns up to where it is then.
func decode(arena []byte, at int, lines []byte, digits *[256]uint32) int {
	for p := 0; p < len(lines); p++ {
		start := at
		at++
		for p+4 < len(lines) && lines[p] != ' ' && at+4 <= len(arena) {
			q := lines[p : p+4 : p+4]
			bits := digits[q[0]]<<18 | digits[q[1]]<<12 | digits[q[2]]<<6 | digits[q[3]]
			binary.BigEndian.PutUint32(arena[at:], bits<<8)
			at += 3
			p += 4
		}
		if at-start < 4 || at-start > maxToken+3 {
			return start
		}
		at -= padding(lines[p-1]) + padding(lines[p-2])
		arena[start] = byte(at - start - 1)
		for lines[p] != '\n' {
			p++
		}
	}
	return at
}

func padding(c byte) int {
	if c == '=' {
		return 1
	}
	return 0
}

// enter makes the tokens from from to to in the arena known to rank.
func (t *table) enter(from, to int) {
	for at := from; at < to; {
		token := t.token(uint32(at))
		if len(token) == 2 {
			t.pairs[int(token[0])<<8|int(token[1])] = uint32(at + 1)
		}
		h := maphash.Bytes(t.seed, token)
		i := h % slotCount
		for t.slots[i] != 0 {
			i = (i + 1) % slotCount
		}
		t.slots[i] = hashBits(h) | uint32(at+1)
		at += len(token) + 1
	}
}

func (t *table) token(at uint32) []byte {
	return t.arena[at+1:][:t.arena[at]]
}

func hashBits(h uint64) uint32 {
	return uint32(h>>32) &^ placeMask
}

// rank returns the rank of token, noRank if it is none. The length is at
// least 2.
func (t *table) rank(token string) uint32 {
	switch {
	case len(token) == 2:
		return t.pairs[int(token[0])<<8|int(token[1])] - 1 // 0 makes noRank
	case len(token) > maxToken:
		return noRank
	}
	return t.find(token, maphash.String(t.seed, token))
}

// find is rank for the token with hash h.
func (t *table) find(token string, h uint64) uint32 {
	for i := h % slotCount; t.slots[i] != 0; i = (i + 1) % slotCount {
		slot := t.slots[i]
		if slot&^placeMask != hashBits(h) {
			continue
		}
		place := slot&placeMask - 1
		if string(t.token(place)) == token {
			return place
		}
	}
	return noRank
}
