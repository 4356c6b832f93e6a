package history

import (
	"slices"

	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// AllBranches as the number of a branch means all of them.
const AllBranches = -1

// Beside adds the messages of all other branches to the history of the branch that a resume
// continues, as many as limit allows. A branch is inserted after the message at which it left
// another one, so the continued branch comes last. From the first insertion on, messages name
// their branch.
func Beside(w workspace.Conversations, e store.Entry, h *schema.History, limit store.Limit) ([]store.Damage, error) {
	all, err := headsOf(w, e)
	if err != nil {
		return nil, err
	}
	list := BranchesOf(all)
	if len(list) < 2 {
		return nil, nil
	}
	c, err := w.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	of := branchesByMessage(all, list)
	have := map[string]bool{}
	path, _ := schema.Branch(all)
	for i := range path {
		have[path[i].ID] = true
	}
	var damage []store.Damage
	first := len(h.Messages)
	for _, b := range list {
		if b.Newest {
			continue
		}
		limit.End = b.End
		other, more, err := c.History(limit)
		if err != nil {
			return nil, err
		}
		damage = append(damage, more...)
		own := slices.DeleteFunc(other.Messages, func(m schema.Message) bool { return have[m.ID] })
		if len(own) == 0 {
			continue
		}
		at := 0 // if what it follows was not read
		for i := range h.Messages {
			if h.Messages[i].ID == own[0].ParentID {
				at = i + 1
			}
		}
		for i := range own {
			have[own[i].ID] = true
			for _, call := range own[i].ToolCalls {
				if t, ok := other.Tools[call.ID]; ok {
					h.Tools[call.ID] = t
				}
			}
		}
		h.Messages = slices.Insert(h.Messages, at, own...)
		first = min(first, at)
		h.Aside = max(0, h.Aside-len(own))
	}
	for i := first; i < len(h.Messages); i++ {
		h.Messages[i].Branch = of[h.Messages[i].ID]
	}
	return damage, nil
}

// branchesByMessage returns the numbers of the branches that own messages, by id.
func branchesByMessage(all []schema.Message, list []Branch) map[string]int {
	leaves, owner := schema.Leaves(all)
	numbers := make([]int, len(leaves))
	for i, l := range leaves {
		if k := slices.IndexFunc(list, func(b Branch) bool { return b.End == all[l.End].ID }); k >= 0 {
			numbers[i] = list[k].Number
		}
	}
	of := map[string]int{}
	for i := range all {
		of[all[i].ID] = numbers[owner[i]]
	}
	return of
}
