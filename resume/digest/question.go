package digest

import (
	"fmt"
	"strings"
)

// openQuestion returns what the agent asked in the last turn, which the user has
// not answered.
func openQuestion(t turn) string {
	text := ""
	for i, r := range t.replies {
		for _, c := range r.calls {
			if q := asked(c); q != "" && i == len(t.replies)-1 {
				return q
			}
		}
		text = r.text
		if r.midWork {
			text = "" // it asked itself, and went on
		}
	}
	var open []sentence
	after := 0 // sentences since the last question
	for _, s := range sentences(text) {
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
