package resume

import (
	"regexp"
	"strings"
	"testing"

	"cortext/resume/excerpt"
	"cortext/schema"
)

// marked returns a text with marks around spans.
func marked(text string, spans ...excerpt.Span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.From < s.To {
			b.WriteString(text[at:s.From] + "«" + text[s.From:s.To] + "»")
			at = s.To
		}
	}
	return b.String() + text[at:]
}

var unmarked = strings.NewReplacer("«", "", "»", "")

// TestReplaced checks that the text that an edit removed is found, unless it is short,
// and that nothing that only looks like it is.
func TestReplaced(t *testing.T) {
	long := strings.Repeat("old ", 30)
	for _, text := range []string{
		`{"file_path":"a","old_string":"«` + long + `\"x\\»","new_string":"y"}`,
		`{"filePath":"a","oldString":"«` + long + `»","newString":"y"}`,
		`{"edits":[{"old_string":"«` + long + `»","new_string":"y"},{"old_string":"short"},{"old_string":"«` + long + `»"}]}`,
		`{"content":"{\"old_string\":\"` + long + `\"}"}`,
		`{"old_string":"«` + long + `»`,
		`{"file_path":"a"}`,
	} {
		bare := unmarked.Replace(text)
		if got := marked(bare, replacedSpans(bare)...); got != text {
			t.Errorf("got %s\nwant %s", got, text)
		}
	}
}

// removed matches text between marks.
var removed = regexp.MustCompile("(?s)«.*?»")

// TestEnvelope checks which of an agent's additions to an output are removed.
func TestEnvelope(t *testing.T) {
	for _, text := range []string{
		"«Command: ls\nDirectory: (root)\n»Output: a\nb\n«Error: (none)\nExit Code: 0\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 7»",
		"«Command: ls\nwc\nDirectory: x\n»Output: a\nError: no\nExit Code: 1\n«Signal: (none)»",
		"«Command: ls\nDirectory: (root)\n»Output: Error: (none)\n«Error: (none)»",
		"Command: ls\n«Exit Code: 0\n»",
		"Command: ls\nDirectory: x\n«Error: (none)\n»",
		"total 0\nError: (none)",
		"Command: ",
		"     9→}\n«\n<system-reminder>\nWhenever you read a file, you should consider this.\n</system-reminder>\n»",
		"text\n\n<system-reminder>\nPostToolUse:Edit hook additional context: does not compile\n</system-reminder>\n",
		"«" + refusal + "»To tell you how to proceed, the user said:\nrebase first",
		"«" + refusal + refusalAdvice + "»",
	} {
		bare, want := unmarked.Replace(text), removed.ReplaceAllString(text, "")
		if got := withoutEnvelope(bare); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}

// TestFailureIsQuoted checks that any excerpt of a failed call includes the line that
// says why, and that an excerpt of an edit has the new text rather than the removed
// one.
func TestFailureIsQuoted(t *testing.T) {
	s, h, o := long(100)
	no := false
	call := func(i int, id, name, input, output string, ok *bool) {
		m := &h.Messages[i]
		m.Role, m.Content, m.ToolCalls = schema.Assistant, "", []schema.ToolCall{{ID: id, Name: name}}
		if h.Tools == nil {
			h.Tools = map[string]schema.Tool{}
		}
		h.Tools[id] = schema.Tool{ID: id, MessageID: m.ID, Name: name, Input: schema.Raw(input), Output: output, Success: ok}
	}
	noise := strings.Repeat("=== RUN nothing of interest\n--- PASS nothing\n", 200)
	yes := true
	call(101, "c1", "Bash", `{"command":"go test ./store/append.go"}`, noise+"append_test.go:6:2: encoding/json imported and not used, undefined: reader\n"+noise, &no)
	call(103, "c2", "Edit", `{"file_path":"/p/store/append.go","old_string":"`+strings.Repeat("the old text of it\\n", 60)+`","new_string":"func appendLines() {}\\n"}`, "ok", &yes)
	for i := 105; i < len(h.Messages); i += 2 { // the work on the file continues
		h.Messages[i].Content = "I go on with store/append.go and appendLines."
	}
	o.Budget = 3000
	p := mustBuild(t, s, h, o)
	for _, want := range []string{`- Bash {"command":"go test ./store/append.go"} failed` + "\n", "\n  append_test.go:6:2: encoding/json imported and not used, undefined: reader\n", `"old_string":"…","new_string":"func appendLines() {}\\n"} ok`} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("no %q in\n%s", want, p.Text)
		}
	}
	if strings.Contains(p.Text, "the old text") {
		t.Error("what the edit took away is told")
	}
}

// TestCallLine checks that, in an excerpt, the line of an edit begins with the file's
// name. Texts that look like it must stay as they are, and so must the full history.
func TestCallLine(t *testing.T) {
	const input = `{"replace_all":false,"file_path":"a.go","new_string":"{\"replace_all\":false,}"}`
	h := newHistory(schema.History{Tools: map[string]schema.Tool{"c": {ID: "c", Name: "Edit", Input: schema.Raw(input)}}})
	for form, want := range map[form]string{
		inExcerpt: `{"file_path":"a.go","new_string":"{\"replace_all\":false,}"}`,
		inFull:    input,
	} {
		if it := h.call(schema.Part{Call: "c"}, form); it.texts[0].Text != want {
			t.Errorf("form %v: %s", form, it.texts[0].Text)
		}
	}
	patch := `{"patchText":"*** Begin Patch\n*** Update File: services/gateway/internal/handlers/sessions/main.go\n@@\n` + strings.Repeat(`-old\n+new\n`, 40) + `*** End Patch"}`
	r := excerpt.Read([]excerpt.Section{{Texts: []excerpt.Text{{Kind: excerpt.Input, Text: patch}}}})
	for n := range 60 {
		if line := r.Choose(n, nil)[0].Input; line != "" && !strings.Contains(line, "sessions/main.go") {
			t.Errorf("in %d tokens the line of a patch names no file: %s", n, line)
		}
	}
}
