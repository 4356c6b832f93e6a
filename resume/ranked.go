package resume

import (
	"fmt"
	"strings"

	"cortext/resume/rank"
	"cortext/resume/tildes"
	"cortext/schema"
	"cortext/schema/tokens"
)

// inPieces says how a history is to be read that is told in pieces.
const inPieces = " It is told in pieces: a heading begins with the number of its message, notes under state end with that of theirs, " + rank.Gap + " marks what was left out."

// The shares of a payload in percent: what is told of the end before anything is
// chosen, and what the end has at least in all.
const (
	endFirst = 30
	endLeast = 42
)

// keysFrom is the budget, in tokens, from which on the line that says what went wrong
// is told of each failed call of which anything is told. The state tells those that
// were not resolved; with less room, names that may be needed come before the others.
const keysFrom = 4000

// askedShare is the part of a budget that what the user said has before anything
// else: who goes on must know what was asked for.
const askedShare = 14

// A ranking is the sections of a history, made ready to choose from.
type ranking struct {
	*rank.History
	headings []string
	message  []int        // by section: the index of its message
	untold   []int        // messages that have a section which is never told
	lacking  map[int]bool // sections that have a part which is never told
}

// longestTold is the longest run of tildes in a text that is told in pieces: a
// longer one would make each heading as long.
const longestTold = 64

// fenceTokens is how many a run of tildes has, about: as long as most are.
const fenceTokens = 1

// rank reads the messages from first to end.
func (b *builder) rank(first, end int) *ranking {
	r := &ranking{lacking: map[int]bool{}}
	var sections []rank.Section
	for i := first; i < end; i++ {
		for _, it := range b.h.items(&b.h.messages[i], false) {
			heading := fmt.Sprintf(" %d%s\n", b.earlier+i+1, it.heading)
			section := rank.Section{Heading: tokens.Count(heading) + fenceTokens}
			run := tildes.Longest(heading)
			for _, p := range it.parts {
				if n := tildes.Longest(p.Text); n <= longestTold {
					run = max(run, n)
					section.Parts = append(section.Parts, p)
				} else {
					r.lacking[len(sections)] = true
					section.Parts = append(section.Parts, rank.Part{Kind: p.Kind, Text: rank.Gap})
				}
			}
			if run > longestTold {
				r.untold = append(r.untold, i)
				delete(r.lacking, len(sections))
				continue
			}
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
	body    string // without the lines that open and close the fence
	run     int    // of tildes in the fence
	told    []bool // by message: something of it is told
	lacking []bool // by message: something of it is not
	parts   []Part
}

// spell puts the headings over what is told, in a fence of at least run tildes.
func (b *builder) spell(r *ranking, lead []section, told []rank.Told, run int) piecewise {
	out := piecewise{run: run, told: make([]bool, len(b.h.messages)), lacking: make([]bool, len(b.h.messages))}
	for _, s := range lead {
		out.run = max(out.run, tildes.Longest(string(s))+1)
	}
	for i, t := range told {
		if t.Text != "" {
			out.run = max(out.run, tildes.Longest(r.headings[i])+1, tildes.Longest(t.Text)+1)
		}
	}
	fence := strings.Repeat("~", out.run)
	var text strings.Builder
	write := func(p Part, s string) {
		p.Tokens = tokens.Count(fence + s)
		out.parts = append(out.parts, p)
		text.WriteString(fence + s)
	}
	for _, s := range lead {
		what, _, _ := strings.Cut(strings.TrimSpace(string(s)), "\n")
		whole := !strings.Contains(string(s), "\n- "+rank.Gap+" ") // "… 3 more"
		write(Part{What: what, Whole: whole, Why: "stands for what is left out"}, string(s))
	}
	for _, m := range r.untold {
		out.lacking[m] = true
	}
	for i, t := range told {
		m, whole := r.message[i], t.Whole && !r.lacking[i]
		out.lacking[m] = out.lacking[m] || !whole
		if t.Text == "" {
			continue
		}
		out.told[m] = true
		p := Part{Message: b.earlier + m + 1, Whole: whole, Why: "names " + strings.Join(t.Names, ", ")}
		_, p.What, _ = strings.Cut(strings.TrimSpace(r.headings[i]), " ")
		switch {
		case t.Recent:
			p.Why = "the end"
		case len(t.Names) == 0 && b.h.messages[m].Role == schema.User:
			p.Why = "the user said it"
		case len(t.Names) == 0:
			p.Why = "it names what may be needed"
		}
		write(p, r.headings[i]+t.Text)
	}
	out.body = text.String()
	return out
}

// ranked tells the state, what the user asked for, the end of the history as it was
// said, and of what came before the pieces that the next turns are most likely to
// need.
func (b *builder) ranked(hd head, budget, last int) (choice, []LeftOut, bool) {
	first := 0
	if last > 0 {
		first = max(len(b.h.messages)-last, 0)
	}
	r := b.rank(first, len(b.h.messages))
	return b.tell(hd, budget, func(room, allowed int) ([]section, []rank.Told) {
		return b.withRequest(r, func(request int, elsewhere ...factGroup) ([]section, []rank.Told) {
			limit := min(budget*stateShare/100, stateMost)
			if len(elsewhere) == 0 { // it has to be told here
				limit = max(limit, min(budget*requestShare/100, limit+b.requestTokens()))
			}
			lead := led(stateHeading, tellState(b.state, limit, append(elsewhere, hd.tells()...)...))
			room := room - sectionTokens(lead)
			known := []string{hd.text(nil)}
			for _, s := range lead {
				known = append(known, string(s))
			}
			return lead, r.Choose(rank.Options{
				Tokens: room,
				Older:  max(room-max(budget, allowed)*endLeast/100, 0),
				Recent: min(budget*endFirst/100, room),
				Asked:  min(budget/askedShare, room),
				First:  request,
				Known:  known,
				Keys:   budget >= keysFrom,
			})
		})
	}, r)
}

// requestTokens is how many tokens the note of the request has, about.
func (b *builder) requestTokens() int {
	if b.state == nil {
		return 0
	}
	return tokens.Count(askedLast + b.state.Request.Text)
}

// requestShare is the most that the state may take of a payload, in percent, so that
// it holds what the user asked for last.
const requestShare = 15

// withRequest chooses so that what the user asked for last is told: in pieces, as it
// was said, or where these leave out of it what the state's note has, in the state.
// choose gets the section of the request, from 1, and what the state need not tell.
func (b *builder) withRequest(r *ranking, choose func(request int, elsewhere ...factGroup) ([]section, []rank.Told)) ([]section, []rank.Told) {
	request, it := b.request(r)
	if it {
		lead, told := choose(request, requestFacts)
		begins, _, _ := strings.Cut(told[request-1].Text, rank.Gap)
		if told[request-1].Whole || len(begins) > len(b.state.Request.Text) {
			return lead, told
		}
	}
	return choose(request)
}

// request is the section, from 1, in which the user asked for what is being done, or
// of what was asked with a tool the last before it; 0 if that is not known. it
// reports whether it is the request itself.
func (b *builder) request(r *ranking) (section int, it bool) {
	if b.state == nil || b.state.Request.N == 0 {
		return 0, false
	}
	for k, i := range r.message {
		if n := b.earlier + i + 1; n <= b.state.Request.N && b.h.messages[i].Role == schema.User && !r.lacking[k] {
			section, it = k+1, n == b.state.Request.N
		}
	}
	return section, it
}

// sectionTokens is how many tokens sections have, about.
func sectionTokens(all []section) (n int) {
	for _, s := range all {
		n += tokens.Count(string(s)) + fenceTokens
	}
	return n
}

// led is a section before the history, none where there is no text.
func led(heading, text string) []section {
	if text == "" {
		return nil
	}
	return []section{section(heading + text)}
}

// tell spells a payload whose history is told in pieces: choose gives what stands
// before it and the pieces, for room tokens of the allowed ones. ok is false where there is no room.
func (b *builder) tell(hd head, budget int, choose func(room, allowed int) (lead []section, told []rank.Told), r *ranking) (c choice, left []LeftOut, ok bool) {
	command := hd.commandText()
	block := hd
	block.command, block.reference = "", ""
	most := b.leftOutPieces(piecewise{told: make([]bool, len(b.h.messages)), lacking: make([]bool, len(b.h.messages))})
	least := tildes.Around(tildes.Longest(command + block.text(most)))
	spell := func(left []LeftOut, run int, body string) string {
		fence := strings.Repeat("~", run)
		return command + block.text(left) + "\n" + introduction(run, inPieces) + fence + fenceOpen + body + fence + fenceClose
	}
	around := tokens.Count(spell(most, least, ""))
	for allowed, more := budget, roomTries; ; {
		room := allowed - around
		if room < leastPieces {
			return c, left, ok
		}
		lead, told := choose(room, allowed)
		p := b.spell(r, lead, told, least)
		out := b.leftOutPieces(p)
		text := spell(out, p.run, p.body)
		count := tokens.Count(text)
		switch {
		case count > budget && ok:
			return c, left, ok
		case count > budget:
			allowed -= count - budget + 2
			continue
		case p.body != "" && count >= c.count:
			nothing := 0
			for _, told := range p.told {
				if !told {
					nothing++
				}
			}
			c, left, ok = choice{tail: tail{start: nothing}, text: text, count: count, parts: p.parts}, out, true
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

// leftOutPieces lists what is not told where the history is told in pieces, with the
// commands that show the longest run of messages of which nothing is told, or its
// end, and the last message of which something is not.
func (b *builder) leftOutPieces(p piecewise) []LeftOut {
	var left []LeftOut
	nothing, partly, lastPart := b.earlier, 0, 0
	size := 0                          // tokens of what is not told, about
	from, to, start := 0, b.earlier, 0 // a range of messages, and where the run began that is looked at
	for i := range p.told {
		switch {
		case !p.told[i]:
			nothing++
			size += b.h.stored(&b.h.messages[i])
			if end := b.earlier + i + 1; end-start > to-from {
				from, to = start, end
			}
			continue
		case p.lacking[i]:
			partly, lastPart = partly+1, b.earlier+i+1
		}
		start = b.earlier + i + 1
	}
	if nothing > 0 {
		from = max(from, to-shownAtOnce)
		if b.earlier > 0 {
			size = 0 // those that were not read are not counted
		}
		left = append(left, LeftOut{"messages", nothing, size, commandLine(b.session, "show", fmt.Sprintf(" --message %d-%d", from+1, to))})
	}
	if partly > 0 {
		left = append(left, LeftOut{PartsOfMessages, partly, 0, commandLine(b.session, "show", fmt.Sprintf(" --message %d", lastPart))})
	}
	if b.aside > 0 {
		left = append(left, LeftOut{"messages on branches that were left", b.aside, 0, commandLine(b.session, "show", "")})
	}
	return left
}

// shownAtOnce is how many messages a command shows that an agent is told of: all
// that was left out would fill the window that was saved.
const shownAtOnce = 20
