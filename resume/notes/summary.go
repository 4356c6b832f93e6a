package notes

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The most runes of a summary and of its parts.
const (
	maxSummary  = 300
	maxTopic    = 80
	maxDecision = 100
	maxOpen     = 100
)

// Summary returns one line of at most 300 runes about what the conversation is and
// where it stopped: the topic, the agent's last words, the question waiting for the
// user and the newest decision, as far as they exist, in whole clauses. It returns ""
// for an empty conversation.
func (n *Notes) Summary() string {
	t := &n.Turn
	topic, question, decided := cutToClause(t.Topic, maxTopic), cutToClause(cmp.Or(t.ToolQuestion, t.Question), maxOpen), ""
	if last := len(n.Decisions) - 1; last >= 0 {
		decided = shortDecision(n.Decisions[last].Text)
	}
	room := maxSummary
	for _, p := range []string{topic, "Open: " + question, "Decided: " + decided} {
		room -= utf8.RuneCountInString(p) + len(". ")
	}
	var parts []string
	for _, p := range []struct{ label, text string }{{"", topic}, {"", cutToClause(n.lastTurn(), room)}, {"Open: ", question}, {"Decided: ", decided}} {
		if p.text != "" {
			parts = append(parts, p.label+withFullStop(p.text))
		}
	}
	return strings.Join(parts, " ")
}

// shortDecision shortens a decision for a summary. If the decision is an answer, it
// prefers the question.
func shortDecision(decision string) string {
	answer, question, ok := strings.Cut(decision, answering)
	room := maxDecision - utf8.RuneCountInString(answer+answering) - 1
	if !ok || room < maxDecision/3 || utf8.RuneCountInString(decision) <= maxDecision {
		return cutToClause(decision, maxDecision)
	}
	return answer + answering + cutToClause(strings.TrimSuffix(question, "”"), room) + "”"
}

// lastTurn describes the state of the last turn, and its subject unless that is the topic.
func (n *Notes) lastTurn() string {
	t := &n.Turn
	about := func(status, joint string) string {
		if n.LastUser.Number == n.Topic.Number || n.LastUser.Text == "" {
			return status
		}
		return status + joint + "“" + cutToClause(n.LastUser.Text, maxOpen) + "”"
	}
	switch {
	case t.Failure != "":
		return "Stopped by an error: " + t.Failure
	case t.Interrupted && t.Answer != "":
		return "Interrupted after: " + t.Answer
	case t.Interrupted:
		return about("Interrupted", " while working on ")
	case n.LastUser.Text != "" && !t.Answered:
		return about("No answer yet", " to ")
	case t.Working && t.Answer != "":
		return "In the middle of the work, after: " + t.Answer
	case t.Working:
		return about("In the middle of the work", " on ")
	case t.Answer != "":
		return "Last: " + t.Answer
	case t.Answered:
		return about("Answered", " ")
	}
	return ""
}

// cutToClause shortens a text to at most n runes. It cuts at the end of a sentence or
// clause after at least a third of that, else at the end of a word with a mark.
func cutToClause(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	best, runes := 0, 0
	for i, r := range s {
		if runes++; runes > n-2 {
			break
		}
		after := i + utf8.RuneLen(r)
		ends := strings.ContainsRune("。！？；，：", r) || strings.ContainsRune(".!?;:,)–—", r) && strings.HasPrefix(s[after:], " ")
		if ends && runes > n/3 {
			best = after
		}
	}
	if best == 0 {
		return cut(s, n)
	}
	return strings.TrimRightFunc(s[:best], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".;:,–—。；，：", r) }) + " …"
}

// withFullStop adds a full stop to a sentence without end punctuation.
func withFullStop(s string) string {
	s = strings.TrimRight(s, ":,; ")
	if quoted := strings.TrimSuffix(s, "”"); quoted != s && strings.ContainsAny(quoted[max(len(quoted)-1, 0):], ".!?") {
		return s
	}
	if r, _ := utf8.DecodeLastRuneInString(s); unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(")]\"'`”", r) {
		return s + "."
	}
	return s
}
