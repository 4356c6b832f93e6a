// Package model knows what the agents' models take: how large their context
// windows are, and how their tokens compare with those of o200k_base, which
// everything else is counted in.
//
// It goes by the name alone. A server of the user's own may give a model less
// room than it could have (Ollama: 4,096 tokens on a small graphics card), and a
// reseller too; the agent's configuration then says so, and comes first.
package model

import "strings"

// A Model is what is known of the models that one rule covers.
type Model struct {
	Rule   string // what the names begin with, without provider
	Window int    // tokens, the vendor's own
	Input  int    // tokens that a request may have of the window

	Exact  bool    // the vendor counts in o200k_base
	Factor float64 // the vendor's tokens for one of o200k_base, at most about so many

	claudeCode int // window in Claude Code, if that is another
}

// UnknownFactor is the factor of a model that nothing is known of: the largest in
// the table.
const UnknownFactor = 1.6

// Lookup returns what is known of a model by its name as an agent writes it:
// "claude-opus-4-5-20251101", "anthropic/claude-sonnet-4.5",
// "us.anthropic.claude-haiku-4-5-20251001-v1:0", "sonnet[1m]", "qwen3-coder:free".
// The rule with the longest name decides. A version that no rule names is not
// known: "gpt-5" does not stand for a "gpt-5.9".
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

// In is the window of the model in an agent, by the agent's name. Claude Code
// gives some models less than they take unless their name ends in "[1m]".
func (m Model) In(agent string) int {
	if agent == "claude" && m.claudeCode > 0 {
		return m.claudeCode
	}
	return m.Window
}

// oneMillion is Claude Code's mark behind the name of a model that it is to use
// with a window of a million tokens
// (https://docs.claude.com/en/docs/claude-code/model-config, 2026-11-22).
const oneMillion = "[1m]"

// plain is a name in lower case without its provider and without the mark
// [oneMillion].
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

// matches reports whether the rule is for a name: it begins with the rule's, and
// what follows is a date, a size, a tag or a word such as "-latest", no further
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

// model is what the rule says of a name, with the mark [oneMillion] or without.
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
