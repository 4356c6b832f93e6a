package digest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
)

// MaxRequest is the most bytes of the text of [State.Request].
const MaxRequest = 600

// tasked notes what the user asked for first. A word alone, and what only a
// template says, stands until there is something better.
func (s *State) tasked(text, said string, m *schema.Message) {
	if s.Task.N > 0 && !s.Fold.Vague {
		return
	}
	vague := said == "" || oneWord(said)
	switch {
	case s.Task.N > 0 && (vague || goesOn(said)):
		return
	case said == "" && text[0] != '/':
		if units := sentences(text); len(units) > 0 {
			said = units[0].text
		}
	}
	if saysNothing(said) {
		return
	}
	if task := brief(said); task != "" {
		s.Task, s.Fold.Vague = s.note(task, m), vague
	}
}

// requested notes what the user asks for, if that is more than to go on.
func (s *State) requested(said string, m *schema.Message) {
	text := oneLine(dropBlocks(said))
	if text == "" || goesOn(said) || oneWord(text) && s.Request.N > 0 {
		return
	}
	s.Request = s.note("", m)
	s.Request.Text = shorten(text)
}

// shorten cuts a request to MaxRequest bytes: of one that is longer, its beginning
// and its end are left, where what is wanted stands before or behind what is pasted.
func shorten(text string) string {
	const first = MaxRequest * 2 / 3
	if len(text) <= MaxRequest {
		return text
	}
	head := limitTo(text, first)
	if at := strings.LastIndexAny(head, ".!?。！？"); at > first/2 && at+1 < len(head) && head[at+1] == ' ' {
		head = head[:at+1] + " …"
	} else if at := strings.LastIndexByte(head, ' '); at > first/2 {
		head = head[:at] + " …"
	}
	from := len(text) - (MaxRequest - len(head) - 1)
	for !utf8.RuneStart(text[from]) {
		from++
	}
	if at := strings.IndexByte(text[from:], ' '); at >= 0 && at < (len(text)-from)/2 {
		from += at
	}
	return head + " " + strings.TrimSpace(text[from:])
}

// oneWord reports whether a prompt is a word of English alone: "push", "verify".
// Of what, what was asked before says.
func oneWord(text string) bool {
	text = strings.TrimSpace(text)
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x2e80 })
}

// goesOn reports whether a prompt asks for nothing new: it agrees, chooses one of
// what was offered, or lets the agent go on.
func goesOn(prompt string) bool {
	word := bare(prompt)
	if word == "" {
		return len(prompt) <= maxClosing
	}
	if approval(word) || choice(word) != "" || saysNothing(prompt) {
		return true
	}
	word = strings.TrimPrefix(strings.TrimPrefix(word, "system: "), "please ")
	lead := begins(word, "continue", "go on", "go ahead", "keep going", "carry on", "proceed", "resume", "mach weiter", "weiter", "continúa", "continuez", "继续")
	return lead != "" && !slices.ContainsFunc(strings.FieldsFunc(word[len(lead):], func(r rune) bool { return !wordRune(r) }), func(w string) bool {
		return !slices.Contains([]string{"until", "till", "all", "is", "are", "it", "done", "finished", "complete", "with", "the", "next", "one", "step", "steps", "task", "tasks", "rest", "everything", "now", "then", "please", "and", "work", "working", "where", "you", "we", "left", "off", "stopped"}, w)
	})
}

// typed returns what the user typed of a prompt. What an agent makes of a command
// that stands in a file is a document of sections and lists, which tell the agent how
// to work, with what was typed behind them; filled says that it is one. A plan that
// is handed over ("Implement the following plan:") was meant as it stands.
func typed(text string) (said string, filled bool) {
	const shortest, minItems, minSections = 300, 4, 2
	if len(text) < shortest {
		return text, false
	}
	sections, items := 0, 0
	last, begins := "", true // the last paragraph, if it is of plain lines
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		marker, _ := listMarker(l)
		section := section(l)
		switch {
		case l == "":
			begins = true
			continue
		case marker != "":
			items++
		case section:
			sections++
		}
		if marker != "" || section {
			last = ""
		} else if begins {
			last = l
		} else if last != "" {
			last += "\n" + l
		}
		begins = false
	}
	if sections < minSections || items < minItems {
		return text, false
	}
	if units := sentences(text); len(units) > 0 && leadIn(units[0]) {
		return text, true
	}
	if strings.HasPrefix(text, last) {
		last = ""
	}
	return last, true
}

// section reports whether a line stands over a part of a document: "# Goal",
// "Rules:".
func section(l string) bool {
	const longest = 40
	if rest := strings.TrimLeft(l, "#"); len(rest) < len(l) && strings.HasPrefix(rest, " ") {
		return true
	}
	l = strings.Trim(l, "*_")
	return len(l) <= longest && strings.HasSuffix(l, ":") && strings.Count(l, " ") < 4
}
