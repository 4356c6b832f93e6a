package digest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// standing tells in at most room runes what the agent did last in t.
func standing(t, before turn, room int) string {
	text := t.Text
	if t.Note != "" && worth(t.Note) > worth(text) {
		text = t.Note
	}
	doing := ""
	switch {
	case t.Failure != "":
		return ending(cut("Stopped by an error: "+t.Failure, room-1))
	case !t.Answered && !t.Interrupted:
		if asked := t.asks(); asked != "" {
			return waiting(asked, room)
		}
		return ""
	case text == "" && !t.Interrupted && t.asks() != "":
		return waiting(t.asks(), room)
	case t.Interrupted:
		doing = "Interrupted while "
	case t.MidWork:
		doing = "Stopped while "
	}
	if doing == "" {
		return finished(t, before, text, room)
	}
	if work := underway(text); work != "" {
		return ending(cut(doing+work, room-1))
	}
	if asked := t.asks(); asked != "" {
		return ending(cut(doing+"working on: "+asked, room-1))
	}
	return strings.TrimSuffix(doing, " while ") + "."
}

func waiting(asked string, room int) string {
	return ending(cut("Waiting for an answer to: "+asked, min(room-1, maxWaiting)))
}

// maxWaiting is the most runes that a prompt without an answer takes.
const maxWaiting = 220

// gist is what a prompt asks for, on one line.
func gist(prompt string) string {
	if name, arguments := slash(prompt); name != "" {
		if arguments == "" {
			return "/" + name
		}
		prompt = arguments
	}
	units := sentences(prompt)
	for len(units) > 1 && (leadIn(units[0]) || saysNothing(units[0].text)) {
		units = units[1:]
	}
	if len(units) == 0 {
		return oneLine(prompt[:min(len(prompt), maxRead)])
	}
	if whole := oneLine(prompt); len(units) <= 3 && utf8.RuneCountInString(whole) <= maxAsked {
		return whole
	}
	// A question says best what is awaited.
	for _, u := range slices.Backward(units) {
		if u.question() {
			return u.text
		}
	}
	return strings.TrimRight(units[0].text, ".: ")
}

// underway returns what the agent said last that it was about to do, as "running
// the tests"; "" if it said nothing of the kind.
func underway(text string) string {
	for _, s := range slices.Backward(sentences(text)) {
		if s.question() || s.heading || has(s.mask, "let me know") {
			continue
		}
		l := s.line
		if verb := intention(l.mask); verb >= 0 {
			rest := l.slice(verb, len(l.text)).text
			verb, object, _ := strings.Cut(rest, " ")
			if verb == "" || strings.ContainsFunc(verb, func(r rune) bool { return !unicode.IsLetter(r) }) {
				continue
			}
			return strings.TrimRight(strings.TrimSpace(gerund(strings.ToLower(verb))+" "+alsoDoing(object)), ".:… ")
		}
		if verb, _, _ := strings.Cut(l.mask, " "); strings.HasSuffix(verb, "ing") && len(verb) > 5 && !slices.Contains([]string{"everything", "nothing", "something", "anything"}, verb) {
			r, n := utf8.DecodeRuneInString(l.text)
			return strings.TrimRight(string(unicode.ToLower(r))+l.text[n:], ".:… ")
		}
	}
	return ""
}

// alsoDoing puts a second verb into the form of the first: "the code and fix it"
// becomes "the code and fixing it".
func alsoDoing(object string) string {
	before, after, ok := strings.Cut(object, " and ")
	verb, rest, _ := strings.Cut(after, " ")
	if !ok || !slices.Contains([]string{"add", "apply", "build", "check", "clean", "commit", "create", "delete", "fix", "find", "get", "implement", "install", "make", "move", "push", "read", "remove", "rerun",
		"rename", "replace", "report", "restart", "review", "run", "see", "start", "try", "update", "use", "verify", "write"}, verb) {
		return object
	}
	return strings.TrimSpace(before + " and " + gerund(verb) + " " + rest)
}

// intention returns where in a mask the verb of a stated intention stands ("now
// let me run the tests": at run), -1 if the sentence is none.
func intention(mask string) int {
	at := 0
	skip := func(words ...string) bool {
		w := begins(mask[at:], words...)
		if w == "" {
			return false
		}
		at += len(w)
		at += len(mask[at:]) - len(strings.TrimLeft(mask[at:], " ,—–-:!."))
		return true
	}
	for skip("now", "next", "first", "then", "so", "ok", "okay", "good", "great", "perfect", "also", "and", "but", "finally", "alright", "right", "sure", "yes") {
	}
	if !skip("let me", "i'll", "i will", "i'm going to", "i am going to", "i'm about to", "let's", "lets", "we'll", "we will", "i need to", "i should", "i want to", "time to") {
		return -1
	}
	for skip("now", "also", "first", "quickly", "just", "then", "go ahead and", "try to", "proceed to", "continue to", "need to", "help you", "start by", "begin by") {
	}
	if at >= len(mask) {
		return -1
	}
	return at
}

// gerund returns the -ing form of an English verb.
func gerund(verb string) string {
	switch {
	case strings.HasSuffix(verb, "ing") && len(verb) > 4 && verb != "bring":
		return verb
	case strings.HasSuffix(verb, "ie"):
		return verb[:len(verb)-2] + "ying"
	case strings.HasSuffix(verb, "e") && !strings.HasSuffix(verb, "ee") && !strings.HasSuffix(verb, "oe") && verb != "be":
		return verb[:len(verb)-1] + "ing"
	case slices.Contains([]string{"run", "get", "set", "put", "cut", "stop", "plan", "commit", "swap", "split", "map", "drop", "strip", "grep", "debug",
		"tag", "log", "ship", "skip", "wrap", "step", "submit", "rerun", "reset", "scan", "spin", "begin", "dig", "trim", "plot", "pin", "fit", "let", "refer", "transfer"}, verb):
		return verb + verb[len(verb)-1:] + "ing"
	}
	return verb + "ing"
}

// finished tells what the agent's last answer comes to: its most telling
// sentences, as many as fit, in their order.
func finished(t, before turn, answer string, room int) string {
	const label = "Last: "
	room -= len(label)
	asked := gist(t.Prompt)
	units := sentences(answer)
	ranks := rank(units)
	said := pick(units, ranks, min(room, enough))
	switch {
	case said == "" && asked == "":
		return ""
	case said == "":
		return cut(label+"answered: "+asked, room+len(label))
	case room < roomForBoth || asked == "":
	case strings.HasSuffix(asked, "?") && utf8.RuneCountInString(asked) <= maxAsked && slices.Max(ranks) < plainEnough:
		said = "“" + asked + "” " + said
	case strings.Count(t.Prompt, " ") < fewWords && utf8.RuneCountInString(said) < tooShort && before.final() != "":
		// "Pushed.", after "push": what was pushed, the answer before says.
		earlier := sentences(before.final())
		if ranks := rank(earlier); len(ranks) > 0 && slices.Max(ranks) >= plainEnough {
			best := spoken(earlier, slices.Index(ranks, slices.Max(ranks)))
			if utf8.RuneCountInString(best)+utf8.RuneCountInString(said) < room {
				said = best + " " + said
			}
		}
	case strings.Count(said, " ") < bareWords:
		said = "“" + cut(asked, maxAsked) + "” " + said
	}
	return label + cut(said, room)
}

// worth rates an answer by its most telling sentence.
func worth(answer string) int {
	ranks := rank(sentences(answer))
	if len(ranks) == 0 {
		return never
	}
	return slices.Max(ranks)
}

// pick returns the sentences of the highest ranks in their order, in about room
// runes: at least the first of them, at most three.
func pick(units []sentence, ranks []int, room int) string {
	var order []int
	for i := range units {
		if ranks[i] > never {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return ranks[b] - ranks[a] })
	var picked []int
	used := 0
	for n, i := range order {
		length := utf8.RuneCountInString(spoken(units, i)) + 1
		adds := ranks[i] >= worthMore || ranks[i] >= 0 && used < tooShort && length < maxFiller
		if n > 0 && (used+length > room || !adds || len(picked) == 3) {
			continue
		}
		picked = append(picked, i)
		used += length
	}
	slices.Sort(picked)
	var parts []string
	for _, i := range picked {
		parts = append(parts, spoken(units, i))
	}
	return strings.Join(parts, " ")
}

const (
	maxAsked    = 80  // a longer question is not repeated before its answer
	plainEnough = 8   // the rank of a sentence that can be understood without the question
	roomForBoth = 160 // what a question and its answer need
	bareWords   = 2   // words that say nothing without what was asked: "Updated."
	tooShort    = 80  // runes up to which any sentence is better than none
	maxFiller   = 180 // runes of such a sentence
	enough      = 240 // runes after which no sentence is added
	worthMore   = 3   // the least rank of a sentence that is added
)

// spoken returns sentence i; one that announces a list, with its first item.
func spoken(units []sentence, i int) string {
	s := units[i].text
	if units[i].unclosed && i+1 < len(units) && units[i+1].item && !units[i+1].unclosed {
		return ending(strings.TrimRight(s, ": ") + ": " + units[i+1].text)
	}
	return ending(s)
}

// rank rates each sentence of an answer by how much it says about where the work
// stands, and by its place: the first and the last say more than others.
func rank(units []sentence) []int {
	ranks := make([]int, len(units))
	first, last := -1, -1
	for i, s := range units {
		if ranks[i] = telling(s); ranks[i] == never {
			continue
		}
		if s.heading || intention(s.mask) >= 0 {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	if headings := slices.IndexFunc(units, func(s sentence) bool { return s.heading }); headings >= 0 && slices.Max(ranks) < worthMore &&
		strings.Count(units[headings].text, " ") >= 2 {
		ranks[headings] = plainEnough // a report: its title says what it is
	}
	if first >= 0 {
		ranks[first] += 4
		if !units[last].item && last != first {
			ranks[last] += 2
		}
	}
	return ranks
}

// ending gives a sentence a full stop if it has no end of its own.
func ending(s string) string {
	s = strings.TrimRight(s, ":,; ")
	if r, _ := utf8.DecodeLastRuneInString(s); unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(")]\"'`", r) {
		return s + "."
	}
	return s
}

// never is the score of what tells nothing about the work.
const never = -100

// telling rates how much a sentence of the last answer says about where the work
// stands.
func telling(s sentence) int {
	switch {
	case s.question() || idleTalk(s):
		return never
	case intention(s.mask) >= 0:
		return -20
	}
	if strings.HasSuffix(strings.TrimRight(s.mask, "."), " and") {
		return never // a part of a list
	}
	score := 0
	for _, w := range []string{"done", "fixed", "added", "implemented", "created", "updated", "wrote", "written", "pushed", "committed", "merged", "removed",
		"renamed", "refactored", "resolved", "complete", "completed", "finished", "pass", "passes", "passed", "passing", "green", "works", "working", "verified", "ready",
		"shipped", "deployed", "installed", "moved", "changed", "replaced", "rewrote", "reviewed", "confirmed", "cleaned", "clean", "built", "set up", "succeeded",
		"erledigt", "fertig", "behoben", "hinzugefügt", "listo", "hecho", "corregido", "terminé", "corrigé", "ajouté", "完成", "已", "修复"} {
		if has(s.mask, w) {
			score += 3
		}
	}
	for _, w := range []string{"failing", "fails", "failed", "blocked", "remaining", "remains", "still", "todo", "next step", "not yet", "missing", "left to do", "tests",
		"broken", "root cause", "the problem", "the issue", "the bug", "recommend", "recommendation", "recommended", "fehlt", "offen", "pendiente", "失败"} {
		if has(s.mask, w) {
			score += 2
		}
	}
	score = min(score, 7)
	words := strings.Count(s.mask, " ") + 1
	switch {
	case s.heading && score == 0:
		return never // "Summary", "Changes", "Files"
	case s.item || s.heading:
		score -= 3
	case words < 3 && utf8.RuneCountInString(s.text) < 12:
		score -= 4
	case words > 45:
		score -= 2
	}
	if s.unclosed {
		score -= 2
	}
	if begins(s.mask, "yes", "no", "absolutely", "it", "this", "these", "that", "they") != "" {
		score -= 2
	}
	if has(s.under, "summary", "status", "result", "conclusion", "verdict", "next steps") {
		score++
	}
	return score
}

// idleTalk reports whether a sentence keeps the conversation going and says
// nothing by itself: an exclamation, an announcement, an offer.
func idleTalk(s sentence) bool {
	if s.unclosed && has(s.mask, "here's", "here is", "here are", "the following", "as follows", "below") {
		return true
	}
	if has(s.mask, "all the information", "information needed", "information i need", "comprehensive understanding", "comprehensive picture", "full picture", "let me know", "feel free", "if you want", "if you'd like", "if you would like", "happy to", "glad to", "i can also", "you're welcome",
		"sag bescheid", "wenn du möchtest", "avísame", "si quieres", "si tu veux", "n'hésite pas", "如果你需要", "如果需要") {
		return true
	}
	switch strings.TrimRight(s.mask, "!.: ") {
	case "perfect", "great", "good", "excellent", "sure", "of course", "absolutely", "yes", "no", "ok", "okay", "got it", "understood", "great question",
		"good question", "good catch", "good point", "good points", "you're right", "you're absolutely right", "i see", "nice", "thanks", "certainly", "summary", "great idea", "exactly", "right":
		return true
	}
	return false
}
