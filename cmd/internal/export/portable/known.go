package portable

import (
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// The members of the document that have other names in cortext.

// Modes are the modes of a conversation, as the document names them.
type Modes struct {
	Orchestrate       bool `json:"orchestrate"`
	Plan              bool `json:"plan"`
	BypassPermissions bool `json:"bypassPermissions"`
}

// ModesOf returns the modes of a conversation.
func ModesOf(s *schema.Session) (m Modes) {
	if at := s.AgentConfig.Modes; at != nil {
		m.Plan = at.Plan
		m.BypassPermissions = bypasses(at.Permission)
		for _, u := range at.Unknown {
			m.Orchestrate = m.Orchestrate || u.Name == orchestrate && string(u.Value) == "true"
		}
	}
	return m
}

// bypassPermission is what Claude Code calls the permission mode that asks for nothing.
const bypassPermission = "bypassPermissions"

// orchestrate is a mode that no agent of ours has: session.json keeps it for the programs
// that do.
const orchestrate = "orchestrate"

func bypasses(permission string) bool {
	return strings.EqualFold(permission, bypassPermission) || strings.EqualFold(permission, "yolo")
}

// SetModes records the modes of a conversation, in its agent's words where it has any. They
// are only shown: a resume does not switch them on.
func SetModes(s *schema.Session, m Modes) {
	at := schema.Modes{}
	if have := s.AgentConfig.Modes; have != nil {
		at = *have
	}
	at.Plan = m.Plan
	switch {
	case !m.BypassPermissions && bypasses(at.Permission):
		at.Permission = ""
	case m.BypassPermissions && !bypasses(at.Permission):
		at.Permission = bypassPermission
		if s.AgentConfig.Agent == "gemini" {
			at.Permission = "yolo"
		}
	}
	at.Unknown = slices.DeleteFunc(slices.Clone(at.Unknown), func(u rawjson.Member) bool { return u.Name == orchestrate })
	if m.Orchestrate {
		at.Unknown = append(at.Unknown, rawjson.Member{Name: orchestrate, Value: []byte("true")})
	}
	s.AgentConfig.Modes = &at
}

// Metrics are counts of a conversation's content.
type Metrics struct {
	MessageCount     int   `json:"messageCount"`
	ToolCallCount    int   `json:"toolCallCount"`
	TokenEstimate    int64 `json:"tokenEstimate"`
	PromptTokens     int64 `json:"promptTokens"`
	CompletionTokens int64 `json:"completionTokens"`
	CachedTokens     int64 `json:"cachedTokens"`
}

// MetricsOf returns the metrics of a conversation with the given numbers of messages and
// tool calls.
func MetricsOf(s *schema.Session, messages, tools int) Metrics {
	m := Metrics{MessageCount: messages, ToolCallCount: tools, TokenEstimate: s.Tokens}
	if u := s.Usage; u != nil {
		m.PromptTokens, m.CompletionTokens, m.CachedTokens = u.PromptTokens, u.CompletionTokens, u.CachedTokens
	}
	return m
}

// ProviderOf returns the provider of the model: claude, openai, xai, or another name.
func ProviderOf(s *schema.Session) string {
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

// SetProvider records the provider of the model, and with it the agent if it is one of ours.
func SetProvider(s *schema.Session, provider string) {
	if agent := agentOf(provider); agent != "" {
		s.AgentConfig.Agent = agent
		return
	}
	s.AgentConfig.Provider = &schema.Provider{Type: provider}
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
