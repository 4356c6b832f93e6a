package claude

import "cortext/inject"

// Call ids of Anthropic's servers are unique. Other servers count calls from the beginning
// in each request, or in each process, so that ids repeat within a session. There the first
// call keeps the server's id, and each later one gets the id of its message after a #.

// A call is a tool call, or a result whose call is not in the file.
type call struct {
	unit     *unit       // the message that made the call; nil if it is not in the file
	result   inject.Span // the line with the result
	answered bool
	last     string // name of the last call with the same id, if there are several
}

// callName returns the name under which x.calls has the call with that id by message u.
func (x *index) callName(id string, u *unit) string {
	if c := x.calls[id]; c != nil && c.last != "" && c.unit != u {
		return id + "#" + u.id
	}
	return id
}

// addCall adds a call by message u, unless it is known, and returns its name.
func (x *index) addCall(id string, u *unit) string {
	c := x.calls[id]
	switch {
	case len(id) >= inject.LeastUniqueCall || id == "":
	case x.tail.on:
		x.tail.stale = true // a call before the cursor may have that id
	case c != nil && c.unit != nil && c.unit != u:
		c.last = id + "#" + u.id
		id, c = c.last, x.calls[c.last]
	}
	if c == nil {
		c = &call{}
		x.calls[id] = c
	}
	c.unit = u
	return id
}

// answer records the line at as the result of a call, and returns the call's name. If several
// calls have the id, it is the one by the nearest message above the line.
func (x *index) answer(id string, at inject.Span, n *node) string {
	c := x.calls[id]
	switch {
	case c == nil:
		c = &call{}
		x.calls[id] = c
	case c.last != "":
		id = x.nearestCall(id, n)
		c = x.calls[id]
	}
	c.result, c.answered = at, true
	return id
}

// nearestCall returns the name of the call with that id by the nearest message above n, or
// of the last one.
func (x *index) nearestCall(id string, n *node) string {
	first := x.calls[id]
	found := func(n *node) bool {
		return n.unit != nil && (n.unit == first.unit || x.calls[id+"#"+n.unit.id] != nil)
	}
	if found(n) {
		return x.callName(id, n.unit)
	}
	for p := range ancestors(n) {
		if found(p) {
			return x.callName(id, p.unit)
		}
	}
	return first.last
}
