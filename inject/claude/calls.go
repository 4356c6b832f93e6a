package claude

import (
	"hash/maphash"
	"slices"
	"strconv"

	"cortext/inject"
)

// Call ids of Anthropic's servers are unique. Other servers count calls from the beginning
// in each request, or in each process, so that ids repeat within a session. There the first
// call keeps the server's id, and each later one gets the id of its message after a #. Of
// several calls by one message, the second also gets .2, the third .3, and so on.

// A call is a tool call, or a result whose call is not in the file.
type call struct {
	id, name string // the server's id, and the one that is unique in the session
	unit     *unit  // the message that made the call; nil if it is not in the file
	node     *node  // its line
	nth      int    // among the calls with the id by its message, from 1
	sum      uint64 // of the block, if the id may repeat
	result   result
	place    int // among the results for the id on that line, from 0
	answered bool
	last     *call // the last call with the same id, if there are several
}

// A result is where the result of a call is, and what its line says besides.
type result struct {
	message inject.Span // with the result
	stamp   string      // of the line
	report  report
}

// result returns the result in a record, whose line is at a position in the file.
func (r *record) result(at inject.Span) result {
	message := inject.Span{Offset: at.Offset + int64(cap(r.line)-cap(r.Message)), Size: len(r.Message)}
	return result{message, r.Timestamp, reportOf(r.ToolUseResult)}
}

// callsByName has the calls of a session by their names.
type callsByName map[string]*call

// addCall adds a call on line n, unless it is known, and returns it.
func (x *index) addCall(b block, n *node) *call {
	c, sum := x.calls[b.ID], uint64(0)
	if inject.IsCounted(b.ID) {
		sum = maphash.Bytes(n.unit.group.seed, b.raw)
		if c == nil || c.unit == nil {
			x.counted = append(x.counted, b.ID)
			if x.tail.on && x.o.From.Calls == nil {
				x.tail.stale = true // a call before the cursor may have that id
			}
		} else {
			c = x.calls.again(c, n.unit, sum)
		}
	}
	if c == nil {
		c = &call{id: b.ID, name: b.ID, nth: 1}
		x.calls[b.ID] = c
	}
	c.unit, c.node, c.sum = n.unit, n, sum
	if b.ID != "" {
		n.unit.calls = append(n.unit.calls, c)
	}
	return c
}

// again returns the call in message u that reuses the id of an earlier call. If u holds the
// same block twice, it is one call.
func (calls callsByName) again(first *call, u *unit, sum uint64) *call {
	nth := 1
	for _, c := range u.calls {
		switch {
		case c.id != first.id:
		case c.sum == sum:
			return c
		default:
			nth = max(nth, c.nth+1)
		}
	}
	name := first.id + "#" + u.id
	if nth > 1 {
		name += "." + strconv.Itoa(nth)
	}
	c := calls[name]
	if c == nil {
		c = &call{id: first.id, name: name}
		calls[name] = c
	}
	c.nth, first.last = nth, c
	return c
}

// answer records the result of a call, on line n, and returns the call. If several calls
// have the id, it is one by the nearest message above the line.
func (x *index) answer(id string, got result, n *node) *call {
	c := x.calls[id]
	switch {
	case c == nil:
		c = &call{id: id, name: id, nth: 1}
		x.calls[id] = c
	case c.last != nil:
		c = x.nearestCall(c, n)
		c.place = 0
		for _, other := range c.unit.calls {
			if other.id == id && other != c && other.result.message == got.message {
				c.place = max(c.place, other.place+1)
			}
		}
	}
	c.result, c.answered = got, true
	return c
}

// nearestCall returns the call with the id of first by the nearest message above n, or the
// last one.
func (x *index) nearestCall(first *call, n *node) *call {
	if c := n.call(first.id); c != nil {
		return c
	}
	for p := range ancestors(n) {
		if c := p.call(first.id); c != nil {
			return c
		}
	}
	if first.unit == x.tail.before {
		x.tail.stale = true // it may be one before the cursor
	}
	return first.last
}

// call returns the call with the given id by the message that line n belongs to. Of
// several, it is the one on that line, or else the first without a result.
func (n *node) call(id string) (found *call) {
	if n.unit == nil {
		return nil
	}
	for _, c := range n.unit.calls {
		switch {
		case c.id != id:
		case !c.answered && c.node == n:
			return c
		case found == nil, found.answered && !c.answered:
			found = c
		}
	}
	return found
}

// remember makes the ids of calls before the cursor known, so that the later calls with
// these ids get other names.
func (x *index) remember(ids []string) {
	x.tail.before = &unit{}
	x.counted = slices.Clone(ids)
	for _, id := range ids {
		c := &call{id: id, name: id, unit: x.tail.before}
		c.last = c
		x.calls[id] = c
	}
}

// countedBefore lists the ids of calls before an offset that a server may issue again, or
// nil if they are not known. There is no limit: the list is short compared with the calls
// themselves, and without it each hook would read all of the longest sessions.
func (x *index) countedBefore(offset int64) []string {
	if x.tail.on && x.o.From.Calls == nil {
		return nil
	}
	list := []string{}
	for _, id := range x.counted {
		if u := x.calls[id].unit; u == x.tail.before || u.lines[0].Offset < offset {
			list = append(list, id)
		}
	}
	return list
}
