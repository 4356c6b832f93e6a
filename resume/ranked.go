package resume

import (
	"fmt"
	"maps"
	"strings"

	"cortext/resume/rank"
	"cortext/schema/tokens"
)

// inPieces says how a history is to be read that is told in pieces.
const inPieces = " It is told in pieces: each heading has the number of its message, and " + rank.Gap + " stands where something was left out."

// The shares of a payload in percent: what is told of the end before anything is
// chosen, and what the end has at least in all.
const (
	endFirst = 25
	endLeast = 41
)

// A ranking is the sections of a history, made ready to choose from.
type ranking struct {
	*rank.History
	headings []string
	message  []int        // by section: the index of its message
	lacking  map[int]bool // messages that have a part which is never told
	run      int          // the longest run of tildes in any
}

// longestTold is the longest run of tildes in a text that is told in pieces: a
// longer one would make each heading as long.
const longestTold = 64

// fenceTokens is about how many a run of tildes has.
const fenceTokens = 2

// rank reads the messages from first on.
func (b *builder) rank(first int) *ranking {
	r := &ranking{lacking: map[int]bool{}}
	var sections []rank.Section
	for i := first; i < len(b.h.messages); i++ {
		for _, it := range b.h.items(&b.h.messages[i], false) {
			heading := fmt.Sprintf(" %d%s\n", b.earlier+i+1, it.heading)
			section := rank.Section{Heading: tokens.Count(heading) + fenceTokens}
			run := longestRun(heading)
			for _, p := range it.parts {
				if n := longestRun(p.Text); n <= longestTold {
					run = max(run, n)
					section.Parts = append(section.Parts, p)
				} else {
					r.lacking[i] = true
				}
			}
			if run > longestTold {
				r.lacking[i] = true
				continue
			}
			r.run = max(r.run, run)
			r.headings = append(r.headings, heading)
			r.message = append(r.message, i)
			sections = append(sections, section)
		}
	}
	r.History = rank.Read(sections)
	return r
}

// A piecewise is a history that is told in pieces.
type piecewise struct {
	body    string // without the fence around it
	partly  int    // messages of which something is told and something not
	nothing int    // messages of which nothing is told
}

// spell puts the headings over what is told.
func (b *builder) spell(r *ranking, told []rank.Told, run int) piecewise {
	var out piecewise
	var text strings.Builder
	fence := strings.Repeat("~", run)
	shown, lacking := map[int]bool{}, maps.Clone(r.lacking)
	for i, t := range told {
		m := r.message[i]
		if !t.Whole {
			lacking[m] = true
		}
		if t.Text != "" {
			shown[m] = true
			text.WriteString(fence + r.headings[i] + t.Text)
		}
	}
	for m := range shown {
		if lacking[m] {
			out.partly++
		}
	}
	out.nothing = len(b.h.messages) - len(shown)
	out.body = text.String()
	return out
}

// ranked tells the end of the history as it was said, and of what came before the
// pieces that the next turns are most likely to need. It reports whether there was
// room for anything.
func (b *builder) ranked(hd head, budget, last int) (choice, []LeftOut, bool) {
	first := 0
	if last > 0 {
		first = max(len(b.h.messages)-last, 0)
	}
	r := b.rank(first)
	command := hd.commandText()
	block := hd
	block.command, block.reference = "", ""
	for allowed := budget; allowed > leastPieces; {
		run := max(r.run, longestRun(command+block.text(nil)), minFence-1) + 1
		fence := strings.Repeat("~", run)
		front := func(left []LeftOut) string {
			return command + block.text(left) + "\n" + introduction(run, inPieces) + fence + fenceOpen
		}
		left := b.leftOutPieces(piecewise{nothing: len(b.h.messages), partly: len(b.h.messages)})
		room := allowed - tokens.Count(front(left)+fence+fenceClose)
		if room < leastPieces {
			break
		}
		told := r.Choose(rank.Options{
			Tokens: room,
			Older:  max(room-budget*endLeast/100, 0),
			Recent: min(budget*endFirst/100, room),
			Known:  []string{command, block.text(nil)},
		})
		p := b.spell(r, told, run)
		left = b.leftOutPieces(p)
		text := front(left) + p.body + fence + fenceClose
		count := tokens.Count(text)
		if count <= budget {
			return choice{tail{start: p.nothing}, text, count}, left, p.body != ""
		}
		allowed -= count - budget + 2
	}
	return choice{}, nil, false
}

// leastPieces is the room, in tokens, in which a history is told in pieces.
const leastPieces = 40

// leftOutPieces lists what is not told where the history is told in pieces.
func (b *builder) leftOutPieces(p piecewise) []LeftOut {
	var left []LeftOut
	show := commandLine(b.session, "show", "")
	if n := b.earlier + p.nothing; n > 0 {
		left = append(left, LeftOut{"messages", n, 0, show})
	}
	if p.partly > 0 {
		left = append(left, LeftOut{"parts of messages", p.partly, 0, show})
	}
	if b.aside > 0 {
		left = append(left, LeftOut{"messages on branches that were left", b.aside, 0, show})
	}
	return left
}
