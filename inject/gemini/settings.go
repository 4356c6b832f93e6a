package gemini

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"

	"cortext/inject"
)

// geminiDir returns the folder of the program's settings and sessions.
func geminiDir(m inject.Machine) string {
	return filepath.Join(cmp.Or(m.Getenv("GEMINI_CLI_HOME"), m.Home), ".gemini")
}

// settings is the part of a settings.json that matters here.
type settings struct {
	Security struct {
		Auth struct {
			SelectedType string `json:"selectedType"`
			UseExternal  bool   `json:"useExternal"`
		} `json:"auth"`
		FolderTrust struct {
			Enabled *bool `json:"enabled"`
		} `json:"folderTrust"`
	} `json:"security"`
	SelectedAuthType string                    `json:"selectedAuthType"` // before security.auth existed
	Model            inject.RawJSON            `json:"model"`            // {"name": …}, in earlier versions the name itself
	MCPServers       map[string]inject.RawJSON `json:"mcpServers"`
}

// readSettings reads a settings file. A file that cannot be read counts as empty.
func readSettings(file string) settings {
	var s settings
	if b, err := os.ReadFile(file); err == nil {
		_ = inject.DecodeJSON(inject.BlankComments(b), &s)
	}
	return s
}

func userSettings(m inject.Machine) settings {
	return readSettings(filepath.Join(geminiDir(m), "settings.json"))
}

// projectSettings reads the settings of the folder that the program starts in. The
// program does not look in folders above it.
func projectSettings(dir string) settings {
	return readSettings(filepath.Join(dir, ".gemini", "settings.json"))
}

func systemSettings(m inject.Machine) settings {
	return readSettings(cmp.Or(m.Getenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH"), filepath.Join(systemDir(), "settings.json")))
}

// systemDefaults reads the settings with the lowest precedence.
func systemDefaults(m inject.Machine) settings {
	return readSettings(cmp.Or(m.Getenv("GEMINI_CLI_SYSTEM_DEFAULTS_PATH"), filepath.Join(systemDir(), "system-defaults.json")))
}

func systemDir() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/GeminiCli"
	}
	return "/etc/gemini-cli"
}

// Model returns the model that the program would use: from --model, GEMINI_MODEL, or
// the settings (0.61.0, packages/cli/src/config/config.ts). It may be an alias, such
// as "auto".
func (agent) Model(m inject.Machine, r inject.Request) string {
	trusted, known, err := trust(m, r, trustDefault)
	counts := trusted || !known && err == nil // the program asks before it starts in an unknown folder
	name := cmp.Or(inject.Flag(r.Args, "--model", "-m"), m.Getenv("GEMINI_MODEL"), fromEnvFile(m, r.Dir, counts, "GEMINI_MODEL"))
	all := []settings{systemSettings(m), {}, userSettings(m), systemDefaults(m)}
	if counts {
		all[1] = projectSettings(r.Dir)
	}
	for _, s := range all {
		name = cmp.Or(name, os.Expand(s.modelName(), m.Getenv)) // the settings may refer to variables
	}
	return name
}

// modelName returns the model in a settings file.
func (s settings) modelName() string {
	var name string
	if inject.DecodeJSON(s.Model, &name) == nil {
		return name
	}
	var model struct {
		Name string `json:"name"`
	}
	_ = inject.DecodeJSON(s.Model, &model)
	return model.Name
}
