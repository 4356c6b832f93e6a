package resume

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"cortext/resume/summary"
	"cortext/schema"
)

// TestSummariesOfWhatWasRead checks that a summary is used if its messages were read,
// even if not from the first one on. Messages before and after it are summarized from
// their own text, and no summary covers what is included verbatim.
func TestSummariesOfWhatWasRead(t *testing.T) {
	s, h, o := long(100)
	for i := range h.Messages {
		h.Messages[i].ID = fmt.Sprintf("m%d", i+1)
	}
	for i, r := range []summary.Range{{Start: 0, End: 50}, {Start: 50, End: 100}, {Start: 120, End: 170}} {
		text := fmt.Sprintf("The summary number%d of three was made of it.", i+1)
		o.Summaries = append(o.Summaries, summary.New(h, r, summary.Draft{Content: text, Method: schema.Extracted}, 500, noon))
	}
	o.Budget, o.Strategy = 2200, RecentPlus
	for _, c := range []struct {
		earlier, keep int
		want, not     []string
	}{
		{0, 0, []string{"number1", "number2", "number3", "messages 1 to 50", "messages 51 to 100", "messages 101 to 120", "messages 121 to 170", "\n~~~~ 171 user\n"}, []string{"messages 171"}},
		{10, 0, []string{"number2", "number3", "messages 11 to 50"}, []string{"number1"}},
		{60, 0, []string{"number3", "messages 61 to 110", "messages 111 to 120"}, []string{"number1", "number2"}},
		{0, 60, []string{"number1", "number2", "messages 101 to 140"}, []string{"number3", "messages 141"}},
	} {
		part := h
		part.Messages, part.Earlier = h.Messages[c.earlier:], c.earlier
		o.Keep = c.keep
		p := mustBuild(t, s, part, o)
		for _, want := range c.want {
			if !strings.Contains(p.Text, want) {
				t.Errorf("earlier %d, keep %d: no %q", c.earlier, c.keep, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(p.Text, not) {
				t.Errorf("earlier %d, keep %d: %q", c.earlier, c.keep, not)
			}
		}
	}
	s.ContextSummary = ""
	o.Keep, o.Budget = 0, 3000
	p := mustBuild(t, s, h, o)
	first := 0
	for _, part := range p.Parts {
		if first == 0 {
			first = part.Message
		}
	}
	if first < 100 || p.Summarized != first-1 {
		t.Errorf("%d summarized, included from %d on", p.Summarized, first)
	}
}

// TestManySummaries checks that, with room for few words per range, neighbours are
// summarized together and the count of summarized messages is right.
func TestManySummaries(t *testing.T) {
	s, h, o := long(900)
	for i := range h.Messages {
		h.Messages[i].Content = fmt.Sprintf("We decided that file%d.go keeps the reader, because the test of part %d failed with code %d.", i, i, i%7)
	}
	s.ContextSummary, o.Strategy = "", RecentPlus
	for _, budget := range []int{800, 1500, 4000, 8000} {
		o.Budget = budget
		p := mustBuild(t, s, h, o)
		verbatim, covered := map[int]bool{}, 0
		for _, part := range p.Parts {
			verbatim[part.Message] = true
		}
		for _, l := range strings.Split(p.Text, "\n") {
			var from, to int
			if n, _ := fmt.Sscanf(l, "~~~~ summary of messages %d to %d", &from, &to); n == 2 {
				for i := from; i <= to; i++ {
					if !verbatim[i] {
						covered++
					}
				}
			}
		}
		if p.Strategy != RecentPlus || covered == 0 || p.Summarized != covered {
			t.Errorf("budget %d, %s: %d summarized, %d covered", budget, p.Strategy, p.Summarized, covered)
		}
	}
}

// TestModelSummaries checks that, for messages that do not fit, ranked includes a
// model's summary, marked as such, but neither an extracted one nor one of messages
// that it includes itself.
func TestModelSummaries(t *testing.T) {
	s, h, o := long(300)
	for i := range h.Messages {
		h.Messages[i].ID = fmt.Sprintf("m%d", i+1)
	}
	o.Budget = 200_000
	without := mustBuild(t, s, h, o)
	for i, method := range []string{schema.FromAgent, schema.Extracted, schema.FromOpenAI} {
		text := fmt.Sprintf("The summary number%d of three was made of it.", i+1)
		o.Summaries = append(o.Summaries, summary.New(h, summary.Range{Start: 50 * i, End: 50 * (i + 1)}, summary.Draft{Content: text, Method: method, Model: "m"}, 500, noon))
	}
	if p := mustBuild(t, s, h, o); p.Text != without.Text || p.Strategy != FullHistory {
		t.Errorf("summaries of messages included whole")
	}
	for _, budget := range []int{2000, 5000} {
		o.Budget = budget
		p := mustBuild(t, s, h, o)
		for want, in := range map[string]bool{"~~~~ summary of messages 1 to 50, made by a model (agent)\nThe summary number1 ": true, "number2": false, "~~~~ summary of messages 101 to 150, made by a model (openai)\nThe summary number3 ": true} {
			if strings.Contains(p.Text, want) != in {
				t.Errorf("%d: %q: %v in\n%s", budget, want, !in, p.Text)
			}
		}
		if p.Strategy != Ranked || p.Tokens < budget*9/10 || p.Summarized == 0 {
			t.Errorf("%d: %s, %d tokens, %d summarized", budget, p.Strategy, p.Tokens, p.Summarized)
		}
	}
	h.Messages[60].Content, h.Messages[10].ID = "changed", "other"
	o.Budget = 2000
	if p := mustBuild(t, s, h, o); strings.Contains(p.Text, "number1") {
		t.Error("a summary that does not hold any more")
	}
}

// TestJoined checks that only neighbours made by the same method share a heading.
func TestJoined(t *testing.T) {
	at := func(from, to int, by string) rangeSummary {
		return rangeSummary{summary.Range{Start: from, End: to}, "text", by}
	}
	for _, tc := range []struct {
		all  []rangeSummary
		n    int
		want string
	}{
		{[]rangeSummary{at(0, 50, "a"), at(50, 100, "a"), at(100, 150, "a"), at(150, 200, "a")}, 2, "0-100 100-200 "},
		{[]rangeSummary{at(0, 50, "a"), at(100, 150, "a"), at(150, 200, "a")}, 1, "0-50 100-200 "},
		{[]rangeSummary{at(0, 50, "a"), at(50, 100, "b"), at(100, 150, "b")}, 1, "0-50 50-150 "},
		{nil, 3, ""},
	} {
		got := ""
		for _, r := range merged(tc.all, tc.n) {
			got += fmt.Sprintf("%d-%d ", r.Start, r.End)
		}
		if got != tc.want {
			t.Errorf("%v in %d: %s, want %s", tc.all, tc.n, got, tc.want)
		}
	}
}

// TestNumbersOfABranch checks that, with abandoned branches, messages keep their
// numbers in the conversation, and so do references to them.
func TestNumbersOfABranch(t *testing.T) {
	s, h, o := long(300)
	for i := range h.Messages {
		h.Messages[i].Number = i + 1
		if i >= 100 {
			h.Messages[i].Number += 40
		}
	}
	h.Messages[7].Reasoning = "It thinks."
	h.Aside, o.Budget = 40, 2000
	p := mustBuild(t, s, h, o)
	var shown string
	reasoning := false
	for _, l := range p.LeftOut {
		if l.What == "messages" {
			shown = l.Show
			if l.Count+p.Included != 600 {
				t.Errorf("%d left out, %d included", l.Count, p.Included)
			}
		}
		reasoning = reasoning || l.What == "passages of reasoning" && l.Count == 1 && strings.Contains(l.Show, " --reasoning ")
	}
	if !reasoning {
		t.Errorf("reasoning: %+v", p.LeftOut)
	}
	if last := p.Parts[len(p.Parts)-2]; last.Message != 640 || !strings.Contains(p.Text, "\n~~~~ 640 assistant\n") {
		t.Errorf("the last part is of %d", last.Message)
	}
	for _, n := range regexp.MustCompile(`[0-9]+`).FindAllString(strings.Split(shown, " ")[3], -1) {
		if k, _ := strconv.Atoi(n); k > 100 && k <= 140 {
			t.Errorf("%s names %d", shown, k)
		}
	}
}
