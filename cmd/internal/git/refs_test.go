package git

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExcluded: the lines come and go, and nothing else in the file changes.
func TestExcluded(t *testing.T) {
	r := newRepo(t)
	file := filepath.Join(r.root, ".git", "info", "exclude")
	for _, before := range []string{"", "# mine\n/a/\n*.o", "/a/\n\n# x\n", "\n"} {
		if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		var with [2]string
		for i := range with {
			if err := SetExcluded(r.root, "ours", []string{"/a/", "/b/"}); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(file)
			if with[i] = string(b); err != nil {
				t.Fatal(err)
			}
		}
		r.write("b/x", "x")
		if out := r.git("status", "--porcelain"); out != "" || with[0] != with[1] {
			t.Errorf("%q: %q, then %q; status %q", before, with[0], with[1], out)
		}
		if err := os.WriteFile(file, append([]byte(with[1]), "/later\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := SetExcluded(r.root, "ours", nil); err != nil {
			t.Fatal(err)
		}
		want := before
		if before != "" && before[len(before)-1] != '\n' {
			want += "\n"
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != want+"/later\n" {
			t.Errorf("%q became %q, %v", before, b, err)
		}
	}
}
