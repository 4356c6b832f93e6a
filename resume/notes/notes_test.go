package notes

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
)

// TestNotes compares the notes on a few conversations, one per agent, with
// testdata/notes.golden.
func TestNotes(t *testing.T) {
	var out strings.Builder
	for _, c := range []struct {
		name  string
		lines []string
	}{
		{"nothing", nil},
		{"Claude Code", []string{
			"u: hello", "a: Hello! What is it?",
			"u: /clear",
			"u: /workspace.plan \"Retry uploads. Never retry a 4xx. It never ends at the moment.\"",
			"a: I'll look.", `t: Read {"file_path":"/p/upload.go"} -> ok | package p`, `t: Grep {"pattern":"retry"} -> ok | `,
			`t: Read {"file_path":"/p/gone.go"} -> no | File does not exist.`,
			`t: AskUserQuestion {"questions":[{"question":"How many times?","header":"Retries"},{"question":"Log it?","header":"Log"}]} -> ok | User has answered your questions: "How many times?"="3 (Recommended)", "Log it?"="No".`,
			`t: TodoWrite {"todos":[{"content":"write it","status":"in_progress"},{"content":"test it","status":"pending"}]} -> ok | `,
			"a: We decided on a backoff of two seconds. Now I write it.",
			`t: Edit {"file_path":"/p/upload.go","old_string":"a","new_string":"b"} -> no | <tool_use_error>String to replace not found in file.</tool_use_error>`,
			`t: Edit {"file_path":"/p/upload.go","old_string":"a","new_string":"c"} -> ok | The file /p/upload.go has been updated.`,
			`t: Write {"content":"x","file_path":"/p/retry.go"} -> ok | File created successfully at: /p/retry.go`,
			`t: MultiEdit {"file_path":"/p/retry.go","edits":[]} -> ok | Applied 2 edits`,
			`t: NotebookEdit {"notebook_path":"/p/n.ipynb","new_source":""} -> ok | Updated cell`,
			sh("cd /p && go test ./... 2>&1 | tail -20", "0", "--- FAIL: TestUpload (0.1s)\nFAIL"),
			sh("git status && ls -la | head", "0", ""), sh("ls nowhere", "2", "ls: nowhere: No such file or directory"),
			sh("grep -rn retry . | wc -l", "1", ""),
			sh("go vet ./...", "1", "Exit code 1\n# p\n./retry.go:3:2: undefined: x"),
			sh("rm /p/old.go && git rm -q /p/older.go", "0", ""),
			sh("rm -rf /p/*.tmp", "0", ""),
			sh("npm start", "ok", "Command running in background with ID: b1"),
			sh("git push --force", "no", refusedByUser+"To tell you how to proceed, the user said:\nnot before the review"),
			`t: Edit {"file_path":"/p/upload.go","old_string":"c","new_string":"d"} -> no | ` + refusedByUser + "To tell you how to proceed, the user said:\nnot in there, in retry.go please\n\nNote: The user's next message may contain a correction.",
			"a: One test fails. Should I skip it?\n\nOr shall I raise the timeout?",
			"u: What takes so long?", "a: The backoff. Then which one?",
			"u: no, keep both and make the test use a fake clock instead of sleeping", "a: ",
			sh("go test -run TestUpload ./...", "0", "ok"), sh("go test ./...", "0", "ok"),
			`t: Write {"content":"x","file_path":"/p/retry.go"} -> ok | The file /p/retry.go has been updated.`,
			"a: All tests pass. Should it be documented?",
			"u: /exit", "a: Shall I save?", sh("cortext stop", "0", "")}},
		{"OpenCode", []string{
			"u: Please add a cache to the client. Use sync.Map instead of a mutex. I don't know where. Don't touch the server!",
			`t: read {"filePath":"/p/a.go"} -> ok | a`, `t: write {"filePath":"/p/a.go","content":"x"} -> ok | Wrote file successfully.`,
			`t: write {"filePath":"/p/b.go","content":"x"} -> ok | Wrote file successfully.`,
			`t: write {"filePath":"/p/b.go","content":"y"} -> ok | Wrote file successfully.`,
			`t: apply_patch {"patchText":"*** Begin Patch\n*** Update File: c.go\n*** Move to: d.go\n@@\n-a\n*** Add File: e.go\n+x\n*** Delete File: /p/b.go\n*** Whatever: f\n*** End Patch"} -> ok | Success.`,
			`t: edit {"filePath":"/p/g.go","oldString":"","newString":"x"} -> ok | Edit applied successfully.`,
			`t: bash {"command":"make","description":"builds"} -> 2 | cc: x.c\nx.c:1: error: no`,
			`t: bash {"command":"git commit -m \"one\""} -> 1 | hook failed`,
			`t: bash {"command":"git commit -m \"two\""} -> 0 | `,
			`t: bash {"command":"mv /p/x/a.go x/b.go && mv x/b.go done/ && mv one two three/ && mv name.go dir"} -> 0 | `,
			`t: bash {"command":"rm x/y/deep.go"} -> ? | `,
			`t: mcp_deploy {"to":"staging"} -> no | Error: no such host`, `t: task {"description":"x"} -> no | Tool execution aborted`,
			`t: todowrite {"todos":[{"content":"a","status":"completed"}]} -> ok | []`,
			`t: question {"questions":[{"question":"Deploy it?","header":"Deploy"},{"question":"Now?"}]} -> no | dismissed`}},
		{"Gemini CLI", []string{
			"u: fix the icon", `t: write_file {"content":"x","file_path":"/p/i.svg"} -> ok | Successfully created and wrote to new file: /p/i.svg.`,
			`t: replace {"file_path":"/p/i.svg","old_string":"x","new_string":"y"} -> ok | Successfully modified file: /p/i.svg (1 replacements).`,
			`t: replace {"file_path":"/p/new.svg","old_string":"","new_string":"y"} -> ok | Created new file: /p/new.svg with provided content.`,
			`t: read_many_files {"include":["a.txt","b.txt"]} -> ok | `, `t: write_file {"file_path":"b.txt"} -> ok | `,
			`t: run_shell_command {"command":"ssh root@host 'cat /etc/passwd | head'"} -> 0 | `,
			`t: run_shell_command {"command":"ssh root@host 'reboot now'"} -> ok | Output: (empty)\nError: (none)`,
			`t: run_shell_command {"command":"curl -s https://example.org/x"} -> 0 | `, `t: run_shell_command {"command":"curl -o x https://example.org/x"} -> 22 | Output: curl: (22) error: 404`,
			`t: run_shell_command {"command":"sudo dd of=/dev/sda"} -> no | [Operation Cancelled] Reason: User denied execution.`,
			`t: write_todos {"todos":[{"description":"draw","status":"cancelled"},{"description":"paint","status":"pending"}]} -> ok | `,
			`t: ask_user {"questions":[{"question":"Which colour?","header":"Colour"}]} -> ok | {"answers":{"0":"red"}}`,
			"s: Request cancelled."}},
		{"an error that comes back", []string{
			"u: Fix it", sh("make", "2", "error: a"), sh("make", "0", ""), sh("make", "2", "error: b"), sh("cargo build", "101", "error[E1]: c"),
			`t: Write {"file_path":"a"} -> no | EACCES: permission denied`, sh("rm a", "0", "")}},
		{"a folder that is deleted", []string{
			"u: Clean up", `t: Write {"file_path":"/p/old/a.go"} -> ok | `, `t: Write {"file_path":"/p/old/b/c.go"} -> ok | `, `t: Write {"file_path":"/p/older.go"} -> ok | `,
			sh("rm -r p/old/b", "0", ""), sh("rm -r /p/old", "0", ""), `t: Write {"file_path":"/p/old/a.go"} -> ok | `}},
	} {
		fmt.Fprintf(&out, "== %s\n%s\n", c.name, describe(notesOf(historyOf(c.lines...))))
	}
	golden(t, "testdata/notes.golden", out.String())
}

// pieces cuts a history randomly at user messages.
func pieces(h schema.History, random *rand.Rand) []schema.History {
	var all []schema.History
	from := 0
	for i := 1; i <= len(h.Messages); i++ {
		if i < len(h.Messages) && (h.Messages[i].Role != schema.User || random.IntN(3) == 0) {
			continue
		}
		p := schema.History{Messages: h.Messages[from:i], Tools: map[string]schema.Tool{}}
		for _, m := range p.Messages {
			for _, c := range m.ToolCalls {
				if x, ok := h.Tools[c.ID]; ok {
					p.Tools[c.ID] = x
				}
			}
		}
		all = append(all, p)
		from = i
	}
	return all
}

// samePieces fails unless a history gives the same notes in pieces, with a round trip
// through JSON between them.
func samePieces(t *testing.T, h schema.History, random *rand.Rand) {
	t.Helper()
	whole, parts := new(Notes), new(Notes)
	whole.Add(h)
	for _, p := range pieces(h, random) {
		parts.Add(p)
		b, err := json.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		again := new(Notes)
		if err := json.Unmarshal(b, again); err != nil {
			t.Fatal(err)
		}
		if !Same(parts, again) {
			t.Fatalf("through JSON:\n%+v\n%+v", parts, again)
		}
		parts = again
	}
	if len(h.Messages) == 0 {
		parts.Add(h)
	}
	if !Same(whole, parts) {
		t.Fatalf("at once:\n%s\nin pieces:\n%s\n%+v\n%+v", describe(whole), describe(parts), whole.Turn, parts.Turn)
	}
	if whole.Summary() != parts.Summary() {
		t.Fatalf("%q, %q", whole.Summary(), parts.Summary())
	}
}

// checkNotes fails if notes exceed their limits or contain what a terminal would
// interpret.
func checkNotes(t *testing.T, s *Notes) {
	t.Helper()
	for what, n := range map[string][2]int{"files": {len(s.Files), maxFiles}, "commands": {len(s.Commands), maxCommands}, "errors": {len(s.Errors), maxErrors},
		"decisions": {len(s.Decisions), maxDecisions}, "seen": {len(s.Turn.Seen), maxSeen}, "steps": {len(s.Turn.Todos), maxSteps}} {
		if n[0] > n[1] {
			t.Fatalf("%d %s", n[0], what)
		}
	}
	texts := []string{s.Topic.Text, s.LastUser.Text, s.Turn.ToolQuestion, s.Turn.Answer, s.Turn.Question, s.Turn.Failure}
	for _, list := range [][]Note{s.Errors, s.Decisions} {
		for _, n := range list {
			texts = append(texts, n.Text, n.Message)
			if n.Text == "" || n.Number < 1 || n.Number > s.Messages || len(n.Key) > maxText || !utf8.ValidString(n.Key) {
				t.Fatalf("%+v of %d messages", n, s.Messages)
			}
		}
	}
	for _, f := range s.Files {
		texts = append(texts, f.Path, f.Message)
		if f.Path == "" || f.Times < 1 || f.Number < 1 || f.Number > s.Messages || f.Action != Created && f.Action != Modified && f.Action != Deleted {
			t.Fatalf("%+v", f)
		}
	}
	for _, c := range s.Commands {
		texts = append(texts, c.Line, c.Message)
	}
	texts = append(texts, s.Turn.Seen...)
	for _, x := range texts {
		if len(x) > maxText || !utf8.ValidString(x) || strings.ContainsFunc(x, unicode.IsControl) {
			t.Fatalf("%d bytes: %q", len(x), x)
		}
	}
	if n := len(s.Turn.Choices); n > choicesBytes+1+maxText {
		t.Fatalf("%d bytes of speech", n)
	}
	checkLine(t, "summary", s.Summary(), maxSummary)
}

// TestPieces makes conversations of a few related messages and calls, and cuts them
// at user messages.
func TestPieces(t *testing.T) {
	lines := []string{
		"u: Fix the upload. Never retry a 4xx.", "u: yes", "u: /exit", "u: why?", "u: /workspace.plan never use globals", "u: ", "u: !ls", "u: no, in the other file please", "u: thanks", "u: let's go with B",
		"a: Shall I split the file in two?", "a: We decided on REST. Which one, A or B?", "a: Fixed it, and all tests pass.", "a: API Error: 500", "a: No response requested.", "a: ", "a: Let me run the tests:",
		"s: [Request interrupted by user]", "s: <task-notification>", "u: [Request interrupted by user]",
		`t: Read {"file_path":"a.go"} -> ok | `, `t: Read {"file_path":"b.go"} -> no | File does not exist.`, `t: Write {"file_path":"a.go"} -> ok | `, `t: Write {"file_path":"b.go"} -> no | EACCES`, `t: write {"filePath":"b.go"} -> ok | `,
		sh("rm a.go", "0", ""), sh("mv a.go c.go", "0", ""), sh("make", "2", "error: x"), sh("make", "0", ""), sh("cat a.go", "1", "No such file"), sh("git commit -m a", "1", "no"), sh("git push", "0", ""),
		`t: TaskCreate {"subject":"a"} -> ok | Task #1 created`, `t: TaskUpdate {"taskId":"1","status":"completed"} -> ok | `, `t: TodoWrite {"todos":[]} -> ok | `,
		`t: AskUserQuestion {"questions":[{"question":"Which?"},{"question":"When?"}]} -> no | x`, `t: ExitPlanMode {"plan":"# Move it"} -> ok | `, `t: mcp_x {} -> no | Error: y`, `t: mcp_x {} -> ok | `,
	}
	random := rand.New(rand.NewPCG(5, 8))
	for range 800 {
		var talk []string
		for range random.IntN(40) {
			talk = append(talk, lines[random.IntN(len(lines))])
		}
		h := historyOf(talk...)
		for i := range h.Messages {
			if random.IntN(20) == 0 {
				h.Messages[i].FinishReason = "interrupted"
			}
		}
		samePieces(t, h, random)
		checkNotes(t, notesOf(h))
	}
}

// TestBounds adds more of everything than notes can hold. The latest must stay.
func TestBounds(t *testing.T) {
	long := strings.Repeat("lang ü ", 100)
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("u: Never do number %d", i), fmt.Sprintf("a: Is it way %d, %s? What of %d?", i, long, i), fmt.Sprintf(`t: Write {"file_path":"/p/%d/%s"} -> ok | `, i, long), fmt.Sprintf(`t: Read {"file_path":"/q/%d/%s"} -> ok | `, i, long),
			sh(fmt.Sprintf("make %d %s", i, long), "2", "error: "+long), fmt.Sprintf(`t: AskUserQuestion {"questions":[{"question":"%d %s?"}]} -> no | `, i, long), fmt.Sprintf(`t: TaskCreate {"subject":"%d %s"} -> ok | `, i, long), fmt.Sprintf(`t: TaskCreate {"subject":"%d"} -> ok | `, i))
	}
	s := notesOf(historyOf(lines...))
	checkNotes(t, s)
	if len(s.Files) != maxFiles || len(s.Commands) != maxCommands || len(s.Errors) != 1 || len(s.Decisions) != maxDecisions || len(s.Turn.Seen) != maxSeen || len(s.Turn.Todos) != maxSteps {
		t.Errorf("%d files, %d commands, %d errors, %d decisions, %d seen, %d steps", len(s.Files), len(s.Commands), len(s.Errors), len(s.Decisions), len(s.Turn.Seen), len(s.Turn.Todos))
	}
	for i, d := range s.Decisions {
		if want := fmt.Sprintf("“Never do number %d”", 300-maxDecisions+i); d.Text != want {
			t.Fatalf("decision %d: %q", i, d.Text)
		}
	}
	if f := s.Files[maxFiles-1]; !strings.HasPrefix(f.Path, "/p/299/") || f.Number != 600 {
		t.Errorf("the last file is %+v", f)
	}
	many := notesOf(historyOf("u: Do it", "t: AskUserQuestion {\"questions\":["+strings.Repeat(`{"question":"a"},`, 50)+`{"question":"b"}]} -> no | `, "a: Well:"+strings.Repeat("\n\n- What?\n- Where is it, then?", 50)))
	checkNotes(t, many)
}

// TestNotesOfLargeText checks that only the two ends of a large text are searched.
func TestNotesOfLargeText(t *testing.T) {
	filler := strings.Repeat("word ", 1<<20)
	h := historyOf("u: Fix the upload.\n\n"+filler+"\n\nAlways hide in the middle of it.\n\n"+filler+"\n\nDo not push.",
		"a: We have decided on REST now.\n\n"+filler+"\n\nIs it SOAP?\n\n"+filler+"\n\nOr is it JSON?", sh("make "+filler+"; rm a.go", "0", ""), sh("make", "2", filler+"\nerror: in the middle\n"+filler+"\nerror: at the end"))
	s := notesOf(h)
	checkNotes(t, s)
	got := describe(s)
	for text, want := range map[string]bool{"hide": false, "on REST": true, "SOAP": false, "at the end": true, "error: in": false, "Fix the upload": true} {
		if strings.Contains(got, text) != want {
			t.Errorf("%q: %v\n%s", text, !want, got)
		}
	}
	if leadingString([]byte(`7`+strings.Repeat("0", 2*endBytes))) != "" {
		t.Error("a number is no text")
	}
	for _, unit := range []string{`\u00fc`, `\n`, `ü`, `\ud83d\ude00`, `x`} {
		for shift := range 7 {
			got := leadingString([]byte(`"` + strings.Repeat("a", shift) + strings.Repeat(unit, endBytes) + `"`))
			if len(got) < endBytes/6-8 || len(got) > endBytes {
				t.Errorf("%s after %d: %d bytes", unit, shift, len(got))
			}
		}
	}
}

// FuzzNotesOfCalls reads a conversation with tool calls from its input.
func FuzzNotesOfCalls(f *testing.F) {
	f.Add("uFix it, never push.\x01tBash\x02{\"command\":\"cd x && rm 'a b' && mv c d/\"}\x02\x020\x01aDone. Push?\x01uno, not that one here")
	f.Add("tapply_patch\x02{\"patchText\":\"*** Add File: \xff\\n*** Move to: b\\n*** Delete File: b\"}\x02ok\x021\x01s[Request interrupted by user]\x01ttask_create\x02{\"subject\":\"\\ud800\"}\x02Task #7\x021")
	f.Add("tbash\x02{\"command\":\"cat <<'E' > x; $(( a # b\\nE\\nssh h \\\"ls; ssh g 'rm x'\\\" 2>&1 | tail \\\\\"}\x02--- FAIL\x020\x01tquestion\x02{\"questions\":[{\"question\":\"a\"}]}\x02\"a\"=\"b\x020\x01u\x1b[0m/x y")
	f.Add("treplace\x02{\"file_path\":\"\\u001b[2J\\n../a\",\"old_string\":\"\"}\x02Created new file\x020\x01twrite\x02{\"path\":\"  \"}\x02\x021\x01task_user\x02{}\x02{\"answers\":{\"0\":\"\"}}\x020")
	f.Fuzz(func(t *testing.T, conversation string) {
		h := schema.History{Tools: map[string]schema.Tool{}}
		for i, part := range strings.Split(conversation, "\x01") {
			if part == "" {
				continue
			}
			m := schema.Message{ID: part[:len(part)/2], Role: schema.System, Content: part[1:]}
			switch part[0] {
			case 'u':
				m.Role = schema.User
			case 'a':
				m.Role = schema.Assistant
			case 't':
				fields := append(strings.Split(part[1:], "\x02"), "", "", "")
				x := schema.Tool{ID: fmt.Sprint(i), Name: fields[0], Input: schema.Raw(fields[1]), Output: fields[2], Success: yes()}
				if fields[3] != "" {
					code := int(fields[3][0] - '0')
					x.ExitCode = &code
					*x.Success = code == 0
				}
				m.Role, m.Content, m.ToolCalls = schema.Assistant, "", []schema.ToolCall{{ID: x.ID, Name: x.Name}}
				h.Tools[x.ID] = x
			}
			h.Messages = append(h.Messages, m)
		}
		samePieces(t, h, rand.New(rand.NewPCG(1, uint64(len(conversation)))))
		checkNotes(t, notesOf(h))
	})
}

// Same reports whether two notes are equal. An empty list equals nil.
func Same(a, b *Notes) bool {
	for _, s := range []*Notes{a, b} {
		none((*[]File)(&s.Files))
		none(&s.Commands)
		none(&s.Errors)
		none(&s.Decisions)
		none(&s.Turn.Seen)
		none((*[]todo)(&s.Turn.Todos))
	}
	return reflect.DeepEqual(a, b)
}

func none[T any](list *[]T) {
	if len(*list) == 0 {
		*list = nil
	}
}
