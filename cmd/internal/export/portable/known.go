package portable

import (
	"strings"

	"cortext/schema"
)

// The members of the document that have other names in cortext.

// modes are the modes of a conversation, as the document names them.
type modes struct {
	Orchestrate       bool `json:"orchestrate"`
	Plan              bool `json:"plan"`
	BypassPermissions bool `json:"bypassPermissions"`
}

func modesOf(s *schema.Session) (m modes) {
	if at := s.AgentConfig.Modes; at != nil {
		m.Plan = at.Plan
		m.BypassPermissions = strings.EqualFold(at.Permission, "bypassPermissions") || strings.EqualFold(at.Permission, "yolo")
	}
	return m
}

// metrics are counts of a conversation's content.
type metrics struct {
	MessageCount     int   `json:"messageCount"`
	ToolCallCount    int   `json:"toolCallCount"`
	TokenEstimate    int64 `json:"tokenEstimate"`
	PromptTokens     int64 `json:"promptTokens"`
	CompletionTokens int64 `json:"completionTokens"`
	CachedTokens     int64 `json:"cachedTokens"`
}

func metricsOf(s *schema.Session, messages, tools int) metrics {
	m := metrics{MessageCount: messages, ToolCallCount: tools, TokenEstimate: s.Tokens}
	if u := s.Usage; u != nil {
		m.PromptTokens, m.CompletionTokens, m.CachedTokens = u.PromptTokens, u.CompletionTokens, u.CachedTokens
	}
	return m
}

// providerOf returns the provider of a model: claude, openai, xai, or another name.
func providerOf(s *schema.Session) string {
	name := ""
	if p := s.AgentConfig.Provider; p != nil {
		name = p.Type
	}
	switch name {
	case "anthropic":
		return "claude"
	case "":
		switch s.AgentConfig.Agent {
		case "gemini":
			return "google"
		case "":
			return "claude"
		}
		return s.AgentConfig.Agent
	}
	return name
}

// agentOf returns the agent for a provider, or "" if cortext has no such agent.
func agentOf(provider string) string {
	switch provider {
	case "claude", "gemini", "opencode":
		return provider
	case "google":
		return "gemini"
	}
	return ""
}
