package notes

import (
	"strings"
	"testing"
	"unicode/utf8"

	"cortext/schema"
)

func TestSummary(t *testing.T) {
	for _, tc := range []struct {
		why, want string
		lines     []string
	}{
		{"all parts", "API design. Last: I wrote openapi.yaml, and the contract tests pass. Open: Do we need versioning from the start? Decided: “REST” to “REST or GraphQL?”", []string{
			"u: /workspace.brainstorm API design", "a: REST or GraphQL?", "u: REST", "a: I wrote `openapi.yaml`, and the contract tests pass.\n\nDo we need versioning from the start?"}},
		{"nothing said", "", nil},
		{"only events", "", []string{"s: <local-command-stdout>hi</local-command-stdout>"}},
		{"only commands", "", []string{"u: /clear", "u: /exit", "a: No response requested."}},

		{"no answer", "Why does the upload stall? No answer yet.", []string{"u: Why does the upload stall?"}},
		{"no answer to the second prompt", "Fix the upload. No answer yet to “Now the docs”.", []string{"u: Fix the upload", "a: Done.", "u: Now the docs"}},
		{"no answer to a bare command", "No answer yet to “/review”.", []string{"u: /review"}},
		{"interrupted before an answer", "Fix the upload. Interrupted.", []string{"u: Fix the upload", "s: [Request interrupted by user]"}},
		{"interrupted", "Fix the upload. Interrupted after: The timeout of the upload was too short.", []string{"u: Fix the upload", "a: The timeout of the upload was too short. Now let me run the tests.", "s: [Request interrupted by user for tool use]"}},
		{"interrupted, as Gemini CLI says it", "Fix the upload. Interrupted after: I will check the log and fix it.", []string{"u: Fix the upload", "a: I will check the log and fix it.", "s: Request cancelled."}},
		{"interrupted, as a user message", "Fix the upload. Interrupted after: Writing the file…", []string{"u: Fix the upload", "a: Writing the file…", "u: [Request interrupted by user]"}},
		{"interrupted by refusing a call", "Fix the upload. Interrupted after: I'll wait for the tests.", []string{"u: Fix the upload", "a: I'll wait for the tests.", "t: TaskOutput {} -> no | " + refusedByUser + "STOP what you are doing and wait for the user to tell you how to proceed."}},
		{"a refusal, and gone on", "Fix the upload. Last: Then I leave it as it is.", []string{"u: Fix the upload", "a: I'll run the tests.", sh("make", "no", refusedByUser), "a: Then I leave it as it is."}},
		{"interrupted and left", "Fix the upload. Interrupted after: I'll run the tests.", []string{"u: Fix the upload", "a: I'll run the tests:", "s: [Request interrupted by user]", "a: No response requested.", "u: /exit"}},
		{"interrupted and gone on", "Fix it. Last: The upload works again, and all tests pass.", []string{"u: Fix it", "a: Let me look.", "s: [Request interrupted by user]", "u: look at the timeout", "a: The upload works again, and all tests pass."}},
		{"interrupted without a word", "Interrupted.", []string{"a: ", "s: [Request interrupted by user]"}},
		{"in the middle of the work", "Fix it. In the middle of the work, after: Let me run the tests.", []string{"u: Fix it", "a: Let me run the tests.", sh("make", "0", "")}},
		{"calls and no word", "Why is it slow? In the middle of the work.", []string{"u: Why is it slow?", "a: ", sh("make", "0", "")}},
		{"an error of the service", "Fix it. Stopped by an error: API Error: 529 overloaded.", []string{"u: Fix it", "a: API Error: 529 overloaded"}},
		{"an error that passed", "Fix it. Last: Fixed the timeout of the upload.", []string{"u: Fix it", "a: API Error: 529 overloaded", "a: Fixed the timeout of the upload."}},

		{"no exclamation", "Write the report. Last: The report is written to report.md.", []string{"u: Write the report", "a: Perfect! The report is written to `report.md`. Let me know if you want another format."}},
		{"no heading, nothing that announces", "Add a retry. Last: Added a retry to the uploader, in upload.go.", []string{"u: Add a retry", "a: ## Summary of it all\n\nHere is what I have done for you:\n\nAdded a retry to the uploader, in `upload.go`."}},
		{"what introduces more", "Where is it used? Last: It's used in PostCommit to decide what to keep.", []string{"u: Where is it used?", "a: It's used in `PostCommit` to decide what to keep:\n\n```go\nx()\n```\n\n## For what\n\nDeciding: **\"Should this be kept?\"**\n- if so, it is condensed"}},
		{"only a list", "Add a retry. Last: Added a retry to the uploader.", []string{"u: Add a retry", "a: Done:\n\n- Added a retry to the uploader\n- and so on"}},
		{"only a few words", "Add a retry. Last: Done.", []string{"u: Add a retry", "a: Done."}},
		{"code is no sentence", "Add a retry. Last: It prints the total, as you can see.", []string{"u: Add a retry", "a: ```go\nfmt.Println(\"Done. All tests pass.\")\n```\n\nIt prints the total, as you can see."}},
		{"no words in the answer", "Draw the tree. Answered.", []string{"u: Draw the tree.", "a: ```\n.\n└── a\n```"}},
		{"the words of a topic that is long", "The importer reads all files again each time it starts, and that takes an hour. Last: It skips those that it has read.", []string{"u: The importer reads all files again each time it starts, and that takes an hour.", "a: It skips those that it has read."}},

		{"notes of what ran in the background", "Fix it. Last: Fixed the upload, and all tests pass.", []string{"u: Fix it", "a: Fixed the upload, and all tests pass.", "s: <task-notification>done</task-notification>", "a: That was the earlier run, of Monday."}},
		{"what the agent reads of it", "Fix it. Last: Fixed the upload, and all tests pass.", []string{"u: Fix it", "a: Fixed the upload, and all tests pass.", "s: <task-notification>done</task-notification>", "a: ", `t: TaskOutput {} -> ok | `, "a: That was the earlier run, of Monday."}},
		{"what it does about it", "Fix it. Last: That was the earlier run, of Monday.", []string{"u: Fix it", "a: Fixed the upload, and all tests pass.", "s: <task-notification>done</task-notification>", "a: ", `t: Edit {} -> ok | `, "a: That was the earlier run, of Monday."}},
		{"what another agent brings", "Review it. Last: No bugs, and all is ready to merge.", []string{"u: Review it", "a: Two agents are at work on the review.", "s: <task-notification><status>completed</status>\n<result>No bugs.</result></task-notification>", "a: No bugs, and all is ready to merge."}},
		{"leave-taking", "Add a retry. Last: Added the retry, and the tests pass.", []string{"u: Add a retry", "a: Added the retry, and the tests pass.", "u: /compact", "u: !git status", "u: let's stop here!", "a: Shall I save the conversation?"}},
		{"a question before the farewell", "Add a retry. Last: Added the retry to the uploader. Open: Should it retry forever?", []string{"u: Add a retry", "a: Added the retry to the uploader. Should it retry forever?", "u: I need to go", "a: See you. Shall I save?"}},
		{"a word alone is no topic", "Fix the upload. Last: Done.", []string{"u: whoami", "a: You.", "u: Fix the upload", "a: Done."}},
		{"what a program says is none", "Fix it. Last: Done.", []string{"u: <system-reminder>Always use tabs in it.</system-reminder>", "u: Fix it", "a: Done."}},
	} {
		if got := Summary(historyOf(tc.lines...)); got != tc.want {
			t.Errorf("%s:\n got %q\nwant %q", tc.why, got, tc.want)
		}
	}
}

func TestSummaryInterruptedMidStream(t *testing.T) {
	messages := talk("u: Fix it", "a: I'll read the config first")
	messages[1].FinishReason = "interrupted"
	if got := Summary(schema.History{Messages: messages}); got != "Fix it. Interrupted after: I'll read the config first." {
		t.Errorf("%q", got)
	}
}

// TestSummarySpeaksAfterCall checks that a message that calls a tool and then has text
// is finished.
func TestSummarySpeaksAfterCall(t *testing.T) {
	messages := talk("u: Fix it", "a: Fixed the timeout of the upload.")
	messages[1].ToolCalls = []schema.ToolCall{{ID: "c", Name: "Bash"}}
	messages[1].Blocks = []schema.Block{{Type: schema.ToolCallBlock, ID: "c"}, {Type: schema.TextBlock, Bytes: 35}}
	if got := Summary(schema.History{Messages: messages}); got != "Fix it. Last: Fixed the timeout of the upload." {
		t.Errorf("%q", got)
	}
}

// TestSummaryLength checks that a summary consists of whole clauses, however long its
// sources are.
func TestSummaryLength(t *testing.T) {
	long := strings.Repeat("very ", 100)
	clauses := strings.Repeat("this and that, ", 30)
	for _, lines := range [][]string{
		{"u: Fix a " + long + "old bug, or a " + long, "a: Fixed a " + long + "old bug. Should it be " + long + "old?"}, {"u: " + long}, {"u: Fix it", "a: API Error: " + long},
		{"u: Fix " + clauses + "it", "a: Fixed " + clauses + "it. Should it be " + clauses + "so?", "u: " + "yes", "a: Fixed " + clauses + "it. Should it be " + clauses + "so?"},
	} {
		got := Summary(historyOf(lines...))
		if n := utf8.RuneCountInString(got); n > maxSummary || n < 70 {
			t.Errorf("%d runes: %q", n, got)
		}
		if strings.Contains(lines[0], "that") && strings.Contains(got, "and …") {
			t.Errorf("not at the end of a clause: %q", got)
		}
	}
}

func TestOpenQuestion(t *testing.T) {
	for _, tc := range []struct{ why, want, answer string }{
		{"at the end", "Which cluster first?", "Both need the upgrade. Which cluster first?"},
		{"before one more sentence", "Which cluster first?", "Which cluster first? Staging is smaller."},
		{"before two more sentences", "", "Which cluster first? Staging is smaller. Production is older."},
		{"before a list of choices", "Which cluster first?", "Which cluster first?\n\n- staging\n- production\n- both"},
		{"two in a row", "Or production?", "Shall we take staging? Or production?"},
		{"marked up", "Which cluster first?", "**Which cluster first?**"},
		{"chinese", "先升级哪个集群？", "两个都要升级。先升级哪个集群？"},
		{"none", "", "Both are upgraded."},
		{"an offer", "", "Done. Is there anything else I can help you with?"},
		{"in code", "", "Done:\n\n```\nread -p 'Continue?'\n```"},
		{"in a quotation", "", "It asks \"Overwrite?\" now."},
		{"inline code", "", "The prompt is `Continue?`"},
		{"in a heading", "", "## Why?\n\nThe disk was full."},
	} {
		s := notesOf(historyOf("u: Upgrade the clusters", "a: "+tc.answer))
		if got := s.Turn.Question; got != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
		s.Add(historyOf("u: fine", "a: Done."))
		if got := s.Turn.Question; got != "" {
			t.Errorf("%s: open after an answer: %q", tc.why, got)
		}
	}
}

func TestClause(t *testing.T) {
	for _, tc := range []struct {
		s    string
		n    int
		want string
	}{
		{"short, enough", 20, "short, enough"},
		{"one thing, and another one", 16, "one thing …"},
		{"a, and then nothing that ends", 20, "a, and then nothing…"},
		{"one. two. three four five", 16, "one. two …"},
		{"设计内部服务的接口，我们有三个服务", 14, "设计内部服务的接口 …"},
	} {
		if got := cutToClause(tc.s, tc.n); got != tc.want || utf8.RuneCountInString(got) > tc.n {
			t.Errorf("%q to %d: %q, want %q", tc.s, tc.n, got, tc.want)
		}
	}
}

// Summary returns the [Notes.Summary] of a complete conversation.
func Summary(h schema.History) string {
	var s Notes
	s.Add(h)
	return s.Summary()
}
