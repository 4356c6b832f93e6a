package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestStart: our packages initialize almost nothing when a program starts, whatever the
// command. What is not always needed, such as a regular expression or a large map, is
// built at its first use.
func TestStart(t *testing.T) {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	const most = 10 // allocations per package
	line := regexp.MustCompile(`(?m)^init (cortext/\S+) .* (\d+) allocs$`)
	for _, program := range []string{"cortext", "cortext-hook", "cortext-opencode"} {
		args := []string{"version"} // for cortext-hook this is a call without an event
		if program == "cortext-opencode" {
			args = []string{"hook", "none", "none"}
		}
		cmd := exec.Command(filepath.Join(bin, program), args...)
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		packages := line.FindAllSubmatch(out, -1)
		if len(packages) == 0 {
			t.Errorf("%s: the runtime does not tell what its packages set up\n%s", program, out)
		}
		for _, p := range packages {
			if n, err := strconv.Atoi(string(p[2])); err != nil || n > most {
				t.Errorf("%s: %s makes %s allocations in each start, want at most %d", program, p[1], p[2], most)
			}
		}
	}
}
