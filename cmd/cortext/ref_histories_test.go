//go:build unix

package main

import (
	"fmt"
	"slices"
	"testing"
)

// refSteps are the steps of [TestRefHistories]: those of [historySteps] that use no branch, and the
// exchange through refs. Git's own commands change branches, which have no conversations.
func refSteps() []historyStep {
	steps := slices.DeleteFunc(slices.Clone(historySteps), func(s historyStep) bool {
		return slices.Contains([]string{"commit", "merge and push", "rebase and push", "cherry-pick", "stash", "revert", "reset", "squash"}, s.name)
	})
	return append(steps, []historyStep{
		{"push", 5, func(h *histories, w *world) { h.cortext(w, "push") }},
		{"pull", 7, func(h *histories, w *world) { h.cortext(w, "pull") }},
		{"remove", 1, func(h *histories, w *world) {
			w.must(w.dir(), "git", "clean", "-qfdx", "conversations")
			h.took = true
		}},
		{"branch", 1, func(h *histories, w *world) {
			w.must(w.dir(), "git", "commit", "-q", "--allow-empty", "-m", "code")
			w.must(w.dir(), "git", "checkout", "-q", "-B", pick(w, []string{"main", "side"}))
		}},
		{"another clone", 1, func(h *histories, w *world) {
			h.cortext(w, "push")
			dir := w.tree(fmt.Sprint("clone-", w.step)).dir
			w.must(w.root, "git", "clone", "-q", h.remote, dir)
			w.trees = []*workTree{w.trees[len(w.trees)-1]}
			h.install(w)
			h.cortext(w, "pull")
		}},
	}...)
}

// TestRefHistories is [TestHistories] for clones with "commit: ref": three users change the same
// conversations, exchange them with push and pull, delete the files, and clone again.
func TestRefHistories(t *testing.T) {
	n := *historyCount
	switch {
	case n > 0:
	case testing.Short():
		n = 2
	default:
		n = 4
	}
	for seed := *historySeed; seed < *historySeed+n; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			h := newHistories(t, seed, "ref")
			steps := refSteps()
			for step := 1; step <= 24; step++ {
				w := h.users[h.r.IntN(len(h.users))]
				w.step = step
				h.step(w, steps)
			}
			h.settleRefs()
			h.compare()
		})
	}
}

// settleRefs captures what the transcripts have, and exchanges the refs until nobody has news.
// What is still active is not in the refs until a stop.
func (h *histories) settleRefs() {
	h.t.Helper()
	for _, w := range h.users {
		w.step++
		h.cortext(w, "sync", "--restore")
		for _, c := range w.entries("--status", "active", "--archived") {
			h.cortext(w, "stop", c.ID)
		}
	}
	for range 3 {
		for _, w := range h.users {
			h.cortext(w, "push")
			h.cortext(w, "pull")
		}
	}
}
