// Package rank chooses what of a history is told where not all of it fits: the
// end as it was said, and of what came before the pieces whose names the next
// turns are most likely to use.
//
// It is pure and deterministic, and knows nothing of how a history is spelled: who
// calls it gives the sections with their headings, and gets back the text of each.
package rank

import "slices"

// A Kind says what a part is.
type Kind uint8

// The kinds of parts.
const (
	User      Kind = iota // what the user typed
	Assistant             // what the agent said
	System                // an event that nobody typed
	Call                  // the input of a tool call
	Result                // its outcome
)

// A Part is one text of a section.
type Part struct {
	Kind  Kind
	Text  string
	Aside []Span // of Text, in order: told only where there is room for all else
	Key   Span   // of Text: told with anything of its section, if Options.Keys says so
}

// A Span is the bytes of a text from From to before To; none if they are equal.
type Span struct{ From, To int }

// A Section is what stands under one heading: a message's text, or a call with its
// outcome.
type Section struct {
	Heading int // tokens that its heading takes
	Parts   []Part
}

// Options bound a choice.
type Options struct {
	Tokens int      // that the sections may have, headings included
	Older  int      // of these, those that are spent before the end that is told as it was said
	Recent int      // tokens of that end that are told before anything is chosen
	Asked  int      // tokens of what the user said that are told before that, of First and of the latest most
	First  int      // the section of the user's that comes before all others, from 1; 0: the last
	Known  []string // texts that are told anyway
	Keys   bool     // the keys are told
}

// A History is a list of sections that was read once and can be chosen from again
// and again, by one goroutine.
type History struct {
	sections []Section
	texts    []text
	first    []int     // index in texts of the first text of each section, and one more at the end
	lead     [][]place // by section: the beginning of a call's input, which stands with anything that is told of it
	keys     [][]place // by section: these and the keys
	names    []name
	ids      map[string]int32
}

// A text is a part with its segments.
type text struct {
	Part
	section  int
	segments []segment
}

// A place is that of a segment.
type place struct{ text, segment int }

// places finds the beginning of a call's input, and the keys of a section.
func (h *History) places(section int) (lead, keys []place) {
	for k := h.first[section]; k < h.first[section+1]; k++ {
		t, n := &h.texts[k], 0
		if k == h.first[section] && t.Kind == Call {
			n = t.upTo(callOpened)
		}
		for j, s := range t.segments {
			switch {
			case s.aside:
			case j < n:
				lead = append(lead, place{k, j})
			case s.key:
				keys = append(keys, place{k, j})
			}
		}
	}
	return lead, keys
}

// A name is one that the history contains.
type name struct {
	text   string
	worth  int64
	within []int32 // the names that stand in it, itself included
}

// Read splits the sections and finds what their names are worth.
func Read(sections []Section) *History {
	h := &History{sections: sections, ids: map[string]int32{}}
	for i, s := range sections {
		h.first = append(h.first, len(h.texts))
		for _, p := range s.Parts {
			h.texts = append(h.texts, text{Part: p, section: i, segments: segmentsOf(p)})
		}
	}
	h.first = append(h.first, len(h.texts))
	for i := range sections {
		lead, keys := h.places(i)
		h.lead, h.keys = append(h.lead, lead), append(h.keys, slices.Concat(lead, keys))
	}
	stats := h.stats()
	for id := range h.names {
		n := &h.names[id]
		n.worth = stats[id].worth(len(h.texts), n.text)
		within(n.text, func(part string) {
			if in, ok := h.ids[part]; ok && !slices.Contains(n.within, in) {
				n.within = append(n.within, in)
			}
		})
	}
	for i := range h.texts {
		for j := range h.texts[i].segments {
			s := &h.texts[i].segments[j]
			for _, id := range slices.Clone(s.names) { // what stands in its names is told by it, too
				for _, in := range h.names[id].within {
					if !slices.Contains(s.names, in) {
						s.names = append(s.names, in)
					}
				}
			}
		}
	}
	return h
}

// stats finds the names and where each stands.
func (h *History) stats() []stat {
	var stats []stat
	of := make([][]int32, len(h.texts)) // the names in each text
	for i := range h.texts {
		t := &h.texts[i]
		var here []int32
		for j := range t.segments {
			s := &t.segments[j]
			names(t.Text[s.from:s.to], func(n string) {
				id, ok := h.ids[n]
				if !ok {
					id = int32(len(stats))
					h.ids[n] = id
					stats = append(stats, stat{first: i, part: -1})
					h.names = append(h.names, name{text: n})
				}
				if !slices.Contains(s.names, id) {
					s.names = append(s.names, id)
				}
				if st := &stats[id]; st.part != i {
					st.part, st.last = i, i
					st.parts++
					st.kinds |= 1 << t.Kind
					if t.Kind == Call {
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

// A Told is what is told of a section.
type Told struct {
	Text   string // of its parts, each on lines of its own, with Gap where something was left out; "": nothing
	Whole  bool
	Recent bool     // it belongs to the end
	Names  []string // names for which it is told, a few; none for what is told as the end
}

// Gap marks where something was left out.
const Gap = "…"
