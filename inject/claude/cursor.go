package claude

import (
	"slices"

	"cortext/inject"
)

// A hook runs after each turn and must cost the same for a transcript of 70 MB as for
// one of 70 KB, so it continues where the last reading ended. The cursor is never
// within a message: it stays before the last message, which may still grow, and before
// calls of the last turn that have no result yet.

// maxAnchors is how many lines before the cursor we remember: the parent of a new
// line is nearly always among them. After a rewind further back, we read from the
// beginning.
const maxAnchors = 256

// A line is one record of the file, or an anchor, which has no offset.
type line struct {
	offset int64
	uuid   string
	parent *node
	node   *node
}

// A tail is the state of a reading that continues from a cursor.
type tail struct {
	on       bool
	stale    bool            // new lines depend on something that the cursor does not have
	messages map[string]bool // read before
	before   *unit           // stands for the messages of calls that were read before
}

// seek prepares the index to continue from the cursor.
func (x *index) seek(size int64) error {
	c := x.o.From
	if err := c.Check(x.file, size); err != nil {
		return err
	}
	x.tail.on = true
	x.tail.messages = map[string]bool{}
	x.remember(c.Calls)
	for _, a := range c.Anchors {
		n := x.chain.node(a.Line)
		n.known, n.ours = true, a.Ours
		if a.Message != "" {
			n.unit = &unit{id: a.Message}
			x.tail.messages[a.Message] = true
		}
		x.lines = append(x.lines, line{offset: -1, uuid: a.Line, node: n})
	}
	return nil
}

// note records where a line is and which line is its parent.
func (x *index) note(r record, at inject.Span, n *node) {
	if r.UUID == "" {
		return
	}
	if x.tail.on && n.known && !slices.ContainsFunc(x.lines, func(l line) bool { return l.offset >= 0 && l.node == n }) {
		x.tail.stale = true // a line that was read before appears again
	}
	n.known = true
	if r.Parent == "" {
		x.t.AddRoot(r.UUID)
	}
	x.lines = append(x.lines, line{offset: at.Offset, uuid: r.UUID, parent: n.parent, node: n})
}

// isStale reports whether a reading from a cursor found something that depends on
// what was read before.
func (x *index) isStale() bool {
	if !x.tail.on {
		return false
	}
	for _, id := range x.orphans {
		if x.calls[id].unit == nil {
			return true
		}
	}
	return x.tail.stale || slices.ContainsFunc(x.lines, func(l line) bool { return l.parent != nil && !l.parent.known })
}

// next returns the cursor from which a later reading can continue.
func (x *index) next(size int64) (c inject.Cursor, err error) {
	c.Size = size
	if len(x.main.units) == 0 {
		return c, nil
	}
	c.Offset = x.stableEnd()
	c.Calls = x.countedBefore(c.Offset)
	if c.Head, c.Tail, err = inject.Fingerprint(x.file, c.Offset); err != nil {
		return c, err
	}
	for _, u := range x.main.units {
		if u.lines[0].Offset >= c.Offset {
			c.Message = u.id
			break
		}
	}
	end := len(x.lines)
	for end > 0 && x.lines[end-1].offset >= c.Offset {
		end--
	}
	for _, l := range x.lines[max(0, end-maxAnchors):end] {
		a := inject.Anchor{Line: l.uuid, Ours: l.node.ours}
		if u := l.node.nearest(); u != nil && (u.group == nil || u.group == x.main) {
			a.Message = u.id
		}
		c.Anchors = append(c.Anchors, a)
	}
	return c, nil
}

// nearest returns the message of a line, or of the nearest line above it that has
// one.
func (n *node) nearest() *unit {
	if n.unit != nil {
		return n.unit
	}
	for p := range ancestors(n) {
		if p.unit != nil {
			return p.unit
		}
	}
	return nil
}

// stableEnd returns the offset before which nothing will change.
func (x *index) stableEnd() int64 {
	units := x.main.units
	ends := make(map[*unit]int64, len(units))
	for _, u := range units {
		for _, at := range slices.Concat(u.lines, u.files) {
			ends[u] = max(ends[u], at.Offset)
		}
		for _, r := range u.loose {
			ends[u] = max(ends[u], r.message.Offset)
		}
	}
	open := map[*unit]bool{}
	for _, c := range x.calls {
		if c.answered {
			ends[c.unit] = max(ends[c.unit], c.result.message.Offset)
		} else {
			open[c.unit] = true
		}
	}
	offset := units[len(units)-1].lines[0].Offset
	for _, u := range slices.Backward(units) {
		if open[u] {
			offset = min(offset, u.lines[0].Offset)
		}
		if u.kind == userUnit {
			break
		}
	}
	for moved := true; moved; {
		moved = false
		for _, u := range units {
			if first := u.lines[0].Offset; first < offset && ends[u] >= offset {
				offset, moved = first, true
			}
		}
	}
	return offset
}
