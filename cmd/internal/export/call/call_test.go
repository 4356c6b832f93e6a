package call

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"cortext/schema"
)

func TestDescribe(t *testing.T) {
	yes, no, code := true, false, 2
	for _, c := range []struct {
		tool                    schema.Tool
		argument, outcome, file string
		result                  Result
	}{
		{schema.Tool{Name: "Edit", Input: schema.Raw(`{"file_path":"/p/a.go","old_string":"a\nb","new_string":"a\nc\nd"}`), Output: "ok", Success: &yes}, "a.go", "+2 −1", "a.go", Done},
		{schema.Tool{Name: "edit", Input: schema.Raw(`{"filePath":"/q/a.go","oldString":"a","newString":""}`), Output: "ok", Success: &yes}, "/q/a.go", "−1", "/q/a.go", Done},
		{schema.Tool{Name: "MultiEdit", Input: schema.Raw(`{"file_path":"x","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"}]}`), Output: "ok", Success: &yes}, "x", "+2 −2", "x", Done},
		{schema.Tool{Name: "write_file", Input: schema.Raw(`{"file_path":"x","content":"a\nb\n"}`), Output: "ok", Success: &yes}, "x", "+2", "x", Done},
		{schema.Tool{Name: "apply_patch", Input: schema.Raw(`{"patchText":"*** Begin Patch\n*** Update File: b.go\n@@\n-x\n+y\n+z\n*** End Patch"}`), Success: &yes}, "b.go", "+2 −1", "b.go", Done},
		{schema.Tool{Name: "Bash", Input: schema.Raw(`{"command":"ls\n-l"}`), Output: "a\nb\nc", Success: &yes}, "ls -l", "3 lines", "", Done},
		{schema.Tool{Name: "Bash", Input: schema.Raw(`{"command":"x"}`), Output: "", Success: &no, ExitCode: &code}, "x", "exit code 2", "", Failed},
		{schema.Tool{Name: "Grep", Input: schema.Raw(`{"pattern":"a.*b","path":"/p/src"}`), Output: "one", Success: &yes}, "a.*b", "one", "src", Done},
		{schema.Tool{Name: "mcp__x", Input: schema.Raw(`{"q":"word","n":1}`)}, "word", "no result", "", None},
		{schema.Tool{Name: "odd", Input: schema.Raw(`[1]`), Success: &yes}, "", "no output", "", Done},
	} {
		got := Describe(&c.tool, "/p")
		if got.Argument != c.argument || got.Outcome != c.outcome || got.File != c.file || got.Result != c.result {
			t.Errorf("%s %s: %+v", c.tool.Name, c.tool.Input, got)
		}
	}
}

// TestDiff: the lines of a diff are those of the two texts, in order.
func TestDiff(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 5))
	text := func() string {
		var b strings.Builder
		for range r.IntN(12) {
			fmt.Fprintf(&b, "%c\n", 'a'+r.IntN(4))
		}
		return b.String()
	}
	for range 2000 {
		before, after := text(), text()
		var old, changed []string
		a, b := split(before), split(after)
		for _, l := range changes(a, b, 0) {
			if l.Op != '+' {
				old = append(old, l.Text)
			}
			if l.Op != '-' {
				changed = append(changed, l.Text)
			}
		}
		if strings.Join(old, "\n") != strings.Join(a, "\n") || strings.Join(changed, "\n") != strings.Join(b, "\n") {
			t.Fatalf("%q and %q: %q, %q", before, after, old, changed)
		}
		for _, h := range diff(before, after) {
			for _, l := range h {
				if l.Before >= 0 && a[l.Before] != l.Text || l.New >= 0 && b[l.New] != l.Text {
					t.Fatalf("%q and %q: %+v", before, after, l)
				}
			}
		}
	}
	if len(diff("same\n", "same\n")) != 0 {
		t.Error("equal texts differ")
	}
}

func TestRoot(t *testing.T) {
	tools := map[string]schema.Tool{}
	for i, file := range []string{"/home/x/p/a.go", "/home/x/p/b/c.go", "/home/x/p/b/d.go", "/home/x/p/e.go", "/etc/hosts", "rel.go"} {
		tools[fmt.Sprint(i)] = schema.Tool{Input: schema.Raw(fmt.Sprintf(`{"file_path":%q}`, file))}
	}
	if got := Root(tools); got != "/home/x/p" {
		t.Errorf("root %q", got)
	}
}
