package program

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"

	"cortext/inject"
)

// geminiDir is where the program keeps its settings and sessions.
func geminiDir(m inject.Machine) string {
	home := m.Getenv("GEMINI_CLI_HOME")
	if home == "" {
		home = m.Home
	}
	return filepath.Join(home, ".gemini")
}

// settings is what counts here of a settings.json.
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
	SelectedAuthType string                     `json:"selectedAuthType"` // before there was security.auth
	Model            json.RawMessage            `json:"model"`            // {"name": …}, before that the name itself
	MCPServers       map[string]json.RawMessage `json:"mcpServers"`
}

// readSettings reads a settings file; what cannot be read is empty.
func readSettings(file string) settings {
	var s settings
	if b, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(withoutComments(b), &s) // a member of another shape is as good as absent
	}
	return s
}

func userSettings(m inject.Machine) settings {
	return readSettings(filepath.Join(geminiDir(m), "settings.json"))
}

// projectSettings are those of the folder that the program starts in; it looks in
// none above it.
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

// systemDefaults are weaker than all others.
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

// withoutComments puts blanks in the place of the comments that the program
// allows in its JSON files.
func withoutComments(text []byte) []byte {
	out := bytes.Clone(text)
	for i := 0; i < len(out); {
		switch {
		case out[i] == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			i++
		case bytes.HasPrefix(out[i:], []byte("//")):
			i = blank(out, i, lineEnd(out, i))
		case bytes.HasPrefix(out[i:], []byte("/*")):
			end := len(out)
			if n := bytes.Index(out[i+2:], []byte("*/")); n >= 0 {
				end = i + 2 + n + 2
			}
			i = blank(out, i, end)
		default:
			i++
		}
	}
	return out
}

func lineEnd(text []byte, from int) int {
	if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
		return from + n
	}
	return len(text)
}

func blank(text []byte, from, to int) int {
	for i := from; i < to; i++ {
		text[i] = ' '
	}
	return to
}
