package summary

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"cortext/resume/excerpt"
	"cortext/schema"
	"cortext/schema/tokens"
)

// TestCondense checks that a text that is too long keeps whole sentences, in order, and
// marks where some are missing.
func TestCondense(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "Sentence number %d is about the file a%d.go and nothing else.\n", i, i)
	}
	text := b.String()
	for _, limit := range []int{0, 1, 20, 60, 200, 500, 2000} {
		got := Condense(text, limit)
		if n := tokens.Count(got); n > limit || limit >= 60 && n < min(limit, tokens.Count(text))*3/4 {
			t.Errorf("%d tokens of %d: %s", n, limit, got)
		}
		if again := Condense(text, limit); again != got {
			t.Errorf("%q and then %q", got, again)
		}
		rest := text
		for line := range strings.Lines(got) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, excerpt.Gap) {
				continue
			}
			_, after, ok := strings.Cut(rest, line)
			if !ok || !strings.HasSuffix(line, ".") {
				t.Fatalf("%q is no line of what is left of the text", line)
			}
			rest = after
		}
		if limit >= 60 && !strings.HasPrefix(got, "Sentence number 0 is") {
			t.Errorf("%d: %s", limit, got)
		}
	}
	if got := Condense(" It works.\n", 10); got != "It works." {
		t.Errorf("%q", got)
	}
}

// TestExtract checks that a summary has the user's requests and the agent's answers,
// within the limit, and nothing that a program said or that managed the conversation.
func TestExtract(t *testing.T) {
	var h schema.History
	say := func(role schema.Role, format string, args ...any) {
		h.Messages = append(h.Messages, schema.Message{ID: fmt.Sprint(len(h.Messages)), Role: role, Content: fmt.Sprintf(format, args...)})
	}
	say(schema.User, "please make the parser in parse.go faster")
	say(schema.Assistant, "Let me look at the parser in parse.go first.")
	say(schema.Assistant, "The parser is faster now: it keeps a table.")
	say(schema.System, "The system said this.")
	say(schema.User, "/workspace.context")
	say(schema.Assistant, "This is the context.")
	say(schema.User, " ")
	h.Messages = append(h.Messages, schema.Message{Role: schema.User, Sealed: "x", Content: "sealed"})
	say(schema.User, "and the tests?")
	say(schema.Assistant, "The tests of parse.go pass.")
	all := Range{End: len(h.Messages)}
	want := "User: please make the parser in parse.go faster\nAgent: Let me look at the parser in parse.go first.\nAgent: The parser is faster now: it keeps a table.\nUser: and the tests?\nAgent: The tests of parse.go pass."
	if got := Extract(h, all, 500); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := Extract(h, Range{Start: -1, End: math.MaxInt}, 500); got != want {
		t.Errorf("a range beyond the history: %s", got)
	}
	for i := range 30 {
		say(schema.User, "step %d of it, please", i)
		say(schema.Assistant, "Step %d is done. %s", i, strings.Repeat("It was as the manual says. ", 20))
	}
	for _, limit := range []int{0, 20, 150, 500, 1000} {
		got := Extract(h, Range{End: len(h.Messages)}, limit)
		if n := tokens.Count(got); n > limit || limit > 100 && n < limit*3/4 {
			t.Errorf("%d tokens of %d:\n%s", n, limit, got)
		}
		if limit >= 500 && (!strings.HasPrefix(got, "User: please make the parser") || !strings.Contains(got, "Agent: Step 29 is done.")) {
			t.Errorf("at %d the beginning or the end is missing:\n%s", limit, got)
		}
	}
}

func FuzzCondense(f *testing.F) {
	f.Add("We decided. It failed...x! ```\ncode\n```\n- a\n1. b\n| t |", 9)
	f.Add(strings.Repeat("?.)", 40)+" a。b"+strings.Repeat("\xff\n# ", 9), 20)
	f.Add("e.g. a. b c\u2028d\t\x00\x1b[0m", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit %= 200
		got := Condense(text, limit)
		if n := tokens.Count(got); n > max(limit, 0) {
			t.Fatalf("%d tokens, at most %d wanted", n, limit)
		}
		h := schema.History{Messages: []schema.Message{{ID: "a", Role: schema.User, Content: text}}}
		if n := tokens.Count(Extract(h, Range{End: 1}, limit)); n > max(limit, 0) {
			t.Fatalf("%d tokens extracted, at most %d wanted", n, limit)
		}
	})
}
