package schema

import (
	"slices"
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
	t := plant(ancestryOf(msgs))
	out := make([]Message, 0, len(msgs))
	kids := t.kids()
	stack := []int32{t.first}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, with := range t.appendWith(nil, i) {
			out = append(out, msgs[with])
		}
		from := len(stack)
		stack = append(stack, kids[i]...)
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
	for _, i := range ancestryOf(msgs).Branch() {
		path = append(path, msgs[i])
	}
	return path, len(msgs) - len(path)
}

// Others returns the branches of msgs beside the one that [Branch] returns, newest first: of
// each the messages that stand on no newer one, oldest first.
func Others(msgs []Message) (all [][]Message) {
	if linear(msgs) {
		return nil
	}
	for _, places := range ancestryOf(msgs).Others() {
		var branch []Message
		for _, i := range places {
			branch = append(branch, msgs[i])
		}
		all = append(all, branch)
	}
	return all
}

// Number gives the messages of a branch their places in a conversation of total messages,
// of which all holds the branch and what stands behind its first message. The last has the
// last place. What stands on a branch that was left comes right behind the message that it
// follows, before what was said instead of it: so the end tells the places of its messages,
// and clones that merged their logs in different orders give the same ones.
func Number(path, all []Message, total int) {
	var left []int32
	if len(path) < len(all) {
		links := ancestryOf(all)
		at := make(map[string]int32, len(all))
		for i := range all {
			if _, known := at[all[i].ID]; !known {
				at[all[i].ID] = int32(i)
			}
		}
		places := make([]int32, len(path))
		for k := range path {
			if path[k].ID == "" && k > 0 {
				places[k] = places[k-1] + 1
			} else {
				places[k] = at[path[k].ID]
			}
		}
		left = links.Left(places)
	}
	for i := len(path) - 1; i >= 0; i-- {
		if left != nil {
			total -= int(left[i])
		}
		path[i].Number = max(total, 1)
		total--
	}
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

// ancestryOf ties messages together by their ids.
func ancestryOf(msgs []Message) *Ancestry {
	times := make([]time.Time, len(msgs))
	a := &Ancestry{
		Parents: make([]int32, len(msgs)),
		At:      func(i int32) time.Time { return times[i] },
		ID:      func(i int32) string { return msgs[i].ID },
	}
	at := make(map[string]int32, len(msgs))
	for i := range msgs {
		if _, known := at[msgs[i].ID]; !known {
			at[msgs[i].ID] = int32(i)
		}
	}
	for i := range msgs {
		m := &msgs[i]
		times[i] = m.Timestamp.Time()
		parent, known := at[m.ParentID]
		switch {
		case m.ID == "" && i > 0:
			parent = Attached
		case m.ParentID == "" || m.ID == "":
			parent = Unnamed
		case !known:
			parent = Absent
		}
		a.Parents[i] = parent
	}
	return a
}
