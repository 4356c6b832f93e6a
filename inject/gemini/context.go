package gemini

import (
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema/rawjson"
)

// The program keeps a context: the messages that it sends to a model. Its file records
// how the context changes: a message extends it, a rewind cuts it, and "$set.messages"
// replaces it. Messages stay part of the history, so a new context only adds those that
// the history does not have. Its messages may have new ids. If the program rebuilt the
// context without ids (after a tool that the user refused, or for masked results;
// 0.61.0: GeminiChat.setHistory), lines with new ids precede it.

// A stack is the context, as a rewind sees it.
type stack []*unit

// push appends a message to the context. The first message keeps the parent that it had.
func (s *stack) push(u *unit) {
	if top := s.top(); top != nil {
		u.above = top
	}
	u.depth = len(*s)
	*s = append(*s, u)
}

// top returns the last message of the context; nil for none.
func (s stack) top() *unit {
	if len(s) == 0 {
		return nil
	}
	return s[len(s)-1]
}

// dropCopies removes the messages that turned out to be copies.
func (s *stack) dropCopies() {
	all := *s
	*s = all[:0:0]
	for _, u := range all {
		if !u.copied {
			u.depth = len(*s)
			*s = append(*s, u)
		}
	}
}

// rewind cuts the context before the message id (0.61.0: rewindTo). An id that is not
// in it empties the context.
func (x *index) rewind(id string) {
	x.run = nil
	keep := 0
	if base, ok := strings.CutSuffix(id, "_response"); ok && x.byID[id] == nil && x.byID[base] != nil {
		id, keep = base, 1 // the tool results of that message
	}
	u := x.byID[id]
	if a, ok := x.aliases[id]; ok {
		u = a.unit
	}
	if u == nil || u.depth >= len(x.stack) || x.stack[u.depth] != u || u.depth == 0 && x.tail.on {
		x.tail.stale = x.tail.on
		x.stack = nil
		return
	}
	x.stack = x.stack[:u.depth+keep]
}

// A contextMessage is a message of a context.
type contextMessage struct {
	r    record
	at   inject.Span
	kind unitKind
	s    spoken
}

// setContext handles a new context, the value of "$set.messages" in the line raw at
// offset.
func (x *index) setContext(list, raw []byte, offset int64) {
	var turns []contextMessage
	var ids []string
	elements, _ := rawjson.Array(list)
	for _, e := range elements {
		r, err := parseRecord(e)
		if kind := kindOf(r); err == nil && r.ID != "" && kind != unknownUnit {
			at := inject.Span{Offset: offset + int64(cap(raw)-cap(e)), Size: len(e)}
			turns = append(turns, contextMessage{r, at, kind, says(kind, r.Content)})
			ids = append(ids, r.ID)
		}
	}
	copies := len(ids) > 0 && (slices.Equal(ids, x.run) || x.burst != nil && x.burst.id == ids[0] && endsIn(x.run, ids)) // the preceding lines were written for it
	before := len(x.units)
	known := false // the history has the messages that a summary is about
	if copies {
		before = x.byID[ids[0]].at
		known = x.tail.on || x.o.Continues || slices.ContainsFunc(x.units[:before], func(u *unit) bool { return u.speaks })
	}
	var fresh []contextMessage
	for i := len(turns) - 1; i >= 0; i-- {
		t := turns[i]
		u := x.byID[t.r.ID]
		switch {
		case u != nil && !copies:
			if u.at >= 0 {
				before = min(before, u.at)
			}
		case len(t.s.items) == 0: // the program's own context, tool results
		case isOwnTurn(turns, i):
			if known {
				u.copied = true
			}
			if t.kind == userUnit {
				x.addRoot(t.r.ID)
				if !x.spoken && !x.tail.on && !x.o.Continues && u == nil {
					fresh = append(fresh, t)
				}
			}
		default:
			if v := x.contents.original(t, x.units, &before); v != nil {
				x.aliases[t.r.ID] = alias{v, offset}
				if copies {
					u.copied = true
				}
			} else if x.tail.on {
				x.tail.stale = true // it may copy an earlier message
			} else if !copies {
				fresh = append(fresh, t)
			}
		}
	}
	for _, t := range slices.Backward(fresh) {
		x.message(t.r, t.at)
	}
	if copies {
		maps.DeleteFunc(x.owners, func(_ string, u *unit) bool { return u.copied })
		x.stack.dropCopies()
	}
	x.run, x.burst = nil, nil
	x.goBack(turns)
}

// goBack cuts what a new context lacks at its end: the user took that back (/restore,
// /chat resume), and what follows continues from the last message of the context. Turns that
// the user interrupted, or that were not answered, stay: the program leaves out some by itself.
func (x *index) goBack(turns []contextMessage) {
	for _, t := range slices.Backward(turns) {
		u := x.byID[t.r.ID]
		if a, ok := x.aliases[t.r.ID]; ok {
			u = a.unit
		}
		if len(t.s.items) == 0 {
			continue
		}
		if u == nil || u.depth >= len(x.stack) || x.stack[u.depth] != u {
			return // nothing is taken back if it is not certain what the context ends with
		}
		if anyAnswered(x.stack[u.depth+1:]) {
			x.stack, x.tail.stale = x.stack[:u.depth+1], x.tail.stale || x.tail.on
		}
		return
	}
}

// anyAnswered reports whether some turn in a part of a context was answered, and not
// interrupted.
func anyAnswered(part []*unit) bool {
	answered := false
	for _, u := range part {
		switch {
		case u.notice:
			answered = answered && !u.cut
		case u.speaks && u.kind == userUnit && answered:
			return true
		case u.speaks && u.kind != userUnit:
			answered = true
		}
	}
	return answered
}

func endsIn(list, end []string) bool {
	return len(end) <= len(list) && slices.Equal(list[len(list)-len(end):], end)
}

// isOwnTurn reports whether a message of a context comes from the program: the
// summary of a compression, the answer to it, or the substitute for an interrupted
// answer.
func isOwnTurn(turns []contextMessage, i int) bool {
	texts := turns[i].s.texts()
	if len(texts) != 1 || len(turns[i].s.items) > 1 {
		return false
	}
	switch turns[i].kind {
	case userUnit:
		// A model may write something before its summary: then the answer shows what it is.
		return isSummary(texts[0]) || strings.Contains(texts[0], summaryTag) && i+1 < len(turns) &&
			slices.Equal(turns[i+1].s.texts(), []string{summaryAck})
	case modelUnit:
		return texts[0] == placeholder || texts[0] == summaryAck && i > 0 && isOwnTurn(turns, i-1)
	}
	return false
}

// contents maps hashes of what messages say to the positions of those messages. It
// serves to recognize a message in a new context.
type contents map[uint64][]int

// add adds a message.
func (c contents) add(u *unit, s spoken) {
	for _, k := range keys(u.kind, s) {
		for _, h := range k {
			if i, ok := slices.BinarySearch(c[h], u.at); !ok {
				c[h] = slices.Insert(c[h], i, u.at)
			}
		}
	}
}

// original finds the message that a turn of a context copies: the last one with the
// same content before a position, else any. The program may have merged consecutive
// turns of one speaker (0.61.0: coalesceConsecutiveRoles).
func (c contents) original(t contextMessage, units []*unit, before *int) *unit {
	for _, ks := range keys(t.kind, t.s) {
		limit, place := *before, *before
		for _, h := range slices.Backward(ks) {
			at := c[h]
			i, _ := slices.BinarySearch(at, limit)
			for i > 0 && units[at[i-1]].copied {
				i--
			}
			if i == 0 {
				place = -1
				break
			}
			place = at[i-1]
			limit = place + 1
		}
		if place >= 0 && len(ks) > 0 {
			*before = place
			return units[place]
		}
	}
	return nil
}

// keys returns hashes of a message's content, in one or two ways: by its parts and,
// for a model's message, whose parts the program joins, by its whole text.
func keys(kind unitKind, s spoken) (ways [][]uint64) {
	hash := func(what, v string) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte{byte(kind)})
		_, _ = h.Write([]byte(what))
		_, _ = h.Write([]byte(v))
		return h.Sum64()
	}
	var all string
	var each, native []uint64
	for _, i := range s.items {
		switch {
		case i.file != nil && i.file.data != nil:
			each = append(each, hash("data", string(i.file.data)))
		case i.file != nil:
			each = append(each, hash("file", i.file.name))
		case i.call != nil:
			if id := rawjson.String(rawjson.Get(i.call, "id")); id != "" {
				native = append(native, hash("call", id))
			}
		default:
			all += i.text
			each = append(each, hash("text", recorded(kind, i.text)))
		}
	}
	if kind == modelUnit && all != "" {
		ways = append(ways, []uint64{hash("text", recorded(kind, all))})
	}
	if len(each) > 0 {
		return append(ways, each)
	}
	if len(native) > 0 {
		return append(ways, native)
	}
	return ways
}

// recorded returns a model's text as it is in the line: without surrounding
// space, comments and zero-width characters (0.61.0: processStreamResponse).
func recorded(kind unitKind, s string) string {
	if kind != modelUnit {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if r >= 0x200B && r <= 0x200F || r == 0xFEFF {
			return -1
		}
		return r
	}, s)
	for {
		before, rest, ok := strings.Cut(s, "<!--")
		_, after, closed := strings.Cut(rest, "-->")
		if !ok || !closed {
			return strings.TrimSpace(s)
		}
		s = before + after
	}
}
