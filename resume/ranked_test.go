package resume

import (
	"fmt"
	"strings"
	"testing"

	"cortext/resume/digest"
	"cortext/schema"
)

// TestRequestIsTold: what the user asked for last is told as it was said or as a note,
// however small the budget and whatever it begins with, if the words are few and the
// agent has said much since.
func TestRequestIsTold(t *testing.T) {
	for name, tc := range map[string]struct{ request, words string }{
		"a sentence":      {"Now make the reader of damaged lines report each of them with its place, but never stop at one, and write down in FORMAT.md what it does then.", "Now make the reader"},
		"hex":             {strings.Repeat("0a1b2c3d", 18) + " is the hash that is wrong, find out why", "0a1b2c3d"},
		"a separator":     {strings.Repeat("~", 70) + "\nNow rename the option, please, it is called strict", "Now rename the option"},
		"a long first":    {"See https://example.org/" + strings.Repeat("path/", 40) + " and do the same here", "See https://example.org/"},
		"an error first":  {"TypeError: Cannot read properties of undefined (reading 'map') (https://example.org/static/js/react-dom.development.js:15486:18)\nfix it, but keep the table as it is", "fix it, but keep the table"},
		"another writing": {strings.Repeat("读取损坏的行时请报告它们的位置。", 12), "读取损坏的行时请报告它们的位置"},
	} {
		s, h, o := long(60)
		h.Messages[60].Content = tc.request
		for i := 61; i < len(h.Messages); i++ {
			h.Messages[i].Role = schema.Assistant
		}
		o.State = new(digest.State)
		o.State.Add(h)
		if o.State.Request.N != 61 || o.State.Request.Text == "" {
			t.Fatalf("%s: request %+v", name, o.State.Request)
		}
		for _, strategy := range []string{"", RecentPlus, MinimalState} {
			for _, budget := range []int{500, 600, 800, 1000, 2000, 3000} {
				o.Budget, o.Strategy = budget, strategy
				p := mustBuild(t, s, h, o)
				_, history, _ := strings.Cut(p.Text, fenceOpen)
				if !strings.Contains(history, tc.words) {
					t.Errorf("%s, %s of %d: it is told nowhere:\n%s", name, p.Strategy, budget, p.Text)
				}
			}
		}
	}
}

// TestInputThatIsNeverTold: where the input of a call cannot be told, a gap stands for
// it above the outcome, and that part alone is not called whole.
func TestInputThatIsNeverTold(t *testing.T) {
	s, h, o := long(60)
	h.Messages[118].Role, h.Messages[118].Content = schema.Assistant, "I look."
	h.Messages[118].Blocks = []schema.Block{{Type: schema.TextBlock, Bytes: len("I look.")}, {Type: schema.ToolCallBlock, ID: "c"}}
	h.Tools = map[string]schema.Tool{"c": {ID: "c", MessageID: h.Messages[118].ID, Name: "Bash", Input: schema.Raw(`{"command":"echo ` + strings.Repeat("~", 80) + `"}`), Output: "the outcome"}}
	o.Budget = 3000
	p := mustBuild(t, s, h, o)
	if p.Strategy != Ranked || !strings.Contains(p.Text, "tool Bash no result\n…\nthe outcome\n") {
		t.Errorf("%s:\n%s", p.Strategy, p.Text)
	}
	for _, part := range p.Parts {
		if part.Message == 119 && part.Whole == strings.Contains(part.What, "tool") {
			t.Errorf("%+v", part)
		}
	}
}

// TestShareOfTheEnd: at least 40 % of what is told in pieces is the end, be the
// messages short or long.
func TestShareOfTheEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		turns   int
		content func(i int) string
	}{
		"short":  {1200, func(i int) string { return fmt.Sprintf("ok, file%d.go", i) }},
		"medium": {300, func(i int) string { return strings.Repeat(fmt.Sprintf("Look at cmd/file%d.go, please. ", i), 1+i%9) }},
		"long": {25, func(i int) string {
			return strings.Repeat(fmt.Sprintf("See name_%d in file%d.go for it.\n", i, i), 70)
		}},
	} {
		s, h, o := long(tc.turns)
		for i := range h.Messages {
			h.Messages[i].Content = tc.content(i)
		}
		for _, o.Budget = range []int{2000, 8000, 24000} {
			p := mustBuild(t, s, h, o)
			end := 0
			for _, part := range p.Parts {
				if part.Why == "the end" {
					end += part.Tokens
				}
			}
			if p.Strategy != Ranked || end*100 < p.Tokens*40 {
				t.Errorf("%s, budget %d, %s: %d of %d tokens", name, o.Budget, p.Strategy, end, p.Tokens)
			}
		}
	}
}
