package schema

import "time"

// Arrange returns msgs, which have unique ids and are in file order, in the order of the
// conversation (FORMAT.md, "Order").
//
// If each message's parent is the one before it, the order stays, and msgs itself is
// returned. Otherwise parents come first, and siblings by timestamp, then id, so that the
// order does not depend on who merged. A message whose parent is missing or not in msgs
// follows the one before it. A line without id belongs to the line before it and always
// stays with it.
func Arrange(msgs []Message) []Message {
	if linear(msgs) {
		return msgs
	}
	out := make([]Message, 0, len(msgs))
	for _, i := range plant(ancestryOf(msgs)).order() {
		out = append(out, msgs[i])
	}
	return out
}

// Branch returns the messages from the beginning to the newest leaf, which a resume
// continues, and how many of msgs are on other branches. It takes the same input as
// [Arrange], and gives the same result for its output.
func Branch(msgs []Message) (path []Message, aside int) {
	if linear(msgs) {
		return msgs, 0
	}
	for _, i := range ancestryOf(msgs).Branch() {
		path = append(path, msgs[i])
	}
	return path, len(msgs) - len(path)
}

// Others returns the branches of msgs other than the one that [Branch] returns, newest
// first: for each, its messages that are on no newer branch, oldest first.
func Others(msgs []Message) (all [][]Message) {
	if linear(msgs) {
		return nil
	}
	for _, places := range ancestryOf(msgs).others() {
		var branch []Message
		for _, i := range places {
			branch = append(branch, msgs[i])
		}
		all = append(all, branch)
	}
	return all
}

// Number numbers the messages of a branch by their place in a conversation of total
// messages. all holds the branch and everything after its first message. The last message
// gets the last place. Messages on an abandoned branch come right after the message that
// they follow, before those that replaced them. So the end of a log determines the places
// of its messages, and clones that merged their logs in different orders agree.
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

// linear reports whether each message follows the one before it, either by its parent or
// because the parent is missing.
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

// ancestryOf links messages by their ids.
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
