package summary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/schema"
	"cortext/schema/tokens"
)

var noon = time.Date(2025, 11, 22, 12, 0, 0, 0, time.UTC)

// talk returns a history of turns with the given numbers of messages.
func talk(turns ...int) schema.History {
	var h schema.History
	for _, n := range turns {
		for i := range n {
			m := schema.Message{ID: fmt.Sprintf("m%05d", len(h.Messages)), Role: schema.Assistant, Content: "I did it."}
			if i == 0 {
				m.Role, m.Content = schema.User, "Do it."
			}
			h.Messages = append(h.Messages, m)
		}
	}
	return h
}

func pairs(messages int) schema.History {
	return talk(slices.Repeat([]int{2}, messages/2)...)
}

// upTo returns h as it was when it had n messages.
func upTo(h schema.History, n int) schema.History {
	h.Messages = h.Messages[:n:n]
	return h
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name string
		h    schema.History
		o    Options
		want string
	}{
		{"empty", schema.History{}, Options{}, "[]"},
		{"at the threshold", pairs(50), Options{}, "[]"},
		{"above it", pairs(52), Options{}, "[{0 32 true}]"},
		{"the middle of a turn is kept", upTo(pairs(56), 55), Options{}, "[{0 34 true}]"},
		{"two ranges", pairs(120), Options{}, "[{0 50 false} {50 100 false}]"},
		{"turns are whole", talk(30, 30, 30, 30), Options{}, "[{0 60 false} {60 90 true}]"},
		{"one turn", talk(53), Options{}, "[{0 33 true}]"},
		{"one long turn", talk(150), Options{}, "[{0 50 false} {50 100 false} {100 130 true}]"},
		{"a short turn and a long one", talk(2, 51), Options{}, "[{0 33 true}]"},
		{"a long turn in the middle", talk(10, 230, 2, 40), Options{}, "[{0 50 false} {50 100 false} {100 150 false} {150 200 false} {200 242 true}]"},
		{"a turn that is pieces to the end", talk(250, 40), Options{}, "[{0 50 false} {50 100 false} {100 150 false} {150 200 false} {200 250 false}]"},
		{"other numbers", pairs(20), Options{Threshold: 5, Keep: 3, RangeMessages: 7}, "[{0 8 false} {8 16 false}]"},
	} {
		got := Plan(c.h, c.o)
		if s := strings.Replace(fmt.Sprint(got), "<nil>", "[]", 1); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
	h := pairs(100)
	h.Earlier = 1
	if got := Plan(h, Options{}); got != nil {
		t.Errorf("a history without its beginning: %v", got)
	}
}

// randomTalk has turns of all lengths, some records without id, and some long turns.
func randomTalk(r *rand.Rand, messages int) schema.History {
	var h schema.History
	left := 0
	for i := range messages {
		m := schema.Message{ID: fmt.Sprintf("m%05d", i), Role: schema.Assistant, Rev: max(0, r.IntN(8)-5)}
		if left--; left < 0 {
			m.Role = schema.User
			left = []int{0, 1, 1, 2, 5, 12, 60}[r.IntN(7)]
		}
		if r.IntN(12) == 0 {
			m.Role = schema.System
		}
		if r.IntN(15) == 0 {
			m.ID = ""
		}
		h.Messages = append(h.Messages, m)
	}
	return h
}

// TestPlanProperties checks random histories and numbers: the ranges are whole turns
// except for long ones, are contiguous from the first message with an id, leave no more
// than Keep messages besides those that are kept, and stay the same once closed.
func TestPlanProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 120
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		h := randomTalk(r, r.IntN(150))
		o := Options{Threshold: 1 + r.IntN(20), Keep: 1 + r.IntN(12), RangeMessages: 1 + r.IntN(9)}
		var before []Range
		for n := range len(h.Messages) + 1 {
			part := upTo(h, n)
			ranges := Plan(part, o)
			if err := checkPlan(part, o, ranges); err != nil {
				t.Fatalf("%d messages, %+v: %v\n%v", n, o, err, ranges)
			}
			for i, old := range before {
				switch {
				case i >= len(ranges), ranges[i].Start != old.Start, ranges[i].Open && ranges[i].End < old.End, !old.Open && ranges[i] != old:
					t.Fatalf("%d messages, %+v: range %d was %v\n%v", n, o, i, old, ranges)
				}
			}
			before = ranges
			for _, rg := range ranges {
				s := New(part, rg, Draft{Content: "It was done.", Method: schema.Extracted}, 100, noon)
				if s == nil {
					t.Fatalf("no summary of %v", rg)
				}
				rg.Open = false
				if got, ok := Valid(s, h); !ok || got != rg {
					t.Fatalf("%v of %d: valid for %v (%v)", rg, n, got, ok)
				}
			}
		}
	}
}

func checkPlan(h schema.History, o Options, ranges []Range) error {
	n := len(h.Messages)
	begin := slices.IndexFunc(h.Messages, func(m schema.Message) bool { return m.ID != "" })
	if n <= o.Threshold || begin < 0 {
		if len(ranges) > 0 {
			return fmt.Errorf("nothing was to be summed up")
		}
		return nil
	}
	starts := []int{begin}
	for i := begin + 1; i < n; i++ {
		if h.Messages[i].Role == schema.User && h.Messages[i].ID != "" {
			starts = append(starts, i)
		}
	}
	turn := func(at int) (from, to int) { // the turn that contains at
		from, to = begin, n
		for _, s := range starts {
			if s <= at {
				from = s
			} else {
				to = s
				break
			}
		}
		return from, to
	}
	at := begin
	for i, r := range ranges {
		if r.Start != at || r.End <= r.Start || r.End > n-o.Keep {
			return fmt.Errorf("range %d is %v after %d", i, r, at)
		}
		at = r.End
		from, to := turn(at)
		long := to-from > o.RangeMessages
		if from != at && !long && !r.Open || at < n && h.Messages[at].ID == "" {
			return fmt.Errorf("range %d ends in a turn", i)
		}
		if r.Open && i < len(ranges)-1 {
			return fmt.Errorf("range %d is open", i)
		}
		if !r.Open && r.End-r.Start < o.RangeMessages {
			return fmt.Errorf("range %d is short", i)
		}
	}
	for _, s := range starts {
		if s > at && s <= n-o.Keep {
			return fmt.Errorf("the turn before %d is in no range", s)
		}
	}
	if from, to := turn(at); to-from > o.RangeMessages && from <= n-o.Keep {
		if from = at; len(ranges) > 0 && ranges[len(ranges)-1].Open {
			from = ranges[len(ranges)-1].Start
		}
		if piece := withFollowers(h.Messages, from+o.RangeMessages); piece <= n-o.Keep && piece < to {
			return fmt.Errorf("the long turn up to %d could be split at %d", to, piece)
		}
	}
	end := n - o.Keep // a record without id belongs to the range before it
	for end > begin && h.Messages[end].ID == "" {
		end--
	}
	if end-at > o.Keep {
		return fmt.Errorf("%d messages before those that are kept are in no range", end-at)
	}
	return nil
}

// TestValid checks that any change of a summary's messages invalidates it.
func TestValid(t *testing.T) {
	fresh := func() (schema.History, *schema.Summary) {
		h := pairs(60)
		s := New(h, Range{Start: 10, End: 20}, Draft{"It was done.", schema.FromOpenAI, "model"}, 100, noon)
		return h, s
	}
	h, s := fresh()
	if s.First != "m00010" || s.Last != "m00019" || s.MessageCount != 10 || s.Tokens != tokens.Count("It was done.") || s.Model != "model" || s.CreatedAt != "2025-11-22T12:00:00.000Z" {
		t.Errorf("the record is %+v", s)
	}
	if r, ok := Valid(s, h); !ok || r != (Range{Start: 10, End: 20}) {
		t.Errorf("valid for %v, %v", r, ok)
	}
	earlier := h
	earlier.Messages, earlier.Earlier = h.Messages[7:], 7
	if r, ok := Valid(s, earlier); !ok || r != (Range{Start: 3, End: 13}) {
		t.Errorf("in a history without its beginning: %v, %v", r, ok)
	}
	for name, change := range map[string]func(h *schema.History, s *schema.Summary){
		"a message has a new rev": func(h *schema.History, s *schema.Summary) { h.Messages[15].Rev++ },
		"a message is another":    func(h *schema.History, s *schema.Summary) { h.Messages[15].ID = "other" },
		"the first one is gone":   func(h *schema.History, s *schema.Summary) { h.Messages = slices.Delete(h.Messages, 10, 11) },
		"one is gone":             func(h *schema.History, s *schema.Summary) { h.Messages = slices.Delete(h.Messages, 15, 16) },
		"the last one is gone":    func(h *schema.History, s *schema.Summary) { h.Messages = slices.Delete(h.Messages, 19, 20) },
		"one came in": func(h *schema.History, s *schema.Summary) {
			h.Messages = slices.Insert(h.Messages, 15, schema.Message{ID: "new"})
		},
		"another order": func(h *schema.History, s *schema.Summary) {
			h.Messages[14], h.Messages[15] = h.Messages[15], h.Messages[14]
		},
		"a line without id at its end": func(h *schema.History, s *schema.Summary) {
			h.Messages = slices.Insert(h.Messages, 20, schema.Message{})
		},
		"cut short":        func(h *schema.History, s *schema.Summary) { h.Messages = h.Messages[:19] },
		"nothing is there": func(h *schema.History, s *schema.Summary) { h.Messages = nil },
		"another number":   func(h *schema.History, s *schema.Summary) { s.MessageCount++ },
		"a huge number":    func(h *schema.History, s *schema.Summary) { s.MessageCount = math.MaxInt },
		"no number":        func(h *schema.History, s *schema.Summary) { s.MessageCount = -1 },
		"another last":     func(h *schema.History, s *schema.Summary) { s.Last = "m00018" },
		"no first":         func(h *schema.History, s *schema.Summary) { s.First = "" },
		"another hash":     func(h *schema.History, s *schema.Summary) { s.Members = schema.MembersHash(h.Messages) },
		"no hash":          func(h *schema.History, s *schema.Summary) { s.Members = "" },
	} {
		h, s := fresh()
		h.Messages = slices.Clone(h.Messages)
		change(&h, s)
		if r, ok := Valid(s, h); ok {
			t.Errorf("%s: still valid, for %v", name, r)
		}
	}
	if _, ok := Valid(nil, h); ok {
		t.Error("no summary is valid")
	}
}

func TestNew(t *testing.T) {
	h := pairs(10)
	yes := true
	h.Messages[1].ToolCalls = []schema.ToolCall{{ID: "c1"}, {ID: "c1"}, {ID: "unknown"}}
	h.Tools = map[string]schema.Tool{"c1": {ID: "c1", Tokens: 100, Success: &yes}, "c2": {ID: "c2", Tokens: 5000, MessageID: "m00001"}}
	h.Messages[0].Tokens, h.Messages[1].Tokens, h.Messages[2].Tokens = 7, 8, -4
	h.Messages[4].ID = ""
	s := New(h, Range{Start: 0, End: 5}, Draft{"Long words. " + strings.Repeat("It was done again. ", 100), schema.FromAgent, ""}, 50, noon)
	if s.SourceTokens != 115 || s.Last != "m00003" || s.MessageCount != 5 {
		t.Errorf("the record is %+v", s)
	}
	if s.Tokens > 50 || s.Tokens != tokens.Count(s.Content) || !strings.HasSuffix(s.Content, ".") {
		t.Errorf("%d tokens: %q", s.Tokens, s.Content)
	}
	if b, err := s.Marshal(); err != nil {
		t.Errorf("%v\n%s", err, b)
	}
	if r, ok := Valid(s, h); !ok || r != (Range{Start: 0, End: 5}) {
		t.Errorf("valid for %v, %v", r, ok)
	}
	for _, r := range []Range{{Start: -1, End: 2}, {Start: 2, End: 2}, {Start: 5, End: 11}, {Start: 4, End: 6}} {
		if s := New(h, r, Draft{"It was done.", schema.FromAgent, ""}, 50, noon); s != nil {
			t.Errorf("%v has a summary: %+v", r, s)
		}
	}
	if s := New(h, Range{End: 2}, Draft{" ", schema.FromAgent, ""}, 50, noon); s != nil {
		t.Errorf("a summary without content: %+v", s)
	}
	s = New(h, Range{End: 2}, Draft{"\x1b]0;x\aIt\x00 was\r\ndone\u202e,\ttoo\u2028\u2066now\u009b. 👩‍💻\xff.", schema.FromAgent, "a\x1b\nb\u202e"}, 50, noon)
	if s.Content != "]0;xIt was\ndone,\ttoo\nnow. 👩‍💻\uFFFD." || s.Model != "a b" {
		t.Errorf("with control characters: %q, %q", s.Content, s.Model)
	}

	// Without a date, it gets that of its last message that has one.
	for _, c := range []struct {
		times []schema.Time
		want  schema.Time
	}{
		{[]schema.Time{"2025-11-22T10:00:00+02:00", "2025-11-22T11:00:00.5+02:00"}, "2025-11-22T09:00:00.500Z"},
		{[]schema.Time{"2025-11-22T10:00:00Z", "soon"}, "2025-11-22T10:00:00.000Z"},
		{[]schema.Time{"", ""}, "1970-01-01T00:00:00.000Z"},
	} {
		h := pairs(4)
		h.Messages[1].Timestamp, h.Messages[2].Timestamp, h.Messages[3].Timestamp = c.times[0], c.times[1], schema.NewTime(noon)
		s := New(h, Range{End: 3}, Draft{"It was done.", schema.Extracted, ""}, 50, time.Time{})
		if _, err := s.Marshal(); err != nil || s.CreatedAt != c.want {
			t.Errorf("%v: made at %s, want %s; %v", c.times, s.CreatedAt, c.want, err)
		}
	}
}
