//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPushInTerminal: on a terminal, git itself shows the user why a push failed. cortext does
// not repeat it, nor does it call Ctrl-C an error.
func TestPushInTerminal(t *testing.T) {
	d := newDesk(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = d.dir, d.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	remote := filepath.Join(t.TempDir(), "remote.git")
	git("init", "--quiet", "--bare", remote)
	git("init", "--quiet", "--initial-branch=main")
	d.run("init") // again, for the merge driver
	git("add", "--all")
	git("commit", "--quiet", "--message=one")
	git("remote", "add", "origin", remote)
	git("push", "--quiet", "--set-upstream", "origin", "main")
	git("commit", "--quiet", "--allow-empty", "--message=two")
	hook := "#!/bin/sh\necho main is protected\nexit 1\n"
	d.must(os.WriteFile(filepath.Join(remote, "hooks/pre-receive"), []byte(hook), 0o755))

	term := commandInTerminal(t, d.dir, exec.Command("/usr/bin/env", "HOME="+d.home, "GIT_CONFIG_GLOBAL=/dev/null", filepath.Join(binDir, "cortext"), "push"))
	if err := term.WaitFor("cortext: error: git failed, as it says above", patience); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(term.Screen(), "main is protected"); n != 1 {
		t.Errorf("the reason is there %d times:\n%s", n, term.Screen())
	}

	git("config", "ssh.variant", "ssh")
	git("config", "core.sshCommand", "echo asking >&2; sleep 60; :")
	git("remote", "set-url", "origin", "ssh://example.invalid/app.git")
	term = commandInTerminal(t, d.dir, exec.Command("/usr/bin/env", "HOME="+d.home, "GIT_CONFIG_GLOBAL=/dev/null", filepath.Join(binDir, "cortext"), "push"))
	if err := term.WaitFor("asking", patience); err != nil {
		t.Fatal(err)
	}
	d.must(term.Key("C-c"))
	var exit *exec.ExitError
	if err := term.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitINT {
		t.Errorf("Ctrl-C: %v", err)
	}
	if strings.Contains(term.Screen(), "error") {
		t.Errorf("Ctrl-C is called an error:\n%s", term.Screen())
	}
}
