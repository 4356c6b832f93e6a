//go:build unix

package lifecycle

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// put writes a program of an event.
func put(t *testing.T, root, name, text string, mode os.FileMode) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(Dir), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
}

// TestRun: in order, with what happened on standard input and in the environment;
// what fails is told and stops nothing; what is no program is left alone.
func TestRun(t *testing.T) {
	root := t.TempDir()
	out := filepath.Join(root, "out")
	put(t, root, "session-end.d/20-last", "#!/bin/sh\ncat >>"+out+"\necho \"$CORTEXT_EVENT $CORTEXT_SESSION $CORTEXT_FOLDER\" >>"+out+"\n", 0o755)
	put(t, root, "session-end.d/10-first", "#!/bin/sh\necho first >>"+out+"\necho broken >&2\nexit 3\n", 0o755)
	for name, mode := range map[string]os.FileMode{"README.md": 0o644, ".hidden": 0o755, "x~": 0o755, "x.sample": 0o755} {
		put(t, root, "session-end.d/"+name, "#!/bin/sh\necho "+name+" >>"+out+"\n", mode)
	}
	put(t, root, "session-start.d/other", "#!/bin/sh\necho other >>"+out+"\n", 0o755)
	e := Event{Event: End, Session: "01ABC", Folder: "/w/x"}
	r := RegisterIn(t.TempDir())
	if failed := Run(t.Context(), r, root, e); len(failed) != 1 || !errors.Is(failed[0], ErrNotAllowed) {
		t.Errorf("not allowed: %v", failed)
	}
	print, err := Fingerprint(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Allow(root, print); err != nil {
		t.Fatal(err)
	}
	failed := Run(t.Context(), r, root, e)
	if len(failed) != 1 || !strings.Contains(failed[0].Error(), "10-first: exit status 3: broken") {
		t.Errorf("failed: %v", failed)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	var got Event
	if len(lines) != 3 || lines[0] != "first" || json.Unmarshal([]byte(lines[1]), &got) != nil || got != e || lines[2] != "session-end 01ABC /w/x" {
		t.Errorf("it said %q", lines)
	}
	if list, err := Programs(root); err != nil || !slices.Equal(list, []string{"session-start.d/other", "session-end.d/10-first", "session-end.d/20-last"}) {
		t.Errorf("programs %q, %v", list, err)
	}
}

// TestAllows: nothing is allowed by itself, and what was allowed is not any more
// once a program has changed or come.
func TestAllows(t *testing.T) {
	root, r := t.TempDir(), RegisterIn(t.TempDir())
	is := func(yes, any bool) {
		t.Helper()
		if y, a, err := r.Allows(root); y != yes || a != any || err != nil {
			t.Errorf("allowed %t, any %t, %v", y, a, err)
		}
	}
	is(false, false)
	put(t, root, "session-end.d/a", "#!/bin/sh\n", 0o755)
	is(false, true)
	allow := func(yes bool) {
		t.Helper()
		print := ""
		if yes {
			var err error
			if print, err = Fingerprint(root); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Allow(root, print); err != nil {
			t.Fatal(err)
		}
	}
	allow(true)
	is(true, true)
	put(t, root, "session-end.d/a", "#!/bin/sh\ntrue\n", 0o755)
	is(false, true)
	allow(true)
	is(true, true)
	put(t, root, "session-message.d/b", "#!/bin/sh\n", 0o755)
	is(false, true)
	allow(true)
	put(t, root, "lib.sh", "true\n", 0o644) // a program may read it
	is(false, true)
	allow(true)
	allow(false)
	is(false, true)
	if info, err := os.Stat(r.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(r.File, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Allows(root); err == nil || !strings.Contains(err.Error(), r.File) {
		t.Errorf("a damaged register: %v", err)
	}
}

// TestNoHome: a register that lies in the work tree is nobody's word.
func TestNoHome(t *testing.T) {
	root := t.TempDir()
	put(t, root, "session-end.d/a", "#!/bin/sh\n", 0o755)
	if yes, _, err := (RegisterIn(".local/state")).Allows(root); yes || err == nil {
		t.Errorf("allowed %t, %v", yes, err)
	}
}
