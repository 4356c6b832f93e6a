package tokens

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

var update = flag.Bool("update", false, "make o200k_base.index again")

// TestIndex checks that the index is the one that go generate makes.
func TestIndex(t *testing.T) {
	made := string(makeIndex(t))
	if *update {
		if err := os.WriteFile("o200k_base.index", []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if made != index {
		t.Error("o200k_base.index is out of date: run go generate")
	}
}

// makeIndex gives each group of tokens, largest first, the smallest shift that maps all
// of its tokens to free slots.
func makeIndex(t *testing.T) []byte {
	raw, err := assets.Assets.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	type entry struct {
		hash uint64
		slot uint32
	}
	groups := make([][]entry, groupCount)
	place := 0
	for line := range strings.Lines(string(raw)) {
		text, _, _ := strings.Cut(line, " ")
		token, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(token) > 1 {
			h := hashed(string(token))
			g := groupOf(h)
			groups[g] = append(groups[g], entry{h, uint32(h>>32)&^placeMask | uint32(place)})
		}
		place += len(line)
	}
	order := make([]int, groupCount)
	for g := range order {
		order[g] = g
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(groups[b]), len(groups[a])) })
	out := make([]byte, 2*groupCount+4*slotCount)
	taken := make([]bool, slotCount)
	for _, g := range order {
		shift := 0
		for {
			var slots []int
			for _, e := range groups[g] {
				slot := slotOf(e.hash, uint16(shift))
				if taken[slot] {
					break
				}
				taken[slot] = true
				slots = append(slots, slot)
			}
			if len(slots) == len(groups[g]) {
				for i, e := range groups[g] {
					binary.LittleEndian.PutUint32(out[2*groupCount+4*slots[i]:], e.slot)
				}
				break
			}
			for _, slot := range slots {
				taken[slot] = false
			}
			if shift++; shift == 1<<16 {
				t.Fatal("no shift leads a group to free slots: make more groups or slots")
			}
		}
		binary.LittleEndian.PutUint16(out[2*g:], uint16(shift))
	}
	return out
}
