package notes

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"cortext/schema"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

// A lineReader makes a history from lines: "u: …", "a: …", "s: …", and calls of the
// agent's last message, "t: Tool {input} -> outcome | output", with the outcome ok,
// no (failed), ? (none) or an exit code.
type lineReader struct {
	h schema.History
	n int
}

func historyOf(lines ...string) schema.History {
	t := lineReader{h: schema.History{Tools: map[string]schema.Tool{}}}
	for _, l := range lines {
		t.line(l)
	}
	return t.h
}

func (t *lineReader) line(l string) {
	rest, ok := strings.CutPrefix(l, "t: ")
	if !ok {
		t.n++
		m := talk(l)[0]
		m.ID = fmt.Sprint("m", t.n)
		t.h.Messages = append(t.h.Messages, m)
		return
	}
	call, rest, _ := strings.Cut(rest, " -> ")
	result, output, _ := strings.Cut(rest, " | ")
	name, input, _ := strings.Cut(call, " ")
	if len(t.h.Messages) == 0 || t.h.Messages[len(t.h.Messages)-1].Role != schema.Assistant {
		t.line("a: ")
	}
	m := &t.h.Messages[len(t.h.Messages)-1]
	x := schema.Tool{ID: fmt.Sprint("c", len(t.h.Tools)), MessageID: m.ID, Name: name, Input: schema.Raw(input), Output: output}
	var code int
	switch result {
	case "ok":
		x.Success = yes()
	case "no":
		x.Success = no()
	case "?":
	default:
		if _, err := fmt.Sscan(result, &code); err != nil {
			panic(l)
		}
		x.ExitCode, x.Success = &code, yes()
		*x.Success = code == 0
	}
	m.ToolCalls = append(m.ToolCalls, schema.ToolCall{ID: x.ID, Name: name})
	t.h.Tools[x.ID] = x
}

// sh returns a shell call in the form that historyOf reads.
func sh(command, result, output string) string {
	b, _ := json.Marshal(map[string]string{"command": command})
	return "t: Bash " + string(b) + " -> " + result + " | " + output
}

// describe writes notes for a person.
func describe(s *Notes) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "version %d, %d messages\n", s.Version, s.Messages)
	note := func(what string, n Note) {
		if n.Text != "" {
			fmt.Fprintf(&sb, "%s %d %s: %s\n", what, n.Number, n.Message, n.Text)
		}
	}
	note("topic", s.Topic)
	for _, f := range s.Files {
		fmt.Fprintf(&sb, "%s %d %s x%d: %s\n", f.Action, f.Number, f.Message, f.Times, f.Path)
	}
	for _, c := range s.Commands {
		code := ""
		if c.ExitCode != nil {
			code = fmt.Sprintf(" (%d)", *c.ExitCode)
		}
		fmt.Fprintf(&sb, "%s%s %d %s: %s\n", c.Outcome, code, c.Number, c.Message, c.Line)
	}
	for _, list := range []struct {
		what  string
		notes []Note
	}{{"error", s.Errors}, {"decision", s.Decisions}} {
		for _, n := range list.notes {
			note(list.what, n)
		}
	}
	fmt.Fprintf(&sb, "plan %s\n", show(s.Plan))
	note("last user", s.LastUser)
	fmt.Fprintf(&sb, "summary %s\n", s.Summary())
	return sb.String()
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./resume/notes -update rewrites it):\n%s", file, got)
	}
}
