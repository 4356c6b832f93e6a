package program

import (
	"strings"

	"cortext/inject"
)

// preflight finds what would keep the program from answering. OpenCode asks nothing at
// its start, trusts any folder, and has models that need no credentials (1.18.33).
func preflight(m inject.Machine, c config) error {
	if c.broken != "" {
		return &inject.PreflightError{Agent: agentName, What: "it would not start: " + c.broken + " is not JSON with comments", Fix: "mend that file"}
	}
	if !answers(m, c) {
		return &inject.PreflightError{Agent: agentName, What: "it is not signed in to a model provider that its settings allow (enabled_providers, disabled_providers)",
			Fix: "run opencode auth login, or set the provider's key"}
	}
	return nil
}

// answers reports whether there may be a provider that the settings allow. If unsure,
// it assumes so.
func answers(m inject.Machine, c config) bool {
	if c.allowed("opencode") || c.Plugins {
		return true
	}
	for name := range c.Providers {
		if c.allowed(name) {
			return true
		}
	}
	for name, entry := range credentials(m) {
		if c.allowed(name) || strings.Contains(string(entry), `"wellknown"`) { // such an entry brings settings of its own
			return true
		}
	}
	return keyed(m)
}

// keyed reports whether a variable may hold a provider's key. A list on the network
// defines which variables count.
func keyed(m inject.Machine) bool {
	for _, p := range knownModels(m) {
		for _, name := range p.Env {
			if m.Getenv(name) != "" {
				return true
			}
		}
	}
	for _, name := range keyVariables {
		if m.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// keyVariables are those of well-known providers, in case the list is missing.
var keyVariables = []string{
	"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS",
	"OPENROUTER_API_KEY", "OPENCODE_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY", "GITHUB_TOKEN",
	"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_API_KEY", "CLOUDFLARE_API_TOKEN",
}

// absent warns of MCP servers that the conversation used and that are not in the
// settings here. Only unambiguous tool names count: mcp__<server>__<tool> of Claude
// Code and mcp_<server>_<tool> of Gemini CLI. OpenCode's own are <server>_<tool>,
// which could be any tool.
func absent(c config, tools []string) []string {
	var known []string
	for name, on := range c.Servers {
		if on {
			known = append(known, inject.ServerName(name, "_-"))
		}
	}
	var warnings []string
	said := map[string]bool{}
	for _, tool := range tools {
		server := absentServer(known, tool)
		if server != "" && !said[server] {
			said[server] = true
			warnings = append(warnings, "the conversation used tools of the MCP server "+server+", which is not set up here")
		}
	}
	return warnings
}

// absentServer returns the server of a tool, unless it is known.
func absentServer(known []string, tool string) string {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, _, ok := strings.Cut(rest, "__")
		for _, name := range known {
			if name == server {
				return ""
			}
		}
		if !ok {
			return ""
		}
		return server
	}
	rest, ok := strings.CutPrefix(tool, "mcp_")
	if !ok {
		return ""
	}
	for _, name := range known {
		if strings.HasPrefix(rest, name+"_") {
			return ""
		}
	}
	server, _, ok := strings.Cut(rest, "_") // the name may contain "_": its first part is enough for people
	if !ok {
		return ""
	}
	return server
}
