package resume

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cortext/resume/model"
	"cortext/schema"
)

func TestBudget(t *testing.T) {
	s, h, o := brainstorm()
	for _, budget := range []int{-1, 1, MinBudget - 1} {
		o.Budget = budget
		if _, err := Build(s, h, o); !errors.Is(err, ErrBudget) {
			t.Errorf("budget %d: error %v", budget, err)
		}
	}
	o.Budget = 0
	if p := mustBuild(t, s, h, o); p.Budget != 100_000 || p.Strategy != FullHistory || !p.Estimate || p.Factor != 1.2 {
		t.Errorf("budget 0 became %d, strategy %s, factor %g", p.Budget, p.Strategy, p.Factor)
	}
	o.Window = 1_000_000
	if p := mustBuild(t, s, h, o); p.Budget != 600_000 {
		t.Errorf("in a larger window the budget is %d", p.Budget)
	}
	o.Window, o.Model, o.Agent = 0, "openai/gpt-5.3-codex", "opencode"
	if p := mustBuild(t, s, h, o); p.Budget != 255_000 || p.Estimate || p.Factor != 1 {
		t.Errorf("in another model the budget is %d, factor %g", p.Budget, p.Factor)
	}
}

// TestBudgetOf checks which window, allowance and factor apply.
func TestBudgetOf(t *testing.T) {
	claude := &schema.Session{AgentConfig: schema.AgentConfig{Agent: "claude", Model: "claude-opus-4-5-20251101"}}
	own := &schema.Session{AgentConfig: schema.AgentConfig{Agent: "opencode", Provider: &schema.Provider{Model: "qwen3-coder:30b", ContextWindow: 65_536}}}
	large := &schema.Session{AgentConfig: schema.AgentConfig{Agent: "opencode", Model: "claude-opus-4-6"}}
	// It began in Claude Code; the last turn was in OpenCode or Gemini CLI.
	both := []schema.Source{{Agent: "claude", NativeID: "1"}, {Agent: "gemini", NativeID: "2"}}
	mixed := &schema.Session{AgentConfig: schema.AgentConfig{Agent: "claude", Model: "gemini-3-pro-preview"}, Sources: both}
	served := &schema.Session{AgentConfig: schema.AgentConfig{Agent: "claude", Provider: &schema.Provider{Model: "qwen3-coder:30b", ContextWindow: 65_536}}, Sources: both}
	one := &schema.Session{AgentConfig: schema.AgentConfig{Agent: "claude", Model: "claude-opus-4-5"}, Sources: both[:1]}
	for _, c := range []struct {
		name   string
		s      *schema.Session
		o      Options
		window int
		factor float64
		want   int // tokens of o200k_base
	}{
		{"the model that it had", claude, Options{}, 200_000, 1.2, 100_000},
		{"the same, named", claude, Options{Agent: "claude", Model: "claude-opus-4-5"}, 200_000, 1.2, 100_000},
		{"a window that is given", claude, Options{Window: 400_000}, 400_000, 1.2, 225_000},
		{"the model that it goes on with", claude, Options{Model: "claude-opus-5-5"}, 1_000_000, 1.6, 450_000},
		{"with a window as well", claude, Options{Model: "claude-opus-5-5", Window: 200_000}, 200_000, 1.6, 75_000},
		{"less in Claude Code", claude, Options{Model: "claude-opus-4-6"}, 200_000, 1.2, 100_000},
		{"unless it is asked for", claude, Options{Model: "claude-opus-4-6[1m]"}, 1_000_000, 1.2, 600_000},
		{"nor in OpenCode", large, Options{}, 1_000_000, 1.2, 610_833},
		{"its own model, in another agent", large, Options{Agent: "claude"}, 200_000, 1.6, 75_000},
		{"Gemini CLI, whatever its model", claude, Options{Agent: "gemini"}, 1_048_576, 1.3, 592_640},
		{"another agent, a window, no model", claude, Options{Agent: "opencode", Window: 128_000}, 128_000, 1.6, 49_375},
		{"a request that may have less than the window", claude, Options{Agent: "opencode", Model: "gpt-5.2"}, 400_000, 1, 255_000},
		{"of a window that is smaller yet", claude, Options{Agent: "opencode", Model: "gpt-5.2", Window: 128_000}, 128_000, 1, 79_000},
		{"the provider's window", own, Options{}, 65_536, 1.15, 27_958},
		{"not for another model", own, Options{Model: "gpt-4o"}, 128_000, 1, 79_000},
		{"a model that is not known", claude, Options{Model: "model-of-tomorrow"}, 200_000, 1.6, 75_000},
		{"another agent's last model", mixed, Options{}, 200_000, 1.6, 75_000},
		{"nor is it another agent's, if it is known", mixed, Options{Agent: "claude", Model: "claude-haiku-4-5"}, 200_000, 1.2, 100_000},
		{"another agent's provider", served, Options{}, 200_000, 1.6, 75_000},
		{"of a model of the same name neither", served, Options{Model: "qwen3-coder:30b"}, 262_144, 1.15, 144_876},
		{"one agent alone", one, Options{Agent: "claude"}, 200_000, 1.2, 100_000},
		{"an agent that was not there", one, Options{Agent: "opencode"}, 200_000, 1.6, 83_125},
		{"nothing known", &schema.Session{}, Options{}, 200_000, 1.6, 75_000},
		{"a small window", claude, Options{Window: 32_768}, 32_768, 1.2, 9_580},
		{"a smaller one", claude, Options{Window: 8_192}, 8_192, 1.2, 2_420},
		{"the smallest", claude, Options{Window: 4_096}, 4_096, 1.2, 1_226},
		{"what the agent sent first", claude, Options{First: Request{"claude", 15_600, 500}}, 200_000, 1.2, 112_500},
		{"of a small window, too", claude, Options{Window: 32_768, First: Request{"claude", 20_000, 0}}, 32_768, 1.2, 3_813},
		{"nearly all of the window", claude, Options{Window: 32_768, First: Request{"claude", 24_000, 0}}, 32_768, 1.2, 9_580},
		{"more than the window", claude, Options{Window: 8_192, First: Request{"claude", 28_000, 0}}, 8_192, 1.2, 2_420},
		{"and of the smallest", claude, Options{Window: 4_096, First: Request{"claude", 28_000, 0}}, 4_096, 1.2, 1_226},
		{"what another agent sent first", claude, Options{First: Request{"gemini", 6_000, 0}}, 200_000, 1.2, 100_000},
	} {
		b := BudgetOf(c.s, c.o)
		if b.Window != c.window || b.Factor != c.factor || b.Tokens != c.want || b.Exact != (c.factor == 1) {
			t.Errorf("%s: %+v; window %d, factor %g, tokens %d expected", c.name, b, c.window, c.factor, c.want)
		}
	}
}

// TestSmallWindow checks that a window that the agent fills on its own gets a default
// budget only with a warning.
func TestSmallWindow(t *testing.T) {
	s, h, o := brainstorm()
	for _, c := range []struct {
		window, first, budget int
		agent, want           string
	}{
		{40_000, 30_000, 0, "", "a window of 40000 tokens leaves no room besides the 30000 that claude itself sent at first; this payload assumes 16000; --budget overrides that"},
		{4_096, 0, 0, "claude", "a window of 4096 tokens leaves room for only 1226 besides the 1600 that claude itself sends and a quarter for the answer; --budget overrides that"},
		{8_192, 0, 0, "", ""},
		{40_000, 30_000, 5000, "", ""},
	} {
		o.Window, o.Budget, o.Agent, o.First = c.window, c.budget, c.agent, Request{"claude", c.first, 0}
		got := ""
		for _, w := range mustBuild(t, s, h, o).Warnings {
			got += w.Text
		}
		if got != c.want {
			t.Errorf("a window of %d and a budget of %d in %q: %q", c.window, c.budget, c.agent, got)
		}
	}
}

// TestFirstRequest checks that the first usage shows what an agent sends besides the
// conversation.
func TestFirstRequest(t *testing.T) {
	s := &schema.Session{Sources: []schema.Source{{Agent: "claude", NativeID: "a"}, {Agent: "gemini", NativeID: "b"}}}
	said := schema.Message{Role: schema.User, Content: strings.Repeat("word ", 400), Tokens: 400, Source: "a"}
	answer := func(source string, prompt int64) schema.Message {
		return schema.Message{Role: schema.Assistant, Content: "Yes.", Tokens: 2, Source: source, Usage: &schema.Usage{PromptTokens: prompt}}
	}
	silent := answer("a", 0)
	for name, c := range map[string]struct {
		messages []schema.Message
		want     Request
	}{
		"a usage":                  {[]schema.Message{said, answer("a", 20_000), answer("a", 30_000)}, Request{"claude", 20_000, 400}},
		"after one without":        {[]schema.Message{said, silent, said, answer("a", 20_000)}, Request{"claude", 20_000, 802}},
		"another agent's":          {[]schema.Message{said, answer("b", 9_000)}, Request{"gemini", 9_000, 400}},
		"nobody's":                 {[]schema.Message{said, answer("c", 9_000)}, Request{}},
		"none":                     {[]schema.Message{said, silent}, Request{}},
		"none in the first twenty": {append(slices.Repeat([]schema.Message{said}, 20), answer("a", 9_000)), Request{}},
	} {
		got := FirstRequest(s, func(yield func(schema.Message, error) bool) {
			for _, m := range c.messages {
				if !yield(m, nil) {
					return
				}
			}
		})
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestBudgetFits checks that payload, allowance and answer, in the vendor's tokens, fit
// the window, unless not even [MinBudget] does.
func TestBudgetFits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	models := []string{"", "claude-opus-5", "claude-sonnet-4-5[1m]", "gpt-5", "gpt-5.4", "gemini-3-pro-preview", "llama3.1:8b", "x"}
	agents := []string{"", "claude", "opencode", "gemini", "other"}
	windows := []int{math.MinInt, -1, 0, 1, 4_096, 100_000, 3_000_000, math.MaxInt}
	for range 5_000 {
		s := &schema.Session{AgentConfig: schema.AgentConfig{Agent: agents[r.IntN(len(agents))], Model: models[r.IntN(len(models))]}}
		if r.IntN(2) == 0 {
			s.AgentConfig.Provider = &schema.Provider{ContextWindow: windows[r.IntN(len(windows))]}
		}
		o := Options{Window: windows[r.IntN(len(windows))], Model: models[r.IntN(len(models))], Agent: agents[r.IntN(len(agents))]}
		b := BudgetOf(s, o)
		most := float64(b.Window)*0.75*(1+1e-9) + 1
		if need := float64(b.Tokens)*b.Factor + float64(b.Allowance); b.Tokens < MinBudget || b.Tokens > MinBudget && need > most {
			t.Fatalf("%+v of %+v, %+v: %g needed of %g", b, s.AgentConfig, o, need, most)
		}
	}
}

func TestEstimate(t *testing.T) {
	for name, want := range map[string]bool{
		"": true, "claude-sonnet-4-5": true, "gemini-2.5-pro": true, "gpt-4": true, "gpt-4-turbo": true, "gpt-3.5-turbo": true,
		"gpt-4o": false, "openai/gpt-5.1": false, "GPT-4.1-mini": false, "o3": false, "o4-mini": false, "codex-mini-latest": false, "opus": true,
		"gpt-5.5": true, // neither published nor measured
	} {
		s := &schema.Session{AgentConfig: schema.AgentConfig{Provider: &schema.Provider{Model: name}}}
		p := mustBuild(t, s, schema.History{}, Options{})
		if p.Estimate != want || p.Estimate != (p.Factor > 1) {
			t.Errorf("%q: %v, factor %g", name, p.Estimate, p.Factor)
		}
		if name == "" && p.Factor != model.UnknownFactor {
			t.Errorf("no model: factor %g", p.Factor)
		}
	}
}
