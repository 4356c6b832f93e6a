package store

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"cortext/schema"
)

// TestTrimmed: a trimmed output fits its limit, begins and ends like the whole, says how
// much is missing, and trimming it again changes nothing.
func TestTrimmed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	kept, _ := AttachmentName(strings.Repeat("ab", 32))
	for range 2000 {
		most := LeastOutput + rnd.IntN(2000)
		whole := strings.Repeat([]string{"x", "é", "👍", "line\n"}[rnd.IntN(4)], most)[rnd.IntN(2)*4:]
		if len(whole) <= most {
			continue
		}
		got := trimmed(whole, most, kept)
		head, rest, _ := strings.Cut(got, "\n[")
		var left int
		if _, err := fmt.Sscanf(rest, "%d bytes left out; the whole is in "+kept+"]", &left); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		tail := got[strings.LastIndex(got, kept+"]\n")+len(kept)+2:]
		if len(got) > most || !utf8.ValidString(got) || !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) || len(head)+left+len(tail) != len(whole) {
			t.Fatalf("%d bytes of %d: %q", len(got), most, got)
		}
	}
}

// TestLimitsChange: whatever limits apply when a call is captured again, the log never gets
// less than it had, and it gets a line only for more.
func TestLimitsChange(t *testing.T) {
	limits := []Limits{{}, {Tools: ToolsTrimmed, Output: 300}, {Tools: ToolsTrimmed, Output: 900}, {Tools: ToolsOff}}
	yes := true
	call := schema.Tool{ID: "t1", MessageID: "m1", Name: "Bash", Input: schema.Raw(`{"command":"cat log"}`), Output: strings.Repeat("a line of a log\n", 100), Success: &yes}
	for first := range limits {
		for second := range limits {
			now := limits[first]
			s := newTestStore(t)
			s.opts.Limits = func() Limits { return now }
			c := create(t, s)
			add := func() int {
				r, err := c.Append(schema.Batch{Tools: []schema.Tool{call}})
				if err != nil {
					t.Fatal(err)
				}
				return r.Tools
			}
			if add() != 1 || add() != 0 {
				t.Errorf("%v: the same call again is not the same", now)
			}
			now = limits[second]
			more := now.Tools == ToolsFull && limits[first].Tools != ToolsFull || now.Tools == ToolsTrimmed && limits[first].Tools == ToolsOff
			if n := add(); (n == 1) != more {
				t.Errorf("%v after %v: %d lines", now, limits[first], n)
			}
		}
	}
}
