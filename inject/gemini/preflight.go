package gemini

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cortext/inject"
)

// preflight returns an error for anything that would stop the program: a question at
// its start, or an error at the first message. The warnings name what works only in
// part.
func preflight(m inject.Machine, r inject.Request, v inject.Version) (warnings []string, err error) {
	trusted, known, err := trust(m, r, v)
	if err != nil {
		return nil, err
	}
	if err := signIn(m, r, trusted); err != nil {
		return nil, err
	}
	const fix = "run gemini in that folder once, answer its question, and leave it with /quit"
	switch {
	case trusted:
		return nil, nil
	case r.Headless:
		return nil, geminiCLI.Unready("it has not been told to trust "+r.Dir+", and without a terminal it ends at once in such a folder", fix+"; or set GEMINI_CLI_TRUST_WORKSPACE=true for this run")
	case !known:
		return nil, geminiCLI.Unready("it has not been told to trust "+r.Dir, fix)
	}
	return []string{"Gemini CLI was told not to trust " + r.Dir + ": it takes no commands and hooks from there"}, nil
}

// trustDefault is the first version seen to ask for trust unless the settings say
// otherwise.
var trustDefault = inject.Version{0, 40, 0}

// trust reports whether the user trusts the folder, and whether that is configured at
// all (0.61.0, packages/core/src/utils/trust.ts).
func trust(m inject.Machine, r inject.Request, v inject.Version) (trusted, known bool, err error) {
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
	file := cmp.Or(m.Getenv("GEMINI_CLI_TRUSTED_FOLDERS_PATH"), filepath.Join(geminiDir(m), "trustedFolders.json"))
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	const fix = "correct the file: the program itself exits at once while it is like this"
	var rules map[string]string
	if err == nil {
		err = inject.DecodeJSON(inject.BlankComments(b), &rules)
	}
	if err != nil {
		return false, false, geminiCLI.Unready(fmt.Sprintf("%s cannot be read: %v", file, err), fix)
	}
	dir = inject.RealPath(dir)
	longest := -1
	for path, level := range rules {
		path = filepath.Clean(path)
		at := path
		switch level {
		case "TRUST_FOLDER", "DO_NOT_TRUST":
		case "TRUST_PARENT":
			at = filepath.Dir(path)
		default:
			return false, false, geminiCLI.Unready(fmt.Sprintf("%s has %q for %s, which is not a trust level", file, level, path), fix)
		}
		if len(path) > longest && within(inject.RealPath(at), dir) {
			longest, trusted, known = len(path), level != "DO_NOT_TRUST", true
		}
	}
	return trusted, known, nil
}

func within(top, dir string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// absent warns of MCP servers that the conversation used and that are not configured
// on this machine.
func absent(m inject.Machine, r inject.Request) []string {
	servers := map[string]bool{}
	add := func(s settings) {
		for name := range s.MCPServers {
			servers[inject.ServerName(name, "_-.:")] = true
		}
	}
	add(userSettings(m))
	add(projectSettings(r.Dir))
	extensions := filepath.Join(geminiDir(m), "extensions")
	installed, _ := os.ReadDir(extensions)
	for _, e := range installed {
		add(readSettings(filepath.Join(extensions, e.Name(), "gemini-extension.json")))
	}
	return inject.WarnOfMissing(r.Tools, servers, inject.MCPServer)
}
