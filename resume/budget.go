package resume

import (
	"strings"

	"cortext/schema"
)

// defaultWindow is the context window, in tokens, of a model that does not say
// its own: what the current models of the three agents have at least.
const defaultWindow = 200_000

// agentAllowance is set aside for the agent's own system prompt and tool
// definitions: an empty session of Claude Code 2.1.329 was measured to send
// 14,431 input tokens.
const agentAllowance = 15_000

// DefaultBudget is the model's context window less the agent's own prompt and
// tools, less a quarter of the window for the answer; in tokens, at least
// [MinBudget]. window is that of the model that the conversation goes on with; 0:
// not known, the one that it had counts.
func DefaultBudget(s *schema.Session, window int) int {
	if window <= 0 {
		window = defaultWindow
		if p := s.AgentConfig.Provider; p != nil && p.ContextWindow > 0 {
			window = p.ContextWindow
		}
	}
	return max(window-agentAllowance-window/4, MinBudget)
}

// estimated reports whether the model of the conversation may count tokens in
// another way than o200k_base: all but OpenAI's from GPT-4o on.
func estimated(s *schema.Session) bool {
	model := s.AgentConfig.Model
	if model == "" && s.AgentConfig.Provider != nil {
		model = s.AgentConfig.Provider.Model
	}
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if model == "gpt-4" || strings.HasPrefix(model, "gpt-4-") || strings.HasPrefix(model, "gpt-3") {
		return true
	}
	for _, exact := range []string{"gpt-", "chatgpt-", "codex-", "o1", "o3", "o4"} {
		if strings.HasPrefix(model, exact) {
			return false
		}
	}
	return true
}
