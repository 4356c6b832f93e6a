package digest

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func long(n int) string { return strings.Repeat("long/", n/5) + "x" }

// template is what an agent makes of a command that stands in a file.
const template = "Use the `commit` skill and route the work through @git.\n\nGoal:\n\n- End with a clean `git status`, whatever it takes to get there\n\nProcess:\n\n1. Look at the state.\n2. Stage only what belongs together, one thing after the other.\n\nRules:\n\n- Prefer small commits over a large one.\n- Do not push.\n\nReturn:\n\n- The list of commits, with the files that are in each of them\n- What was left out, and why that is so"

const plan = "Implement the following plan:\n\n# Retries\n\n## Context\n\nUploads fail now and then, and nobody tries them again. It is to be done by the client, since the server does not know of it.\n\n## Steps\n\n1. Count the tries of each of the uploads.\n2. Do not log them.\n3. Wait for two seconds, then four.\n4. Give up in the end."

func TestRequest(t *testing.T) {
	checkParts(t, []part{
		{"the last", "request 3 m3 : now the docs, please", []string{"u: Fix the upload", "a: Done.", "u: now the docs, please"}},
		{"as it was written", "request 1 m1 : Fix **this**: `a := 1` fails", []string{"u: Fix **this**:\n\n`a := 1`\tfails"}},
		{"a question", "request 3 m3 : why is it slow?", []string{"u: Fix it", "a: Done.", "u: why is it slow?"}},
		{"agreement", "request 1 m1 : Fix it", []string{"u: Fix it", "a: Shall I go on?", "u: yes, do that"}},
		{"going on", "request 1 m1 : Fix it", []string{"u: Fix it", "u: continue until all are done", "u: System: Please continue.", "u: go on with the next one", "u: 2", "u: weiter"}},
		{"going on with something", "request 2 m2 : continue with the docs", []string{"u: Fix it", "u: continue with the docs"}},
		{"a word alone", "request 1 m1 : Fix it", []string{"u: Fix it", "u: verify", "u: push"}},
		{"a word at first", "request 1 m1 : whoami", []string{"u: whoami"}},
		{"leave-taking", "request 1 m1 : Fix it", []string{"u: Fix it", "u: /exit", "u: thanks", "u: clear", "u: [Request interrupted by user]", "u: !git push"}},
		{"what a program says", "request 1 m1 : Fix it", []string{"u: Fix it", "u: <system-reminder>Always use tabs in it.</system-reminder>"}},
		{"and nobody said that", "last user 1 m1 : Fix it", []string{"u: Fix it", "u: <system-reminder>Always use tabs in it.</system-reminder>"}},
		{"a command's arguments", "request 2 m2 : the move of the cache", []string{"u: Fix it", "u: /workspace.plan \"the move of the cache\""}},
		{"a template", "request 1 m1 : Fix it", []string{"u: Fix it", "u: " + template}},
		{"what was typed behind a template", "request 2 m2 : all but the docs, please make sure of that", []string{"u: Fix it", "u: " + template + "\n\nall but the docs,\nplease make sure of that"}},
		{"a plan that is handed over", "request 2 m2 : Implement the following plan: # Retries ## Context Uploads fail", []string{"u: Fix it", "u: " + plan}},
		{"nobody asked", "-request", []string{"u: hello", "a: Hello!", "u: /exit"}},

		{"the task is no word", "task 3 m3 : Fix the upload", []string{"u: whoami", "a: You.", "u: Fix the upload", "u: And the docs"}},
		{"the task is what was typed", "task 1 m1 : all but the docs", []string{"u: " + template + "\n\nall but the docs"}},
		{"the task is not how to work", "task 2 m2 : Fix the upload", []string{"u: " + template, "u: Fix the upload"}},
		{"a template and nothing else", "task 1 m1 : Use the commit skill and route the work through @git.", []string{"u: " + template, "u: yes"}},

		{"what the work goes on with", "status Interrupted while working on: Fix the upload.", []string{"u: Fix the upload", "a: Shall I?", "u: yes", "s: [Request interrupted by user]"}},
		{"what is waited for", "status Waiting for an answer to: Fix the upload.", []string{"u: Fix the upload", "a: Shall I?", "u: go ahead"}},
	})
}

// TestShorten: of a long request both ends stand, as whole words.
func TestShorten(t *testing.T) {
	for _, tc := range []struct{ why, text, begins, ends string }{
		{"a paste before a question", "What are these: " + strings.Repeat("item ", 300) + "Are they needed?", "What are these: item item", "item item Are they needed?"},
		{"sentences", strings.Repeat("Very well. ", 300) + "Fix it.", "Very well. Very well. Very well.", "Very well. Fix it."},
		{"no words", strings.Repeat("字", 1000), "字字字", "字字字"},
	} {
		got := shorten(tc.text)
		head, tail, cut := strings.Cut(got, "…")
		if len(got) > MaxRequest || len(got) < MaxRequest*3/4 || !cut || !strings.HasPrefix(got, tc.begins) || !strings.HasSuffix(got, tc.ends) || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes: %q", tc.why, len(got), got)
		}
		whole := func(s string) bool { return strings.Contains(" "+tc.text+" ", " "+strings.TrimSpace(s)+" ") }
		if tc.why != "no words" && (!whole(head) || !whole(tail)) {
			t.Errorf("%s: %q, %q", tc.why, head, tail)
		}
		if tc.why == "sentences" && !strings.HasSuffix(head, "well. ") {
			t.Errorf("%s: %q", tc.why, head)
		}
	}
	if short := strings.Repeat("a", MaxRequest); shorten(short) != short {
		t.Error("cut without need")
	}
}

// TestDemanded: what the user demands is what the user typed, and has not taken back.
func TestDemanded(t *testing.T) {
	checkParts(t, []part{
		{"a template", "-decision", []string{"u: " + template}},
		{"a plan", "-decision", []string{"u: " + plan}},
		{"behind a template", "decision 1 m1 user: Never touch the docs.", []string{"u: " + template + "\n\nNever touch the docs."}},
		{"a long message with a list", "decision 1 m1 user: Do not push.", []string{"u: " + strings.Repeat("I looked at it for an hour and found a lot. ", 10) + "So:\n\n- fix a\n- fix b\n- fix c\n- fix d\n- Do not push."}},

		{"taken back", "-user: Do not push", []string{"u: Do not push.", "a: Fine.", "u: push"}},
		{"taken back among others", "-user: Do not push", []string{"u: Do not push yet.", "a: Fine.", "u: yes, then commit and push"}},
		{"taken back by the user's own hand", "-user: Do not push", []string{"u: Do not push.", "a: Fine.", "u: !push it"}},
		{"asked", "decision 1 m1 user: Do not push.", []string{"u: Do not push.", "a: Fine.", "u: push it?", "u: did you push"}},
		{"said again", "decision 3 m3 user: do not push it", []string{"u: Do not push.", "a: Fine.", "u: do not push it"}},
		{"another thing", "decision 1 m1 user: Don't push to main.", []string{"u: Don't push to main.", "a: Fine.", "u: push"}},
		{"what the agent does does not count", "decision 1 m1 user: Do not push.", []string{"u: Do not push.", "a: ", sh("git push", "0", "")}},
		{"the agent's own", "decision 2 m2 assistant: We decided on bolt.", []string{"u: Fix it", "a: We decided on bolt.", "u: push"}},

		{"a complaint", "-decision", []string{"u: Fix it", "u: nope the app doesn't work", "u: nope, just the SSH preamble", "u: no, this is fine"}},
		{"a correction", "decision 1 m1 user: no, set the folder to /p", []string{"u: no, set the folder to /p"}},
	})
}
