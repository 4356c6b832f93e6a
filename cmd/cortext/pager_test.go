//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPager: on a terminal long output goes through the user's pager, unless it is turned
// off. In a pipe it never does. It is not an error if the user leaves the pager early.
func TestPager(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	must(t, "-C", dir, "new", "plan", "first topic")
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	less := t.TempDir()
	if err := os.WriteFile(filepath.Join(less, "less"), []byte("#!/bin/sh\nsed s/^/PAGED:/\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	withLess := `unset PAGER CORTEXT_PAGER; PATH="` + less + `:$PATH"; `
	for _, c := range []struct {
		command string
		paged   bool
	}{
		{withLess + `TERM=xterm "$0" list`, true},
		{withLess + `TERM=dumb "$0" list`, false},
		{`TERM=dumb PAGER="sed s/^/PAGED:/" "$0" list`, true},
		{`CORTEXT_PAGER="sed s/^/PAGED:/" "$0" list`, true},
		{`CORTEXT_PAGER= PAGER="sed s/^/PAGED:/" "$0" list`, false},
		{`PAGER="sed s/^/PAGED:/" "$0" show topic`, true},
		{`PAGER="sed s/^/PAGED:/" "$0" help list`, true},
		{`PAGER="sed s/^/PAGED:/" "$0" --no-pager list`, false},
		{`PAGER="sed s/^/PAGED:/" "$0" list --no-pager`, false},
		{`PAGER=cat "$0" list`, false},
		{`PAGER="sed s/^/PAGED:/" "$0" list | cat`, false},
		{`PAGER="head -c 1" "$0" help list; echo PAGED:topic:$?`, true},
		{`PAGER=/nowhere/pager "$0" list`, false},
		{`PAGER='"unclosed' "$0" list`, false},
	} {
		term := commandInTerminal(t, dir, exec.Command("sh", "-c", c.command+`; echo "code $?"`, filepath.Join(bin, "cortext")))
		if err := term.WaitFor("code 0", patience); err != nil {
			t.Errorf("%s: %v\n%s", c.command, err, term.Screen())
			continue
		}
		if screen := term.Screen(); strings.Contains(screen, "PAGED:") != c.paged || !strings.Contains(screen, "topic") && !strings.Contains(screen, "conversations") {
			t.Errorf("%s:\n%s", c.command, screen)
		}
	}
}

// TestBare: in a workspace, cortext alone asks which conversation to resume; elsewhere it
// prints its help.
func TestBare(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	must(t, "-C", dir, "new", "plan", "first topic")
	must(t, "-C", dir, "new", "plan", "second topic")
	for _, args := range [][]string{nil, {"-r"}, {"chat"}, {"-r", "topic"}} {
		term := inTerminal(t, dir, args...)
		if err := term.WaitFor("second topic", patience); err != nil {
			t.Errorf("%q: %v\n%s", args, err, term.Screen())
		}
		_ = term.Key("C-c")
		_ = term.Wait()
	}
	term := inTerminal(t, t.TempDir(), "--no-pager", "--help")
	if err := term.WaitFor("Global flags", patience); err != nil {
		t.Errorf("%v\n%s", err, term.Screen())
	}
}

// TestNoColor: on a terminal, list, search and show print their headings in bold, unless
// NO_COLOR is set.
func TestNoColor(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	transcript := filepath.Join(dir, "one.jsonl")
	if err := os.WriteFile(transcript, []byte(transcriptOf(1)), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "-C", dir, "import", transcript, "--title", "first topic")
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"list --limit 3", "search handler1", "show topic"} {
		for _, set := range []string{"", "NO_COLOR=1 "} {
			term := commandInTerminal(t, dir, exec.Command("sh", "-c", set+`PAGER=cat "$0" `+args+`; echo "code $?"`, filepath.Join(bin, "cortext")))
			if err := term.WaitFor("code 0", patience); err != nil {
				t.Errorf("%s%s: %v\n%s", set, args, err, term.Screen())
				continue
			}
			plain := true
			base := term.Cells()[29][119] // nothing is printed there
			for _, line := range term.Cells() {
				for _, c := range line {
					plain = plain && !c.Bold && c.Foreground == base.Foreground && c.Background == base.Background
				}
			}
			if plain != (set != "") {
				t.Errorf("%s%s: plain is %t\n%s", set, args, plain, term.Screen())
			}
		}
	}
}

// TestJSONInTerminal: JSON that is printed on a terminal does not control it. In a pipe, it is as
// always.
func TestJSONInTerminal(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	must(t, "-C", dir, "new", "plan", "first topic")
	retitle(t, dir, "first topic", "first \u009b31mtopic\u202e")
	for _, args := range [][]string{{"list", "--json"}, {"current", "--json"}} {
		term := inTerminal(t, dir, append(args, "--no-pager")...)
		if err := term.WaitFor(`first \u009b31mtopic\u202e`, patience); err != nil {
			t.Errorf("%q: %v\n%s", args, err, term.Screen())
		}
		if out := must(t, append([]string{"-C", dir}, args...)...); !strings.Contains(out, "first \u009b31mtopic\u202e") {
			t.Errorf("%q in a pipe: %s", args, out)
		}
	}
}
