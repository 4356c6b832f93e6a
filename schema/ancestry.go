package schema

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// An Ancestry ties the messages of a log together, by their places in it and without what
// they say: a log of 1 GB has a million of them.
type Ancestry struct {
	Parents []int32                 // by message: the place of the one that it names as its parent, or one of those below
	At      func(i int32) time.Time // the timestamp of a message
	ID      func(i int32) string    // the id of a message; asked where times are equal
}

// What may stand in the place of a parent.
const (
	Unnamed  int32 = -1 // the message names none
	Absent   int32 = -2 // the log does not have it
	Attached int32 = -3 // the line has no id, and belongs to the one before it
)

// Branch returns the places of the messages that [Branch] returns, oldest first.
func (a *Ancestry) Branch() []int32 {
	t := plant(a)
	leaf := root
	if leaves := t.leaves(); len(leaves) > 0 {
		leaf = leaves[0]
	}
	var up, path []int32
	for i := leaf; i != root; i = t.parent[i] {
		up = append(up, i)
	}
	for _, i := range slices.Backward(up) {
		path = t.appendWith(path, i)
	}
	return path
}

// Others returns the branches beside that, newest first: of each the places of the messages
// that stand on no newer one, oldest first.
func (a *Ancestry) Others() (all [][]int32) {
	t := plant(a)
	seen := make([]bool, len(a.Parents))
	for k, leaf := range t.leaves() {
		var own []int32
		for i := leaf; i != root && !seen[i]; i = t.parent[i] {
			seen[i] = true
			own = append(own, i)
		}
		if slices.Reverse(own); k > 0 {
			all = append(all, own)
		}
	}
	return all
}

// leaves are the messages that none follows, newest first.
func (t *tree) leaves() (all []int32) {
	parent := make([]bool, len(t.Parents))
	for _, i := range t.nodes {
		if t.parent[i] != root {
			parent[t.parent[i]] = true
		}
	}
	for _, i := range t.nodes {
		if !parent[i] {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b int32) int { return t.compare(b, a) })
	return all
}

// Left counts by message of a branch those on branches that were left which follow it
// there, and which stand behind it in the log.
func (a *Ancestry) Left(path []int32) []int32 {
	const unknown, walked, none = -3, -2, -1
	left := make([]int32, len(path))
	above := slices.Clone(a.Parents) // of a message without a parent, the one before: another native session goes on there
	before := int32(none)
	for i := range above {
		switch {
		case above[i] == Attached:
			above[i] = int32(i) - 1
		case above[i] < 0 && above[i] != Unnamed:
			above[i] = none
		case above[i] == Unnamed:
			above[i] = before
		}
		if a.Parents[i] != Attached {
			before = int32(i)
		}
	}
	follows := make([]int32, len(above)) // the place in path of the last message there that one follows, or is
	for i := range follows {
		follows[i] = unknown
	}
	for k, i := range path {
		follows[i] = int32(k)
	}
	passed := int32(none) // the last message of path that was seen
	var walk []int32
	for i := range above {
		if k := follows[i]; k >= 0 && path[k] == int32(i) {
			passed = max(passed, k)
			continue
		}
		walk = walk[:0]
		at := int32(i)
		for at >= 0 && follows[at] == unknown {
			follows[at] = walked
			walk = append(walk, at)
			at = above[at]
		}
		k := int32(none)
		if at >= 0 && follows[at] != walked { // else it is a cycle, which only a damaged file has
			k = follows[at]
		}
		for _, at := range walk {
			follows[at] = k
		}
		if k = follows[i]; k >= 0 && k <= passed {
			left[k]++
		}
	}
	return left
}

// root is the parent of the first message in a tree.
const root int32 = -1

// A tree is an ancestry in which each message but one has a parent. Lines without id are no nodes of it,
// but for a first one.
type tree struct {
	*Ancestry
	nodes   []int32 // in the order of the file
	parent  []int32
	first   int32  // the one whose parent is root
	follows []bool // by message: it names no parent that is there, and follows what is before it
}

// compare orders messages by timestamp, then id.
func (t *tree) compare(a, b int32) int {
	if c := t.At(a).Compare(t.At(b)); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(t.ID(a), t.ID(b)), cmp.Compare(a, b))
}

// appendWith appends the message i and the lines without id that belong to it.
func (t *tree) appendWith(dst []int32, i int32) []int32 {
	dst = append(dst, i)
	for i++; int(i) < len(t.Parents) && t.Parents[i] == Attached; i++ {
		dst = append(dst, i)
	}
	return dst
}

// kids are the messages that follow each, in their order.
func (t *tree) kids() [][]int32 {
	all := make([][]int32, len(t.parent))
	for _, i := range t.nodes {
		if p := t.parent[i]; p != root {
			all[p] = append(all[p], i)
		}
	}
	for _, kids := range all {
		slices.SortFunc(kids, func(a, b int32) int {
			switch fa, fb := t.follows[a], t.follows[b]; {
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
	return all
}

func plant(a *Ancestry) *tree {
	t := &tree{Ancestry: a, parent: make([]int32, len(a.Parents)), nodes: make([]int32, 0, len(a.Parents))}
	for i, p := range a.Parents {
		if p == Attached {
			continue
		}
		t.nodes = append(t.nodes, int32(i))
		if t.parent[i] = root; p >= 0 && p != int32(i) {
			t.parent[i] = p
		}
	}
	t.breakCycles()
	t.joinRoots()
	for _, i := range t.nodes {
		if t.parent[i] == root {
			t.first = i
		}
	}
	return t
}

// breakCycles takes its parent from the oldest message of each cycle, which only
// a damaged file has.
func (t *tree) breakCycles() {
	const onPath, done = 1, 2
	state := make([]byte, len(t.parent))
	var path []int32
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
// that does not descend from it. It leaves one root: the part of the tree that the first
// line belongs to finds none before it.
func (t *tree) joinRoots() {
	t.follows = make([]bool, len(t.parent))
	set := make([]int32, len(t.parent)) // union-find over parts of the tree
	for i := range set {
		set[i] = int32(i)
	}
	find := func(i int32) int32 {
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
			t.follows[i] = true
			set[find(i)] = find(t.nodes[at])
		}
	}
}
