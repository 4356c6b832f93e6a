package registry

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWorkspaces: a workspace is remembered once, and left out when it is gone or the file
// about it is damaged.
func TestWorkspaces(t *testing.T) {
	state := t.TempDir()
	r := In(state)
	if dirs := r.Workspaces.Seen(); len(dirs) > 0 {
		t.Errorf("at first there are %q", dirs)
	}
	var want []string
	for _, name := range []string{"b", "a", "gone"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(filepath.Join(dir, ".workspace"), 0o700); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := r.Workspaces.See(At(dir)); err != nil {
				t.Fatal(err)
			}
		}
		if name == "gone" {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want = append(want, dir)
	}
	files, err := filepath.Glob(filepath.Join(state, "cortext/workspaces/*.json"))
	if err != nil || len(files) != 3 {
		t.Errorf("%q, %v", files, err)
	}
	for _, text := range []string{"{", `{"workspace":"relative"}`, ""} {
		if err := os.WriteFile(filepath.Join(state, "cortext/workspaces/x.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		if got := r.Workspaces.Seen(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if In("").Workspaces.Seen() != nil || In("").Workspaces.See(At("/w")) == nil {
		t.Error("without a state folder something is remembered")
	}
}

// TestTwoPaths: a folder that two paths lead to, as with a mount or where case is ignored, is
// one workspace.
func TestTwoPaths(t *testing.T) {
	r, dir := In(t.TempDir()), t.TempDir()
	a, b, second := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "second")
	for _, w := range []string{a, b} {
		if err := os.MkdirAll(filepath.Join(w, ".workspace"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(b, second); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{second, a, b} {
		if err := r.Workspaces.See(At(w)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ got, want []string }{
		{r.Workspaces.Seen(), []string{a, b}},
		{r.Workspaces.Others(second), []string{a}},
		{r.Workspaces.Others(a), []string{b}},
		{r.Workspaces.Others(dir), []string{a, b}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
