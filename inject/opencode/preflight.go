package opencode

import (
	"slices"
	"strings"

	"cortext/inject"
)

// preflight returns an error for anything that would keep the program from answering.
// OpenCode asks nothing at its start, trusts any folder, and has models that need no
// credentials (1.18.33).
func preflight(m inject.Machine, c config) error {
	if c.broken != "" {
		return openCode.Unready("it would not start: "+c.broken+" is not JSON with comments", "mend that file")
	}
	if !answers(m, c) {
		return openCode.Unready("it is not signed in to a model provider that its settings allow (enabled_providers, disabled_providers)",
			"run opencode auth login, or set the provider's key")
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

// keyed reports whether a variable may hold a provider's key. The list of models that
// the program fetched defines which variables count.
func keyed(m inject.Machine) bool {
	isSet := func(name string) bool { return m.Getenv(name) != "" }
	for _, p := range knownModels(m) {
		if slices.ContainsFunc(p.Env, isSet) {
			return true
		}
	}
	return slices.ContainsFunc(keyVariables, isSet)
}

// keyVariables are the variables of well-known providers, in case the list is missing.
var keyVariables = []string{
	"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS",
	"OPENROUTER_API_KEY", "OPENCODE_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY", "GITHUB_TOKEN",
	"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_API_KEY", "CLOUDFLARE_API_TOKEN",
}

// absent warns of MCP servers that the conversation used and that are not in the
// settings here. OpenCode's own tool names are <server>_<tool>, which could be any
// tool.
func absent(c config, tools []string) []string {
	known := map[string]bool{}
	for name, on := range c.Servers {
		if on {
			known[inject.ServerName(name, "_-")] = true
		}
	}
	return inject.WarnOfMissing(tools, known, inject.MCPServer)
}
