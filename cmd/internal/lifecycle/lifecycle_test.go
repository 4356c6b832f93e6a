//go:build unix

package lifecycle

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// put writes a program for an event.
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

// allow allows the current programs.
func allow(t *testing.T, r Register, root string) {
	t.Helper()
	hooks, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Allow(root, Trusted{Hooks: hooks}); err != nil {
		t.Fatal(err)
	}
}

// TestRun: programs run in order, with the event on standard input and in the
// environment. A failure is reported and stops nothing. Other files are left alone.
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
	if failed := Run(t.Context(), r, root, e); len(failed) != 1 || !errors.Is(failed[0], errNotAllowed) {
		t.Errorf("not allowed: %v", failed)
	}
	allow(t, r, root)
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
	if hooks, err := Read(root); err != nil || !slices.Equal(hooks.Programs(), []string{"session-start.d/other", "session-end.d/10-first", "session-end.d/20-last"}) {
		t.Errorf("programs %q, %v", hooks.Programs(), err)
	}
}

// TestAllows: nothing is allowed by default, and permission ends once a program is
// changed or added.
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
	allow(t, r, root)
	is(true, true)
	put(t, root, "session-end.d/a", "#!/bin/sh\ntrue\n", 0o755)
	is(false, true)
	allow(t, r, root)
	is(true, true)
	put(t, root, "session-message.d/b", "#!/bin/sh\n", 0o755)
	is(false, true)
	allow(t, r, root)
	put(t, root, "lib.sh", "true\n", 0o644) // a program may read it
	is(false, true)
	allow(t, r, root)
	put(t, root, "lib.sh", "true\n", 0o755) // the same bytes
	is(false, true)
	allow(t, r, root)
	is(true, true)
	if err := r.Revoke(root); err != nil {
		t.Fatal(err)
	}
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

// TestNoHome: a register in the work tree is not a decision of the user.
func TestNoHome(t *testing.T) {
	root := t.TempDir()
	put(t, root, "session-end.d/a", "#!/bin/sh\n", 0o755)
	if yes, _, err := (RegisterIn(".local/state")).Allows(root); yes || err == nil {
		t.Errorf("allowed %t, %v", yes, err)
	}
}

// TestOlderRegister: a workspace allowed by an older release must be allowed again; its
// entry stays in the file for other workspaces.
func TestOlderRegister(t *testing.T) {
	root, r := t.TempDir(), RegisterIn(t.TempDir())
	put(t, root, "session-end.d/a", "#!/bin/sh\n", 0o755)
	if err := os.MkdirAll(filepath.Dir(r.File), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.File, []byte(`{"`+root+`": "0123abcd", "/other": "4567"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if yes, any, err := r.Allows(root); yes || !any || err != nil {
		t.Errorf("allowed %t, any %t, %v", yes, any, err)
	}
	allow(t, r, root)
	if yes, _, err := r.Allows(root); !yes || err != nil {
		t.Errorf("allowed %t, %v", yes, err)
	}
	if b, err := os.ReadFile(r.File); err != nil || !strings.Contains(string(b), `"/other": "4567"`) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestLinks: a link anywhere between .workspace and a program, or a file beside one, is
// reported, and nothing runs, even if everything was allowed when it was a file.
func TestLinks(t *testing.T) {
	for _, name := range []string{".workspace", Dir, Dir + "/session-end.d", Dir + "/session-end.d/a", Dir + "/lib/data"} {
		root, r := t.TempDir(), RegisterIn(t.TempDir())
		ran := filepath.Join(root, "ran")
		put(t, root, "session-end.d/a", "#!/bin/sh\n: >"+ran+"\n", 0o755)
		put(t, root, "lib/data", "x", 0o644)
		allow(t, r, root)
		from, to := filepath.Join(root, filepath.FromSlash(name)), filepath.Join(root, "moved")
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
		var link *linkError
		if _, err := Read(root); !errors.As(err, &link) || link.Path != name {
			t.Errorf("%s: read: %v", name, err)
		}
		if yes, _, err := r.Allows(root); yes || !errors.As(err, &link) {
			t.Errorf("%s: allowed %t, %v", name, yes, err)
		}
		failed := Run(t.Context(), r, root, Event{Event: End})
		if len(failed) != 1 || !errors.As(failed[0], &link) || !strings.Contains(failed[0].Error(), name+" is a link") {
			t.Errorf("%s: run: %v", name, failed)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("%s: the program ran", name)
		}
	}
}

// TestLinkedWorkspace: the path to the workspace may have links.
func TestLinkedWorkspace(t *testing.T) {
	root, r := t.TempDir(), RegisterIn(t.TempDir())
	put(t, root, "session-end.d/a", "#!/bin/sh\n: >ran\n", 0o755)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	allow(t, r, link)
	if failed := Run(t.Context(), r, link, Event{Event: End}); len(failed) > 0 {
		t.Errorf("%v", failed)
	}
	if _, err := os.Stat(filepath.Join(root, "ran")); err != nil {
		t.Error(err)
	}
}

// TestSpecialFile: a pipe is neither read nor run.
func TestSpecialFile(t *testing.T) {
	root := t.TempDir()
	put(t, root, "session-end.d/a", "#!/bin/sh\n", 0o755)
	if err := syscall.Mkfifo(filepath.Join(root, filepath.FromSlash(Dir), "pipe"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(root); !errors.As(err, new(*linkError)) {
		t.Errorf("%v", err)
	}
}

// TestChangesWhileRunning: a program that changes the next one, adds one or revokes
// permission is the last to run.
func TestChangesWhileRunning(t *testing.T) {
	for what, script := range map[string]string{
		"changed": "echo '#!/bin/sh' >.workspace/hooks/session-end.d/2; echo ': >ran #' >>.workspace/hooks/session-end.d/2",
		"new":     "cp .workspace/hooks/session-end.d/1 .workspace/hooks/session-end.d/15",
		"beside":  "echo more >.workspace/hooks/lib.sh",
		"linked":  "mv .workspace/hooks/session-end.d/2 two; ln -s ../../../two .workspace/hooks/session-end.d/2",
	} {
		root, r := t.TempDir(), RegisterIn(t.TempDir())
		put(t, root, "session-end.d/1", "#!/bin/sh\n"+script+"\n", 0o755)
		put(t, root, "session-end.d/2", "#!/bin/sh\n: >ran\n", 0o755)
		allow(t, r, root)
		failed := Run(t.Context(), r, root, Event{Event: End})
		if len(failed) != 1 || !errors.Is(failed[0], errNotAllowed) {
			t.Errorf("%s: %v", what, failed)
		}
		if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
			t.Errorf("%s: the second program ran", what)
		}
	}
}

// TestMessageEvent: a program gets the id, role and count of messages, but only with that
// event. The variables of an event that we run in are not passed on.
func TestMessageEvent(t *testing.T) {
	root, r := t.TempDir(), RegisterIn(t.TempDir())
	script := "#!/bin/sh\ncat >>out\nenv | grep ^CORTEXT_MESSAGE | sort >>out\n"
	put(t, root, "session-message.d/a", script, 0o755)
	put(t, root, "session-end.d/a", script, 0o755)
	allow(t, r, root)
	t.Setenv("CORTEXT_MESSAGE_ID", "stale")
	for _, e := range []Event{{Event: Message, Session: "s", Folder: "/f", ID: "m2", Role: "assistant", Count: 2}, {Event: End, Session: "s", Folder: "/f"}} {
		if failed := Run(t.Context(), r, root, e); len(failed) > 0 {
			t.Fatal(failed)
		}
	}
	b, err := os.ReadFile(filepath.Join(root, "out"))
	want := `{"event":"session-message","session":"s","folder":"/f","id":"m2","role":"assistant","count":2}
CORTEXT_MESSAGE_COUNT=2
CORTEXT_MESSAGE_ID=m2
CORTEXT_MESSAGE_ROLE=assistant
{"event":"session-end","session":"s","folder":"/f"}
`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}
