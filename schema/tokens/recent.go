package tokens

import (
	"hash/maphash"
	"sync"
)

// longText is the length in bytes from which looking for an earlier count is worth it.
const longText = 512

// counted remembers the counts of long texts: agents read the same files again and again.
var counted = recent{seed: maphash.MakeSeed()}

// A recent remembers counts by the hashes of texts. A later text replaces one that has the
// same slot.
type recent struct {
	seed  maphash.Seed
	mu    sync.Mutex
	slots [1 << 11]countOf
}

// A countOf is the number of tokens of the text with a hash and a length.
type countOf struct {
	hash           uint64
	length, tokens int
}

func (r *recent) count(text string) int {
	hash := maphash.String(r.seed, text)
	slot := &r.slots[hash%uint64(len(r.slots))]
	r.mu.Lock()
	known := *slot
	r.mu.Unlock()
	if known.hash == hash && known.length == len(text) {
		return known.tokens
	}
	n := count(text)
	r.mu.Lock()
	*slot = countOf{hash, len(text), n}
	r.mu.Unlock()
	return n
}
