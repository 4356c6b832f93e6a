package claude

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"cortext/inject"
)

// A layer is the part of a settings file that matters here.
type layer struct {
	Model string            `json:"model"`
	Env   map[string]string `json:"env"` // variables that the program sets for itself
}

// Model returns the model that the program would use: from --model, ANTHROPIC_MODEL,
// or the settings (https://docs.claude.com/en/docs/claude-code/model-config). Empty
// means the default, which depends on the user's account.
func (agent) Model(m inject.Machine, r inject.Request) string {
	layers := layersOf(m, r)
	env := func(name string) string {
		for _, l := range layers {
			if value := l.Env[name]; value != "" {
				return value
			}
		}
		return m.Getenv(name)
	}
	name := cmp.Or(inject.Flag(r.Args, "--model"), env("ANTHROPIC_MODEL"))
	for _, l := range layers {
		name = cmp.Or(name, l.Model)
	}
	return resolve(name, env)
}

// longMark is the suffix of a model name that selects the long context window.
const longMark = "[1m]"

// resolve replaces an alias with the model that the variables assign to it. The mode
// opusplan plans with Opus and does the rest with Sonnet.
func resolve(name string, env func(string) string) string {
	name = strings.TrimSpace(name)
	alias, long := strings.CutSuffix(strings.ToLower(name), longMark)
	variable := ""
	switch alias {
	case "default":
		return ""
	case "opus":
		variable = "ANTHROPIC_DEFAULT_OPUS_MODEL"
	case "sonnet":
		variable = "ANTHROPIC_DEFAULT_SONNET_MODEL"
	case "opusplan":
		alias, variable = "sonnet", "ANTHROPIC_DEFAULT_SONNET_MODEL"
	case "haiku":
		variable = "ANTHROPIC_DEFAULT_HAIKU_MODEL"
	default:
		return name
	}
	model := cmp.Or(env(variable), alias)
	if long && !strings.HasSuffix(strings.ToLower(model), longMark) {
		model += longMark
	}
	return model
}

// layersOf reads the settings that apply to a launch, highest precedence first. A file
// that cannot be read counts as empty.
func layersOf(m inject.Machine, r inject.Request) []layer {
	managed := "/etc/claude-code"
	if runtime.GOOS == "darwin" {
		managed = "/Library/Application Support/ClaudeCode"
	}
	given := inject.Flag(r.Args, "--settings")
	if given == "" && r.Root != "" && r.Dir != r.Root {
		given = filepath.Join(r.Root, ".claude", "settings.json") // as Launch passes it
	}
	if given != "" && !strings.HasPrefix(strings.TrimSpace(given), "{") && !filepath.IsAbs(given) {
		given = filepath.Join(r.Dir, given)
	}
	var layers []layer
	for _, source := range []string{
		filepath.Join(managed, "managed-settings.json"), given,
		filepath.Join(r.Dir, ".claude", "settings.local.json"), filepath.Join(r.Dir, ".claude", "settings.json"),
		filepath.Join(configDir(m), "settings.json"),
	} {
		text := []byte(source) // --settings also accepts JSON
		if !strings.HasPrefix(strings.TrimSpace(source), "{") {
			text, _ = os.ReadFile(source)
		}
		var l layer
		_ = inject.DecodeJSON(text, &l)
		layers = append(layers, l)
	}
	return layers
}
