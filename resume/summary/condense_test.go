package summary

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
	"cortext/schema/tokens"
)

// written is a stock of sentences that a test knows the borders of.
var written = []string{
	"We decided to use REST instead of GraphQL.", "Great!", "The file `api/handlers.go` was created.", "Is that so?",
	"It failed with error E1234 in config.yaml.", "See e.g. the docs of Node.js for it.", "Mr. Smith (approx. 3 of 4) agreed.", "It works.",
	"The tests incl. those of v1.2.3 pass.", "Nothing else was said about it, and so the matter rests.", "TODO: rename parseURL.",
	"She said \"do it.\"", "我们决定使用 REST。", "Then…", "Run `go test ./...` first.", "A very " + strings.Repeat("long and ", 80) + "tiring sentence.",
}

// randomText puts sentences of the stock into paragraphs.
func randomText(r *rand.Rand) (text string, in []string) {
	var b strings.Builder
	for range r.IntN(60) {
		s := written[r.IntN(len(written))]
		in = append(in, s)
		b.WriteString(s)
		b.WriteString([]string{" ", "\n", "  \t", "\n\n", "\n- ", "\n\n# "}[r.IntN(6)])
	}
	return b.String(), in
}

// Condense never exceeds, and gives whole sentences in their order.
func TestCondenseProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	rounds := 1500
	if testing.Short() {
		rounds = 200
	}
	for range rounds {
		text, in := randomText(r)
		limit := r.IntN(300)
		got := Condense(text, limit)
		if n := tokens.Count(got); n > limit {
			t.Fatalf("%d tokens, at most %d wanted: %q", n, limit, got)
		}
		if again := Condense(text, limit); again != got {
			t.Fatalf("%q and then %q", got, again)
		}
		if whole := strings.TrimSpace(text); limit > 0 && tokens.Count(whole) <= limit {
			if got != whole {
				t.Fatalf("%q became %q without need", whole, got)
			}
			continue
		}
		rest := got
		for _, s := range in { // take the sentences off in their order
			rest = strings.TrimLeft(rest, " \n-#")
			rest = strings.TrimPrefix(rest, s)
		}
		if strings.Trim(rest, " \n-#") != "" {
			t.Fatalf("%q is no run of the sentences of %q: what is left is %q", got, text, rest)
		}
		if limit >= 20 && got == "" && slices.Contains(in, "It works.") {
			t.Fatalf("nothing is left of %q", text)
		}
	}
}

func TestCondense(t *testing.T) {
	filler := strings.Repeat("And so it went on for quite a while as one may think. ", 12)
	for _, c := range []struct {
		name, text string
		limit      int
		want       []string
		not        []string
	}{
		{"what carries most stays", "The task was to sort imports. " + filler + "We decided to keep `goimports` because gci fails. " + filler + "The error E42 in a/b.go is still open. " + filler + "Done.", 60,
			[]string{"The task was to sort imports.", "We decided to keep `goimports` because gci fails.", "The error E42 in a/b.go is still open."}, nil},
		{"one too long is left out", "Short one. " + "Word, " + strings.Repeat("word, ", 500) + "end. Another short one.", 30, []string{"Short one. Another short one."}, []string{"word"}},
		{"a small one takes the room that a large one leaves", "We decided on a.go because b.go fails. We decided on " + strings.Repeat("c.go, ", 3) + "d.go because e.go fails. " + filler + "It is so.", 24,
			[]string{"We decided on a.go because b.go fails.", "It is so."}, []string{"c.go"}},
		{"nothing fits", strings.Repeat("word, ", 500) + "end.", 30, nil, []string{"word"}},
		{"no sentence at all", strings.Repeat("x", 10_000), 5, nil, []string{"x"}},
		{"no room", "It works.", 0, nil, []string{"It"}},
		{"code and tables are no sentences", "It works now.\n```go\nfunc main() {}\n```\n| a | b |\n|---|---|\n" + filler + "\nThe end of it.", 20, []string{"It works now."}, []string{"func", "|"}},
		{"a fence that is not closed hides nothing", filler + "\n```\nWe decided on it because of a.go.\n" + filler, 20, []string{"We decided on it because of a.go."}, nil},
	} {
		got := Condense(c.text, c.limit)
		if n := tokens.Count(got); n > c.limit {
			t.Errorf("%s: %d tokens", c.name, n)
		}
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is not in\n%s", c.name, w, got)
			}
		}
		for _, w := range c.not {
			if strings.Contains(got, w) {
				t.Errorf("%s: %q is in\n%s", c.name, w, got)
			}
		}
		if len(c.want) == 0 && got != "" {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// Extract takes from all of a range, within its bound.
func TestExtract(t *testing.T) {
	var h schema.History
	say := func(role schema.Role, format string, args ...any) {
		h.Messages = append(h.Messages, schema.Message{ID: fmt.Sprint(len(h.Messages)), Role: role, Content: fmt.Sprintf(format, args...)})
	}
	say(schema.User, "please make the parser in parse.go faster")
	say(schema.Assistant, "Let me look at the parser in parse.go first.")
	say(schema.User, "%s", strings.Repeat("2025-11-22 10:30:00 ERROR failed x=1 y=2 z=3 in /var/log/a.go:17\n", 200))
	for i := range 30 {
		say(schema.Assistant, "We decided to use the table number %d because the error E%d was fixed by it.", i, i)
		say(schema.System, "The system decided that nothing must ever be told.")
		say(schema.User, "ok")
	}
	say(schema.Assistant, "The parser is now twice as fast, and the tests of parse.go pass.")
	all := Range{End: len(h.Messages)}
	for _, limit := range []int{0, 20, 150, 500} {
		got := Extract(h, all, limit)
		if n := tokens.Count(got); n > limit || limit > 0 && n < limit/3 {
			t.Errorf("%d tokens of %d:\n%s", n, limit, got)
		}
		if strings.Contains(got, "system") || strings.Contains(got, "ERROR") || strings.Contains(got, "Let me") {
			t.Errorf("at %d what is not told is told:\n%s", limit, got)
		}
		if limit >= 150 && (!strings.HasPrefix(got, "please make the parser in parse.go faster\n") || !strings.HasSuffix(got, "the tests of parse.go pass.")) {
			t.Errorf("at %d the task or the outcome is not told:\n%s", limit, got)
		}
	}
	// One message does not take all the room.
	plan := ""
	for i := range 40 {
		plan += fmt.Sprintf("It was decided that a%d.go must be renamed b.go because c.go fails with an error.\n\n", i)
	}
	say(schema.User, "%s", plan)
	if got := Extract(h, Range{End: len(h.Messages)}, 300); strings.Count(got, "table number") < 3 {
		t.Errorf("one message has taken the room:\n%s", got)
	}
	if got := Extract(h, Range{Start: -1, End: 1 << 40}, 100); got == "" {
		t.Error("nothing of a range beyond the history")
	}
}

// What says nothing to who does not see what stood around it is not extracted.
func TestExtractChoice(t *testing.T) {
	const plan = `Implement the following plan:

# Fix three bugs in store.go

## Background

The hook never fires because of a wrong path in store.go.

### Step 1: Write failing tests that must fail

- No shadow branch
- **Expected: FAILS** (early return)

### Step 2: Make the failing tests pass
1. Call the method
2. Save the state next
3. Reload the state next

**Step 3: Verify that all tests must pass**

Never touch the database that must be kept.
`
	const answer = `There it is! An integration test failed. I see the error. Why did the error in hook.go never occur?

## What was changed and fixed

1. Commit and push the state of the branch.
2. Fixed the error in ` + "`store/path.go`" + ` because the path was relative.

The error in ` + "`hook.go`" + ` was fixed by resolving the path first. Shall I go on with the remaining error in main.go?
`
	h := schema.History{Messages: []schema.Message{
		{ID: "1", Role: schema.User, Content: plan}, {ID: "2", Role: schema.Assistant, Content: answer},
		{ID: "3", Role: schema.User, Content: "1. rename it, since the next error is there\n2. is it fixed?"},
		{ID: "4", Role: schema.Assistant, Content: "It is done."},
	}}
	want := `Implement the following plan:
# Fix three bugs in store.go
The hook never fires because of a wrong path in store.go.
Never touch the database that must be kept.
2. Fixed the error in ` + "`store/path.go`" + ` because the path was relative.
The error in ` + "`hook.go`" + ` was fixed by resolving the path first.
1. rename it, since the next error is there
2. is it fixed?`
	if got := Extract(h, Range{End: 4}, 500); got != want {
		t.Errorf("extracted\n%s\nwant\n%s", got, want)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		answer, want string
		err          error
	}{
		{" It was done.\n", "It was done.", nil},
		{"It was (mostly) \"done.\"", "It was (mostly) \"done.\"", nil},
		{"完成了。", "完成了。", nil},
		{"It was done. ✔️", "It was done. ✔️", nil},
		{"It was ✔️", "", ErrCut},
		{"**It was done.**", "**It was done.**", nil},
		{"<think>I'm sorry, what?</think>\n\nIt was done.", "It was done.", nil},
		{"The user said: I can't do this. It was done.", "The user said: I can't do this. It was done.", nil},
		{"\x1b[It was\r\ndone\u202e.", "[It was\ndone.", nil},
		{"\x00I'm sorry, but no.", "", ErrRefused},
		{"", "", ErrEmpty},
		{" \n\t", "", ErrEmpty},
		{"<think>It was done.</think> ", "", ErrEmpty},
		{"<think>It was done.", "", ErrCut},
		{"I can't help with that.", "", ErrRefused},
		{"I’m sorry, but I cannot do that", "", ErrRefused},
		{"*Sorry, no.*", "", ErrRefused},
		{"As an AI language model I won't.", "", ErrRefused},
		{"It was done. Then the", "", ErrCut},
		{"It was done,", "", ErrCut},
		{"It was done \xff", "", ErrCut},
		{"Done:\n- a\n- b", "", ErrCut},
		{strings.Repeat("ä", 500), "", ErrCut},
		{"I cannot " + strings.Repeat("ä", 500) + ".", "", ErrRefused},
	} {
		got, err := Check(c.answer)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%.60q: %q, %v; want %q, %v", c.answer, got, err, c.want, c.err)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%.60q: a long error: %v", c.answer, err)
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
		flat := strings.Join(strings.Fields(text), " ")
		for _, l := range strings.Split(got, "\n") {
			for _, s := range sentences(l) {
				if !strings.Contains(flat, s.text) {
					t.Fatalf("%q is not in %q", s.text, flat)
				}
			}
		}
		if answer, err := Check(text); err == nil && !endsSentence(answer) {
			t.Fatalf("%q is taken for whole", answer)
		}
		h := schema.History{Messages: []schema.Message{{ID: "a", Role: schema.User, Content: text}}}
		if n := tokens.Count(Extract(h, Range{End: 1}, limit)); n > max(limit, 0) {
			t.Fatalf("%d tokens extracted, at most %d wanted", n, limit)
		}
	})
}
