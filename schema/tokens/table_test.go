package tokens

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

const tokenCount = 199_998

// tableSum is the checksum in tiktoken for o200k_base.
const tableSum = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"

func TestTableFile(t *testing.T) {
	raw, err := assets.Assets.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(raw)); sum != tableSum {
		t.Errorf("%s has SHA-256 %s, want %s", tableFile, sum, tableSum)
	}
	longest := 0
	for token := range ranks() {
		longest = max(longest, len(token))
	}
	if n := len(ranks()); n != tokenCount || longest != maxToken {
		t.Errorf("%d tokens, the longest with %d bytes", n, longest)
	}
	for b := range 256 {
		if _, ok := ranks()[string([]byte{byte(b)})]; !ok {
			t.Errorf("byte %#x is no token", b)
		}
	}
}

func TestRank(t *testing.T) {
	c := newCounter()
	byRank := make([]string, tokenCount)
	for token, rank := range ranks() {
		byRank[rank] = token
	}
	last := -1
	for _, token := range byRank {
		if len(token) == 1 {
			continue // rank does not take these
		}
		place := int(c.rank(token))
		if place <= last || place > placeMask {
			t.Fatalf("token %q is at %d, the one before at %d", token, place, last)
		}
		last = place
	}
	for token := range ranks() {
		for _, no := range []string{token + "\xff", "\xfe" + token} {
			if _, ok := ranks()[no]; !ok && c.rank(no) != noRank {
				t.Fatalf("%q has a rank", no)
			}
		}
	}
	if r := c.rank(strings.Repeat(" ", maxToken+1)); r != noRank {
		t.Errorf("more than the longest token has rank %d", r)
	}
}

func TestMerge(t *testing.T) {
	c := newCounter()
	random := rand.New(rand.NewPCG(1, 2))
	for _, alphabet := range []string{"ab", "aeinrst", "= -", " \t\n", "abcdefghijklmnopqrstuvwxyz", "\x80\xe6\x97\xa5\xff"} {
		for range 300 {
			b := make([]byte, 2+random.IntN(shortPiece-1))
			for i := range b {
				b[i] = alphabet[random.IntN(len(alphabet))]
			}
			piece := string(b)
			want := naiveCount(piece)
			clear(c.known[:])
			for range 2 { // the second time from the cache
				if n := c.count(piece); n != want {
					t.Errorf("%q has %d tokens, want %d", piece, n, want)
				}
			}
			if c.rank(piece) != noRank {
				continue
			}
			if n := c.countShort(piece); n != want {
				t.Errorf("%q is merged to %d tokens, want %d", piece, n, want)
			}
			if n := c.countLong(piece); n != want {
				t.Errorf("%q is merged to %d tokens by the heap, want %d", piece, n, want)
			}
		}
	}
}
