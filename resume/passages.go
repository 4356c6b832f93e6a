package resume

import (
	"fmt"
	"strings"

	"cortext/resume/excerpt"
	"cortext/resume/notes"
	"cortext/resume/tildes"
	"cortext/schema"
	"cortext/schema/prompt"
	"cortext/schema/tokens"
)

// Estimates of sizes in tokens.
const (
	callTokens  = 6 // a call's name, its outcome and its share of a heading
	gapTokens   = 4 // the line about the calls between two texts
	fenceTokens = 1 // a run of tildes of the usual length
)

// longestRun is the longest run of tildes that a text in an excerpt may contain. A
// longer run would make every heading just as long.
const longestRun = 64

// callsHeading is the heading above calls.
const callsHeading = "calls"

// A passage is the source of one section of an excerpt.
type passage struct {
	item
	message int  // its index
	lines   int  // number of lines
	partial bool // it has text that is never included verbatim
}

// A reading is the history, prepared for choosing excerpts.
type reading struct {
	*excerpt.History
	passages []passage
	excluded []int // messages with content that is never included
}

// read reads the messages from first to end, except turns that only manage
// conversations. Of tool outputs before message pruned, it keeps only the ends.
func (b *builder) read(first, end, pruned int) *reading {
	r := &reading{}
	var sections []excerpt.Section
	turn, manages := 0, false
	var spoken passage // the last passage that is not a call
	for i := first; i < end; i++ {
		m := &b.Messages[i]
		if m.Role == schema.User {
			turn++
			manages = prompt.Manages(m.Content)
		}
		if manages {
			continue
		}
		for _, it := range b.items(m, inExcerpt) {
			if it.blank() {
				continue
			}
			p := passage{item: it, message: i}
			heading := callTokens
			if it.tool == "" {
				heading = gapTokens
				if !p.continues(spoken) {
					heading = tokens.Count(b.heading(p, p)) + fenceTokens
				}
				spoken = p
			}
			p.prepare()
			if i < pruned {
				p.prune()
			}
			if tildes.Longest(it.heading) > longestRun {
				r.excluded = append(r.excluded, i)
				continue
			}
			r.passages = append(r.passages, p)
			sections = append(sections, excerpt.Section{Turn: turn, Heading: heading, Texts: p.texts})
		}
	}
	r.History = excerpt.Read(sections)
	return r
}

// prepare cuts from the texts what an excerpt never includes, and counts their lines.
func (p *passage) prepare() {
	texts := p.texts
	p.texts = nil
	for _, t := range texts {
		if p.tool == "" {
			t.Text = strings.Trim(t.Text, "\n")
		}
		p.lines += countLines(t.Text)
		if tildes.Longest(t.Text) > longestRun {
			p.partial = true
			t = excerpt.Text{Kind: t.Kind, Text: tildes.Cut(t.Text, longestTildes, excerpt.Gap)}
		}
		p.texts = append(p.texts, t)
	}
}

// prune gives the middle of outputs low priority.
func (p *passage) prune() {
	for i := range p.texts {
		if t := &p.texts[i]; t.Kind == excerpt.Output {
			t.LowPriority = middleOf(t.Text)
		}
	}
}

// countLines counts the lines of text. The last may lack its line ending.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// continues reports whether p may share the heading of the text before it: agents
// often say a line before each call.
func (p passage) continues(before passage) bool {
	return p.tool == "" && before.tool == "" && p.speaker == role(schema.Assistant)+branchMark(p.branch) && before.speaker == p.speaker
}

// heading returns the heading for the passages from first to last.
func (b *builder) heading(first, last passage) string {
	from, to := b.number(first.message), b.number(last.message)
	what := first.speaker
	if first.tool != "" {
		what = callsHeading + branchMark(first.branch)
	}
	if from == to {
		return fmt.Sprintf(" %d %s\n", from, what)
	}
	return fmt.Sprintf(" %d-%d %s\n", from, to, what)
}

// text renders the included part of the passage.
func (p passage) text(c excerpt.Chosen) string {
	if p.tool == "" {
		return c.Text
	}
	return "- " + p.tool + " " + c.Input + " " + p.outcome + "\n" + indented(c.Text)
}

// indented returns text with two spaces before each line.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// part describes the included part of a passage that is text.
func (p passage) part(c excerpt.Chosen, text string) Part {
	part := Part{What: p.speaker, Tokens: tokens.Count(text), Whole: c.Whole && !p.partial, Why: "it was said"}
	if p.tool != "" {
		part.What, part.Why = strings.TrimSpace(p.heading), p.why(c)
	}
	return part
}

// why explains why a call is included.
func (p passage) why(c excerpt.Chosen) string {
	switch {
	case len(c.Names) > 0:
		return "names " + strings.Join(c.Names, ", ")
	case p.outcome != notes.OK:
		return "it did not end well"
	}
	return "one of the last calls"
}

// An extract is a history that is only partly in the fence.
type extract struct {
	body     string // without the lines that open and close the fence
	run      int    // tildes in the fence
	included []bool // by message: part of it is included
	partial  []bool // by message: part of it is left out
	parts    []Part
}

// nothing returns an extract that includes nothing.
func (b *builder) nothing() extract {
	n := len(b.Messages)
	return extract{included: make([]bool, n), partial: make([]bool, n)}
}

// omitted counts the messages that are omitted entirely.
func (e *extract) omitted() (n int) {
	for _, included := range e.included {
		if !included {
			n++
		}
	}
	return n
}

// summarized counts the messages that only a summary in lead represents.
func (e *extract) summarized(lead []leadSection) (n int) {
	covered := make([]bool, len(e.included))
	for _, s := range lead {
		for i := s.covers.Start; i < s.covers.End; i++ {
			if !e.included[i] && !covered[i] {
				covered[i] = true
				n++
			}
		}
	}
	return n
}

// render adds headings to the chosen passages, in a fence of at least run tildes.
func (b *builder) render(r *reading, lead []leadSection, chosen []excerpt.Chosen, run int) extract {
	e := b.nothing()
	e.run = run
	for _, s := range lead {
		e.run = max(e.run, tildes.Longest(string(s.section))+1)
	}
	for i, c := range chosen {
		e.run = max(e.run, tildes.Longest(r.passages[i].heading)+1, tildes.Longest(c.Input)+1, tildes.Longest(c.Text)+1)
	}
	fence := strings.Repeat("~", e.run)
	var text strings.Builder
	for _, s := range lead {
		whole := !strings.Contains(string(s.section), "\n- "+excerpt.Gap+" ") // "… 3 more"
		e.parts = append(e.parts, Part{What: s.heading(), Tokens: tokens.Count(fence + string(s.section)), Whole: whole, Why: "stands for what is left out"})
		text.WriteString(fence + string(s.section))
	}
	for _, m := range r.excluded {
		e.partial[m] = true
	}
	var gap omission
	last := -1 // of the passages under the current heading
	for i, c := range chosen {
		p := r.passages[i]
		whole := c.Whole && !p.partial
		e.partial[p.message] = e.partial[p.message] || !whole
		if empty(c) {
			if !whole || i <= last {
				gap.add(p)
			}
			continue
		}
		text.WriteString(gap.line())
		gap = omission{}
		if i > last {
			last = lastUnderHeading(r.passages, chosen, i)
			text.WriteString(fence + b.heading(p, r.passages[last]))
		}
		passageText := p.text(c)
		text.WriteString(passageText)
		e.included[p.message] = true
		part := p.part(c, passageText)
		part.Message = b.number(p.message)
		e.parts = append(e.parts, part)
	}
	text.WriteString(gap.line())
	e.body = text.String()
	return e
}

// empty reports whether a section is omitted entirely.
func empty(c excerpt.Chosen) bool { return c.Text == "" && c.Input == "" }

// lastUnderHeading returns the last included passage that shares the heading of the
// passage at first.
func lastUnderHeading(passages []passage, chosen []excerpt.Chosen, first int) int {
	p, last := passages[first], first
	for i := first + 1; i < len(chosen); i++ {
		next := passages[i]
		switch {
		case next.branch != p.branch:
			return last
		case empty(chosen[i]):
			if next.tool == "" && next.speaker != p.speaker {
				return last
			}
		case next.tool != "" && p.tool != "" || next.continues(p):
			last = i
		default:
			return last
		}
	}
	return last
}

// An omission counts what is left out between two passages.
type omission struct{ calls, lines int }

func (o *omission) add(p passage) {
	if p.tool != "" {
		o.calls++
	} else {
		o.lines += p.lines
	}
}

// line describes what is left out.
func (o omission) line() string {
	var all []string
	if o.calls > 0 {
		all = append(all, excerpt.Count(o.calls, "call"))
	}
	if o.lines > 0 {
		all = append(all, excerpt.Count(o.lines, "line"))
	}
	if len(all) == 0 {
		return ""
	}
	return excerpt.Gap + " " + strings.Join(all, ", ") + "\n"
}
