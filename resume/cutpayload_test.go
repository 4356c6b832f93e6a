package resume

import (
	"math/rand/v2"
	"strings"
	"testing"

	"cortext/schema"
)

// A remainder is what CutPayload leaves of a text in which it finds a payload.
type remainder struct{ before, after string }

// cutWant checks that CutPayload finds a payload in text, or none if want is nil.
func cutWant(t *testing.T, what, text string, want *remainder) {
	t.Helper()
	wantOK := want != nil
	if !wantOK {
		want = new(remainder)
	}
	before, after, ok := CutPayload(text)
	if ok != wantOK || before != want.before || after != want.after {
		t.Errorf("%s: %t, before %.300q\nnot %.300q,\nafter %.300q\nnot %.300q", what, ok, before, want.before, after, want.after)
	}
}

// TestCutEveryPayload checks that any payload is found whole and that the text around
// it is kept.
func TestCutEveryPayload(t *testing.T) {
	quote := blockOnly(t) + "\n"
	around := []string{"", "\n", "words\n", "words\r\n\r\n", quote, "a\n\n" + quote + "b\n", "> " + quote, "[RESUMED CONVERSATION]\n", "~~~~ history\n~~~~\n"}
	found, rounds := 0, 200
	if testing.Short() {
		rounds = 40
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 11))
		s, h := randomSession(r), randomHistory(r, []int{1, 3, 20, 60}[r.IntN(4)])
		o := Options{Now: noon, Budget: 4*MinBudget + r.IntN(1<<uint(8+r.IntN(8)))}
		if r.IntN(3) > 0 {
			o.Command = Command{Name: "/workspace.x", File: ".workspace/commands/x.md", Body: noise(r, 40)}
		}
		p := mustBuild(t, s, h, o)
		ps := mustParse(t, p.Text)
		if ps.run == 0 { // anyone may quote the block alone
			cutWant(t, "without a history", p.Text, nil)
			continue
		}
		found++
		before, after := around[r.IntN(len(around))], around[r.IntN(len(around))]
		cutWant(t, "as it is", p.Text, &remainder{ps.command, ""})
		cutWant(t, "with text around it", before+p.Text+after, &remainder{before + ps.command, after})
		cutWant(t, "with its end trimmed", strings.TrimRight(p.Text, "\n"), &remainder{ps.command, ""})
		cutWant(t, "twice", p.Text+p.Text, &remainder{ps.command, p.Text})
		cutWant(t, "cut short", p.Text[:len(p.Text)-2], nil)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if found < rounds/4 {
		t.Errorf("only %d payloads have a history", found)
	}
}

// blockOnly returns a resume block without a history.
func blockOnly(t *testing.T) string {
	t.Helper()
	s, _, o := brainstorm()
	o.Command = Command{}
	return mustBuild(t, s, schema.History{}, o).Text
}

// TestCutNested checks that a payload quoted in the history does not end the payload
// around it.
func TestCutNested(t *testing.T) {
	s, h, o := brainstorm()
	inner := mustBuild(t, s, h, o)
	for depth := range 3 {
		h.Messages = append(h.Messages, schema.Message{ID: "x" + label(depth), Role: schema.User, Content: "look:\n" + inner.Text + "\nwhy?"})
		outer := mustBuild(t, s, h, o)
		ps := mustParse(t, outer.Text)
		if outer.Strategy != FullHistory {
			t.Fatalf("depth %d does not fit", depth)
		}
		cutWant(t, "nested", "a\n"+outer.Text+"b", &remainder{"a\n" + ps.command, "b"})
		inner = outer
	}
}

// TestCutQuotes checks that text that only looks like part of a payload stays with the
// user's text.
func TestCutQuotes(t *testing.T) {
	s, h, o := brainstorm()
	p := mustBuild(t, s, h, o)
	block := blockOnly(t)
	_, fence, ok := strings.Cut(p.Text, blockClose)
	if !ok {
		t.Fatal("no block")
	}
	intro := introduction(4)
	quoted := "> " + strings.ReplaceAll(p.Text, "\n", "\n> ")
	for what, text := range map[string]string{
		"nothing":                     "",
		"a block":                     block,
		"a block with words":          "look at this:\n" + block + "what is it?",
		"the first line":              blockOpen,
		"both lines":                  blockOpen + blockClose + "\n",
		"a fence without a block":     fence,
		"the payload quoted":          quoted,
		"the block in a line":         "see " + p.Text[strings.Index(p.Text, blockOpen):],
		"another word before":         strings.Replace(p.Text, intro[:5], "Above", 1),
		"an introduction only":        blockOpen + blockClose + "\n" + intro,
		"a fence that is not closed":  blockOpen + blockClose + "\n" + intro + "~~~~ history\n~~~~ user\nhello\n",
		"a fence that is too short":   blockOpen + blockClose + "\n" + introduction(3) + "~~~ history\n~~~ user\nhello\n~~~\n",
		"a fence of another length":   blockOpen + blockClose + "\n" + introduction(5) + "~~~~ history\n~~~~ user\nhello\n~~~~\n",
		"a length that is no number":  blockOpen + blockClose + "\n" + strings.Replace(intro, "exactly 4", "exactly x", 1) + "~~~~ history\n~~~~\n",
		"a length below zero":         blockOpen + blockClose + "\n" + strings.Replace(intro, "exactly 4", "exactly -4", 1) + "~~~~ history\n~~~~\n",
		"a length beyond any":         blockOpen + blockClose + "\n" + strings.Replace(intro, "exactly 4", "exactly 999999999999", 1) + "~~~~ history\n~~~~\n",
		"a length beyond all numbers": blockOpen + blockClose + "\n" + strings.Replace(intro, "exactly 4", "exactly "+strings.Repeat("9", 40), 1) + "~~~~ history\n~~~~\n",
		"words between":               blockOpen + blockClose + "\nNow then.\n" + intro + "~~~~ history\n~~~~\n",
	} {
		cutWant(t, what, text, nil)
	}
	// A payload after such a quote is still found.
	command := mustParse(t, p.Text).command
	for _, quote := range []string{block + "\n", blockOpen + "and so on" + blockClose + "\n", quoted + "\n", fence} {
		cutWant(t, "behind a quote", quote+p.Text, &remainder{quote + command, ""})
	}
}

// TestCutKeepsOpenQuotes checks that a part of a block that the user quoted is not
// taken for the payload's. It must be kept with the user's text after it.
func TestCutKeepsOpenQuotes(t *testing.T) {
	s, h, o := brainstorm()
	p := mustBuild(t, s, h, o)
	for _, quote := range []string{"What does this mean?\n" + blockOpen + "I never wrote that.\n\n", blockOnly(t), blockOnly(t) + "What is that?\n"} {
		cutWant(t, "behind an open quote", quote+p.Text, &remainder{quote + mustParse(t, p.Text).command, ""})
	}
}
