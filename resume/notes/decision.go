package notes

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// addDecision records what the user decided about something, replacing earlier
// decisions about it.
func (a *adder) addDecision(about, text string) {
	n := a.note(text)
	n.Key = limit(about)
	a.Decisions = slices.DeleteFunc(a.Decisions, func(d Note) bool { return d.Key == n.Key })
	a.Decisions = lastOf(append(a.Decisions, n), maxDecisions)
}

// The keys of decisions that do not answer a question.
const (
	planKey = "plan"
	ruleKey = "ruling: "
)

// addDecisions records what a prompt decides: it answers the agent's last question, or
// states a rule for everything that follows.
func (a *adder) addDecisions(prompt string) {
	const shortest, longest = 80, 200 // bytes of an answer, and of a sentence with a rule
	line := oneLine(dropBlocks(prompt))
	if len(line) <= shortest && (strings.Contains(a.answer, "?") || strings.Contains(a.answer, "？")) {
		a.readAnswer()
	}
	if t := &a.Turn; t.Question != "" && len(line) <= shortest && isAnswer(line, t.Question, t.Choices) {
		a.addDecision(t.Question, "“"+line+"”"+answering+t.Question+"”")
		return
	}
	if len(line) > maxRulePrompt {
		return // a document, or a log
	}
	for _, u := range sentences(prompt) {
		if !u.question && len(u.text) <= longest && strings.Count(u.text, " ") > 1 && isRule(strings.ToLower(u.text)) {
			a.addDecision(ruleKey+strings.ToLower(u.text), "“"+u.text+"”")
		}
	}
}

// isRule reports whether a sentence in lower case states a rule for what follows.
func isRule(sentence string) bool {
	return matches("rules", sentence) && !matches("no rules", sentence)
}

// maxRulePrompt is the size, in bytes, of the longest prompt in which any sentence
// may be a rule.
const maxRulePrompt = 1000

// answering separates an answer from its question.
const answering = " to “"

// isAnswer reports whether a short prompt answers a question: it says yes or no to a
// question that allows that, or consists of words from ending, which holds the
// question and the choices.
func isAnswer(prompt, question, ending string) bool {
	split := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !wordRune(r) })
	}
	short := strings.ToLower(strings.Trim(prompt, " .!"))
	if listed("answers", short) {
		return !matches("open questions", strings.ToLower(question))
	}
	words := split(prompt)
	return listed("choices", short) || len(words) > 0 && containsAll(words, split(ending)) && !strings.HasSuffix(prompt, "?")
}

// addChoice records what the user chose when a tool asked: the answers to its
// questions, or the plan the user approved.
func (a *adder) addChoice(c schema.Tool) {
	if c.Success == nil || !*c.Success {
		return
	}
	switch schema.KindOf(c.Name) {
	case schema.AskTool:
		for i, q := range questions(c) {
			if answer := stripMarkup(answerIn(c.Output, i, q)); answer != "" && answer != "Unanswered" {
				a.addDecision(q, "“"+strings.TrimSuffix(answer, " (Recommended)")+"”"+answering+stripMarkup(q)+"”")
			}
		}
	case schema.ApproveTool:
		if plan := planTitle(c); plan != "" {
			a.addDecision(planKey, "approved the plan “"+plan+"”")
		}
	}
}

// addRefusal records why the user refused a call.
func (a *adder) addRefusal(t schema.Tool) {
	if words := refusalReason(t); words != "" {
		a.addDecision(ruleKey+words, "refused "+oneLine(t.Name)+": “"+requestIn(words)+"”")
	}
}

// answerIn finds the answer to question i in a tool's output: Claude Code and OpenCode
// write "question"="answer", Gemini CLI an object of answers by number.
func answerIn(output string, i int, question string) string {
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

// openQuestion returns the first question of a call that the user has not answered.
func openQuestion(c schema.Tool) string {
	if c.Success != nil && *c.Success {
		return ""
	}
	switch schema.KindOf(c.Name) {
	case schema.AskTool:
		for _, q := range questions(c) {
			if text := stripMarkup(q); text != "" {
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
