package digest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"cortext/schema"
)

func TestSummary(t *testing.T) {
	for _, tc := range []struct {
		why, want string
		messages  []string
	}{
		{"all three parts", "Decided: REST for internal APIs. Open: Do we need versioning from the start? Last: I wrote openapi.yaml, and the contract tests pass.", []string{
			"u: /workspace.brainstorm API design", "a: REST or GraphQL?", "u: let's go with REST for internal APIs",
			"a: I wrote `openapi.yaml`, and the contract tests pass.\n\nDo we need versioning from the start?"}},
		{"nothing said", "", nil},
		{"only events", "", []string{"s: <local-command-stdout>hi</local-command-stdout>"}},
		{"only commands", "", []string{"u: /clear", "u: /exit", "a: No response requested."}},

		{"no answer", "Waiting for an answer to: Why does the upload stall?", []string{"u: Why does the upload stall?"}},
		{"no answer to an order", "Waiting for an answer to: Fix the upload.", []string{"a: Hello!", "u: Fix the upload"}},
		{"no answer to a command", "Waiting for an answer to: API design.", []string{"u: /workspace.brainstorm API design"}},
		{"no answer to a bare command", "Waiting for an answer to: /review.", []string{"u: /review"}},
		{"no answer to a long prompt", "Waiting for an answer to: Can the importer skip them?", []string{"u: The importer reads all files again each time it starts, and that takes an hour. I looked at the log. Can the importer skip them?"}},
		{"interrupted before an answer", "Interrupted while working on: Fix the upload.", []string{"u: Fix the upload", "s: [Request interrupted by user]"}},
		{"interrupted", "Interrupted while running the tests.", []string{"u: Fix the upload", "a: The timeout was too short. Now let me run the tests.", "s: [Request interrupted by user for tool use]"}},
		{"interrupted, as Gemini CLI says it", "Interrupted while checking the log and fixing it.", []string{"u: Fix the upload", "a: I will check the log and fix it.", "s: Request cancelled."}},
		{"interrupted, as a user message", "Interrupted while writing the file.", []string{"u: Fix the upload", "a: Writing the file…", "u: [Request interrupted by user]"}},
		{"interrupted and left", "Interrupted while running the tests.", []string{"u: Fix the upload", "a: I'll run the tests:", "s: [Request interrupted by user]", "a: No response requested.", "u: /exit"}},
		{"interrupted and gone on", "Last: The upload works again, and all tests pass.", []string{"u: Fix it", "a: Let me look.", "s: [Request interrupted by user]", "u: look at the timeout", "a: The upload works again, and all tests pass."}},
		{"interrupted without a word", "Interrupted.", []string{"a: ", "s: [Request interrupted by user]"}},
		{"interrupted at two things", "Interrupted while checking the code and docs.", []string{"u: Fix it", "a: I'll check the code and docs.", "s: [Request interrupted by user]"}},
		{"in the middle, after asking itself", "Stopped while looking at the log.", []string{"u: Fix it", "a+ Is the disk full? Let me look at the log."}},
		{"nothing but code", "", []string{"a: ```\nx\n```"}},
		{"interrupted after a question", "Interrupted while running the tests.", []string{"u: Fix it", "a: I'll run the tests. Is that all right?", "s: [Request interrupted by user]"}},
		{"interrupted after a heading", "Interrupted while running the tests.", []string{"u: Fix it", "a: I'll run the tests.\n\n## Let me see", "s: [Request interrupted by user]"}},
		{"calls and no word", "Waiting for an answer to: Why is it slow?", []string{"u: Why is it slow?", "a+ "}},
		{"an error of the service", "Stopped by an error: API Error: 529 overloaded.", []string{"u: Fix it", "a: API Error: 529 overloaded"}},
		{"an error that passed", "Last: Fixed the timeout of the upload.", []string{"u: Fix it", "a: API Error: 529 overloaded", "a: Fixed the timeout of the upload."}},

		{"the first sentence and the last", "Last: Fixed the timeout of the upload: it was in seconds. All 14 tests pass.", []string{
			"u: Fix the upload", "a: Fixed the timeout of the upload: it was in seconds.\n\nThe library wants milliseconds there, which its manual says in a footnote on the fourth page, and nobody reads those pages, neither did I before today nor the one who wrote this code.\n\nAll 14 tests pass."}},
		{"no exclamations, no offers", "Last: The report is written to report.md.", []string{"u: Write the report", "a: Perfect! The report is written to `report.md`. Let me know if you want another format."}},
		{"no headings", "Last: Added a retry to the uploader, in upload.go. The tests pass.", []string{"u: Add a retry to the uploader", "a: ## Summary\n\nAdded a retry to the uploader, in `upload.go`.\n\n## Tests\n\nThe tests pass."}},
		{"a list with its lead-in", "Last: Changed three files: upload.go has the retry.", []string{"u: Add a retry to the uploader", "a: Changed three files:\n\n- `upload.go` has the retry\n- `upload_test.go`\n- the manual"}},
		{"not what is announced", "Last: The tests pass on Linux and on macOS.", []string{"u: Add a retry to the uploader", "a: Here's what I found:\n\nThe tests pass on Linux and on macOS."}},
		{"code is no sentence", "Last: It prints the total, as you can see, and is done with that.", []string{"u: Add a retry to the uploader", "a: ```go\nfmt.Println(\"Done. All tests pass.\")\n```\n\nIt prints the total, as you can see, and is done with that."}},
		{"an answer with its question", "Last: “did you push?” Yes, to origin.", []string{"u: Fix it", "a: Hm.", "u: did you push?", "a: Yes, to origin."}},
		{"a small step after a larger one", "Last: Moved the lock into the store, and all tests pass. Pushed to origin.", []string{"u: Where does the lock belong, and can it be moved there?", "a: Moved the lock into the store, and all tests pass.", "u: push", "a: Pushed to origin."}},
		{"a short answer to an order", "Last: “rename the flag to --since and say so in the manual, please” Renamed.", []string{"u: rename the flag to --since and say so in the manual, please", "a: Renamed."}},
		{"no words in the answer", "Last: answered: Draw the tree.", []string{"u: Draw the tree.", "a: ```\n.\n└── a\n```"}},
		{"a heading and no words", "Last: answered: Draw the tree.", []string{"u: Draw the tree.", "a: # Tree\n\n```\n.\n└── a\n```"}},
		{"a list that nothing announces", "Last: Fixed the timeout of the upload.", []string{"u: Fix the upload", "a: Fixed the timeout of the upload.\n\n- `upload.go`\n- `upload_test.go`"}},
		{"code that is announced", "Last: The timeout is now set in this place.", []string{"u: Fix the upload", "a: The timeout is now set in this place:\n\n```\nx\n```"}},
		{"a report", "Last: Survey of the storage layer. It has two writers.", []string{"u: Survey the storage layer", "a: # Survey of the storage layer\n\n## Files\n\nIt has two writers."}},
		{"in the middle of the work", "Stopped while running the tests.", []string{"u: Fix it", "a+ Let me run the tests."}},
		{"in the middle of something", "Stopped while working on: Fix it.", []string{"u: Fix it", "a+ Here is the file."}},
		{"notes of what ran in the background", "Last: Fixed the upload, and all tests pass.", []string{"u: Fix it", "a: Fixed the upload, and all tests pass.", "s: <task-notification>done</task-notification>", "a: That was the earlier run."}},
		{"news of what ran in the background", "Last: The review is complete: two findings, both fixed.", []string{"u: Review it", "a: I have sent out a reviewer.", "s: <task-notification>done</task-notification>", "a: The review is complete: two findings, both fixed."}},

		{"commands at the end", "Last: Added the retry, and the tests pass.", []string{"u: Add a retry", "a: Added the retry, and the tests pass.", "u: /compact", "u: /workspace.stop-conversation", "a: Saved the conversation. All done, resume it with /workspace.resume."}},
		{"a line for the shell at the end", "Last: Added the retry, and the tests pass.", []string{"u: Add a retry", "a: Added the retry, and the tests pass.", "u: !git status", "s: <bash-stdout>clean</bash-stdout>"}},
		{"a farewell at the end", "Last: Added the retry, and the tests pass.", []string{"u: Add a retry", "a: Added the retry, and the tests pass.", "u: let's stop here!", "a: Shall I save the conversation?"}},
		{"a question before the farewell", "Open: Should it retry forever? Last: Added the retry.", []string{"u: Add a retry", "a: Added the retry. Should it retry forever?", "u: I need to go", "a: See you. Shall I save?"}},
	} {
		var messages []schema.Message
		for _, l := range tc.messages {
			if text, ok := strings.CutPrefix(l, "a+ "); ok { // a message that goes on to call a tool
				messages = append(messages, schema.Message{Role: schema.Assistant, Content: text, ToolCalls: []schema.ToolCall{{ID: "c", Name: "Bash"}}})
				continue
			}
			messages = append(messages, talk(l)...)
		}
		if got := Summary(schema.History{Messages: messages}); got != tc.want {
			t.Errorf("%s:\n got %q\nwant %q", tc.why, got, tc.want)
		}
	}
}

func TestSummaryInterruptedMidStream(t *testing.T) {
	messages := talk("u: Fix it", "a: I'll read the config first")
	messages[1].FinishReason = "interrupted"
	if got := Summary(schema.History{Messages: messages}); got != "Interrupted while reading the config first." {
		t.Errorf("%q", got)
	}
}

// A message that calls a tool and then speaks is at its end, not in the middle.
func TestSummarySpeaksAfterCall(t *testing.T) {
	messages := talk("u: Fix it", "a: Fixed the timeout of the upload.")
	messages[1].ToolCalls = []schema.ToolCall{{ID: "c", Name: "Bash"}}
	messages[1].Blocks = []schema.Block{{Type: schema.ToolCallBlock, ID: "c"}, {Type: schema.TextBlock, Bytes: 35}}
	if got := Summary(schema.History{Messages: messages}); got != "Last: Fixed the timeout of the upload." {
		t.Errorf("%q", got)
	}
}

// What the agent reads of work in the background is no work of its own; what it
// does about it is.
func TestSummaryBackground(t *testing.T) {
	for tool, want := range map[string]string{
		"Read": "Last: Fixed the upload, and all tests pass.", "TaskOutput": "Last: Fixed the upload, and all tests pass.", "BashOutput": "Last: Fixed the upload, and all tests pass.",
		"Edit": "Last: That was the earlier run, of Monday.",
	} {
		messages := talk("u: Fix it", "a: Fixed the upload, and all tests pass.", "s: <task-notification>done</task-notification>", "a: ", "a: That was the earlier run, of Monday.")
		messages[3].ToolCalls = []schema.ToolCall{{ID: "c", Name: tool}}
		if got := Summary(schema.History{Messages: messages}); got != want {
			t.Errorf("%s: %q, want %q", tool, got, want)
		}
	}
}

// The first of each pair says more about where the work stands.
func TestTelling(t *testing.T) {
	for _, pair := range [][2]string{
		{"Added the retry.", "- Added the retry."},
		{"Added the retry.", "Yes, added the retry."},
		{"Added the retry.", "This added the retry."},
		{"Added the retry:", "Let me see what was added."},
		{"Added the retry.", "Added the retry:"},
		{"Added the retry.", "Added the retry " + strings.Repeat("here ", 50) + "."},
		{"Added the retry; tests pass.", "Added the retry."},
		{"Two are still failing.", "Two are of a Friday."},
		{"Added the retry.", "# Added the retry"},
		{"The day is fine and long.", "Done."},
		{"Whatever.", "Should I commit what was added?"},
		{"Whatever.", "Let me know if it is to be committed."},
		{"Whatever.", "Here's what was fixed:"},
		{"Whatever.", "Perfect!"},
		{"Whatever.", "It is committed, and"},
	} {
		better, worse := sentences(pair[0])[0], sentences(pair[1])[0]
		if telling(better) <= telling(worse) {
			t.Errorf("%q has %d, %q has %d", pair[0], telling(better), pair[1], telling(worse))
		}
	}
}

func TestSummaryLength(t *testing.T) {
	long := strings.Repeat("very ", 100)
	for _, messages := range [][]string{
		{"u: let's go with a " + long + "long name", "a: Fixed a " + long + "old bug. Should it be " + long + "old?"},
		{"u: " + long}, {"u: Fix a " + long + "old bug", "a: I will fix a " + long + "old bug", "s: [Request interrupted by user]"},
		{"u: Fix it", "a: API Error: " + long}, {"u: Is it " + long + "old?", "a: Yes."},
	} {
		got := Summary(schema.History{Messages: talk(messages...)})
		if n := utf8.RuneCountInString(got); n > maxSummary || n < 150 {
			t.Errorf("%d runes: %q", n, got)
		}
	}
	got := Summary(schema.History{Messages: talk("u: let's go with a "+long+"long name", "a: Fixed a "+long+"old bug. Should it be "+long+"old?")})
	for _, part := range []string{"Decided: a very", "Open: Should it be very", "Last: Fixed a very"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in %q", part, got)
		}
	}
}

func TestOpenQuestion(t *testing.T) {
	for _, tc := range []struct{ why, want, answer string }{
		{"at the end", "Which cluster first?", "Both need the upgrade. Which cluster first?"},
		{"before an offer", "Which cluster first?", "Which cluster first? Let me know."},
		{"before one more sentence", "Which cluster first?", "Which cluster first? Staging is smaller."},
		{"before two more sentences", "Which cluster first?", "Which cluster first? Staging is smaller. Production is older."},
		{"before a list of choices", "Which cluster first?", "Which cluster first?\n\n- staging\n- production\n- both"},
		{"one in a list", "Which cluster first?", "Before I start:\n\n- Which cluster first?"},
		{"several in a list", "Which cluster first? (and 2 more)", "Before I start:\n\n1. Which cluster first?\n2. Who is on call?\n3. May it take a night?"},
		{"two in a row", "Or production?", "Shall we take staging? Or production?"},
		{"and what do you think", "Should the cache go?", "Should the cache go? What do you think?"},
		{"marked up", "Which cluster first?", "**Which cluster first?**"},
		{"chinese", "先升级哪个集群？", "两个都要升级。先升级哪个集群？"},
		{"spanish", "¿Cuál primero?", "Hay dos. ¿Cuál primero?"},
		{"none", "", "Both are upgraded."},
		{"one it answered itself", "", "Why did it fail? The disk was full. I made room. Then it went through. It is green now."},
		{"a pleasantry", "", "Done. Is there anything else I can help you with?"},
		{"in code", "", "Done:\n\n```\nread -p 'Continue?'\n```"},
		{"in a quotation", "", "It asks \"Overwrite?\" now."},
		{"inline code", "", "The prompt is `Continue?`"},
		{"in a heading", "", "## Why?\n\nThe disk was full."},
		{"one word", "", "Why? The disk was full."},
		{"to itself", "", "Wait, is the path right? Maybe I should check that?"},
	} {
		messages := talk("u: Upgrade the clusters", "a: "+tc.answer)
		if got := openQuestion(stateOf(schema.History{Messages: messages}).Fold.Last); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
		answered := stateOf(schema.History{Messages: append(messages, talk("u: fine", "a: Done.")...)})
		if got := openQuestion(answered.Fold.Last); got != "" {
			t.Errorf("%s: open after an answer: %q", tc.why, got)
		}
	}
}

func TestGerund(t *testing.T) {
	for verb, want := range map[string]string{"run": "running", "write": "writing", "see": "seeing", "try": "trying", "die": "dying", "commit": "committing", "fix": "fixing", "read": "reading", "be": "being", "writing": "writing", "bring": "bringing", "ping": "pinging"} {
		if got := gerund(verb); got != want {
			t.Errorf("%s: %s, want %s", verb, got, want)
		}
	}
}

func TestIntention(t *testing.T) {
	for text, verb := range map[string]string{
		"let me run the tests": "run the tests", "now, let me also check it": "check it", "ok. i'll quickly look": "look", "perfect! now i will go ahead and write it": "write it",
		"we'll need to see": "see", "lettuce is green": "", "i illustrate": "", "now": "", "let me": "",
	} {
		got := ""
		if at := intention(text); at >= 0 {
			got = text[at:]
		}
		if got != verb {
			t.Errorf("%q: %q, want %q", text, got, verb)
		}
	}
}
