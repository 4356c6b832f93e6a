//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExamples: the help of each main command has at least three examples, and each
// example does what it shows, as far as it starts no agent.
func TestExamples(t *testing.T) {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for _, name := range []string{"new", "list", "show", "resume", "chat", "context", "status", "stop", "sync"} {
		_, list, ok := strings.Cut(must(t, "help", name), "\nExamples:\n")
		examples := strings.Split(strings.TrimSpace(list), "\n")
		if !ok || len(examples) < 3 {
			t.Errorf("%s: %d examples", name, len(examples))
		}
		dir := filepath.Join(t.TempDir(), "w")
		if err := os.CopyFS(dir, os.DirFS("../../testdata/workspace")); err != nil {
			t.Fatal(err)
		}
		must(t, "-C", dir, "status", "api design", "active")
		client := filepath.Join(filepath.Dir(dir), "client") // ../client in an example
		if err := os.Mkdir(client, 0o700); err != nil {
			t.Fatal(err)
		}
		must(t, "-C", client, "init")
		for _, example := range examples {
			cmd := exec.Command("sh", "-c", example)
			cmd.Dir = dir
			cmd.Env = []string{"HOME=" + home, "PATH=" + bin + ":/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1", "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}
			out, err := cmd.CombinedOutput()
			starts := (name == "resume" || name == "chat") && !regexp.MustCompile(`--(print|list|dry-run)`).MatchString(example)
			if starts && regexp.MustCompile(`there is no terminal|is not on this machine's PATH`).Match(out) {
				continue
			}
			if err != nil || starts {
				t.Errorf("%s: %v\n%s", example, err, out)
			}
		}
	}
}

// TestManual: there is a page for each command in the help, and man formats it without a
// complaint.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	must(t, "man", dir)
	names := []string{"cortext"}
	for _, row := range helpRows(t) {
		names = append(names, "cortext-"+row[1])
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) != len(names) {
		t.Errorf("%d pages for %d names, %v", len(pages), len(names), err)
	}
	for _, name := range names {
		page := filepath.Join(dir, name+".1")
		text, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, part := range []string{".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH OPTIONS\n", ".SH EXAMPLES\n", `\-\-no\-pager`} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s lacks %q", name, part)
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "cortext-config.1")); err != nil || strings.Count(string(text), "\n.B cortext config ") != 6 {
		t.Errorf("the page of config does not show its two forms and four commands: %v\n%s", err, text)
	}
	t.Run("groff", func(t *testing.T) {
		groff := installed(t, "groff")
		for _, page := range pages {
			if out, err := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z", page).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: %v\n%s", page, err, out)
			}
		}
	})
}
