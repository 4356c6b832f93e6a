package digest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// decide records what the user decided about something, replacing earlier decisions
// about it.
func (s *State) decide(about, text string, m *schema.Message) {
	n := s.note(text, m)
	n.Key = limit(about)
	s.Decisions = slices.DeleteFunc(s.Decisions, func(d Note) bool { return d.Key == n.Key })
	s.Decisions = bounded(append(s.Decisions, n), maxDecisions)
}

// The keys of decisions that do not answer a question.
const (
	planKey   = "plan"
	rulingKey = "ruling: "
)

// ruled records what a prompt decides: it answers the agent's last question, or
// states a rule for everything that follows.
func (s *State) ruled(prompt string, m *schema.Message) {
	const shortest, longest = 80, 200 // bytes of an answer, and of a sentence with a rule
	said := oneLine(dropBlocks(prompt))
	if len(said) <= shortest && (strings.Contains(s.unread, "?") || strings.Contains(s.unread, "？")) {
		s.readLast()
	}
	if f := &s.Fold; f.Question != "" && len(said) <= shortest && answers(said, f.Question, f.Ending) {
		s.decide(f.Question, "“"+said+"”"+answering+f.Question+"”", m)
		return
	}
	if len(said) > maxRuled {
		return // a document, or a log
	}
	for _, u := range sentences(prompt) {
		if !u.question && len(u.text) <= longest && strings.Count(u.text, " ") > 1 && rules(strings.ToLower(u.text)) {
			s.decide(rulingKey+strings.ToLower(u.text), "“"+u.text+"”", m)
		}
	}
}

// rules reports whether a sentence in lower case states a rule for what follows.
func rules(said string) bool { return matches("rulings", said) && !matches("no rulings", said) }

// maxRuled is the size, in bytes, of the longest prompt in which any sentence may be
// a rule.
const maxRuled = 1000

// answering separates an answer from its question.
const answering = " to “"

// answers reports whether a short prompt answers a question: it says yes or no to a
// question that allows that, or consists of words from ending, which holds the
// question and the choices.
func answers(said, question, ending string) bool {
	split := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !wordRune(r) })
	}
	short := strings.ToLower(strings.Trim(said, " .!"))
	if listed("answers", short) {
		return !matches("open questions", strings.ToLower(question))
	}
	words := split(said)
	return listed("choices", short) || len(words) > 0 && within(words, split(ending)) && !strings.HasSuffix(said, "?")
}

// chose records what the user chose when a tool asked: the answers to its questions,
// or the plan the user approved.
func (s *State) chose(c schema.Tool, m *schema.Message) {
	if c.Success == nil || !*c.Success {
		return
	}
	switch schema.KindOf(c.Name) {
	case schema.AskTool:
		for i, q := range questions(c) {
			if a := plain(answerTo(c.Output, i, q)); a != "" && a != "Unanswered" {
				s.decide(q, "“"+strings.TrimSuffix(a, " (Recommended)")+"”"+answering+plain(q)+"”", m)
			}
		}
	case schema.ApproveTool:
		if plan := planTitle(c); plan != "" {
			s.decide(planKey, "approved the plan “"+plan+"”", m)
		}
	}
}

// refused records what the user said when refusing a call.
func (s *State) refused(t schema.Tool, m *schema.Message) {
	if words := refusal(t); words != "" {
		s.decide(rulingKey+words, "refused "+oneLine(t.Name)+": “"+asks(words)+"”", m)
	}
}

// answerTo finds the answer to question i in a tool's output: Claude Code and OpenCode
// write "question"="answer", Gemini CLI an object of answers by number.
func answerTo(output string, i int, question string) string {
	if len(output) > endBytes {
		return ""
	}
	if _, after, ok := strings.Cut(output, `"`+question+`"="`); ok {
		answer, _, _ := strings.Cut(after, `"`)
		return answer
	}
	if rawjson.Valid([]byte(output)) != nil {
		return ""
	}
	return rawjson.String(rawjson.Get(rawjson.Get([]byte(output), "answers"), strconv.Itoa(i)))
}

// asked returns the first question of a call that the user has not answered.
func asked(c schema.Tool) string {
	if c.Success != nil && *c.Success {
		return ""
	}
	switch schema.KindOf(c.Name) {
	case schema.AskTool:
		for _, q := range questions(c) {
			if text := plain(q); text != "" {
				return limit(text)
			}
		}
	case schema.ApproveTool:
		switch plan := planTitle(c); {
		case plan == "":
		case Outcome(c) == Refused:
			return "the plan “" + plan + "” was refused: what to do instead?"
		default:
			return "go ahead with the plan “" + plan + "”?"
		}
	}
	return ""
}

// questions returns the questions that a call asks the user.
func questions(c schema.Tool) (all []string) {
	list, _ := rawjson.Array(rawjson.Get(c.Input, "questions"))
	for _, e := range list {
		if q := rawjson.String(rawjson.Get(e, "question")); q != "" {
			all = append(all, q)
		}
	}
	return all
}

// planTitle returns the first line of a plan.
func planTitle(c schema.Tool) string {
	list := sentences(rawjson.String(rawjson.Get(c.Input, "plan")))
	if len(list) == 0 {
		return ""
	}
	_, title, _ := strings.Cut(list[0].text, "Plan: ")
	return cut(cmp.Or(title, list[0].text), maxTitle)
}
