// Package model knows the limits of the agents' models: the size of their context
// windows, and how their tokens compare with those of o200k_base, the unit of all
// other counts.
//
// It looks only at the model's name. A user's own server (Ollama: 4,096 tokens on a
// small graphics card) or a reseller may give a model less room. The agent's
// configuration then says so and takes precedence.
package model

import "strings"

// A Model describes the models that one rule covers.
type Model struct {
	Rule   string // prefix of the names, without provider
	Window int    // in the vendor's tokens
	Input  int    // how much of the window a request may use, in tokens

	Exact  bool    // the vendor counts in o200k_base
	Factor float64 // vendor tokens per token of o200k_base: an approximate upper bound

	claudeCode int // window in Claude Code, if different
}

// UnknownFactor is the factor for an unknown model: the largest in the table.
const UnknownFactor = 1.6

// Lookup finds a model by its name as an agent writes it: "claude-opus-4-5-20251101",
// "anthropic/claude-sonnet-4.5", "us.anthropic.claude-haiku-4-5-20251001-v1:0",
// "sonnet[1m]", "qwen3-coder:free". The rule with the longest name wins. A version
// without a rule is unknown: "gpt-5" does not match "gpt-5.9".
func Lookup(name string) (Model, bool) {
	base, long := plain(name)
	best, rules := -1, rules()
	for i := range rules {
		if rules[i].matches(base) && (best < 0 || len(rules[i].name) > len(rules[best].name)) {
			best = i
		}
	}
	if best < 0 {
		return Model{}, false
	}
	return rules[best].model(long), true
}

// In returns the model's window in the named agent. Claude Code gives some models
// less than they support unless their name ends in "[1m]".
func (m Model) In(agent string) int {
	if agent == "claude" && m.claudeCode > 0 {
		return m.claudeCode
	}
	return m.Window
}

// oneMillion is Claude Code's suffix for a model name that selects a window of a
// million tokens (https://docs.claude.com/en/docs/claude-code/model-config,
// 2026-11-22).
const oneMillion = "[1m]"

// plain returns a name in lower case, without its provider and without [oneMillion].
func plain(name string) (base string, long bool) {
	base, long = strings.CutSuffix(strings.ToLower(strings.TrimSpace(name)), oneMillion)
	base = base[strings.LastIndexByte(base, '/')+1:]
	for _, provider := range []string{"anthropic.", "openai."} { // Bedrock: us.anthropic.claude-…
		if i := strings.LastIndex(base, provider); i >= 0 {
			base = base[i+len(provider):]
		}
	}
	if strings.HasPrefix(base, "claude-") { // OpenRouter, GitHub: claude-sonnet-4.5
		base = strings.ReplaceAll(base, ".", "-")
	}
	return base, long
}

// matches reports whether the rule covers a name: the name begins with the rule's,
// followed by a date, a size, a tag or a word such as "-latest", but not by another
// part of the version.
func (r *rule) matches(name string) bool {
	rest, ok := strings.CutPrefix(name, r.name)
	if !ok || rest == "" {
		return ok
	}
	if strings.IndexByte("-_:@", rest[0]) < 0 {
		return false
	}
	if rest[0] == ':' || rest[0] == '@' {
		return true
	}
	digits := rest[1 : len(rest)-len(strings.TrimLeft(rest[1:], "0123456789"))]
	after := rest[1+len(digits):]
	size := after != "" && 'a' <= after[0] && after[0] <= 'z' // 8b
	return size || len(digits) == 0 || len(digits) > 2
}

// model returns the rule's model for a name with the suffix [oneMillion] or without
// it.
func (r *rule) model(long bool) Model {
	m := Model{
		Rule: r.name, Window: r.window, Input: r.input, Exact: r.count.exact, Factor: r.count.factor, claudeCode: r.claudeCode,
	}
	if long && r.long > 0 {
		m.Window, m.claudeCode = r.long, 0
	}
	if m.Input == 0 {
		m.Input = m.Window
	}
	return m
}
