//go:build unix

package agenttest

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var shapeFile = flag.String("shape", "", "write what a test named …Shape sees to this file")

// shape is the set of things an agent records and sends in a turn: a line for each kind
// of record, each of its members, and each tool. With -shape it is written to a file, to
// be compared with that of another version: see scripts/newest-agents.sh.
type shape map[string]bool

// object notes the kind and members of the object.
func (seen shape) object(t *testing.T, kind string, object []byte) {
	t.Helper()
	seen[kind] = true
	for name := range members(t, object) {
		seen[kind+" "+name] = true
	}
}

// requests notes the tools and members of the main requests.
func (seen shape) requests(t *testing.T, s *Server) {
	t.Helper()
	for _, r := range s.Main() {
		for _, name := range r.Tools {
			seen["request tool "+name] = true
		}
		for name := range members(t, r.Raw) {
			seen["request member "+name] = true
		}
	}
}

// finish reports what is missing, and writes the shape to a file if -shape is given.
func (seen shape) finish(t *testing.T, want ...string) {
	t.Helper()
	for _, line := range want {
		if !seen[line] {
			t.Errorf("there is no %s", line)
		}
	}
	lines := strings.Join(slices.Sorted(maps.Keys(seen)), "\n") + "\n"
	if t.Failed() {
		t.Logf("there are\n%s", lines)
	}
	if *shapeFile != "" {
		if err := os.WriteFile(*shapeFile, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func members(t *testing.T, object []byte) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(object, &m); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	return m
}

// word returns the text of the object's member, or "" if it is missing.
func word(t *testing.T, object []byte, name string) (text string) {
	t.Helper()
	if raw := members(t, object)[name]; raw != nil {
		if err := json.Unmarshal(raw, &text); err != nil {
			t.Fatalf("%s: %v: %s", name, err, object)
		}
	}
	return text
}

// homeOf returns the home folder that the command runs with.
func homeOf(cmd *exec.Cmd) (dir string) {
	for _, v := range cmd.Env {
		if value, ok := strings.CutPrefix(v, "HOME="); ok {
			dir = value
		}
	}
	return dir
}

// only returns the content of the single file that matches the pattern.
func only(t *testing.T, pattern string) []byte {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %q, %v", pattern, names, err)
	}
	raw, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
