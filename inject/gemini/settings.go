package gemini

import (
	"os"
	"path/filepath"
	"runtime"

	"cortext/inject"
)

// geminiDir returns the folder of the program's settings and sessions.
func geminiDir(m inject.Machine) string {
	home := m.Getenv("GEMINI_CLI_HOME")
	if home == "" {
		home = m.Home
	}
	return filepath.Join(home, ".gemini")
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

// readSettings reads a settings file; anything unreadable is empty.
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
	file := m.Getenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH")
	if file == "" {
		file = "/etc/gemini-cli/settings.json"
		if runtime.GOOS == "darwin" {
			file = "/Library/Application Support/GeminiCli/settings.json"
		}
	}
	return readSettings(file)
}

// systemDefaults reads the settings with the lowest precedence.
func systemDefaults(m inject.Machine) settings {
	file := m.Getenv("GEMINI_CLI_SYSTEM_DEFAULTS_PATH")
	if file == "" {
		file = "/etc/gemini-cli/system-defaults.json"
		if runtime.GOOS == "darwin" {
			file = "/Library/Application Support/GeminiCli/system-defaults.json"
		}
	}
	return readSettings(file)
}
