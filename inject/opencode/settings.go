package opencode

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"cortext/inject"
	"cortext/schema/rawjson"
)

// config is the part of the program's settings that matters here, merged from all
// their files.
type config struct {
	Model     string
	Agent     string                   // the agent that a session starts with
	Agents    map[string]agentSettings // by name
	Enabled   []string                 // the only providers allowed; nil if all are
	Disabled  []string
	Providers map[string]provider
	Servers   map[string]bool // MCP servers, and whether they are enabled
	Plugins   bool            // some plugin is configured, which may sign in by itself

	broken string // the first file that is not JSON with comments
}

// agentSettings are the settings of one of the program's agents, such as build and
// plan.
type agentSettings struct {
	Model string `json:"model"`
}

type provider struct {
	Env    []string // from the list of known models: variables that may hold a key
	Models map[string]struct {
		Limit struct{ Context int } // tokens
	} `json:"models"`
}

// readConfig reads the program's settings that apply to a folder, highest precedence
// last (1.18.33). It ignores settings from the network and from an organization.
func readConfig(m inject.Machine, dir string) config {
	c := config{Agents: map[string]agentSettings{}, Providers: map[string]provider{}, Servers: map[string]bool{}}
	user := filepath.Join(baseDir(m, "XDG_CONFIG_HOME", ".config"), "opencode")
	for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
		c.read(m, filepath.Join(user, name))
	}
	if file := m.Getenv("OPENCODE_CONFIG"); file != "" {
		c.read(m, file)
	}
	dirs := projectDirs(dir)
	own := m.Getenv("OPENCODE_DISABLE_PROJECT_CONFIG") == ""
	if own {
		for _, d := range dirs {
			c.readIn(m, d)
		}
		for _, d := range slices.Backward(dirs) {
			c.readIn(m, filepath.Join(d, ".opencode"))
		}
	}
	c.readIn(m, filepath.Join(m.Home, ".opencode"))
	if d := m.Getenv("OPENCODE_CONFIG_DIR"); d != "" {
		c.readIn(m, d)
	}
	if text := m.Getenv("OPENCODE_CONFIG_CONTENT"); text != "" {
		c.add(m, "OPENCODE_CONFIG_CONTENT", text)
	}
	managed := "/etc/opencode"
	if runtime.GOOS == "darwin" {
		managed = "/Library/Application Support/opencode"
	}
	c.readIn(m, managed)
	return c
}

// baseDir returns one of the user's folders, from its variable or below the home.
func baseDir(m inject.Machine, name, below string) string {
	return cmp.Or(m.Getenv(name), filepath.Join(m.Home, filepath.FromSlash(below)))
}

// projectDirs returns the folders whose settings apply to dir: from the root of its
// git repository, or else of the file system, down to dir.
func projectDirs(dir string) []string {
	var dirs []string
	for dir := range inject.Upwards(dir) {
		dirs = append(dirs, dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			break
		}
	}
	slices.Reverse(dirs)
	return dirs
}

func (c *config) readIn(m inject.Machine, dir string) {
	for _, name := range []string{"opencode.json", "opencode.jsonc"} {
		c.read(m, filepath.Join(dir, name))
	}
}

// read merges a settings file, ignoring an unreadable one.
func (c *config) read(m inject.Machine, file string) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return
	}
	if b, err := os.ReadFile(file); err == nil {
		c.add(m, file, string(b))
	}
}

// envPlace matches what the program substitutes before it parses its settings.
var envPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{env:([^}]+)\}`) })

// add merges the text of a settings file.
func (c *config) add(m inject.Machine, file, text string) {
	text = envPlace().ReplaceAllStringFunc(text, func(place string) string {
		return m.Getenv(strings.TrimSpace(envPlace().FindStringSubmatch(place)[1]))
	})
	plain := withoutComments(text)
	if rawjson.Valid(plain) != nil {
		if len(strings.TrimSpace(text)) > 0 && c.broken == "" {
			c.broken = file
		}
		return
	}
	var f struct {
		Model    string                   `json:"model"`
		Agent    string                   `json:"default_agent"`
		Agents   map[string]agentSettings `json:"agent"`
		Enabled  []string                 `json:"enabled_providers"`
		Disabled []string                 `json:"disabled_providers"`
		Provider map[string]provider      `json:"provider"`
		MCP      map[string]struct {
			Enabled *bool `json:"enabled"`
		} `json:"mcp"`
		Plugin []inject.RawJSON `json:"plugin"`
	}
	_ = inject.DecodeJSON(plain, &f)
	c.Model = cmp.Or(f.Model, c.Model)
	c.Agent = cmp.Or(f.Agent, c.Agent)
	for name, a := range f.Agents {
		if a.Model != "" {
			c.Agents[name] = a
		}
	}
	if f.Enabled != nil {
		c.Enabled = f.Enabled
	}
	if f.Disabled != nil {
		c.Disabled = f.Disabled
	}
	for name, p := range f.Provider {
		known, ok := c.Providers[name]
		if !ok || known.Models == nil {
			c.Providers[name] = p
			continue
		}
		maps.Copy(known.Models, p.Models)
	}
	for name, server := range f.MCP {
		c.Servers[name] = server.Enabled == nil || *server.Enabled
	}
	c.Plugins = c.Plugins || len(f.Plugin) > 0
}

// withoutComments turns JSON with comments and trailing commas into JSON. Strings
// stay as they are.
func withoutComments(text string) []byte {
	text = strings.TrimPrefix(text, "\ufeff")
	var out []byte
	comma := -1 // the last comma, if only space has followed
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' && text[end] != '\n' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(text)-1)
			out, comma = append(out, text[i:end+1]...), -1
			i = end
		case strings.HasPrefix(text[i:], "//"):
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return append(out, text[i:]...)
			}
			i += end + 3
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			out = append(out, c)
		default:
			if (c == '}' || c == ']') && comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
			if c == ',' {
				comma = len(out)
			}
			out = append(out, c)
		}
	}
	return out
}
