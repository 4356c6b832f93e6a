package resume

import (
	"cmp"
	"slices"
	"strings"

	"cortext/resume/tildes"
	"cortext/schema"
	"cortext/schema/tokens"
)

// A tail is a run of messages up to the end of the history.
type tail struct {
	start     int // index of its first message
	sections  int // how many it has
	tokens    int // of its sections, without the runs of tildes before them
	run       int // the longest run of tildes in it
	stored    int // tokens of its messages and their calls, about
	reasoning int // its messages that have reasoning
	thought   int // tokens of that reasoning, about
}

// tails returns the tails that may be told, the longest first, of about limit
// tokens in a fence whose run is longer than outside, the longest that stands before
// it: whole are those that begin at a turn, or where last has the history begin,
// within those that begin inside a turn. rendered are the sections of the messages
// that they need, from the end on.
func (h *history) tails(last, limit, outside int) (whole, within []tail, rendered [][]section) {
	n := len(h.messages)
	first := 0
	if last > 0 {
		first = max(n-last, 0)
	}
	t := tail{start: n}
	run, each := 0, 0 // of the fence, and its tokens
messages:
	for i := n - 1; i >= first; i-- {
		m := &h.messages[i]
		ss := h.sections(m)
		t.sections += len(ss)
		for _, s := range ss {
			if t.tokens+t.sections+len(s)/largestToken > limit { // whatever the run of the fence
				break messages
			}
			t.tokens += tokens.Count(string(s))
			t.run = max(t.run, tildes.Longest(string(s)))
		}
		rendered = append(rendered, ss)
		t.start = i
		t.stored += h.stored(m)
		if m.Reasoning != "" {
			t.reasoning++
			t.thought += roughly(m.Reasoning)
		}
		if r := tildes.Around(max(outside, t.run)); r != run {
			run, each = r, tokens.Count(strings.Repeat("~", r))
		}
		switch {
		case t.tokens+t.sections*each > limit: // a longer run may have fewer tokens: the next may fit
		case i == first || m.Role == schema.User:
			whole = append(whole, t)
		default:
			within = append(within, t)
		}
	}
	slices.Reverse(whole)
	slices.Reverse(within)
	return whole, within, rendered
}

// choose returns the longest tail of whole turns that fits the budget beside hd,
// which is known to fit without a history, or where that takes less than half of the
// room, the longest tail.
//
// The sums that it compares are exact, because the parts that it counts alone
// meet where no token can reach over: at a newline before a bracket or a run of
// tildes, and at the space behind such a run. The text is counted all the same.
func (b *builder) choose(hd head, budget, last int) choice {
	n := len(b.h.messages)
	none := tail{start: n}
	command := hd.commandText()
	block := hd
	block.command, block.reference = "", ""
	commandTokens := tokens.Count(command)
	text := command + block.text(b.leftOut(none))
	outside := tildes.Longest(text)
	best := choice{tail: none, text: text, count: tokens.Count(text)}
	room := budget - best.count
	whole, within, rendered := b.h.tails(last, budget-commandTokens-tokens.Count(block.text(nil)), outside)
	try := func(tails []tail) {
		for _, t := range tails {
			if t.start >= best.start {
				return
			}
			run := tildes.Around(max(outside, t.run))
			front := block.text(b.leftOut(t)) + "\n" + introduction(run)
			if commandTokens+tokens.Count(front)+fencedTokens(run, t) > budget {
				continue
			}
			text := command + front + fenced(run, rendered[:n-t.start])
			if count := tokens.Count(text); count <= budget {
				best = choice{tail: t, text: text, count: count, parts: b.tailParts(t, rendered, run)}
				return
			}
		}
	}
	try(whole)
	if taken := best.count - (budget - room); taken < room/2 {
		try(within)
	}
	return best
}

// fenced spells the fence with the last messages in it, whose sections are
// rendered from the end on.
func fenced(run int, rendered [][]section) string {
	fence := strings.Repeat("~", run)
	var b strings.Builder
	b.WriteString(fence + fenceOpen)
	for _, ss := range slices.Backward(rendered) {
		for _, s := range ss {
			b.WriteString(fence)
			b.WriteString(string(s))
		}
	}
	b.WriteString(fence + fenceClose)
	return b.String()
}

// fencedTokens is the number of tokens of t in a fence of run tildes, with all
// of its lines.
func fencedTokens(run int, t tail) int {
	fence := strings.Repeat("~", run)
	each := tokens.Count(fence)
	return each + tokens.Count(fenceOpen) + t.sections*each + t.tokens + tokens.Count(fence+fenceClose)
}

// extraCalls returns by message the calls that only their own line ties to it,
// in the order of their times: those that the message names stand where it puts
// them.
func extraCalls(h schema.History) map[string][]string {
	named := map[string]bool{}
	for i := range h.Messages {
		for _, c := range h.Messages[i].ToolCalls {
			named[c.ID] = true
		}
		for _, b := range h.Messages[i].Blocks {
			if b.Type == schema.ToolCallBlock {
				named[b.ID] = true
			}
		}
	}
	extra := map[string][]string{}
	for id, t := range h.Tools {
		if !named[id] && t.MessageID != "" {
			extra[t.MessageID] = append(extra[t.MessageID], id)
		}
	}
	for _, ids := range extra {
		slices.SortFunc(ids, func(a, b string) int {
			return cmp.Or(h.Tools[a].Timestamp.Time().Compare(h.Tools[b].Timestamp.Time()), cmp.Compare(a, b))
		})
	}
	return extra
}

// stored is about how many tokens m and its calls have, by what the log says, so
// that what is not told need not be counted.
func (h *history) stored(m *schema.Message) int {
	n, tools := believed(m.Tokens, m.Content), h.tools
	if h.uncut != nil {
		tools = h.uncut
	}
	for _, p := range parts(m, h.extra[m.ID]) {
		if p.call != "" {
			t := tools[p.call]
			n += believed(t.Tokens, string(t.Input), t.Output)
		}
	}
	return n
}

// believed returns count, or an estimate where it cannot be the number of tokens
// of the texts: a text has at most one for each byte.
func believed(count int, texts ...string) int {
	size, guess := 0, 0
	for _, t := range texts {
		size += len(t)
		guess += roughly(t)
	}
	if count <= 0 || count > size {
		return guess
	}
	return count
}

// roughly is the number of tokens of a text by its length: about four bytes make
// one in English and in code.
func roughly(text string) int { return (len(text) + 3) / 4 }
