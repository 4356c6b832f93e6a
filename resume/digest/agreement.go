package digest

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// agreed returns what the user agreed to with a short word ("yes, do that") or
// chose by its number ("option 2") from what the agent proposed in the turn
// before; "" if it was neither, or only the next routine step.
func agreed(prompt string, before turn) string {
	word := bare(prompt)
	if word == "" {
		return ""
	}
	proposal := before.spoken()
	if proposal == "" {
		return ""
	}
	if marker := choice(word); marker != "" {
		for _, s := range slices.Backward(sentences(proposal)) {
			if s.marker == marker {
				return tidy(s.text)
			}
		}
	}
	if !approval(word) {
		return ""
	}
	for _, s := range slices.Backward(sentences(proposal)) {
		if s.heading {
			continue
		}
		if p := proposed(s); routine(p) {
			return ""
		} else if p != "" && !vague(p) {
			return p
		}
	}
	return ""
}

// choice returns the marker that a short prompt names: "2" for "option 2, please".
func choice(word string) string {
	words := strings.FieldsFunc(word, func(r rune) bool { return !wordRune(r) })
	words = slices.DeleteFunc(words, func(w string) bool {
		return slices.Contains([]string{"option", "number", "no", "nr", "the", "one", "please", "go", "with", "let's", "s", "let", "do", "take", "i", "choose", "prefer", "yes", "ok", "approach",
			"variante", "bitte", "nimm", "opción", "choix", "numéro", "选"}, w)
	})
	if len(words) != 1 {
		return ""
	}
	switch words[0] {
	case "first":
		return "1"
	case "second":
		return "2"
	case "third":
		return "3"
	}
	if r, n := utf8.DecodeRuneInString(words[0]); n == len(words[0]) && (r >= '1' && r <= '9' || r >= 'a' && r <= 'h') {
		return words[0]
	}
	return ""
}

// approval reports whether a prompt says yes and nothing else.
func approval(word string) bool {
	parts := strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(",.!;–—，。！", r) })
	if len(parts) == 0 || len(parts) > 3 {
		return false
	}
	for _, p := range parts {
		p = strings.TrimSpace(p)
		p = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(p, "please "), " please"), " bitte"))
		for _, lead := range []string{"yes ", "yeah ", "ok ", "okay ", "sure ", "yep ", "ja ", "sí ", "oui "} {
			p = strings.TrimPrefix(p, lead)
		}
		if !slices.Contains([]string{
			"yes", "y", "yeah", "yep", "yup", "ok", "okay", "k", "sure", "please", "please do", "do it", "do that", "do so", "do this", "let's do it", "lets do it", "let's do that", "go", "go ahead", "go for it", "make it so",
			"sounds good", "sounds great", "looks good", "looks good to me", "lgtm", "good", "great", "perfect", "fine", "fine with me", "agreed", "i agree", "approved", "accepted", "correct", "exactly", "right", "absolutely",
			"definitely", "of course", "good idea", "great idea", "that works", "works for me", "ship it", "proceed", "do both", "both", "all of them", "yes to all",
			"ja", "ja gern", "gerne", "gern", "mach das", "mach es", "mach mal", "einverstanden", "passt", "gut", "in ordnung", "genau", "stimmt", "sí", "si", "hazlo", "dale", "vale", "de acuerdo", "adelante", "perfecto",
			"oui", "d'accord", "vas-y", "parfait", "好", "好的", "可以", "行", "同意", "是的", "是", "没问题",
		}, p) {
			return false
		}
	}
	return true
}

// proposed returns what s proposes to do, "" if it proposes nothing.
func proposed(s sentence) string {
	for _, p := range []string{
		"would you like me to", "do you want me to", "want me to", "shall i", "should i", "shall we", "should we", "may i", "can i",
		"i suggest we", "i suggest to", "i suggest", "i'd suggest", "i would suggest", "i recommend", "i'd recommend", "i would recommend", "i propose to", "i propose", "we propose", "my recommendation is to", "my recommendation is",
		"my recommendation:", "recommendation:", "my suggestion is to", "my suggestion:", "my proposal:", "proposal:", "proposed fix:", "the fix is to", "the best option is", "the simplest fix is to", "i'd go with", "i would go with", "we could", "we can", "i could",
		"how about", "what about", "soll ich", "sollen wir", "ich schlage vor", "mein vorschlag:", "ich würde", "quieres que", "propongo", "sugiero", "veux-tu que je", "je propose", "je suggère", "我建议", "建议", "要不要", "需要我",
	} {
		at := find(s.mask, p)
		if at < 0 || refused(s.mask[:at]) || s.question() && !clauseStart(s.mask[:at]) {
			continue
		}
		return tidy(strings.TrimRight(s.slice(at+len(p), len(s.text)).text, "?？ "))
	}
	return ""
}

// routine reports whether a proposal is only the next step of the work.
func routine(p string) bool {
	verb, _, _ := strings.Cut(strings.ToLower(p), " ")
	return slices.Contains([]string{"commit", "push", "run", "rerun", "proceed", "continue", "start", "show", "explain", "summarize", "go", "open", "check", "look", "read", "try", "test", "verify", "apply", "do", "help", "also", "begin", "stage"},
		strings.TrimFunc(verb, func(r rune) bool { return !unicode.IsLetter(r) }))
}

// vague reports whether a proposal only points at what was said before: "make
// this change".
func vague(p string) bool {
	return strings.Count(p, " ") < 4 && has(strings.ToLower(p), "this", "that", "it", "these", "those", "them", "the change", "the changes", "the fix", "the plan", "so", "das", "es", "eso", "ça")
}

// chosen returns what the user chose where a tool asked: the answers to its
// questions, or the plan that was approved.
func chosen(c schema.Tool) string {
	if c.Success == nil || !*c.Success {
		return ""
	}
	switch kindOf(c.Name) {
	case asks:
		var answers []string
		for i, q := range questions(c) {
			answer := strings.TrimSuffix(plain(answerTo(c.Output, i, q)).text, " (Recommended)")
			if answer == "" || answer == "Unanswered" {
				continue
			}
			if q.header != "" {
				answer = q.header + ": " + answer
			}
			answers = append(answers, answer)
		}
		return strings.Join(answers, "; ")
	case plans:
		if plan := planTitle(c); plan != "" {
			return "plan approved, " + plan
		}
	}
	return ""
}

// answerTo finds the answer to question i in what a tool put out: Claude Code and
// OpenCode write "question"="answer", Gemini CLI an object of answers by number.
func answerTo(output string, i int, q toolQuestion) string {
	if len(output) > maxRead {
		return ""
	}
	if _, after, ok := strings.Cut(output, `"`+q.text+`"="`); ok {
		answer, _, _ := strings.Cut(after, `"`)
		return answer
	}
	return rawjson.String(rawjson.Get(rawjson.Get([]byte(output), "answers"), strconv.Itoa(i)))
}

// asked returns the questions that a call puts to the user and that have got no
// answer.
func asked(c schema.Tool) (open []string) {
	if c.Success != nil && *c.Success {
		return nil
	}
	switch kindOf(c.Name) {
	case asks:
		for _, q := range questions(c) {
			if text := plain(q.text).text; text != "" && len(open) < maxQuestions {
				open = append(open, limit(text))
			}
		}
	case plans:
		switch plan := planTitle(c); {
		case plan == "":
		case Outcome(c) == Refused:
			open = append(open, "the plan “"+plan+"” was refused: what to do instead?")
		default:
			open = append(open, "go ahead with the plan “"+plan+"”?")
		}
	}
	return open
}

type toolQuestion struct{ text, header string }

func questions(c schema.Tool) []toolQuestion {
	list, err := rawjson.Array(rawjson.Get(c.Input, "questions"))
	if err != nil {
		return nil
	}
	var all []toolQuestion
	for _, e := range list {
		if q := (toolQuestion{text: rawjson.String(rawjson.Get(e, "question")), header: plain(rawjson.String(rawjson.Get(e, "header"))).text}); q.text != "" {
			all = append(all, q)
		}
	}
	return all
}

// planTitle is the first line of a plan.
func planTitle(c schema.Tool) string {
	list := sentences(rawjson.String(rawjson.Get(c.Input, "plan")))
	if len(list) == 0 {
		return ""
	}
	_, after, _ := strings.Cut(list[0].text, "Plan: ")
	if after == "" {
		after = list[0].text
	}
	return cut(after, maxTitle)
}
