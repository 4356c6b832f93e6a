package grams

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
)

// sample returns entries as an index has them: two logs of each conversation, some in several
// pieces.
func sample(r *rand.Rand, number int) (entries []Entry) {
	block, written := 0, int64(1_760_000_000_000_000_000)
	for range number {
		for range 2 {
			e := Entry{Log: r.Uint64()}
			if r.IntN(10) == 0 {
				e.From, e.Before = r.Int64N(1<<40), r.Uint64()
			}
			e.Sum, e.To = r.Uint64(), e.From
			for range 1 + r.IntN(20)/18*3 {
				e.Pieces = append(e.Pieces, Piece{block, e.To, e.To + 1 + r.Int64N(1000)})
				e.To = e.Pieces[len(e.Pieces)-1].To
				if r.IntN(5) == 0 && block < MaxBlocks-1 {
					block++
				}
			}
			written += r.Int64N(1e12) - 4e11
			e.State = [4]int64{int64(r.Uint32()), e.To + r.Int64N(2), written, written + r.Int64N(1e6)}
			entries = append(entries, e)
		}
	}
	return entries
}

// A table reads as it was written, and each of its beginnings is refused.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	entries := sample(r, 40)
	entries = append(entries, Entry{Log: 1, Sum: 1, To: 1, State: [4]int64{-1, 0, -5, 9}, Pieces: []Piece{{0, 0, 1}}}, Entry{To: 2, Pieces: []Piece{{3, 0, 2}}})
	table := head(MaxBlocks, entries)[headerSize:]
	got, err := parseEntries(table, len(entries), MaxBlocks)
	if err != nil || !reflect.DeepEqual(got, entries) {
		t.Fatalf("%v, read\n%+v\nwant\n%+v", err, got, entries)
	}
	for n := range table {
		if _, err := parseEntries(table[:n], len(entries), MaxBlocks); err == nil {
			t.Fatalf("%d of %d bytes are read", n, len(table))
		}
	}
	if _, err := parseEntries(table, len(entries), 2); err == nil {
		t.Error("blocks that the shard does not have are read")
	}
	if per := len(table) / len(entries); per > 45 {
		t.Errorf("an entry takes %d bytes", per)
	}
}

// A shard takes less than 15 % of the text, however short the logs are.
func TestShare(t *testing.T) {
	for _, length := range []int{500, 700, 1400, 20_000, 3_000_000} {
		b := Builder{BlockSize: BlockSize}
		text := bytes.Repeat([]byte("a line of a log\n"), length/16)
		size := 0
		for _, e := range sample(rand.New(rand.NewPCG(1, 2)), 6<<20/length+1) {
			e.From, e.Before = 0, 0
			b.Begin(e)
			size += b.Add(text, func([]byte) bool { return false })
			b.End(e.Sum)
		}
		if share := float64(len(b.Encode())) / float64(size); share > 0.15 {
			t.Errorf("with logs of %d bytes, %.3f of the text in %d blocks", length, share, b.Blocks())
		}
	}
}

// FuzzTable: whatever is read is in order and within the shard.
func FuzzTable(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	f.Add(head(100, sample(r, 3))[headerSize:], 6)
	f.Add(head(100, nil)[headerSize:], 0)
	f.Fuzz(func(t *testing.T, table []byte, number int) {
		entries, err := parseEntries(table, number, 100)
		if err != nil {
			return
		}
		if len(entries) != number {
			t.Fatalf("%d entries, want %d", len(entries), number)
		}
		for _, e := range entries {
			at := e.From
			for _, p := range e.Pieces {
				if p.Block < 0 || p.Block >= 100 || p.From != at || p.To <= at {
					t.Fatalf("%+v", e)
				}
				at = p.To
			}
			if at != e.To || at < 0 {
				t.Fatalf("%+v", e)
			}
		}
		again, err := parseEntries(head(100, entries)[headerSize:], number, 100)
		if err != nil || !reflect.DeepEqual(again, entries) && len(entries) > 0 {
			t.Fatalf("%v, written and read as\n%+v\nwant\n%+v", err, again, entries)
		}
	})
}
