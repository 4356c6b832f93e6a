package schema

import (
	"cmp"
	"slices"
)

// A Leaf is the end of a branch. Each message is owned by one branch: the first of several
// messages with the same parent continues the parent's branch, and each of the others begins
// a branch. So a branch that begins later does not change an earlier one.
type Leaf struct {
	End   int32 // index of the last message of the branch
	Start int32 // index of the first message that the branch owns
	After int32 // index of the message that Start follows; negative if it is the first of all
	Own   int   // number of messages that the branch owns
}

// Leaves returns the ends of all branches, in the order in which the branches began, and
// the branch that owns each message, by index. It takes the same input as [Arrange].
func Leaves(msgs []Message) (leaves []Leaf, owner []int32) {
	t := plant(ancestryOf(msgs))
	if len(t.nodes) == 0 {
		return nil, nil
	}
	kids := t.kids()
	leaves = []Leaf{{Start: t.first, After: root}}
	for _, i := range t.nodes {
		for _, later := range kids[i][min(1, len(kids[i])):] {
			leaves = append(leaves, Leaf{Start: later, After: i})
		}
	}
	slices.SortFunc(leaves[1:], func(x, y Leaf) int { return t.compare(x.Start, y.Start) })
	owner = make([]int32, len(msgs))
	for k := range leaves {
		l := &leaves[k]
		for at, more := l.Start, true; more; {
			l.End = at
			for _, i := range t.appendWith(nil, at) {
				owner[i] = int32(k)
				l.Own++
			}
			if more = len(kids[at]) > 0; more {
				at = kids[at][0]
			}
		}
	}
	return leaves, owner
}

// path returns the indexes of the messages from the beginning to message end, oldest first.
func (t *tree) path(end int32) (path []int32) {
	var up []int32
	for i := end; i != root; i = t.parent[i] {
		up = append(up, i)
	}
	for _, i := range slices.Backward(up) {
		path = t.appendWith(path, i)
	}
	return path
}

// order returns the indexes of the messages in the order that [Arrange] describes.
func (t *tree) order() []int32 {
	out := make([]int32, 0, len(t.Parents))
	kids := t.kids()
	stack := []int32{t.first}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		out = t.appendWith(out, i)
		from := len(stack)
		stack = append(stack, kids[i]...)
		slices.Reverse(stack[from:])
	}
	return out
}

// numbers returns the number of every message, by index, as [NumberAll] describes.
func (a *Ancestry) numbers() []int {
	numbers := make([]int, len(a.Parents))
	if len(numbers) == 0 {
		return numbers
	}
	t := plant(a)
	path := t.path(t.leaves()[0])
	left, total := a.Left(path), len(numbers)
	taken := make([]bool, len(numbers)+1)
	const first = -1
	near := make([]int, len(numbers)) // by message: the place in path of itself or of the nearest message above it
	for k := len(path) - 1; k >= 0; k-- {
		total -= int(left[k])
		numbers[path[k]] = max(total, 1)
		taken[max(total, 1)] = true
		total--
	}
	for k, i := range path {
		near[i] = k
	}
	var others []int32
	above := root // of the message that a line without id belongs to
	for _, i := range t.order() {
		if a.Parents[i] != Attached {
			above = t.parent[i]
		}
		if numbers[i] > 0 {
			continue
		}
		if near[i] = first; above != root && a.Parents[i] != Absent {
			near[i] = near[above]
		}
		others = append(others, i)
	}
	for i, passed := 0, first; i < len(near); i++ { // as in Left, what the log has too early comes first
		if numbers[i] > 0 {
			passed = max(passed, near[i])
		} else if near[i] > passed {
			near[i] = first
		}
	}
	slices.SortStableFunc(others, func(x, y int32) int { return cmp.Compare(near[x], near[y]) })
	free := 1
	for _, i := range others {
		for free < len(taken)-1 && taken[free] {
			free++
		}
		numbers[i] = free
		taken[free] = true
	}
	return numbers
}

// NumberAll numbers messages. Those of the branch that a resume continues get the numbers that
// [Number] gives them; the others get the numbers in between, each one once. It takes the same
// input as [Arrange].
func NumberAll(msgs []Message) {
	for i, n := range ancestryOf(msgs).numbers() {
		msgs[i].Number = n
	}
}

// PathTo returns the messages from the beginning to the one with the given id, or nil if
// there is none. It takes the same input as [Arrange].
func PathTo(msgs []Message, id string) (path []Message) {
	end := slices.IndexFunc(msgs, func(m Message) bool { return m.ID == id && id != "" })
	if end < 0 {
		return nil
	}
	for _, i := range plant(ancestryOf(msgs)).path(int32(end)) {
		path = append(path, msgs[i])
	}
	return path
}
