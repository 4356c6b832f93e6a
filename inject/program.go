package inject

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// A Program describes how to find and run an agent's program.
type Program struct {
	Product  string // "Claude Code"
	Command  string // "claude": what to look for on the PATH
	Variable string // "CORTEXT_CLAUDE": the environment variable that may name another program
	Package  string // "@anthropic-ai/claude-code": its package in npm
}

// Find returns the absolute path of the program that the user named, else of the one on
// the PATH. The error is a [PreflightError].
func (p Program) Find(m Machine) (string, error) {
	name := cmp.Or(m.Getenv(p.Variable), p.Command)
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", &PreflightError{Agent: p.Product, What: fmt.Sprintf("the program %q is not on this machine's PATH", name), Missing: true,
			Fix: "run npm install -g " + p.Package + ", or set " + p.Variable + " to its path; cortext resume --print writes the payload for any agent"}
	}
	return path, nil
}

// Unready returns the error for a program that the user has to set up first: what is
// missing and how to fix it.
func (p Program) Unready(what, fix string) error {
	return &PreflightError{Agent: p.Product, What: what, Fix: fix}
}

// IsOnPath reports whether a program is on this machine's PATH.
func IsOnPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

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

// Version asks the program at path for its version.
func (p Program) Version(path string) (Version, error) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	cmd, err := CommandOf(ctx, path, "--version")
	if err != nil {
		return Version{}, err
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return Version{}, fmt.Errorf("%s --version: %w", path, err)
	}
	v, ok := ParseVersion(string(out))
	if !ok {
		return Version{}, fmt.Errorf("%s --version says %.60q: is it %s? name the right program in %s", path, out, p.Product, p.Variable)
	}
	return v, nil
}

// Run runs a program in a folder and returns what it writes to standard error.
func Run(ctx context.Context, dir, path string, args ...string) (stderr string, err error) {
	var out bytes.Buffer
	cmd, err := CommandOf(ctx, path, args...)
	if err != nil {
		return "", err
	}
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = dir, &out, time.Second
	err = cmd.Run()
	return out.String(), err
}
