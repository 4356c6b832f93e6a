package tokens

import (
	"bytes"
	"hash/maphash"
	"io"
	"sync"
	"time"

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
	rankBits  = 18
	rankMask  = 1<<rankBits - 1
	noRank    = ^uint32(0)
)

type table struct {
	splitter
	seed  maphash.Seed
	slots []uint32
	spans []uint32
	pairs []uint32
	arena []byte
}

var loaded = sync.OnceValue(load)

func load() *table {
	t := &table{
		seed:  maphash.MakeSeed(),
		slots: make([]uint32, slotCount),
		spans: make([]uint32, 0, tokenCount),
		pairs: make([]uint32, 1<<16),
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
	t.arena = make([]byte, info.Size()/4*3)
	t0 := time.Now()
	t.add(r, int(info.Size()))
	t1 := time.Now()
	T1 += t1.Sub(t0)
	t.index()
	T2 += time.Since(t1)
	return t
}

var T1, T2 time.Duration

func (t *table) add(r io.ReaderAt, size int) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var digits [256]uint32
	for i := range alphabet {
		digits[alphabet[i]] = uint32(i)
	}
	buf := make([]byte, 32<<10)
	at := 0
	arena := t.arena
	for off := 0; off < size; {
		n, _ := r.ReadAt(buf, int64(off))
		n = bytes.LastIndexByte(buf[:n], '\n') + 1
		if n == 0 {
			return
		}
		for p := 0; p < n; {
			start := at
			for p+4 < n && buf[p] != ' ' {
				q := buf[p : p+4 : p+4]
				v := digits[q[0]]<<18 | digits[q[1]]<<12 | digits[q[2]]<<6 | digits[q[3]]
				a := arena[at : at+3 : at+3]
				a[0], a[1], a[2] = byte(v>>16), byte(v>>8), byte(v)
				at += 3
				p += 4
			}
			if p > 0 && buf[p-1] == '=' {
				at--
				if buf[p-2] == '=' {
					at--
				}
			}
			t.spans = append(t.spans, uint32(start<<8|(at-start)))
			for buf[p] != '\n' {
				p++
			}
			p++
		}
		off += n
	}
}

func (t *table) index() {
	for i := range t.pairs {
		t.pairs[i] = noRank
	}
	for rank, span := range t.spans {
		token := t.arena[span>>8:][:span&0xff]
		h := maphash.Bytes(t.seed, token)
		v := uint32(h>>46)&^rankMask | uint32(rank+1)
		i := h % slotCount
		for t.slots[i] != 0 {
			i = (i + 1) % slotCount
		}
		t.slots[i] = v
		if len(token) == 2 {
			t.pairs[int(token[0])<<8|int(token[1])] = uint32(rank)
		}
	}
}

// rank returns the rank of the token s, noRank when s is none.
func (t *table) rank(s string) uint32 {
	switch {
	case len(s) == 2:
		return t.pairs[int(s[0])<<8|int(s[1])]
	case len(s) > maxToken:
		return noRank
	}
	return t.find(s, maphash.String(t.seed, s))
}

func (t *table) find(s string, h uint64) uint32 {
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
