// Package excerpt chooses what a payload includes of a history that does not fit:
// first the dialogue, then what the next turns are most likely to need.
//
// It is pure and deterministic and knows nothing of a history's layout: the caller
// passes the sections of the history and gets back the text of each.
package excerpt

import "slices"

// A Kind is the source of a text.
type Kind uint8

// The kinds of texts.
const (
	User      Kind = iota // a message of the user
	Assistant             // a message of the agent
	System                // an event that nobody typed
	Input                 // a tool call's input, as JSON on one line
	Output                // the call's output
)

// isDialogue reports whether a text of this kind is a message rather than a call.
func (k Kind) isDialogue() bool { return k <= System }

// A Text is one text of a section.
type Text struct {
	Kind         Kind
	Text         string
	LowPriority  []Span // parts of Text, in order, to include only if there is room for everything else
	ErrorLine    Span   // the line of Text that says why a call failed, shown with its call
	Reproducible bool   // for an Output: the agent can get it again, such as the text of a file
}

// A Span is the part of a text from byte From up to, but not including, byte To.
type Span struct{ From, To int }

// A Section is a message's text, or a tool call: its input and output.
type Section struct {
	Turn    int // its turn; turns count up
	Heading int // tokens before its first text and after a call's input
	Texts   []Text
}

// A Chosen is what to include of a section.
type Chosen struct {
	Input string   // what to include of a call's input, on one line; "" for nothing
	Text  string   // what to include of the other texts, each on its own lines; "" for nothing
	Whole bool     // nothing is left out
	Names []string // some of the names it is included for
}

// Gap marks an omission.
const Gap = "…"

// A History is a list of sections, read once. One goroutine can choose from it
// repeatedly.
type History struct {
	sections []Section
	texts    []text
	first    []int     // by section: index of its first text in texts, with an extra entry at the end
	turns    []turn    // in order
	required [][]place // by section: what is shown with any part of it; for a request, the beginning of its answer
	names    []name
	ids      map[string]int32
}

// A text is a Text with its snippets.
type text struct {
	Text
	section  int
	snippets []snippet
	named    []occurrence // names, in order
}

// A place identifies a snippet.
type place struct{ text, snippet int }

// An occurrence is a name in a text, with the snippets that include its context.
type occurrence struct {
	name     int32
	snippet  int32
	from, to int32 // both included
}

// A name is a name that the history contains.
type name struct {
	text   string
	worth  int64
	within []int32 // the names within it, including itself
}

// A turn is a user's request and what followed, as indexes of texts.
type turn struct {
	asked  []int // the user's texts
	answer int   // the agent's last text; -1 if there is none
	others []int // the rest of the dialogue
}

// exchange returns the request and the answer.
func (t turn) exchange() []int { return append(slices.Clip(t.asked), t.answer) }

// Read splits the sections and rates their names.
func Read(sections []Section) *History {
	h := &History{sections: sections, ids: map[string]int32{}}
	for i, s := range sections {
		h.first = append(h.first, len(h.texts))
		for _, t := range s.Texts {
			h.texts = append(h.texts, text{Text: t, section: i, snippets: snippetsOf(t)})
		}
	}
	h.first = append(h.first, len(h.texts))
	for i := range sections {
		h.required = append(h.required, h.requiredFor(i))
	}
	h.readTurns()
	for _, t := range h.turns {
		h.linkTurn(t)
	}
	stats := h.stats()
	for id := range h.names {
		n := &h.names[id]
		n.worth = stats[id].worth(len(h.texts), n.text)
		eachPart(n.text, func(part string) {
			if in, ok := h.ids[part]; ok {
				n.within = append(n.within, in)
			}
		})
	}
	return h
}

// linkTurn makes a request appear with its answer, and everything else in the turn
// with the beginnings of both.
func (h *History) linkTurn(t turn) {
	with := []int{t.answer}
	if n := len(t.asked); n > 0 {
		with = append(with, t.asked[n-1])
	}
	for _, i := range slices.Concat(t.asked, t.others, []int{t.answer}) {
		for _, other := range with {
			if i >= 0 && other >= 0 && h.texts[i].section != h.texts[other].section {
				s := h.texts[i].section
				h.required[s] = append(h.required[s], place{other, 0})
			}
		}
	}
}

// readTurns finds the turns. A last answer that only announces calls counts as an
// answer.
func (h *History) readTurns() {
	last := 0
	for i := range h.texts {
		t := &h.texts[i]
		if !t.Kind.isDialogue() || len(t.snippets) == 0 {
			continue
		}
		if n := h.sections[t.section].Turn; len(h.turns) == 0 || n != last {
			h.turns, last = append(h.turns, turn{answer: -1}), n
		}
		now := &h.turns[len(h.turns)-1]
		switch t.Kind {
		case User:
			now.asked = append(now.asked, i)
		case Assistant:
			if now.answer >= 0 {
				now.others = append(now.others, now.answer)
			}
			now.answer = i
		default:
			now.others = append(now.others, i)
		}
	}
}

// requiredFor returns what is shown with any part of a call: the beginning of its input
// and the line that says why it failed.
func (h *History) requiredFor(section int) (all []place) {
	for k := h.first[section]; k < h.first[section+1]; k++ {
		t := &h.texts[k]
		if t.Kind == Input {
			for _, j := range t.upTo(openingBytes) {
				all = append(all, place{k, j})
			}
		}
		for j := range t.snippets {
			if t.snippets[j].errorLine {
				all = append(all, place{k, j})
			}
		}
	}
	return all
}

// stats finds the names and where each occurs.
func (h *History) stats() []stat {
	var stats []stat
	of := make([][]int32, len(h.texts)) // the names in each text
	for i := range h.texts {
		t := &h.texts[i]
		var here []int32
		for j, s := range t.snippets {
			eachName(t.Text.Text[s.from:s.to], func(at int, n string) {
				id, ok := h.ids[n]
				if !ok {
					id = int32(len(stats))
					h.ids[n] = id
					stats = append(stats, stat{first: i, lastText: -1})
					h.names = append(h.names, name{text: n})
				}
				if !s.lowPriority {
					from, to := t.surrounding(j, s.from+at, s.from+at+len(n))
					t.named = append(t.named, occurrence{id, int32(j), from, to})
				}
				if st := &stats[id]; st.lastText != i {
					st.lastText, st.last = i, i
					st.texts++
					st.kinds |= 1 << t.Kind
					if t.Kind == Input {
						st.calls++
					}
					here = append(here, id)
				}
			})
		}
		for _, id := range here {
			if st := &stats[id]; st.fewest == 0 || len(here) < st.fewest {
				st.fewest = len(here)
			}
		}
		of[i] = here
	}
	inUse(stats, of)
	return stats
}
