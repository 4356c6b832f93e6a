package resume

import (
	"cmp"
	"slices"
	"strings"

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

// tails returns the tails that may be told, the longest first, of at most limit
// tokens: each begins at a turn, or where last has the history begin, or inside
// the last turn, for an agent may work for hours in one turn and no other may
// fit. rendered are the sections of the messages that they need, from the end on.
func (h *history) tails(last, limit int) (found []tail, rendered [][]section) {
	n := len(h.messages)
	first := 0
	if last > 0 {
		first = max(n-last, 0)
	}
	t := tail{start: n}
	turn := false // a whole turn has been found
	for i := n - 1; i >= first; i-- {
		m := &h.messages[i]
		ss := h.sections(m)
		t.sections += len(ss)
		for _, s := range ss {
			if t.tokens+t.sections+len(s)/largestToken > limit {
				slices.Reverse(found)
				return found, rendered
			}
			t.tokens += tokens.Count(string(s))
			t.run = max(t.run, longestRun(string(s)))
		}
		rendered = append(rendered, ss)
		t.start = i
		t.stored += h.stored(m)
		if m.Reasoning != "" {
			t.reasoning++
			t.thought += roughly(m.Reasoning)
		}
		if i == first || m.Role == schema.User || !turn {
			found = append(found, t)
		}
		turn = turn || m.Role == schema.User
	}
	slices.Reverse(found)
	return found, rendered
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
			named[b.ID] = true
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
	n := believed(m.Tokens, m.Content)
	for _, p := range parts(m, h.extra[m.ID]) {
		if p.call != "" {
			t := h.tools[p.call]
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
