package main

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "make testdata/workspace again")

// TestWorkspace makes the workspace of the README's first command from its
// transcript and compares it with what is in testdata.
func TestWorkspace(t *testing.T) {
	const fixture = "../../testdata/workspace"
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	transcript, err := filepath.Abs("../../testdata/agents/claude/2.1.329/brainstorm/transcript.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	must(t, "-C", dir, "import", transcript)
	if err := os.RemoveAll(filepath.Join(dir, ".workspace/local")); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.RemoveAll(fixture); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(fixture, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	want, got := tree(t, fixture), tree(t, dir)
	if !slices.Equal(keys(want), keys(got)) {
		t.Fatalf("files %q, want %q", keys(got), keys(want))
	}
	for name, text := range got {
		if text != want[name] {
			t.Errorf("%s differs (go test ./cmd/cortext -run Workspace -update makes it again):\n%s", name, text)
		}
	}
	// Two commands that read, and no trace of them.
	must(t, "-C", fixture, "resume", "api design", "--print")
	must(t, "-C", fixture, "show", "api design")
	if after := tree(t, fixture); !slices.Equal(keys(want), keys(after)) {
		t.Errorf("reading left files behind: %q", keys(after))
	}
}

// tree returns the files below root, but for those that git does not see.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "local" {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func keys(m map[string]string) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
