package notes

import (
	"strings"
	"testing"

	"cortext/schema"
)

// talk makes the messages of a conversation: "u: …", "a: …", "s: …".
func talk(lines ...string) []schema.Message {
	roles := map[byte]schema.Role{'u': schema.User, 'a': schema.Assistant, 's': schema.System}
	var messages []schema.Message
	for _, l := range lines {
		messages = append(messages, schema.Message{Role: roles[l[0]], Content: l[3:]})
	}
	return messages
}

func TestTitle(t *testing.T) {
	for _, tc := range []struct {
		why, want string
		messages  []string
	}{
		{"a command's arguments", "API design", []string{"u: /workspace.brainstorm API design"}},
		{"a chat's arguments", "the weekly menu", []string{"u: /workspace.chat the weekly menu"}},
		{"arguments over lines", "API design", []string{"u: /workspace.brainstorm\n\nAPI design\n\nfor the internal services"}},
		{"arguments in quotation marks", "API design", []string{`u: /workspace.brainstorm "API design"`}},
		{"arguments with quotation marks within", `Why "API" fails`, []string{`u: /workspace.brainstorm "Why \"API\" fails"`}},
		{"arguments of two in quotation marks", `"API" and "design"`, []string{`u: /workspace.brainstorm "API" and "design"`}},
		{"a command without arguments", "Paging of long lists", []string{"u: /workspace.brainstorm", "a: What about?", "u: Paging of long lists."}},
		{"only such a command", "untitled", []string{"u: /workspace.brainstorm"}},
		{"other commands first", "Fix the login redirect", []string{"u: /clear", "u: /model opus", "u: /compact keep the topic", "u: Fix the login redirect"}},
		{"another command with an argument", "Check the totals too", []string{"u: /review PR 12", "a: Looks good.", "u: Check the totals too."}},
		{"another command and no prompt", "review PR 12", []string{"u: /review PR 12", "a: Looks good.", "u: /exit"}},
		{"another command with a prompt for arguments", "why does the upload stall after a minute", []string{"u: /investigate why does the upload stall after a minute", "u: yes"}},
		{"stopping is no topic", "untitled", []string{"u: /workspace.stop-conversation", "u: /workspace.resume 001", "u: /exit"}},
		{"a path is no command", "/etc/hosts has the wrong address", []string{"u: /etc/hosts has the wrong address"}},
		{"nobody spoke", "untitled", nil},
		{"only the agent spoke", "untitled", []string{"a: Hello! How can I help?", "s: <local-command-stdout>bye</local-command-stdout>"}},
		{"a greeting first", "Add retries to the uploader", []string{"u: hi there!", "a: Hello!", "u: Add retries to the uploader"}},
		{"a greeting in the sentence", "Add retries to the uploader", []string{"u: Hey, can you please add retries to the uploader?"}},
		{"an agent that is addressed", "Add retries", []string{"u: Claude, could you add retries?"}},
		{"an agent that is greeted", "Add retries", []string{"u: hi Gemini, please add retries"}},
		{"an agent that is the subject", "claude hooks do not run", []string{"u: /workspace.debug claude hooks do not run"}},
		{"a program of that name", "Gemini CLI loses a file", []string{"u: ok, gemini CLI loses a file"}},
		{"only a greeting and a farewell", "untitled", []string{"u: hi", "a: Hello!", "u: Thanks, bye!"}},
		{"a line for the shell", "Why is the disk full?", []string{"u: !df -h", "s: <bash-stdout>100%</bash-stdout>", "u: Why is the disk full?"}},
		{"an image only", "Match this layout", []string{"u: ", "u: [Image #1]", "u: Match this layout"}},

		{"the first sentence", "Move the cache into its own package", []string{"u: Move the cache into its own package. It is used by three services and none of them owns it."}},
		{"the first line", "rename getUser to user", []string{"u: rename getUser to user\nalso in the tests\nand push"}},
		{"a heading", "Rate limits for the public API", []string{"u: # Rate limits for the public API\n\n## Context\n\nClients poll too often."}},
		{"a lead-in", "ENT-12: Retry uploads", []string{"u: Implement the following plan:\n\n# ENT-12: Retry uploads\n\n## Context\n\nThey fail."}},
		{"a lead-in that says something", "Two bugs: the total is wrong", []string{"u: Two bugs:\n\n- the total is wrong\n- the date is missing"}},
		{"a lead-in to nothing", "Two bugs", []string{"u: Two bugs:\n\n..."}},
		{"markdown", "Make parseDate accept ISO weeks, see the spec", []string{"u: **Make** `parseDate` accept _ISO weeks_, see [the spec](https://example.org/spec)."}},
		{"an address", "Read and compare it with our parser", []string{"u: Read https://example.org/rfc/1234 and compare it with our parser"}},
		{"an address and a word", "Read example.org/rfc/1234", []string{"u: Read https://example.org/rfc/1234"}},
		{"an address and two words", "Read carefully", []string{"u: Read https://example.org/rfc/1234 carefully"}},
		{"nothing but an address", "example.org/rfc/1234", []string{"u: https://www.example.org/rfc/1234"}},
		{"an abbreviation", "Use a smaller font, e.g. 12 px, in tables", []string{"u: Use a smaller font, e.g. 12 px, in tables. And bold."}},
		{"a file name", "Why does main.go import os?", []string{"u: Why does main.go import os?"}},
		{"a number that is no end", "Add 1. to the list of open points", []string{"u: Add 1. to the list of open points."}},
		{"code first", "Why does this never end?", []string{"u: ```go\nfor {\n}\n```\nWhy does this never end?"}},
		{"a log first", "What is wrong here?", []string{"u: 2025-11-22 10:04:11 ERROR connection reset\n[10:04:12] retrying (3)\n\tat com.example.Main(Main.java:12)\nWhat is wrong here?"}},
		{"a quotation first", "Is he right?", []string{"u: > we should rewrite it all\n\nIs he right?"}},
		{"only code", "SELECT name FROM users WHERE id = 1", []string{"u: ```sql\nSELECT name FROM users WHERE id = 1;\n```"}},
		{"a table first", "Sort this by price", []string{"u: | name | price |\n|---|---|\n| tea | 3 |\n\nSort this by price"}},
		{"a paste", "The build fails", []string{"u: \n\n<pasted_content id=\"776c\">\nThe build fails.\n</pasted_content id=\"776c\">\n"}},
		{"what the program adds", "Rename this variable", []string{"u: <ide_selection>lines 1 to 3 of a.go:\nx := 1</ide_selection>\n<system-reminder>Today is Friday.</system-reminder>\nRename this variable"}},
		{"terminal escapes and controls", "Red text", []string{"u: \x1b[31mRed\x1b[0m\x00 text\x07"}},
		{"what turns text around", "Invoice.exe", []string{"u: Invoice\u202e.exe"}},
		{"german", "Das Anmeldeformular übersetzen", []string{"u: Kannst du bitte das Anmeldeformular übersetzen?"}},
		{"chinese", "设计内部服务的接口", []string{"u: 请设计内部服务的接口。我们有三个服务。"}},
		{"cut at a word", "Let the importer skip files that were read before and write…", []string{"u: Let the importer skip files that were read before and write a line to the log for each of them"}},
		{"cut without words", strings.Repeat("字", 59) + "…", []string{"u: " + strings.Repeat("字", 100)}},
	} {
		if got := Title(talk(tc.messages...)); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
	}
}

func TestDescription(t *testing.T) {
	long := "Let the importer skip files that were read before. " + strings.Repeat("And so on. ", 40)
	for _, tc := range []struct {
		why, want string
		messages  []string
	}{
		{"as typed", "Fix **this**: `a := 1` fails", []string{"u: Fix **this**:\n\n`a := 1`\tfails"}},
		{"a command as typed", "/workspace.brainstorm API design", []string{"u: /workspace.brainstorm API design"}},
		{"not a command that steers", "Fix it", []string{"u: /clear", "u: Fix it"}},
		{"not a greeting", "Fix it", []string{"u: hello", "a: Hello!", "u: Fix it"}},
		{"nothing else", "hello", []string{"u: hello", "a: Hello!", "u: bye"}},
		{"a paste without its tags", "Why is that? E1 E2", []string{"u: Why is that?\n\n<pasted_content id=\"776c\">\nE1\nE2\n</pasted_content id=\"776c\">\n"}},
		{"not what the program adds", "Fix it", []string{"u: <system-reminder>Today is Friday.</system-reminder>Fix it"}},
		{"an angle bracket", "Make it a List<string> where a < b", []string{"u: Make it a List<string> where a < b"}},
		{"nobody spoke", "", []string{"a: Hello!"}},
		{"escapes", "red", []string{"u: \x1b[31mred\x1b[0m\u202e"}},
		{"cut", strings.TrimSuffix(long[:198], " ") + "…", []string{"u: " + long}},
	} {
		got := Description(talk(tc.messages...))
		if strings.HasSuffix(tc.want, "…") {
			if runes := []rune(got); len(runes) > 200 || len(runes) < 150 || !strings.HasPrefix(long, strings.TrimSuffix(got, "…")) {
				t.Errorf("%s: %q", tc.why, got)
			}
			continue
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
	}
}

func TestSlash(t *testing.T) {
	for _, tc := range []struct{ content, name, arguments string }{
		{"/workspace.plan the move", "workspace.plan", "the move"},
		{" /exit\n", "exit", ""},
		{"/git:commit-all\n-m x", "git:commit-all", "-m x"},
		{"/usr/bin/env is missing", "", ""},
		{"/", "", ""},
		{"/ a", "", ""},
		{"/2 of it", "", ""},
		{"// comment", "", ""},
		{"a /b", "", ""},
		{"", "", ""},
	} {
		if name, arguments := slashCommand(tc.content); name != tc.name || arguments != tc.arguments {
			t.Errorf("%q: %q, %q", tc.content, name, arguments)
		}
	}
}
