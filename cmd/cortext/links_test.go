package main

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hookModules lists the modules that cortext-hook links. A package initializes at each
// start, used or not, and an agent waits for its hook after each turn. Before you add
// one, measure it (BenchmarkHook).
var hookModules = []string{
	"github.com/google/renameio/v2", "github.com/mozillazg/go-unidecode", "github.com/pkoukk/tiktoken-go-loader", "github.com/sahilm/fuzzy",
	"go.yaml.in/yaml/v3", "golang.org/x/sys", "golang.org/x/term", "golang.org/x/text", "mvdan.cc/sh/v3",
}

// notInHook lists our own and standard library packages that it must not link.
var notInHook = map[string]string{
	"net":                      "its resolver links the C library, which takes a millisecond of each start to load; so do http and pflag, which need it",
	"os/user":                  "it links the C library",
	"runtime/cgo":              "it links the C library",
	"crypto/tls":               "no hook speaks HTTP",
	"text/template":            "it is large, and makes the linker keep all methods",
	"cortext/cmd/internal/cli": "the tree of commands is built in each start",
	"cortext/inject/opencode":  "cortext-opencode handles its hooks",
}

// TestHookLinks: cortext-hook stays small, whatever a library needs.
func TestHookLinks(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "cortext/cmd/cortext-hook").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		if why, ok := notInHook[dep]; ok {
			t.Errorf("cortext-hook must not link %s: %s", dep, why)
		}
		first, _, _ := strings.Cut(dep, "/")
		if strings.Contains(first, ".") && !slices.ContainsFunc(hookModules, func(m string) bool { return dep == m || strings.HasPrefix(dep, m+"/") }) {
			t.Errorf("cortext-hook must not link %s: no other module than those of hookModules", dep)
		}
	}
}

// TestWebLinks: cortext and cortext-hook do not link what only cortext-picker, cortext-web,
// cortext-zstd, cortext-serve and cortext-opencode need. Each of these would add 5 to 30 percent
// to every start. cortext-web does not link what only the server needs, and cortext-zstd
// nothing but its library: an export waits for their starts.
func TestWebLinks(t *testing.T) {
	server := []string{"github.com/coder/websocket", "cortext/cmd/internal/serve"}
	large := append([]string{"github.com/yuin/goldmark", "github.com/klauspost/compress", "net/http", "crypto/tls"}, server...)
	const sqlite = "modernc.org/sqlite"
	screens := []string{"charm.land/bubbletea/v2", "github.com/charmbracelet/x/ansi"}
	for program, unwanted := range map[string][]string{
		"cortext/cmd/cortext":          slices.Concat(large, screens, []string{sqlite}),
		"cortext/cmd/cortext-hook":     slices.Concat(large, screens, []string{sqlite}),
		"cortext/cmd/cortext-opencode": slices.Concat(large, screens, []string{"cortext/cmd/internal/cli"}),
		"cortext/cmd/cortext-web":      slices.Concat(server, screens, []string{"github.com/fsnotify/fsnotify", sqlite, "github.com/klauspost/compress"}),
		"cortext/cmd/cortext-zstd":     slices.Concat(server, screens, []string{"github.com/yuin/goldmark", "net/http", "cortext/store", "gopkg.in/yaml.v3", "go.yaml.in/yaml/v3", sqlite}),
		"cortext/cmd/cortext-picker":   slices.Concat(large, []string{sqlite}),
	} {
		out, err := exec.Command("go", "list", "-deps", program).Output()
		if err != nil {
			t.Fatal(err)
		}
		for dep := range strings.Lines(string(out)) {
			for _, p := range unwanted {
				if dep = strings.TrimSpace(dep); dep == p || strings.HasPrefix(dep, p+"/") {
					t.Errorf("%s links %s", program, dep)
				}
			}
		}
	}
}

// TestRunewidth: go-runewidth comes in with the picker's library. Versions 0.0.26 and 0.0.27
// make tables at each start, which takes 25 to 60 ms.
func TestRunewidth(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/mattn/go-runewidth").Output()
	if err != nil {
		t.Fatal(err)
	}
	patch, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(string(out)), "v0.0."))
	if err != nil || patch < 31 {
		t.Errorf("go.mod selects go-runewidth %q, want v0.0.31 or later", out)
	}
}
