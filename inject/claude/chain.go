package claude

import (
	"hash/maphash"

	"cortext/schema/rawjson"
)

// A node is a line in the chain of parents. Lines that are not messages are nodes
// too, since the chain runs through them.
type node struct {
	parent *node
	unit   *unit // the message that the line belongs to, if any
	known  bool  // the line has been read
	ours   bool  // it holds text that cortext itself put there
}

// A chain links the lines of a transcript, by their uuids: each names its parent.
type chain map[string]*node

// link creates the node of a record and connects it to its parent's node. The parent
// may come later in the file.
func (c chain) link(r record) *node {
	if r.UUID == "" {
		return &node{parent: c.node(r.Parent)}
	}
	n := c.node(r.UUID)
	if n.parent == nil {
		parent := r.Parent
		if parent == "" {
			parent = r.LogicalParent // a compaction starts a new chain
		}
		if parent != r.UUID {
			n.parent = c.node(parent)
		}
	}
	return n
}

// beforeCompaction returns the last line of the history before a compaction. If the user
// had only a part summarized, logicalParentUuid names the line where one part ends and the
// other begins (FACTS.md, "Records of a transcript"). In a fork, the lines kept come later.
func (x *index) beforeCompaction(r record) string {
	anchor, last := rawjson.String(rawjson.Get(r.Kept, "anchorUuid")), rawjson.String(rawjson.Get(r.Kept, "tailUuid"))
	if n := x.chain[last]; n == nil || !n.known {
		x.tail.stale = x.tail.stale || last != "" // it may be before the cursor
		return r.LogicalParent
	}
	if anchor == r.UUID { // the summary is of what follows the lines kept
		l := x.lines[len(x.lines)-1]
		x.tail.stale = x.tail.stale || l.offset < 0 // the cursor knows some lines, not the last one
		return l.uuid
	}
	return last
}

// node returns the node of a line, which may come later; nil for none.
func (c chain) node(uuid string) *node {
	if uuid == "" {
		return nil
	}
	n := c[uuid]
	if n == nil {
		n = &node{}
		c[uuid] = n
	}
	return n
}

// groupOf returns the conversation that a record belongs to. Versions before 2.0
// wrote the lines of sub-agents into the parent's file without an agent id. Such a
// conversation is identified by its first line.
func (x *index) groupOf(r record, n *node) *group {
	if !r.Sidechain {
		return x.main
	}
	key := r.AgentID
	if key == "" {
		x.tail.stale = true // the beginning of its conversation is not visible
		key = r.UUID
		for p := range ancestors(n) {
			if p.unit != nil && p.unit.group != x.main {
				key = p.unit.group.key
				break
			}
		}
	}
	return x.sub(key)
}

func (x *index) sub(key string) *group {
	g := x.subs[key]
	if g == nil {
		g = newGroup(key)
		x.subs[key] = g
		x.order = append(x.order, g)
	}
	return g
}

// maxChain limits a walk up the parents: in a damaged file they may form a ring.
const maxChain = 1_000_000

// ancestors yields the nodes above n, nearest first.
func ancestors(n *node) func(func(*node) bool) {
	return func(yield func(*node) bool) {
		for i := 0; n.parent != nil && i < maxChain; i++ {
			if n = n.parent; !yield(n) {
				return
			}
		}
	}
}

// seen reports whether the group already has the line, and records it.
func (g *group) seen(r record) bool {
	if r.UUID == "" {
		return false
	}
	key := lineKey{r.UUID, maphash.Bytes(g.seed, r.Message)}
	if g.lines[key] {
		return true
	}
	g.lines[key] = true
	return false
}

// A lineKey identifies a line, to skip copies: a resumed or forked session repeats
// lines of the session before it. The key includes the message, since not all writers
// have unique uuids.
type lineKey struct {
	uuid    string
	message uint64
}
