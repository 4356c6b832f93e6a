package model

import (
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	for name, want := range map[string]struct {
		rule   string
		window int
	}{
		"claude-opus-4-5-20251101":                    {"claude-opus-4-5", 200_000},
		"claude-sonnet-4-20250514":                    {"claude-sonnet-4", 200_000},
		"claude-haiku-4-5@20251001":                   {"claude-haiku-4-5", 200_000},
		"us.anthropic.claude-haiku-4-5-20251001-v1:0": {"claude-haiku-4-5", 200_000},
		"anthropic/claude-sonnet-4.5":                 {"claude-sonnet-4-5", 200_000},
		"anthropic/claude-sonnet-4.5:thinking":        {"claude-sonnet-4-5", 200_000},
		"claude-sonnet-4-5-20250929[1m]":              {"claude-sonnet-4-5", 1_000_000},
		"claude-opus-4-5[1m]":                         {"claude-opus-4-5", 200_000}, // its window is no larger
		"claude-opus-4-6":                             {"claude-opus-4-6", 1_000_000},
		"claude-fable-5-1":                            {"claude-fable-5-1", 1_000_000},
		"claude-3-7-sonnet-latest":                    {"claude-3-7", 200_000},
		"arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-opus-4-7-v1": {"claude-opus-4-7", 1_000_000},
		"sonnet":                       {"sonnet", 200_000},
		" Sonnet[1M] ":                 {"sonnet", 1_000_000},
		"gemini-2.5-pro":               {"gemini-2.5-pro", 1_048_576},
		"models/gemini-3-pro-preview":  {"gemini-3-pro", 1_048_576},
		"gemini-2.5-pro-preview-05-06": {"gemini-2.5-pro", 1_048_576},
		"gemini-3.5-flash-lite":        {"gemini-3.5-flash", 1_048_576},
		"gpt-5.2-codex":                {"gpt-5.2", 400_000},
		"gpt-5.2-2025-12-11":           {"gpt-5.2", 400_000},
		"gpt-5.2-chat-latest":          {"gpt-5.2-chat", 128_000},
		"openai/gpt-5.3-codex-spark":   {"gpt-5.3-codex-spark", 128_000},
		"openai.gpt-5.6-sol":           {"gpt-5.6", 1_050_000},
		"gpt-4o-mini":                  {"gpt-4o", 128_000},
		"gpt-4-0613":                   {"gpt-4", 8_192},
		"o3-pro":                       {"o3", 200_000},
		"opencode/grok-code":           {"grok-code", 256_000},
		"x-ai/grok-code-fast-1":        {"grok-code", 256_000},
		"qwen3-coder":                  {"qwen3-coder", 262_144},
		"qwen/qwen3-coder:free":        {"qwen3-coder", 262_144},
		"qwen2.5-coder:32b":            {"qwen2.5-coder", 32_768},
		"Qwen2.5-Coder-7B-Instruct":    {"qwen2.5-coder", 32_768},
		"llama3.1:8b":                  {"llama3.1", 128_000},
		"ollama/llama3.1":              {"llama3.1", 128_000},
		"moonshot-ai/kimi-k2.7-code":   {"kimi-k2.7-code", 262_144},
		"kimi-k2-0905-preview":         {"kimi-k2-0905", 262_144},
		"MiniMaxAI/MiniMax-M2.5":       {"minimax-m2.5", 196_608},
		"opencode/minimax-m3-free":     {"minimax-m3-free", 200_000},
	} {
		m, ok := Lookup(name)
		if !ok || m.Rule != want.rule || m.Window != want.window {
			t.Errorf("%q: %v %q %d; %q %d expected", name, ok, m.Rule, m.Window, want.rule, want.window)
		}
	}
}

// TestUnknown checks that a name without a rule, or a later version, is not guessed.
func TestUnknown(t *testing.T) {
	for _, name := range []string{
		"", "/", "[1m]", "anthropic/", "<synthetic>", "model", "coder-model", "cursor-auto", "gpt", "gpt-5.9", "gpt-6", "o30", "o5-mini",
		"claude-opus-4-9", "claude-opus-4-9-20270101", "claude-opus-6", "claude-sonnet-4.12", "claude-fable-5-2", "gemini-2.5", "gemini-9-pro",
		"kimi-k2.9", "qwen3", "llama3", "sonnets", "opusplan", "\x00", "claude-opus-4-5\xff",
	} {
		if m, ok := Lookup(name); ok || m != (Model{}) {
			t.Errorf("%q is taken for %q", name, m.Rule)
		}
	}
}

// TestTable checks that each row can be found, cites its source, and makes sense.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules() {
		if seen[r.name] { // rules of equal length that match one name are the same
			t.Errorf("%s appears twice", r.name)
		}
		seen[r.name] = true
		for _, name := range []string{r.name, strings.ToUpper(r.name), "some-provider/" + r.name, r.name + ":free", r.name + "-latest", r.name + "-20261122"} {
			if m, ok := Lookup(name); !ok || m.Rule != r.name {
				t.Errorf("%s: the rule for it is %q", name, m.Rule)
			}
		}
		plain, _ := Lookup(r.name)
		long, _ := Lookup(r.name + "[1m]")
		switch {
		case r.vendor == "" || r.source == "" || r.count.source == "":
			t.Errorf("%s: vendor or source is missing", r.name)
		case plain.Window <= 0 || plain.Input <= 0 || plain.Input > plain.Window || plain.In("claude") > plain.Window:
			t.Errorf("%s: %+v", r.name, plain)
		case long.Window < plain.Window || long.In("claude") != long.Window && r.long > 0:
			t.Errorf("%s with [1m]: %+v", r.name, long)
		case plain.Exact != (plain.Factor == 1) || plain.Factor < 1 || plain.Factor > UnknownFactor:
			t.Errorf("%s: exact %v, factor %g", r.name, plain.Exact, plain.Factor)
		case plain.In("opencode") != plain.Window || plain.In("") != plain.Window:
			t.Errorf("%s: another window in another agent", r.name)
		}
	}
}

func TestIn(t *testing.T) {
	for name, want := range map[string]int{
		"claude-opus-4-6": 200_000, "claude-opus-4-6[1m]": 1_000_000, "claude-opus-4-7": 1_000_000, "claude-sonnet-4-6": 200_000,
	} {
		if m, _ := Lookup(name); m.In("claude") != want {
			t.Errorf("%s in Claude Code: %d, %d expected", name, m.In("claude"), want)
		}
	}
}

func FuzzLookup(f *testing.F) {
	for _, name := range []string{"claude-sonnet-4.5[1m]", "a/b:c@d-1", "openai.anthropic.", "gpt-5-1", "-", "[1m][1m]"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		m, ok := Lookup(name)
		if ok != (m.Window > 0) {
			t.Fatalf("%q: %v, %+v", name, ok, m)
		}
		if again, _ := Lookup("p/" + name); ok && again != m {
			t.Fatalf("%q with a provider is %q, without %q", name, again.Rule, m.Rule)
		}
	})
}
