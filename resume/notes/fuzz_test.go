package notes

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
)

// checkLine fails unless s is one line of at most n runes that is safe for a
// terminal.
func checkLine(t *testing.T, what, s string, n int) {
	t.Helper()
	switch {
	case !utf8.ValidString(s):
		t.Fatalf("%s is not UTF-8: %q", what, s)
	case utf8.RuneCountInString(s) > n:
		t.Fatalf("%s has %d runes: %q", what, utf8.RuneCountInString(s), s)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || invisible(r) }):
		t.Fatalf("%s is no plain line: %q", what, s)
	case s != strings.TrimSpace(s):
		t.Fatalf("%s has space around it: %q", what, s)
	}
}

// FuzzNotes reads a conversation from its input: one message per paragraph, which
// begins with u, a, s or t (an answer that then calls a tool).
func FuzzNotes(f *testing.F) {
	f.Add("u/workspace.plan the move\x01aWhich one?\n\n1. this\n2. **that**\x01u2\x01aDone. All tests pass.\x01u/exit")
	f.Add("ulet's go with `x`\x01tLet me run it:\x01s[Request interrupted by user]\x01aNo response requested.")
	f.Add("u```\ncode\x01a> quoted \"we decided\" <b>x</b> [a](b) ![c](d) \x1b[0m\u202e\xff\x01uyes")
	f.Add("uHi\x01aAPI Error: 500\x01a# H\n- [ ] a:\n  b\n| t |\x01s<task-notification>\x01aok\x01uwhy?")
	f.Add("u/wor\nr. m .. Alksp\x01a")
	f.Add("u:\nN\n::\nN\x01\x00:\n:")
	f.Fuzz(func(t *testing.T, conversation string) {
		h := schema.History{Tools: map[string]schema.Tool{}}
		for _, part := range strings.Split(conversation, "\x01") {
			if part == "" {
				continue
			}
			m := schema.Message{Role: schema.System, Content: part[1:]}
			switch part[0] {
			case 'u':
				m.Role = schema.User
			case 'a':
				m.Role = schema.Assistant
			case 't':
				m.Role = schema.Assistant
				m.ToolCalls = []schema.ToolCall{{ID: "q", Name: "AskUserQuestion"}}
				h.Tools["q"] = schema.Tool{ID: "q", Name: "AskUserQuestion", Input: schema.Raw(part[1:]), Output: part}
			}
			h.Messages = append(h.Messages, m)
		}
		title := Title(h.Messages)
		checkLine(t, "title", title, maxTitle)
		if title == "" {
			t.Fatal("no title")
		}
		checkLine(t, "description", Description(h.Messages), maxDescription)
		summary := Summary(h)
		checkLine(t, "summary", summary, maxSummary)
		if again := Summary(h); again != summary || Title(h.Messages) != title {
			t.Fatalf("two summaries: %q, %q", summary, again)
		}
	})
}

func FuzzPlan(f *testing.F) {
	f.Add("TodoWrite", `{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"cancelled"}]}`, "", "TaskCreate", `{"subject":"x"}`, "Task #1 created successfully")
	f.Add("TaskCreate", `{"subject":"x","description":"y"}`, "Task #99999999999999999999999 created", "TaskUpdate", `{"taskId":1,"status":"deleted"}`, "")
	f.Add("write_todos", `{"todos":[{"description":"\ud800a\u0000"}]}`, "", "todowrite", `{"todos":[]`, "x")
	f.Fuzz(func(t *testing.T, name1, input1, output1, name2, input2, output2 string) {
		p := Plan([]schema.Tool{
			{ID: "1", Name: name1, Input: schema.Raw(input1), Output: output1},
			{ID: "2", Name: name2, Input: schema.Raw(input2), Output: output2},
		})
		if p == nil {
			return
		}
		if len(p.Steps) == 0 || p.Current < 0 || p.Current >= len(p.Steps) {
			t.Fatalf("step %d of %d", p.Current, len(p.Steps))
		}
		open := false
		for _, s := range p.Steps {
			checkLine(t, "step", s.Content, maxStep)
			if s.Content == "" {
				t.Fatal("an empty step")
			}
			switch s.Status {
			case pendingStep, inProgress:
				open = true
			case completed:
			default:
				t.Fatalf("status %q", s.Status)
			}
		}
		if p.Awaiting != open {
			t.Fatalf("awaiting %v, open %v", p.Awaiting, open)
		}
	})
}

func BenchmarkSummary(b *testing.B) {
	var h schema.History
	for range 2000 {
		h.Messages = append(h.Messages, talk("u: Now the next file, please.", "a: Fixed the timeout in `upload.go`.\n\n"+strings.Repeat("It was in seconds where the library wants milliseconds. ", 40)+"\n\n- one\n- two\n\nAll tests pass.")...)
	}
	for b.Loop() {
		Summary(h)
	}
}
