package resume

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cortext/resume/rank"
	"cortext/schema/tokens"
)

// inPieces says how a history is to be read that is told in pieces.
const inPieces = " It is told in pieces: each heading has the number of its message, notes under state those of theirs, and " + rank.Gap + " stands where something was left out."

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

// rank reads the messages from first to end.
func (b *builder) rank(first, end int) *ranking {
	r := &ranking{lacking: map[int]bool{}}
	var sections []rank.Section
	for i := first; i < end; i++ {
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
	parts   []Part
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
			p := Part{What: strings.TrimSpace(r.headings[i]), Message: b.earlier + m + 1, Tokens: tokens.Count(r.headings[i]+t.Text) + fenceTokens, Whole: t.Whole}
			_, p.What, _ = strings.Cut(p.What, " ")
			if p.Why = "names " + strings.Join(t.Names, ", "); t.Recent {
				p.Why = "the end"
			}
			out.parts = append(out.parts, p)
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

// ranked tells the state, the end of the history as it was said, and of what came
// before the pieces that the next turns are most likely to need.
func (b *builder) ranked(hd head, budget, last int) (choice, []LeftOut, bool) {
	first := 0
	if last > 0 {
		first = max(len(b.h.messages)-last, 0)
	}
	r := b.rank(first, len(b.h.messages))
	state := tellState(b.state, min(budget*stateShare/100, stateMost))
	size := tokens.Count(stateHeading+state) + fenceTokens
	known := []string{hd.text(nil), state}
	return b.tell(hd, budget, func(room int) ([]section, []rank.Told) {
		room -= size
		return led(stateHeading, state), r.Choose(rank.Options{
			Tokens: room,
			Older:  max(room-budget*endLeast/100, 0),
			Recent: min(budget*endFirst/100, room),
			Known:  known,
		})
	}, r)
}

// led is a section before the history, none where there is no text.
func led(heading, text string) []section {
	if text == "" {
		return nil
	}
	return []section{section(heading + text)}
}

// tell spells a payload whose history is told in pieces: choose gives what stands
// before it and the pieces for so many tokens. ok is false where there is no room.
func (b *builder) tell(hd head, budget int, choose func(room int) (lead []section, told []rank.Told), r *ranking) (c choice, left []LeftOut, ok bool) {
	command := hd.commandText()
	block := hd
	block.command, block.reference = "", ""
	for allowed, more := budget, roomTries; ; {
		run := max(r.run, longestRun(command+block.text(nil)), minFence-1) + 1
		front := func(left []LeftOut) string {
			return command + block.text(left) + "\n" + introduction(run, inPieces) + strings.Repeat("~", run) + fenceOpen
		}
		most := b.leftOutPieces(piecewise{nothing: len(b.h.messages), partly: len(b.h.messages)})
		end := strings.Repeat("~", run) + fenceClose
		room := allowed - tokens.Count(front(most)+end)
		if room < leastPieces {
			return c, left, ok
		}
		lead, told := choose(room)
		for _, s := range lead {
			run = max(run, longestRun(string(s))+1)
		}
		p := b.spell(r, told, run)
		for _, s := range slices.Backward(lead) {
			p.body = strings.Repeat("~", run) + string(s) + p.body
		}
		out := b.leftOutPieces(p)
		text := front(out) + p.body + strings.Repeat("~", run) + fenceClose
		count := tokens.Count(text)
		switch {
		case count > budget && ok:
			return c, left, ok
		case count > budget:
			allowed -= count - budget + 2
			continue
		case p.body != "" && count >= c.count:
			var parts []Part
			for _, s := range lead {
				what, _, _ := strings.Cut(strings.TrimSpace(string(s)), "\n")
				parts = append(parts, Part{What: what, Tokens: tokens.Count(string(s)) + fenceTokens, Whole: true, Why: "stands for what is left out"})
			}
			c, left, ok = choice{tail{start: p.nothing}, text, count, append(parts, p.parts...)}, out, true
		}
		if more--; more == 0 || (budget-count)*100 < budget {
			return c, left, ok
		}
		allowed += budget - count
	}
}

// roomTries is how often the pieces are chosen for room that was left: what they
// take is known only when they stand together.
const roomTries = 3

// The most that the state may take: of a payload in percent, and in tokens.
const (
	stateShare = 7
	stateMost  = 1500
)

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
		left = append(left, LeftOut{PartsOfMessages, p.partly, 0, commandLine(b.session, "show", " --message N")})
	}
	if b.aside > 0 {
		left = append(left, LeftOut{"messages on branches that were left", b.aside, 0, show})
	}
	return left
}
