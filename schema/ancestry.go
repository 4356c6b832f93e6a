package schema

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// An Ancestry links the messages of a log by their index in it, without their content: a
// log of 1 GB has a million messages.
type Ancestry struct {
	Parents []int32                 // by message: the index of its parent, or one of the constants below
	At      func(i int32) time.Time // the timestamp of a message
	ID      func(i int32) string    // the id of a message; used only if times are equal
}

// Values in place of a parent's index.
const (
	Unnamed  int32 = -1 // the message names no parent
	Absent   int32 = -2 // the parent is not in the log
	Attached int32 = -3 // the line has no id and belongs to the one before it
)

// Branch returns the indexes of the messages that the function [Branch] returns, oldest
// first.
func (a *Ancestry) Branch() []int32 {
	t := plant(a)
	leaf := root
	if leaves := t.leaves(); len(leaves) > 0 {
		leaf = leaves[0]
	}
	return t.path(leaf)
}

// others returns the indexes of the messages that [Others] returns.
func (a *Ancestry) others() (all [][]int32) {
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

// leaves returns the messages that no other follows, newest first.
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

// Left counts, for each message of a branch, the messages on abandoned branches that
// follow it there and come after it in the log.
func (a *Ancestry) Left(path []int32) []int32 {
	const unknown, walked, none = -3, -2, -1
	left := make([]int32, len(path))
	above := slices.Clone(a.Parents) // a message without a parent follows the one before it: another native session continues there
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
	follows := make([]int32, len(above)) // for each message, the index in path of the message it is, or follows last
	for i := range follows {
		follows[i] = unknown
	}
	for k, i := range path {
		follows[i] = int32(k)
	}
	passed := int32(none) // the last message of path seen so far
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
		if at >= 0 && follows[at] != walked { // otherwise it is a cycle, which only a damaged file has
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

// root is the parent of a tree's first message.
const root int32 = -1

// A tree is an ancestry in which each message but one has a parent. Lines without an id
// are not nodes, except for a first one.
type tree struct {
	*Ancestry
	nodes   []int32 // in file order
	parent  []int32
	first   int32  // the one whose parent is root
	follows []bool // by message: it names no existing parent, and follows the message before it
}

// compare orders messages by timestamp, then id.
func (t *tree) compare(a, b int32) int {
	if c := t.At(a).Compare(t.At(b)); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(t.ID(a), t.ID(b)), cmp.Compare(a, b))
}

// appendWith appends message i and the lines without id that belong to it.
func (t *tree) appendWith(dst []int32, i int32) []int32 {
	dst = append(dst, i)
	for i++; int(i) < len(t.Parents) && t.Parents[i] == Attached; i++ {
		dst = append(dst, i)
	}
	return dst
}

// kids returns, for each message, the messages that follow it, in order.
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

// breakCycles removes the parent of the oldest message of each cycle. Only a damaged file
// has cycles.
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

// joinRoots makes each message without a parent follow the nearest message before it that
// does not descend from it. It leaves one root: the part of the tree with the first line
// has no message before it to follow.
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
	// The nodes from k-runs[k] to k are known to be in one part. This keeps a file
	// crafted to be slow from being slow.
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
