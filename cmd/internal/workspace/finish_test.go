package workspace

import (
	"testing"

	"cortext/schema"
)

// TestDescribeAgentProvider: the provider of session.json is that of the model beside it.
func TestDescribeAgentProvider(t *testing.T) {
	answer := func(model string) schema.History {
		return schema.History{Messages: []schema.Message{{Role: schema.Assistant, Model: model}}}
	}
	for _, c := range []struct {
		provider schema.Provider
		answered string
		kept     bool
	}{
		{schema.Provider{Type: "openrouter", Model: "kimi"}, "kimi", true},
		{schema.Provider{Type: "openrouter", Model: "kimi"}, schema.SyntheticModel, true},
		{schema.Provider{Type: "openrouter", Model: "kimi"}, "gemini-3-pro", false}, // resumed in Gemini CLI
		{schema.Provider{Type: "openrouter"}, "gemini-3-pro", true},                 // named by a program
	} {
		s := &schema.Session{AgentConfig: schema.AgentConfig{Model: "kimi", Provider: &c.provider}}
		describeAgent(s, answer(c.answered))
		if kept := s.AgentConfig.Provider != nil; kept != c.kept {
			t.Errorf("after an answer of %s, the provider %+v is kept: %v", c.answered, c.provider, kept)
		}
	}
}
