package digest

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// maxTurns is for how many turns a decision is told of in a summary.
const maxTurns = 200

// replyCues are the phrases that decide in a reply: where the agent goes on with
// its work its choices are small, and only what it calls a decision is one.
func replyCues(midWork bool) []cue {
	cues := agentCues()
	if midWork {
		cues = slices.DeleteFunc(cues, func(c cue) bool { return !strings.Contains(c.phrase, "deci") && !strings.Contains(c.phrase, "agreed") })
	}
	return cues
}

// A cue is a phrase after which a decision stands.
type cue struct {
	phrase string
	shown  string // what of the phrase belongs to the decision
	start  bool   // only at the beginning of a clause
}

// agentCues are the phrases with which anybody tells of a decision.
func agentCues() []cue {
	return []cue{
		{phrase: "we decided"}, {phrase: "we've decided"}, {phrase: "we have decided"}, {phrase: "i decided"}, {phrase: "i've decided"}, {phrase: "i have decided"},
		{phrase: "you decided"}, {phrase: "you've decided"}, {phrase: "it was decided"}, {phrase: "decided", start: true},
		{phrase: "we agreed"}, {phrase: "we've agreed"}, {phrase: "agreed on", start: true}, {phrase: "agreed to", start: true}, {phrase: "agreed:", start: true},
		{phrase: "let's go with"}, {phrase: "we'll go with"}, {phrase: "we will go with"}, {phrase: "i'll go with"}, {phrase: "i will go with"},
		{phrase: "i'm going with"}, {phrase: "we're going with"}, {phrase: "we are going with"}, {phrase: "going with", start: true},
		{phrase: "we went with"}, {phrase: "i went with"}, {phrase: "you went with"}, {phrase: "settled on"}, {phrase: "settling on"},
		{phrase: "opted for"}, {phrase: "opting for"}, {phrase: "we chose"}, {phrase: "i chose"}, {phrase: "you chose"}, {phrase: "we've chosen"}, {phrase: "we have chosen"}, {phrase: "we picked"},
		{phrase: "the chosen approach is"}, {phrase: "the chosen option is"}, {phrase: "chosen:", start: true}, {phrase: "chosen approach:", start: true},
		{phrase: "we'll stick with", shown: "stick with "}, {phrase: "let's stick with", shown: "stick with "}, {phrase: "sticking with", shown: "stick with ", start: true},
		{phrase: "we'll use", shown: "use "}, {phrase: "we will use", shown: "use "},
		{phrase: "leaning toward", shown: "leaning toward "}, {phrase: "leaning towards", shown: "leaning toward "},
		{phrase: "decision:", start: true}, {phrase: "decisions:", start: true}, {phrase: "final decision:", start: true},
		{phrase: "the decision is"}, {phrase: "the decision was"},
		{phrase: "wir haben uns entschieden für"}, {phrase: "wir haben uns für"}, {phrase: "wir haben entschieden"}, {phrase: "entscheidung:", start: true}, {phrase: "wir nehmen"}, {phrase: "beschlossen:", start: true},
		{phrase: "hemos decidido"}, {phrase: "decidimos"}, {phrase: "decisión:", start: true}, {phrase: "vamos con"},
		{phrase: "nous avons décidé de"}, {phrase: "on a décidé de"}, {phrase: "décision:", start: true}, {phrase: "décision :", start: true},
		{phrase: "我们决定"}, {phrase: "决定：", start: true}, {phrase: "已决定"}, {phrase: "决定采用"}, {phrase: "决定使用"},
	}
}

// userCues are those and some that decide only in the mouth of the user: the
// agent says them of each small step.
func userCues() []cue {
	return append(agentCues(), []cue{
		{phrase: "go with", start: true}, {phrase: "lets go with"}, {phrase: "i'd go with"}, {phrase: "i would go with"}, {phrase: "i choose"}, {phrase: "i pick"},
		{phrase: "let's use", shown: "use "}, {phrase: "lets use", shown: "use "}, {phrase: "we're using", shown: "use "}, {phrase: "we are using", shown: "use "},
		{phrase: "stick with", shown: "stick with ", start: true}, {phrase: "let's keep", shown: "keep "}, {phrase: "let's do", shown: "do "},
		{phrase: "i prefer"}, {phrase: "i'd prefer"}, {phrase: "i'd rather", shown: "rather "},
		{phrase: "nimm", start: true}, {phrase: "lass uns", start: true}, {phrase: "ich nehme"}, {phrase: "mejor usamos"}, {phrase: "on prend"}, {phrase: "就用"}, {phrase: "我们用"},
	}...)
}

// mayRule reports whether a reply can hold a decision, at a small part of the cost
// of reading it: each of [agentCues], and each heading of decisions, has one of
// these in it.
func mayRule(text string) bool {
	folded := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == '*' || c == '_' || c == '~' || c == '[':
			continue
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			if c = ' '; len(folded) > 0 && folded[len(folded)-1] == ' ' {
				continue
			}
		}
		folded = append(folded, c)
	}
	for _, part := range stems() {
		if bytes.Contains(folded, []byte(part)) {
			return true
		}
	}
	return false
}

func stems() []string {
	return []string{"deci", "agreed", "go with", "going with", "went with", "settl", "opted", "opting", "chose", "picked", "stick", "ll use", "will use", "leaning",
		"entsch", "wir nehmen", "wir haben uns", "beschlossen", "vamos con", "déci", "决定"}
}

// A ruling is a decision that a text tells of, and the sentence that tells it.
type ruling struct{ decision, sentence string }

// rulings returns the decisions that a text tells of.
func rulings(text []sentence, cues []cue) []ruling {
	var all []ruling
	for _, s := range text {
		if s.heading || s.question() {
			continue
		}
		d := ""
		if begins(s.under, "decision", "decisions", "decided", "entscheidung", "entscheidungen", "decisión", "décision", "决定") != "" && !s.unclosed && !refused(s.mask) {
			d = tidy(s.text)
		} else {
			d = decided(s, cues)
		}
		if d != "" {
			all = append(all, ruling{d, s.text})
		}
	}
	return all
}

// decided returns what s decides, "" if nothing.
func decided(s sentence, cues []cue) string {
	var last cue
	at, end := -1, -1
	for _, c := range cues {
		i := find(s.mask, c.phrase)
		if i < 0 || c.start && !clauseStart(s.mask[:i]) {
			continue
		}
		// The last cue of a sentence; of two at one place the longer.
		if i > at || i == at && i+len(c.phrase) > end {
			last, at, end = c, i, i+len(c.phrase)
		}
	}
	if at < 0 || refused(s.mask[:at]) || pending(s.mask) {
		return ""
	}
	if begins(strings.TrimLeft(s.mask[end:], " "), "yet", "later", "whether", "if", "how", "what", "which", "when", "by", "nothing", "anything") != "" {
		return ""
	}
	d := tidy(s.slice(end, len(s.text)).text)
	if d == "" {
		return ""
	}
	return last.shown + d
}

// clauseStart reports whether a clause may begin after before.
func clauseStart(before string) bool {
	before = strings.TrimRight(before, " ")
	if before == "" || strings.ContainsRune(",;:.—–-(", rune(before[len(before)-1])) {
		return true
	}
	word := before[strings.LastIndexByte(before, ' ')+1:]
	return slices.Contains([]string{"so", "ok", "okay", "yes", "yeah", "and", "then", "just", "please", "we", "have", "i", "ja", "also", "sí", "oui"}, word)
}

// refused reports whether what stands before a cue turns it into its contrary,
// or makes it depend on something.
func refused(before string) bool {
	before = before[strings.LastIndexAny(before, ",;:()")+1:]
	return strings.Contains(before, "n't ") || has(before, "not", "never", "no one", "nobody", "no decision", "cannot", "if", "whether", "unless", "until", "till", "before", "once", "when", "in case",
		"instead of", "rather than", "without", "could", "might", "may", "would", "should", "wanted", "want", "almost", "either", "why", "how", "who", "which",
		"nicht", "kein", "noch nicht", "wenn", "falls", "ob", "könnten", "bevor", "no", "aún", "todavía", "si", "ne", "n'avons", "pas", "没有", "还没", "尚未", "如果", "不")
}

// pending reports whether a sentence says that the matter is still open.
func pending(mask string) bool {
	return has(mask, "not decided", "undecided", "not yet decided", "to be decided", "still deciding", "yet to decide", "have to decide", "need to decide", "needs to decide", "must decide",
		"nicht entschieden", "no decidido", "未决定")
}

// tidy makes the rest of a sentence a note: without the words that tied it to the
// cue, and without its full stop.
func tidy(d string) string {
	d = strings.TrimLeftFunc(d, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",:;-–—：，", r) })
	for _, w := range []string{"that ", "to ", "on ", "for ", "dass ", "que ", "de "} {
		if len(d) > len(w) && strings.EqualFold(d[:len(w)], w) {
			d = strings.TrimLeft(d[len(w):], " ")
			break
		}
	}
	d = strings.TrimRightFunc(d, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".!:;,。！；，", r) })
	d = strings.TrimSuffix(d, " entschieden")
	if slices.Contains([]string{"it", "this", "that", "that one", "this one", "them", "both ways", "so"}, strings.ToLower(d)) {
		return ""
	}
	return d
}
