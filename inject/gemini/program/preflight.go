package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cortext/inject"
)

func unready(what, way string) error {
	return &inject.PreflightError{Agent: "Gemini CLI", What: what, Fix: way}
}

// preflight finds what would stop the program: a question at its start, or an error at
// the first message. The warnings are about what works, but not as it should.
func preflight(m inject.Machine, r inject.Request, v version) (warnings []string, err error) {
	trusted, known, err := trust(m, r, v)
	if err != nil {
		return nil, err
	}
	if err := signIn(m, r, trusted); err != nil {
		return nil, err
	}
	const way = "run gemini in that folder once and answer its question, leave it with /quit"
	switch {
	case trusted:
		return nil, nil
	case r.Headless:
		return nil, unready("it has not been told to trust "+r.Dir+", and without a terminal it ends at once in such a folder", way+"; or set GEMINI_CLI_TRUST_WORKSPACE=true for this run")
	case !known:
		return nil, unready("it has not been told to trust "+r.Dir, way)
	}
	return []string{"Gemini CLI was told not to trust " + r.Dir + ": it takes no commands and hooks from there"}, nil
}

// trustDefault is the first version seen to ask for trust unless the settings say
// otherwise.
var trustDefault = version{0, 40, 0}

// trust reports whether the user trusts the folder, and whether that is configured at
// all (0.61.0, packages/core/src/utils/trust.ts).
func trust(m inject.Machine, r inject.Request, v version) (trusted, known bool, err error) {
	if m.Getenv("GEMINI_RESTRICTED_MODE") == "true" || m.Getenv("GEMINI_CLI_TRUST_WORKSPACE") == "false" {
		return false, true, nil
	}
	if m.Getenv("GEMINI_CLI_TRUST_WORKSPACE") == "true" || slices.Contains(r.Args, "--skip-trust") {
		return true, true, nil
	}
	enabled := v.AtLeast(trustDefault)
	for _, s := range []settings{userSettings(m), systemSettings(m)} { // a project's own settings do not count
		if e := s.Security.FolderTrust.Enabled; e != nil {
			enabled = *e
		}
	}
	if !enabled {
		return true, true, nil
	}
	return trustedFolder(m, r.Dir)
}

// trustedFolder looks a folder up among those that the user was asked about. The
// longest path at or above it decides.
func trustedFolder(m inject.Machine, dir string) (trusted, known bool, err error) {
	file := m.Getenv("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
	if file == "" {
		file = filepath.Join(geminiDir(m), "trustedFolders.json")
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	const way = "put it right: the program itself ends at once as it is"
	var rules map[string]string
	if err == nil {
		err = json.Unmarshal(withoutComments(b), &rules)
	}
	if err != nil {
		return false, false, unready(fmt.Sprintf("%s cannot be read: %v", file, err), way)
	}
	dir = realPath(dir)
	longest := -1
	for path, level := range rules {
		path = filepath.Clean(path)
		at := path
		switch level {
		case "TRUST_FOLDER", "DO_NOT_TRUST":
		case "TRUST_PARENT":
			at = filepath.Dir(path)
		default:
			return false, false, unready(fmt.Sprintf("%s has %q for %s, which is no level of trust", file, level, path), way)
		}
		if len(path) > longest && within(realPath(at), dir) {
			longest, trusted, known = len(path), level != "DO_NOT_TRUST", true
		}
	}
	return trusted, known, nil
}

// realPath returns a folder's path as the program records it.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func within(top, dir string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// absent warns of MCP servers that the conversation used and that are not configured
// on this machine. Only unambiguous tool names count: mcp__<server>__<tool> of Claude
// Code, and mcp_<server>_<tool> of this program.
func absent(m inject.Machine, r inject.Request) []string {
	servers := map[string]bool{}
	add := func(file string) {
		for name := range readSettings(file).MCPServers {
			servers[inject.ServerName(name, "_-.:")] = true
		}
	}
	add(filepath.Join(geminiDir(m), "settings.json"))
	add(filepath.Join(r.Dir, ".gemini", "settings.json"))
	extensions, _ := os.ReadDir(filepath.Join(geminiDir(m), "extensions"))
	for _, e := range extensions {
		add(filepath.Join(geminiDir(m), "extensions", e.Name(), "gemini-extension.json"))
	}
	var warnings []string
	said := map[string]bool{}
	for _, tool := range r.Tools {
		server, ok := serverOf(tool, servers)
		if ok && !servers[server] && !said[server] {
			said[server] = true
			warnings = append(warnings, "the conversation used tools of the MCP server "+server+", which is not set up here")
		}
	}
	return warnings
}

// serverOf returns the MCP server of a tool. Known servers may have "_" in their
// names.
func serverOf(tool string, known map[string]bool) (server string, ok bool) {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, _, ok = strings.Cut(rest, "__")
		return server, ok && server != ""
	}
	rest, ok := strings.CutPrefix(tool, "mcp_")
	if !ok {
		return "", false
	}
	for name := range known {
		if strings.HasPrefix(rest, name+"_") {
			return name, true
		}
	}
	server, name, ok := strings.Cut(rest, "_")
	return server, ok && server != "" && name != ""
}
