package digest

import (
	"fmt"
	"slices"
	"strings"
)

// openQuestion returns what the agent asked last in a turn, "" if nothing that
// waits for the user.
func openQuestion(t turn) string {
	if len(t.Asked) > 0 {
		return t.Asked[0]
	}
	open := openSentences(t)
	if len(open) == 0 {
		return ""
	}
	q := open[len(open)-1].text
	if n := len(open); n > 1 && bareQuestion(open[n-1]) {
		q = open[n-2].text
	}
	// Of a list of questions the first is shown and the rest counted.
	if n := trailingItems(open); n > 1 {
		q = fmt.Sprintf("%s (and %d more)", open[len(open)-n].text, n-1)
	}
	return q
}

// openSentences are the questions that the last reply of a turn puts to the user.
func openSentences(t turn) (open []sentence) {
	if t.Calls {
		return nil // it asked itself, and went on
	}
	after := 0 // sentences since the last question
	for _, s := range sentences(t.final()) {
		switch {
		case s.question() && !rhetorical(s):
			open = append(open, s)
			after = 0
		case !s.heading && !s.item && len(open) > 0 && !idleTalk(s):
			if after++; after > 2 {
				open = nil // the agent went on: it was no question to the user
			}
		}
	}
	return open
}

// waiting returns all questions that wait for the user.
func (s *State) waiting() []Note {
	t := &s.Fold.Last
	asked := t.Asked
	if len(asked) == 0 {
		open := openSentences(*t)
		for i, q := range open {
			if i == 0 || !bareQuestion(q) {
				asked = append(asked, q.text)
			}
		}
	}
	all := slices.Clone(s.Fold.Carried)
	for _, q := range asked {
		n := Note{Text: limit(q), Message: t.Message, N: t.N}
		all = slices.DeleteFunc(all, func(o Note) bool { return o.Text == n.Text })
		all = append(all, n)
	}
	return bounded(all, maxQuestions)
}

// bareQuestion reports whether s asks about what was asked before: "What do you
// prefer?"
func bareQuestion(s sentence) bool {
	return strings.Count(s.mask, " ") < 6 && has(s.mask, "preference", "prefer", "thoughts", "think", "which one", "which option", "shall i proceed", "should i proceed", "ok", "okay", "sound good", "sounds good", "agree", "lieber", "prefieres", "préfères")
}

// trailingItems counts the list items at the end of a list of questions.
func trailingItems(open []sentence) int {
	n := 0
	for i := len(open) - 1; i >= 0 && open[i].item; i-- {
		n++
	}
	return n
}

// rhetorical reports whether a question is none that waits for an answer.
func rhetorical(s sentence) bool {
	if s.heading || begins(s.mask, "wait", "hmm", "hm", "maybe", "why not", "what if", "the question", "so what", "but what") != "" || has(s.mask, "maybe i", "should i check if", "i wonder") || strings.Count(s.mask, " ") == 0 && len(s.text) < 12 {
		return true
	}
	return has(s.mask, "anything else", "can i help", "may i help", "can i assist", "make sense", "makes sense", "does that help", "does this help",
		"what's next", "is there any specific", "are there any other", "any other", "would you like to know more", "what would you like to do next", "what would you like me to do next", "how does that sound", "isn't it", "right?",
		"noch etwas", "algo más", "autre chose", "还有什么")
}
