package schema

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Arrange returns msgs, each id once and in the order of the file, in the order
// of the conversation (FORMAT.md, "Order").
//
// A file in which each message's parent is the one before it keeps its order,
// and msgs itself is returned. Otherwise parents come first, and siblings by
// timestamp, then id, so that the order does not depend on who merged. A message
// without a parent, or with one that is not there, follows the one before it. A
// line without id belongs to the line before it and never parts from it.
func Arrange(msgs []Message) []Message {
	if linear(msgs) {
		return msgs
	}
	t := plant(msgs)
	out := make([]Message, 0, len(msgs))
	stack := []int{t.first}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		out = t.appendWith(out, i)
		from := len(stack)
		stack = append(stack, t.kids[i]...)
		slices.Reverse(stack[from:])
	}
	return out
}

// Branch returns the messages from the beginning to the newest leaf, which are
// those that are resumed, and how many of msgs stand on other branches. It takes
// what [Arrange] takes, and gives the same for what that returns.
func Branch(msgs []Message) (path []Message, aside int) {
	if linear(msgs) {
		return msgs, 0
	}
	t := plant(msgs)
	leaf := -1
	for _, i := range t.nodes {
		if len(t.kids[i]) == 0 && (leaf < 0 || t.compare(i, leaf) > 0) {
			leaf = i
		}
	}
	var up []int
	for i := leaf; i != root; i = t.parent[i] {
		up = append(up, i)
	}
	for _, i := range slices.Backward(up) {
		path = t.appendWith(path, i)
	}
	return path, len(msgs) - len(path)
}

// Number gives the messages of a branch their places in a conversation of total messages,
// of which all holds the branch and what stands behind its first message. The last has the
// last place. What stands on a branch that was left comes right behind the message that it
// follows, before what was said instead of it: so the end tells the places of its messages,
// and clones that merged their logs in different orders give the same ones.
func Number(path, all []Message, total int) {
	left := leftBehind(path, all)
	for i := len(path) - 1; i >= 0; i-- {
		total -= left[i]
		path[i].Number = max(total, 1)
		total--
	}
}

// leftBehind counts by message of a branch those that follow it on branches that were left
// and stand behind it.
func leftBehind(path, all []Message) []int {
	left := make([]int, len(path))
	if len(path) == len(all) {
		return left
	}
	const none = -1
	on := make(map[string]int, len(path)) // where a message is in path
	for i := range path {
		on[path[i].ID] = i
	}
	parent, before := make(map[string]string, len(all)), ""
	for i := range all {
		parent[all[i].ID] = cmp.Or(all[i].ParentID, before) // another native session goes on from there
		before = cmp.Or(all[i].ID, before)
	}
	follows := map[string]int{"": none} // the last message of path that one follows, by id
	passed := none                      // the last one of path
	var above []string
	for i := range all {
		if k, ok := on[all[i].ID]; ok {
			passed = max(passed, k)
			continue
		}
		above = above[:0]
		k, known := none, false
		for id := all[i].ID; !known && len(above) <= len(all); id = parent[id] {
			if k, known = on[id]; !known || id == "" {
				k, known = follows[id]
			}
			above = append(above, id)
		}
		if !known { // a cycle, which only a damaged file has
			k = none
		}
		for _, id := range above {
			follows[id] = k
		}
		if k >= 0 && k <= passed {
			left[k]++
		}
	}
	return left
}

// linear reports whether each message follows the one before it: by its parent,
// or because that is not there.
func linear(msgs []Message) bool {
	var ids map[string]bool
	last := ""
	for i := range msgs {
		m := &msgs[i]
		if m.ID == "" {
			continue
		}
		if m.ParentID != "" && m.ParentID != last {
			if ids == nil {
				ids = make(map[string]bool, len(msgs))
				for i := range msgs {
					ids[msgs[i].ID] = true
				}
			}
			if ids[m.ParentID] {
				return false
			}
		}
		last = m.ID
	}
	return true
}

// root is the parent of the first message in a tree.
const root = -1

// A tree ties messages, named by their index, to their parents. Lines without
// id are no nodes of it, but for a first one.
type tree struct {
	msgs   []Message
	nodes  []int // in the order of the file
	parent []int
	first  int     // the one whose parent is root
	kids   [][]int // in their order
	times  []time.Time
}

// compare orders messages by timestamp, then id.
func (t *tree) compare(a, b int) int {
	return cmp.Or(t.times[a].Compare(t.times[b]), strings.Compare(t.msgs[a].ID, t.msgs[b].ID), cmp.Compare(a, b))
}

// appendWith appends the message i and the lines without id that belong to it.
func (t *tree) appendWith(dst []Message, i int) []Message {
	dst = append(dst, t.msgs[i])
	for i++; i < len(t.msgs) && t.msgs[i].ID == ""; i++ {
		dst = append(dst, t.msgs[i])
	}
	return dst
}

func plant(msgs []Message) *tree {
	t := &tree{
		msgs:   msgs,
		parent: make([]int, len(msgs)),
		kids:   make([][]int, len(msgs)),
		times:  make([]time.Time, len(msgs)),
	}
	byID := make(map[string]int, len(msgs))
	for i := range msgs {
		id := msgs[i].ID
		if id == "" && i > 0 {
			continue
		}
		t.nodes = append(t.nodes, i)
		t.times[i] = msgs[i].Timestamp.Time()
		if _, ok := byID[id]; !ok && id != "" {
			byID[id] = i
		}
	}
	for _, i := range t.nodes {
		t.parent[i] = root
		if p, ok := byID[msgs[i].ParentID]; ok && p != i && msgs[i].ID != "" {
			t.parent[i] = p
		}
	}
	t.breakCycles()
	follows := t.joinRoots()
	for _, i := range t.nodes {
		if p := t.parent[i]; p == root {
			t.first = i
		} else {
			t.kids[p] = append(t.kids[p], i)
		}
	}
	for _, kids := range t.kids {
		slices.SortFunc(kids, func(a, b int) int {
			switch fa, fb := follows[a], follows[b]; {
			case fa && fb:
				return cmp.Compare(a, b)
			case fa:
				return -1
			case fb:
				return 1
			}
			return t.compare(a, b)
		})
	}
	return t
}

// breakCycles takes its parent from the oldest message of each cycle, which only
// a damaged file has.
func (t *tree) breakCycles() {
	const onPath, done = 1, 2
	state := make([]byte, len(t.msgs))
	var path []int
	for _, start := range t.nodes {
		path = path[:0]
		i := start
		for i != root && state[i] == 0 {
			state[i] = onPath
			path = append(path, i)
			i = t.parent[i]
		}
		if i != root && state[i] == onPath {
			oldest := i
			for j := t.parent[i]; j != i; j = t.parent[j] {
				if t.compare(j, oldest) < 0 {
					oldest = j
				}
			}
			t.parent[oldest] = root
		}
		for _, j := range path {
			state[j] = done
		}
	}
}

// joinRoots lets each message without a parent follow the nearest one before it
// that does not descend from it, and returns which do. It leaves one root: the
// part of the tree that the first line belongs to finds none before it.
func (t *tree) joinRoots() (follows []bool) {
	follows = make([]bool, len(t.msgs))
	set := make([]int, len(t.msgs)) // union-find over parts of the tree
	for i := range set {
		set[i] = i
	}
	find := func(i int) int {
		for set[i] != i {
			set[i] = set[set[i]]
			i = set[i]
		}
		return i
	}
	for _, i := range t.nodes {
		if p := t.parent[i]; p != root {
			set[find(i)] = find(p)
		}
	}
	// Of the nodes from k-runs[k] to k all were seen to be of one part: so a file
	// made to be slow is not.
	runs := make([]int, len(t.nodes))
	for k, i := range t.nodes {
		if t.parent[i] != root {
			continue
		}
		at := k - 1
		for at >= 0 && find(t.nodes[at]) == find(i) {
			at -= runs[at] + 1
		}
		if at < k-1 {
			runs[k-1] = k - 1 - (at + 1)
		}
		if at >= 0 {
			t.parent[i] = t.nodes[at]
			follows[i] = true
			set[find(i)] = find(t.nodes[at])
		}
	}
	return follows
}
