package inject

import (
	"context"
	"fmt"
	"os/exec"
	"time"
)

// A Version is the version of an agent's program.
type Version [3]int

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// AtLeast reports whether v is w or later.
func (v Version) AtLeast(w Version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] > w[i]
		}
	}
	return true
}

// ParseVersion reads the version at the beginning of s and ignores what follows:
// "2.1.329 (Claude Code)".
func ParseVersion(s string) (v Version, ok bool) {
	_, err := fmt.Sscanf(s, "%d.%d.%d", &v[0], &v[1], &v[2])
	return v, err == nil
}

// probeTime limits the wait for a version. Claude Code 2.1.329 answers after 0.2 s,
// OpenCode 1.18.33 after 1 s, Gemini CLI 0.61.0 after 2 s.
const probeTime = 60 * time.Second

// ProbeVersion asks an agent's program for its version. variable is the environment
// variable in which the user may name another program.
func ProbeVersion(program, agent, variable string) (Version, error) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return Version{}, fmt.Errorf("%s --version: %w", program, err)
	}
	v, ok := ParseVersion(string(out))
	if !ok {
		return Version{}, fmt.Errorf("%s --version says %.60q: is it %s? name the right program in %s", program, out, agent, variable)
	}
	return v, nil
}
