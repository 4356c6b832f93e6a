package notes

import (
	"strings"
	"testing"

	"cortext/schema"
)

// notesOf returns the notes on a complete conversation.
func notesOf(h schema.History) *Notes {
	s := new(Notes)
	s.Add(h)
	return s
}

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

// decided returns the texts of a conversation's decisions.
func decided(lines ...string) string {
	var all []string
	for _, d := range notesOf(historyOf(lines...)).Decisions {
		all = append(all, d.Text)
	}
	return strings.Join(all, " | ")
}

// TestDecision checks that a decision is the user's answer to the agent's question, an
// approval, or a rule for what follows, in the user's words. A later decision about the
// same subject overrides it.
func TestDecision(t *testing.T) {
	for _, tc := range []struct {
		why, want string
		lines     []string
	}{
		{"yes to a question", "“Yes, do that” to “Shall I add an index on users.email?”", []string{"u: it is slow", "a: The table has no index.\n\nShall I add an index on `users.email`?", "u: Yes, do that"}},
		{"one of two", "“sqlite” to “Postgres or SQLite?”", []string{"u: Plan it", "a: Postgres or SQLite?", "u: sqlite"}},
		{"an option by its number", "“2” to “Which one?”", []string{"u: Plan it", "a: 1. Keep it\n2. Drop it\n\nWhich one?", "u: 2"}},
		{"a number that is not there", "", []string{"u: Plan it", "a: 1. Keep it\n2. Drop it\n\nWhich one?", "u: 7"}},
		{"no", "“no” to “Shall I push?”", []string{"u: Fix it", "a: Fixed. Shall I push?", "u: no"}},
		{"yes to what cannot be answered so", "", []string{"u: Fix it", "a: I can add it. One thing I need from you: what ref should I pin?", "u: Do it"}},
		{"both", "“both” to “Which one should I take?”", []string{"u: Fix it", "a: Which one should I take?", "u: both"}},
		{"yes to what asks what", "“yes” to “Shall I look what we do there?”", []string{"u: Fix it", "a: Shall I look what we do there?", "u: yes"}},
		{"chinese", "“好的” to “要添加索引吗？”", []string{"u: 很慢", "a: 没有索引。要添加索引吗？", "u: 好的"}},
		{"a later answer to the same", "“Postgres” to “Postgres or SQLite?”", []string{"u: Plan it", "a: Postgres or SQLite?", "u: sqlite", "a: Noted. Postgres or SQLite?", "u: Postgres"}},
		{"something else than was asked", "", []string{"u: Plan it", "a: Postgres or SQLite?", "u: first show me the tables"}},
		{"a question back", "", []string{"u: Plan it", "a: Postgres or SQLite?", "u: sqlite?"}},
		{"an offer", "", []string{"u: Plan it", "a: Done. Anything else?", "u: no"}},
		{"a question that the agent answers itself", "", []string{"u: Fix it", "a: Why did it fail? The disk was full. I made room. It is green.", "u: ok"}},
		{"in words that stand before the question", "", []string{"u: Fix it", "a: I can run the tests again at any time. Shall I push?", "u: run the tests"}},
		{"in the words of a choice", "“Drop it” to “Which one?”", []string{"u: Plan it", "a: 1. Keep it\n2. Drop it\n\nWhich one?", "u: Drop it"}},
		{"no question", "", []string{"u: Fix it", "a: Fixed.", "u: yes"}},
		{"in the middle of the work", "", []string{"u: Fix it", "a: Is the disk full?", sh("df", "0", ""), "u: yes"}},

		{"what is to hold", "“Never push to main.”", []string{"u: Fix it. Never push to main."}},
		{"twice", "“Always run the tests.” | “never push to main.”", []string{"u: Never push to main.", "u: Always run the tests.", "u: never push to main."}},
		{"told of, not ruled", "", []string{"u: It never ends. I always wait for it. Did it never work? Never mind"}},
		{"complaints, accounts and things", "", []string{"u: Nevertheless the build fails. Always getting a 500 here. Always-on mode is broken. Never worked for me. Never again this. Always fails on CI. Never is it green. Siempre falla esto."}},
		{"orders", "“Never use any in TypeScript.” | “always run make lint before a commit” | “From now on answer in German.”", []string{"u: Never use any in TypeScript.\n\nalways run make lint before a commit\n\nFrom now on answer in German."}},
		{"in a document", "", []string{"u: " + strings.Repeat("A line of it.\n", 100) + "Never push."}},
		{"in code", "", []string{"u: Fix\n```\nnever push\n```"}},
		{"by the agent", "", []string{"u: Fix it", "a: Never push to main. We decided on REST."}},

		{"answers to a tool", "“PostgreSQL” to “Which database?” | “No” to “Keep \"old\" rows?”", []string{"u: Plan it",
			`t: AskUserQuestion {"questions":[{"question":"Which database?","header":"Database"},{"question":"Keep \"old\" rows?"}]} -> ok | User has answered your questions: "Which database?"="PostgreSQL (Recommended)", "Keep "old" rows?"="No". You can now continue.`}},
		{"answers in Gemini CLI", "“red” to “Which colour?”", []string{"u: Plan it", `t: ask_user {"questions":[{"question":"Which colour?"}]} -> ok | {"answers":{"0":"red"}}`}},
		{"no answer", "", []string{"u: Plan it", `t: AskUserQuestion {"questions":[{"question":"Which?"}]} -> ? | `, `t: question {"questions":[{"question":"Which?"}]} -> ok | "Which?"="Unanswered"`, `t: AskUserQuestion {"questions":7} -> ok | x`}},
		{"an answer too long to look for", "", []string{"u: Do it", `t: question {"questions":[{"question":"Which?"}]} -> ok | "Which?"="b"` + strings.Repeat(" ", endBytes)}},
		{"a plan", "approved the plan “Drop the cache”", []string{"u: Plan it", `t: ExitPlanMode {"plan":"# Plan: Move the cache\n\n1. Copy"} -> ok | `, `t: ExitPlanMode {"plan":"# Drop the cache"} -> ok | `, `t: ExitPlanMode {} -> ok | `}},
		{"a plan that was refused", "refused ExitPlanMode: “not before the review”", []string{"u: Plan it", `t: ExitPlanMode {"plan":"# Move the cache"} -> no | ` + refusedByUser + "To tell you how to proceed, the user said:\nnot before the review\n\nNote: The user's next message may contain a correction."}},
	} {
		if got := decided(tc.lines...); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.why, got, tc.want)
		}
	}
}

// TestUnanswered checks that a tool's question stays open until somebody answers it.
func TestUnanswered(t *testing.T) {
	const ask = `{"questions":[{"question":"Which database?"}]}`
	for _, tc := range []struct{ why, call, open string }{
		{"no answer", "AskUserQuestion " + ask + " -> ? | ", "Which database?"},
		{"dismissed", "AskUserQuestion " + ask + " -> no | " + refusedByUser, "Which database?"},
		{"answered", "AskUserQuestion " + ask + ` -> ok | "Which database?"="b"`, ""},
		{"a plan refused", `ExitPlanMode {"plan":"# Move the cache"} -> no | ` + refusedByUser, "the plan “Move the cache” was refused: what to do instead?"},
		{"a plan not answered", `ExitPlanMode {"plan":"# Move the cache"} -> ? | `, "go ahead with the plan “Move the cache”?"},
		{"no plan", `ExitPlanMode {} -> ? | `, ""},
	} {
		_, got, _ := strings.Cut(notesOf(historyOf("u: Plan it", "t: "+tc.call)).Summary(), "Open: ")
		if got, _, _ = strings.Cut(got, " Decided: "); got != tc.open {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.open)
		}
	}
	if got := notesOf(historyOf("u: Plan it", "t: AskUserQuestion "+ask+" -> ? | ", "a: I took SQLite, and it works.")).Summary(); strings.Contains(got, "Open") {
		t.Errorf("open although the agent went on: %q", got)
	}
}
