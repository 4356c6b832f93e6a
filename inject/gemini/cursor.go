package gemini

import (
	"cmp"
	"slices"
	"strings"

	"cortext/inject"
)

// A hook runs after each turn and must cost the same for a transcript of 70 MB as for
// one of 70 KB, so it continues where the last reading ended. The cursor stays before
// the last message with content, which the program may write again, and before calls
// of the last turn without a result.

// Limits on what we remember from before a cursor: the messages that a rewind may go
// back to, copies of messages under other ids, and calls. If new lines depend on
// more, we read from the beginning. The ids of calls that a server may issue again are
// remembered without a limit, as in Claude Code's sessions.
const (
	maxAnchors = 256
	maxCopies  = 256
	maxCalls   = 64
)

// Values of Line for anchors that are not messages.
const (
	copyAnchor = "copy "
	callAnchor = "call "
)

// A tail is the state of a reading that continues from a cursor.
type tail struct {
	on    bool
	stale bool // new lines depend on something that the cursor does not have
}

// seek prepares the index to continue from the cursor.
func (x *index) seek(size int64) error {
	c := x.o.From
	if err := c.Check(x.file, size); err != nil {
		return err
	}
	x.tail.on = true
	for _, id := range c.Calls {
		x.owners[id] = &unit{at: -1}
		x.calls = append(x.calls, id)
	}
	for _, a := range c.Anchors {
		if id, ok := strings.CutPrefix(a.Line, copyAnchor); ok {
			if u := x.byID[a.Message]; u != nil {
				x.aliases[id] = alias{unit: u, offset: -1}
			}
			continue
		}
		if id, ok := strings.CutPrefix(a.Line, callAnchor); ok {
			if x.owners[id] == nil {
				x.calls = append(x.calls, id)
			}
			x.owners[id] = &unit{id: a.Message, at: -1}
			continue
		}
		u := &unit{id: a.Line, at: -1, ours: a.Ours, speaks: a.Ours || a.Line == a.Message}
		if len(x.stack) == 0 && a.Message != "" && a.Message != a.Line {
			u.above = &unit{id: a.Message, at: -1, speaks: true}
		}
		x.byID[u.id] = u
		x.stack.push(u)
		x.spoken = x.spoken || u.speaks
	}
	return nil
}

// isStale reports whether a reading from a cursor found something that depends on
// what was read before.
func (x *index) isStale() bool {
	return x.tail.on && (x.tail.stale || slices.ContainsFunc(x.orphans, func(id string) bool { return x.owners[id] == nil }))
}

// next returns the cursor from which a later reading can continue. A document has
// none, since the program rewrites it as a whole.
func (x *index) next(size int64) (c inject.Cursor, err error) {
	c.Size = size
	if x.rewritten {
		c.Anchors = x.anchors(1<<62, nil)
		return c, nil
	}
	c.Offset = x.stableEnd()
	if c.Offset == 0 {
		return c, nil
	}
	if c.Head, c.Tail, err = inject.Fingerprint(x.file, c.Offset); err != nil {
		return c, err
	}
	var begin *unit
	for _, u := range x.units {
		if u.refs[0].Offset >= c.Offset {
			begin = cmp.Or(begin, u)
			if u.kept() {
				c.Message = u.id
				break
			}
		}
	}
	c.Anchors, c.Calls = x.anchors(c.Offset, begin), x.countedBefore(c.Offset)
	return c, nil
}

// countedBefore lists the ids of calls before an offset that a server may issue again, or
// nil if they are not known.
func (x *index) countedBefore(offset int64) []string {
	if x.tail.on && x.o.From.Calls == nil {
		return nil
	}
	list := []string{}
	for _, id := range x.calls {
		if inject.IsCounted(id) && x.owners.isBefore(id, offset) {
			list = append(list, id)
		}
	}
	return list
}

// isBefore reports whether a call was made before an offset.
func (o owners) isBefore(call string, offset int64) bool {
	u := o[call]
	return u != nil && (u.at < 0 || u.refs[0].Offset < offset)
}

// anchors returns the messages of the context when begin was added (nil: the current
// context), and what else was recorded before offset.
func (x *index) anchors(offset int64, begin *unit) (list []inject.Anchor) {
	last := x.stack.top()
	if begin != nil {
		last = begin.above
	}
	for u := last; u != nil && len(list) < maxAnchors; u = u.above {
		list = append(list, inject.Anchor{Line: u.id, Message: u.nearest(), Ours: u.ours})
	}
	slices.Reverse(list)
	var copies []string
	for id, a := range x.aliases {
		if a.offset < offset && a.unit.kept() {
			copies = append(copies, id)
		}
	}
	slices.SortFunc(copies, func(i, j string) int {
		a, b := x.aliases[i], x.aliases[j]
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.unit.at, b.unit.at), cmp.Compare(i, j))
	})
	for _, id := range copies[max(0, len(copies)-maxCopies):] {
		list = append(list, inject.Anchor{Line: copyAnchor + id, Message: x.aliases[id].unit.id})
	}
	var made []inject.Anchor
	for _, id := range slices.Backward(x.calls) {
		if len(made) < maxCalls && x.owners.isBefore(id, offset) {
			made = append(made, inject.Anchor{Line: callAnchor + id, Message: x.owners[id].id})
		}
	}
	slices.Reverse(made)
	return append(list, made...)
}

// nearest returns the id of u, or of the nearest message above it.
func (u *unit) nearest() string {
	n := 0
	for v := u; v != nil && n < maxClimb; v = v.above {
		if n++; v.kept() {
			return v.id
		}
	}
	return ""
}

// stableEnd returns the offset before which nothing will change.
func (x *index) stableEnd() int64 {
	var last *unit
	for _, u := range slices.Backward(x.units) {
		if u.kept() && u.kind != eventUnit {
			last = u
			break
		}
	}
	if last == nil {
		return x.o.From.Offset
	}
	offset := last.refs[0].Offset
	if x.burst != nil {
		offset = min(offset, x.burst.refs[0].Offset)
	}
	unanswered := map[*unit]bool{}
	ends := map[*unit]int64{}
	for id, u := range x.owners {
		if at, ok := x.results[id]; ok && x.open[id] {
			ends[u] = max(ends[u], at.Offset)
		} else if x.open[id] {
			unanswered[u] = true
		}
	}
	for _, u := range slices.Backward(x.units) {
		if u.kind == userUnit && u.kept() {
			break
		}
		if unanswered[u] || u.asks && len(u.loose) == 0 {
			offset = min(offset, u.refs[0].Offset)
		}
	}
	for _, u := range x.units {
		ends[u] = max(ends[u], u.refs[len(u.refs)-1].Offset)
		for _, l := range u.loose {
			ends[u] = max(ends[u], l.at.Offset)
		}
	}
	for _, u := range slices.Backward(x.units) {
		if at := u.refs[0].Offset; at < offset && ends[u] >= offset {
			offset = at
		}
	}
	return offset
}
