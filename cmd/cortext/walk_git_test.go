//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// edit changes a file outside of conversations, so that merges sometimes conflict.
func (w *world) edit(t *workTree) {
	w.t.Helper()
	file := filepath.Join(t.dir, "src", fmt.Sprintf("%d.txt", w.r.IntN(4)))
	raw, _ := os.ReadFile(file) // it may not exist
	w.write(file, string(raw)+fmt.Sprintf("step %d\n", w.step))
}

func (w *world) commit(t *workTree) {
	w.t.Helper()
	if w.underway(t) != "" {
		return
	}
	w.git(t, "add", "-A")
	if w.git(t, "commit", "-qm", fmt.Sprintf("step %d", w.step)) {
		w.forget(t)
	}
}

// forget records that no file of a work tree has unasked changes.
func (w *world) forget(t *workTree) {
	maps.DeleteFunc(t.unasked, func(string, string) bool { return true })
}

// someBranch returns a random branch of a work tree.
func (w *world) someBranch(t *workTree) string {
	w.t.Helper()
	return pick(w, w.ask(t, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes/origin/main"))
}

// someCommit returns one of the latest commits of all branches. The commit with a stash's
// untracked files does not have the workspace.
func (w *world) someCommit(t *workTree) string {
	w.t.Helper()
	return pick(w, w.ask(t, "rev-list", "--branches", "--remotes", "--no-merges", "--max-count=12", "--", "src", "conversations"))
}

func (w *world) checkout(t *workTree) {
	w.t.Helper()
	w.git(t, "checkout", "-q", w.someBranch(t))
}

func (w *world) branch(t *workTree) {
	w.t.Helper()
	w.git(t, "checkout", "-q", "-b", fmt.Sprintf("b%d", w.step))
}

func (w *world) detach(t *workTree) {
	w.t.Helper()
	w.git(t, "checkout", "-q", "--detach", w.someCommit(t))
}

func (w *world) reset(t *workTree) {
	w.t.Helper()
	if w.git(t, "reset", "-q", "--hard") {
		w.forget(t)
	}
}

func (w *world) resetBack(t *workTree) {
	w.t.Helper()
	if w.git(t, "reset", "-q", "--hard", "HEAD~1") {
		w.forget(t)
	}
}

func (w *world) stash(t *workTree) {
	w.t.Helper()
	if w.git(t, "stash", "-q", "-u") {
		w.forget(t)
	}
}

func (w *world) pop(t *workTree) {
	w.t.Helper()
	if len(w.ask(t, "stash", "list")) > 0 && !w.git(t, "stash", "pop", "-q") && w.unmerged(t) {
		w.git(t, "reset", "-q", "--hard")
		w.git(t, "stash", "drop", "-q")
	}
}

func (w *world) clean(t *workTree) {
	w.t.Helper()
	w.git(t, "clean", "-qfd")
}

func (w *world) cleanAll(t *workTree) {
	w.t.Helper()
	w.git(t, "clean", "-qfdx")
}

func (w *world) unmerged(t *workTree) bool {
	w.t.Helper()
	return len(w.ask(t, "ls-files", "--unmerged")) > 0
}

// merging runs a command that merges, and aborts on conflicts.
func (w *world) merging(t *workTree, args ...string) {
	w.t.Helper()
	if w.underway(t) != "" {
		return
	}
	if w.git(t, args...) {
		w.forget(t)
	} else {
		w.finish(t)
	}
}

func (w *world) merge(t *workTree) {
	w.t.Helper()
	w.merging(t, "merge", "-q", "--no-edit", w.someBranch(t))
}

func (w *world) mergeOpen(t *workTree) {
	w.t.Helper()
	if w.underway(t) == "" && !w.git(t, "merge", "-q", "--no-commit", "--no-ff", w.someBranch(t)) && w.unmerged(t) {
		w.finish(t)
	}
}

func (w *world) pull(t *workTree) {
	w.t.Helper()
	w.merging(t, "pull", "-q", "--no-edit", "origin", "main")
}

func (w *world) push(t *workTree) {
	w.t.Helper()
	w.git(t, "push", "-q", "origin", "HEAD:main")
}

func (w *world) rebase(t *workTree) {
	w.t.Helper()
	w.merging(t, "rebase", "-q", w.someBranch(t))
}

// rebaseOpen stops a rebase at a commit, as a user does to edit it.
func (w *world) rebaseOpen(t *workTree) {
	w.t.Helper()
	if w.underway(t) == "" && !w.git(t, "-c", "sequence.editor=sed -i 1s/^pick/edit/", "rebase", "-q", "-i", "HEAD~2") {
		w.finish(t)
	}
}

func (w *world) cherryPick(t *workTree) {
	w.t.Helper()
	w.merging(t, "cherry-pick", w.someCommit(t))
}

func (w *world) revert(t *workTree) {
	w.t.Helper()
	if list := w.ask(t, "rev-list", "--no-merges", "--max-count=5", "HEAD", "--", "src", "conversations"); len(list) > 1 {
		w.merging(t, "revert", "--no-edit", pick(w, list[:len(list)-1]))
	}
}

func (w *world) bisect(t *workTree) {
	w.t.Helper()
	if list := w.ask(t, "rev-list", "--first-parent", "--max-count=8", "HEAD"); w.underway(t) == "" && len(list) > 4 {
		w.git(t, "bisect", "start", "HEAD", list[len(list)-1])
	}
}

func (w *world) sparseOn(t *workTree) {
	w.t.Helper()
	patterns := pick(w, [][]string{{"/*", "!messages.jsonl", "!tools.jsonl"}, {"/*", "!/conversations/"}})
	w.git(t, append([]string{"sparse-checkout", "set", "--no-cone"}, patterns...)...)
}

func (w *world) sparseOff(t *workTree) {
	w.t.Helper()
	w.git(t, "sparse-checkout", "disable")
}

// conclude ends git's operation: it commits a merge, or aborts like a user who gives up.
func (w *world) conclude(t *workTree) {
	w.t.Helper()
	switch op := w.underway(t); {
	case op == "merge" && w.r.IntN(2) == 0 && !w.unmerged(t):
		w.git(t, "commit", "-q", "--no-edit")
	case op == "rebase" && w.r.IntN(2) == 0 && slices.Equal(w.ask(t, "status", "--porcelain", "--untracked-files=no"), nil):
		if !w.git(t, "rebase", "--continue") {
			w.finish(t)
		}
	default:
		w.finish(t)
	}
	if op := w.underway(t); strings.Contains(op, "rebase") {
		w.finish(t)
	}
}
