package needle

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cortext/schema/jsonl"
)

// TestPairs compares the two ways to look for pairs.
func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		b := make([]byte, rng.IntN(200))
		for i := range b {
			b[i] = "abcABC\\u\xc5\xbf"[rng.IntN(10)]
		}
		p := newPairs()
		if rng.IntN(2) == 0 {
			p = pairs{other: [3][2]byte{{'x', 'y'}, {'x', 'y'}, {'x', 'y'}}, more: true}
		}
		p.masked("abc\\"[rng.IntN(4)], "abcuz"[rng.IntN(5)], rng.IntN(2) == 0)
		if rng.IntN(3) == 0 {
			p.other[1], p.more = [2]byte{0xC5, 0xBF}, true
		}
		got, want := p.index(b), -1
		for i := range max(len(b)-1, 0) {
			if b[i]|p.firstMask == p.first && b[i+1]|p.secondMask == p.second || bytes.Equal(b[i:i+2], p.other[0][:]) ||
				bytes.Equal(b[i:i+2], p.other[1][:]) || bytes.Equal(b[i:i+2], p.other[2][:]) {
				want = i
				break
			}
		}
		if slow := p.indexSlowly(b); got != want || slow != want {
			t.Fatalf("in %q: %d and %d, want %d: %+v", b, got, slow, want, p)
		}
	}
}

// TestLines compares Lines with splitting a log and looking for joined lines.
func TestLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	parts := []string{`{"id":"a"}`, `{"id":"b","n":{"c":1}}`, "\n", "\n", "\n", " ", "x", strings.Repeat("long ", 20)}
	for range 20000 {
		log := ""
		for range rng.IntN(8) {
			log += parts[rng.IntN(len(parts))]
		}
		want := strings.SplitAfter(log, "\n")
		last := len(want) - 1
		whole := want[last] == "" && !jsonl.Joined([]byte(log))
		var got []string
		ok := Lines([]byte(log), func(from, to int) bool {
			got = append(got, log[from:to]+"\n")
			return true
		})
		if ok != whole || ok && !slices.Equal(got, want[:last]) {
			t.Fatalf("%q: %t, %q", log, ok, got)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	line := []byte(`{"id":"m2","parent_id":"m1","timestamp":"2025-11-22T10:30:15.120Z","role":"assistant","content":"Let me look at the handlers.\n\nThere are two \"internal\" consumers of the regressions."}` + "\n")
	text := bytes.Repeat(line, 256<<10/len(line))
	for _, fold := range []bool{false, true} {
		n := New("Quizzical task", fold)
		b.Run(map[bool]string{false: "exact", true: "fold"}[fold], func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				n.Next(text, 0)
			}
		})
	}
}

// TestWild distinguishes escapes from the source code of escapes: a log full of source code
// must not make the index useless.
func TestWild(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":"plain \n\t\"text\" \\"}`: false,
		`{"a":"\u0041"}`:                true,
		`{"a":"\\u0041"}`:               false,
		`{"a":"\\\u0041"}`:              true,
		`{"a":"\\\\u0041 \\u2500"}`:     false,
		`{"a":"\\u2500 \u2500"}`:        true,
		`{"a":"\u001b[0m"}`:             false,
		`{"a":"\u0`:                     true,
		`{"a":"ſ"}`:                     true,
		`{"a":"K"}`:                     true,
		`{"a":"ä"}`:                     false,
	} {
		if got := Wild([]byte(text + "\n")); got != want {
			t.Errorf("Wild(%s) = %t", text, got)
		}
	}
}
