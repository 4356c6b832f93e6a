package resume

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/tokens"
)

// planOf returns a plan with steps of about 30 tokens, the first of which are done.
func planOf(steps, done int) *schema.Plan {
	p := &schema.Plan{Current: done}
	for i := range steps {
		status := "completed"
		if i >= done {
			status = "pending"
		}
		p.Steps = append(p.Steps, schema.Step{Status: status, Content: fmt.Sprintf("Step %d: rework the handler in internal/api/handler_%d.go so that it returns typed errors and add a table test for each of its exits", i, i)})
	}
	return p
}

// TestOverhead checks that, in a budget that is not small, command, block and
// introduction never exceed their share, nor do the changes since the last message
// exceed theirs.
func TestOverhead(t *testing.T) {
	for _, budget := range []int{2000, 2001, 4000, 8000, 32_000} {
		for _, turns := range []int{1, 30, 2000} {
			if testing.Short() && turns > 30 && budget > 2000 {
				continue // under the race detector these take a minute; scripts/coverage.sh runs them
			}
			for _, strategy := range append(Strategies(), "") {
				s, h, o := long(turns)
				o.Budget, o.Strategy = budget, strategy
				o.Command.Body = strings.Repeat("Ask before you judge what was said. ", 1500) + "$ARGUMENTS"
				s.AgentConfig.Arguments = strings.Repeat("internal APIs ", 300)
				s.Title, s.ContextSummary = strings.Repeat("Title ", 200), strings.Repeat("REST is simpler, GraphQL is richer. ", 100)
				s.Plan = planOf(60, 30)
				o.Changes = &Changes{Commits: 7, Subjects: slices.Repeat([]string{strings.Repeat("a subject of a commit ", 9)}, 7), Changed: slices.Repeat([]string{"internal/api/handler.go"}, 99)}
				p := mustBuild(t, s, h, o)
				ps := mustParse(t, p.Text)
				before, _, _ := strings.Cut(p.Text, fenceOpen)
				since := o.Changes.text(budget * changesShare / 100)
				if !strings.Contains(ps.block, since) || tokens.Count(since) > budget*changesShare/100 {
					t.Errorf("%d, %q: since then is %q in\n%s", budget, strategy, since, ps.block)
				}
				if n := tokens.Count(strings.Replace(before, since, "", 1) + fenceOpen); n > budget*overheadShare/100 {
					t.Errorf("%d, %d turns, %q: %d tokens before the history:\n%s", budget, turns, strategy, n, before)
				}
			}
		}
	}
}

// TestShares checks that a long plan and a long summary leave room for the history,
// with any strategy.
func TestShares(t *testing.T) {
	for _, strategy := range append(Strategies(), "") {
		s, h, o := long(300)
		o.Budget, o.Strategy = 6000, strategy
		s.Plan = nil
		without := mustBuild(t, s, h, o)
		s.Plan = planOf(60, 60)
		p := mustBuild(t, s, h, o)
		if !strings.Contains(p.Text, "\nPlan: 60 of 60 steps done\nLeft out:") || p.Included < without.Included*4/5 {
			t.Errorf("%q: a finished plan leaves %d messages of %d", strategy, p.Included, without.Included)
		}
		s.Plan = planOf(60, 30)
		s.ContextSummary = strings.Repeat("REST is simpler, GraphQL is richer. ", 100)
		p = mustBuild(t, s, h, o)
		if p.Included < without.Included*4/5 {
			t.Errorf("%q: a long plan and summary leave %d messages of %d", strategy, p.Included, without.Included)
		}
		if !strings.Contains(p.Text, "\nPlan: 30 of 60 steps done, step 31 is current\n- [ ] Step 30: ") || strings.Contains(p.Text, "\n- [x]") {
			t.Errorf("%q: what is open is not told before what is done:\n%s", strategy, p.Text)
		}
		for _, want := range []string{theSteps, theSummary} {
			if !slices.ContainsFunc(p.LeftOut, func(l LeftOut) bool { return l.What == want && l.Tokens > 100 }) {
				t.Errorf("%q: left out %+v", strategy, p.LeftOut)
			}
		}
	}
	s, h, o := brainstorm() // all fits
	s.Plan = planOf(20, 10)
	o.Budget = 20_000
	if p := mustBuild(t, s, h, o); p.Strategy != FullHistory || strings.Count(p.Text, "\n- [x]") != 10 {
		t.Errorf("%s:\n%s", p.Strategy, p.Text)
	}
	s.Plan = planOf(5, 5)
	if p := mustBuild(t, s, h, o); !strings.Contains(p.Text, "\nPlan: 5 of 5 steps done") || strings.Contains(p.Text, "- [x]") {
		t.Errorf("a finished plan:\n%s", p.Text)
	}
}

// TestSmallBudgets checks that any budget includes the task and the user's last words.
func TestSmallBudgets(t *testing.T) {
	s, h, o := long(300)
	s.Plan = planOf(5, 2)
	s.ContextSummary = strings.Repeat("The reader is done, the index still skips damaged lines. ", 5)
	h.Messages[0].Content = "Make the parser tolerate damaged lines and report each with its place in the file."
	h.Messages = append(h.Messages, schema.Message{ID: "u", Role: schema.User, Content: "Now rename the option --strict to --fail-on-damage in cmd/check.go.\n\n" + strings.Repeat("It is used there. ", 100)})
	o.Notes = new(notes.Notes)
	o.Notes.Add(h)
	step := 7
	if testing.Short() {
		step = 50
	}
	for _, strategy := range append(Strategies(), "") {
		o.Strategy = strategy
		for budget := MinBudget; budget < leastFenced; budget += step {
			o.Budget = budget
			p := mustBuild(t, s, h, o)
			if !strings.Contains(p.Text, "Now rename the option --strict") {
				t.Errorf("%q, budget %d: the last words of the user are missing:\n%s", strategy, budget, p.Text)
			}
			if !strings.Contains(p.Text, "Task: Make the parser tolerate") {
				t.Errorf("%q, budget %d: the task is missing:\n%s", strategy, budget, p.Text)
			}
			if err := checkPayload(s, h, o, p); err != nil {
				t.Errorf("%q, budget %d: %v", strategy, budget, err)
			}
		}
	}
	o.Strategy = ""
	for budget := leastFenced; budget < 2*leastFenced; budget += 31 { // no payload without any message
		o.Budget = budget
		if p := mustBuild(t, s, h, o); p.Included == 0 && !strings.Contains(p.Text, "\nLast words of the user: Now rename") {
			t.Errorf("budget %d:\n%s", budget, p.Text)
		}
	}
	// Build without notes, with only other speakers' messages, and with one message.
	o.Notes, o.Budget = nil, MinBudget
	if p := mustBuild(t, s, h, o); !strings.Contains(p.Text, "\nLast words of the user: Now rename") {
		t.Errorf("without a state:\n%s", p.Text)
	}
	for i := range h.Messages {
		h.Messages[i].Role = schema.Assistant
	}
	if p := mustBuild(t, s, h, o); strings.Contains(p.Text, "Last words") {
		t.Errorf("no user:\n%s", p.Text)
	}
}

// TestTildes checks that a long run of tildes does not lengthen the headings so much
// that little is included.
func TestTildes(t *testing.T) {
	run := strings.Repeat("~", 2000)
	for what, make := range map[string]func(*schema.Session){
		"title":   func(s *schema.Session) { s.Title = "t " + run },
		"summary": func(s *schema.Session) { s.ContextSummary = "x " + run },
		"plan":    func(s *schema.Session) { s.Plan.Steps[0].Content = run },
	} {
		s, h, o := long(300)
		o.Budget = 8000
		want := mustBuild(t, s, h, o).Included
		make(s)
		if p := mustBuild(t, s, h, o); p.Included < want*9/10 {
			t.Errorf("%s: %d messages, %d without", what, p.Included, want)
		}
	}
}

// TestHugeNames checks that a huge tool name or session field does not make a heading
// or the block huge.
func TestHugeNames(t *testing.T) {
	s, h, o := brainstorm()
	huge := strings.Repeat("日", 1<<20)
	c := h.Tools["c1"]
	c.Name = huge
	h.Tools["c1"] = c
	for _, ss := range newHistory(h).sections(&h.Messages[1]) {
		if heading, _, _ := strings.Cut(string(ss), "\n"); len(heading) > 300 {
			t.Errorf("a heading of %d bytes", len(heading))
		}
	}
	s.Title, s.ContextSummary, s.ConversationType = huge, huge, huge
	s.Plan.Steps[0].Content = huge
	o.Budget = 500_000
	p := mustBuild(t, s, h, o)
	if n := len(p.Text); n > 5*longestField {
		t.Errorf("a payload of %d bytes", n)
	}
	for _, want := range []string{theTitle, theSummary, theType} {
		if !slices.ContainsFunc(p.LeftOut, func(l LeftOut) bool { return l.What == want && l.Tokens > 500_000 }) {
			t.Errorf("left out %+v", p.LeftOut)
		}
	}
}
