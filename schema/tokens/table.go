package tokens

import (
	"bytes"
	"hash/maphash"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// The o200k_base file has one line for each token: the token in standard
// base64, a space, its rank in decimal.
const (
	tableFile  = "o200k_base.tiktoken"
	tokenCount = 199_998 // ranks are 0 to tokenCount-1
	maxToken   = 128     // length in bytes of the longest token
)

const (
	slotCount = 1 << 19
	rankBits  = 18 // of a slot, the rest of it is a part of the hash
	rankMask  = 1<<rankBits - 1
	noRank    = ^uint32(0)
)

// A table finds the rank of a token. It is an open-addressing hash table over
// tokens that lie in one block of memory.
type table struct {
	splitter
	seed  maphash.Seed
	slots []uint32 // 0 or upper bits of the hash, then rank+1
	spans []uint32 // by rank: start of the token in arena << 8 | length
	arena []byte
}

// loaded returns the table, read from the embedded file on the first call.
//
// The file is part of the program and a test verifies its checksum, so it
// cannot be damaged in a program that passed its tests. Lines that do not
// parse are left out all the same: what they stood for counts as more tokens
// then, a byte as one at most, so that a budget still holds.
var loaded = sync.OnceValue(load)

func load() *table {
	t := &table{
		seed:  maphash.MakeSeed(),
		slots: make([]uint32, slotCount),
		spans: make([]uint32, tokenCount),
	}
	t.wide = newWideClasses()
	f, err := assets.Assets.Open(tableFile)
	if err != nil {
		return t
	}
	defer f.Close()
	info, err := f.Stat()
	r, ok := f.(io.ReaderAt)
	if err != nil || !ok {
		return t
	}
	size := int(info.Size())
	t.arena = make([]byte, size/4*3)
	workers := min(runtime.GOMAXPROCS(0), 4)
	var wg sync.WaitGroup
	for w := range workers {
		from, to := size*w/workers, size*(w+1)/workers
		wg.Go(func() { t.add(r, from, to) })
	}
	wg.Wait()
	return t
}

// add reads the lines that start in bytes from to to-1 of r.
func (t *table) add(r io.ReaderAt, from, to int) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var digits [256]uint32
	for i := range alphabet {
		digits[alphabet[i]] = uint32(i)
	}
	buf := make([]byte, 32<<10)
	at := from / 4 * 3
	for off := max(from-1, 0); off < to; {
		n, _ := r.ReadAt(buf, int64(off))
		n = bytes.LastIndexByte(buf[:n], '\n') + 1
		if n == 0 {
			return
		}
		p := 0
		if off < from { // the rest of the line before
			p = bytes.IndexByte(buf[:n], '\n') + 1
		}
		for p < n && off+p < to {
			start := at
			for p+4 < n && buf[p] != ' ' {
				v := digits[buf[p]]<<18 | digits[buf[p+1]]<<12 | digits[buf[p+2]]<<6 | digits[buf[p+3]]
				t.arena[at], t.arena[at+1], t.arena[at+2] = byte(v>>16), byte(v>>8), byte(v)
				at += 3
				p += 4
			}
			if p > 0 && buf[p-1] == '=' {
				at--
				if buf[p-2] == '=' {
					at--
				}
			}
			rank := uint32(0)
			for p++; p < n && buf[p] != '\n'; p++ {
				rank = rank*10 + uint32(buf[p]-'0')
			}
			p++
			t.insert(start, at, rank)
		}
		off += n
	}
}

func (t *table) insert(start, end int, rank uint32) {
	t.spans[rank] = uint32(start<<8 | (end - start))
	h := maphash.Bytes(t.seed, t.arena[start:end])
	v := uint32(h>>46)&^rankMask | (rank + 1)
	i := h % slotCount
	for !atomic.CompareAndSwapUint32(&t.slots[i], 0, v) {
		i = (i + 1) % slotCount
	}
}

// rank returns the rank of the token s, noRank when s is none.
func (t *table) rank(s string) uint32 {
	if len(s) > maxToken {
		return noRank
	}
	h := maphash.String(t.seed, s)
	want := uint32(h>>46) &^ rankMask
	for i := h % slotCount; ; i = (i + 1) % slotCount {
		v := t.slots[i]
		if v == 0 {
			return noRank
		}
		if v&^rankMask == want {
			rank := v&rankMask - 1
			span := t.spans[rank]
			if string(t.arena[span>>8:][:span&0xff]) == s {
				return rank
			}
		}
	}
}
