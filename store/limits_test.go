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

// TestAttachmentsBeside: attachments are copied beside the conversation that refers to them,
// as far as this machine has them, and are found there.
func TestAttachmentsBeside(t *testing.T) {
	s := newTestStore(t)
	s.opts.Limits = func() Limits { return Limits{Attachments: true} }
	c := create(t, s)
	sub, err := c.Subagent("agent-1")
	if err != nil {
		t.Fatal(err)
	}
	missing := hexSum("not on this machine")
	for i, conv := range []*Conversation{c, sub} {
		text := fmt.Sprint("picture ", i)
		sum := hexSum(text)
		kept, _ := AttachmentName(sum)
		if err := s.WriteFile(kept, []byte(text)); err != nil {
			t.Fatal(err)
		}
		m := message(1)
		m.Attachments = []schema.Attachment{{SHA256: sum, Name: "a.png"}, {SHA256: missing}, {SHA256: "../../x"}}
		call := schema.Tool{ID: "t1", MessageID: m.ID, Name: "Read", Attachments: m.Attachments[:1]}
		for range 2 { // the second time, it is there
			if _, err := conv.Append(schema.Batch{Messages: []schema.Message{m}, Tools: []schema.Tool{call}}); err != nil {
				t.Fatal(err)
			}
			m.Rev++
		}
		list, err := s.List()
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		names := s.AttachmentNames(list[0], sum)
		found := 0
		for _, name := range names {
			if b, err := s.ReadFile(name); err == nil && string(b) == text {
				found++
			}
		}
		if names[0] != kept || found != 2 {
			t.Errorf("%s: %d of %q hold it, want the first and one beside", conv.Path(), found, names)
		}
		for _, name := range s.AttachmentNames(list[0], missing) {
			if is, err := s.Exists(name); is || err != nil {
				t.Errorf("%s exists: %v", name, err)
			}
		}
		if names := s.AttachmentNames(list[0], "../../x"); names != nil {
			t.Errorf("names for what is no SHA-256: %q", names)
		}
	}
}
