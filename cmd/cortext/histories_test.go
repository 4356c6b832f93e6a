//go:build unix

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	historySeed    = flag.Uint64("histories.seed", envNumber("CORTEXT_HISTORIES_SEED", 1), "the seed of the first history of TestHistories")
	historyStories = flag.Uint64("histories.stories", envNumber("CORTEXT_HISTORIES_STORIES", 0), "how many of a hundred steps of TestHistories are stories")
	historyCount   = flag.Uint64("histories.count", envNumber("CORTEXT_HISTORIES", 0), "the number of histories of TestHistories; 0: 12, or 6 with -short")
)

// TestHistories lets three users on three machines change the same conversations and
// exchange them through a bare remote, with git's commands in random order. At the end
// every message of every transcript must be in its conversation once, all clones must read
// the same, what was redacted must be gone, check must find nothing and git must have
// nothing to commit. Some clones have the merge driver, some only the attributes, and
// core.autocrlf differs. scripts/histories.sh runs many of them, in which a part of the steps
// are stories.
//
// CORTEXT_HISTORIES_BINARY names an older cortext for one of the clones.
func TestHistories(t *testing.T) {
	n := *historyCount
	switch {
	case n > 0:
	case testing.Short():
		n = 6
	default:
		n = 12
	}
	for seed := *historySeed; seed < *historySeed+n; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			newHistories(t, seed, "off").run()
		})
	}
}

// Histories are three users with a clone each, and the remote between them.
type histories struct {
	t        *testing.T
	r        *rand.Rand
	seed     uint64
	users    []*world
	remote   string
	redacted []string // session and text of what is gone for good
	took     bool     // a git command took a change back
	old      bool     // a clone has an older cortext
}

// driven reports whether a user's clone has the merge driver: all, none or some have.
func (h *histories) driven(user int) bool { return h.seed%3 == 0 || h.seed%3 == 2 && user != 1 }

// newHistories makes the users, whose workspace has a setting of commit.
func newHistories(t *testing.T, seed uint64, commit string) *histories {
	t.Helper()
	h := &histories{t: t, r: rand.New(rand.NewPCG(seed, 7)), seed: seed}
	for i := range 3 {
		h.users = append(h.users, newWorld(t, 3*seed+uint64(i)))
	}
	if old := os.Getenv("CORTEXT_HISTORIES_BINARY"); old != "" {
		h.old = true
		w := h.users[1]
		link := filepath.Join(w.root, "bin", "cortext")
		w.check(os.Remove(link))
		w.check(os.Symlink(old, link))
	}
	one := h.users[0]
	h.remote = filepath.Join(one.root, "remote.git")
	one.must(one.root, "git", "init", "-q", "--bare", h.remote)
	for i, w := range h.users {
		one.must(one.root, "git", "config", "-f", filepath.Join(w.home, ".gitconfig"), "core.autocrlf", []string{"false", "true", "input"}[(int(seed)+i)%3])
		dir := w.tree("clone").dir
		if i == 0 {
			w.must(w.root, "git", "init", "-q", dir)
			w.must(dir, "cortext", "init", "--agent", "claude,gemini", "--commit", commit)
			// The transcripts are from January: everything would be idle.
			w.must(dir, "sed", "-i", "s/idle_minutes: 5/idle_minutes: 0/", ".workspace/config.yaml")
			h.begin(w)
			w.must(dir, "git", "add", "-A")
			w.must(dir, "git", "commit", "-qm", "start")
			w.must(dir, "git", "remote", "add", "origin", h.remote)
			w.must(dir, "git", "push", "-q", "-u", "origin", "main")
		} else {
			w.must(w.root, "git", "clone", "-q", h.remote, dir)
		}
		h.install(w)
	}
	return h
}

// install installs cortext in a work tree of a user.
func (h *histories) install(w *world) {
	h.t.Helper()
	w.must(w.dir(), "cortext", "init", "--agent", "claude,gemini")
	if !h.driven(slices.Index(h.users, w)) {
		w.run(command{dir: w.dir(), args: []string{"cortext", "init", "--agent", "claude,gemini", "--no-merge-driver"}}) // an older cortext has no such flag
	}
}

// every holds the flags that list all conversations.
var every = []string{"--status", "all", "--archived"}

// A historyStep is something that a user does.
type historyStep struct {
	name   string
	weight int
	do     func(*histories, *world)
}

var historySteps = []historyStep{
	{"begin a session", 2, (*histories).begin},
	{"append", 12, (*histories).goOn},
	{"title", 3, func(h *histories, w *world) { h.set(w, "title", "", fmt.Sprintf("%s %d", w.phrase(), w.step)) }},
	{"tag", 3, func(h *histories, w *world) { h.set(w, "tag", pick(w, words), "") }},
	{"untag", 1, func(h *histories, w *world) { h.set(w, "untag", pick(w, words), "") }},
	{"note", 2, func(h *histories, w *world) { h.set(w, "note", w.phrase(), "") }},
	{"set", 2, func(h *histories, w *world) { h.set(w, "set", "key="+pick(w, words), "") }},
	{"stop", 4, func(h *histories, w *world) { h.set(w, "stop", "", "") }},
	{"complete", 2, func(h *histories, w *world) { h.set(w, "status", "", "completed") }},
	{"archive", 1, func(h *histories, w *world) { h.set(w, "archive", "", "") }},
	{"unarchive", 1, func(h *histories, w *world) { h.set(w, "unarchive", "", "") }},
	{"fork", 1, (*histories).fork},
	{"redact", 2, (*histories).redact},
	{"commit", 6, (*histories).commit},
	{"merge and push", 8, (*histories).exchange},
	{"rebase and push", 3, (*histories).rebase},
	{"cherry-pick", 2, (*histories).cherryPick},
	{"stash", 2, (*histories).stash},
	{"revert", 2, (*histories).revert},
	{"reset", 1, (*histories).reset},
	{"squash", 2, (*histories).squash},
}

func (h *histories) run() {
	h.t.Helper()
	for step := 1; step <= 16; step++ {
		w := h.users[h.r.IntN(len(h.users))]
		w.step = step
		if *historyStories > 0 && !h.old && h.r.Uint64N(100) < *historyStories {
			h.tell(w, pick(w, stories))
		} else {
			h.step(w, historySteps)
		}
	}
	h.end()
}

// step takes one of the steps.
func (h *histories) step(w *world, steps []historyStep) {
	h.t.Helper()
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	at := h.r.IntN(total)
	for _, s := range steps {
		if at -= s.weight; at < 0 {
			w.note("# %s", s.name)
			s.do(h, w)
			break
		}
	}
	w.tick(time.Duration(h.r.IntN(600)) * time.Second)
}

// end exchanges everything, and checks what all clones have then.
func (h *histories) end() {
	h.t.Helper()
	h.settle()
	if h.took { // a merge may take what one of them restored before it
		h.settle()
		h.repairForks()
	}
	h.compare()
	// The next write mends what a merge left, and after it all clones have the same bytes.
	for _, c := range h.users[0].entries(every...) {
		h.cortext(h.users[0], "stop", c.ID)
	}
	h.settle()
	h.compare()
}

// cortext runs a command that must succeed.
func (h *histories) cortext(w *world, args ...string) {
	h.t.Helper()
	if out, errs, code := w.cortext(w.trees[0], command{args: append([]string{"cortext"}, args...)}); code != 0 {
		w.fail(args[0]+" failed", "exit code %d\n%s%s", code, out, errs)
	}
}

// says runs a turn of a session with its hooks.
func (h *histories) says(w *world, n *native, typed string) {
	h.t.Helper()
	seen := typed
	if n.agent == "gemini" {
		seen = expanded(typed)
	}
	hook := func(moment string, more object) {
		if _, errs, code := w.cortext(n.at, w.hookCommand(n, moment, more)); code != 0 {
			w.fail("a hook failed", "%s of %s: exit code %d: %s", moment, n.name, code, errs)
		}
	}
	hook("prompt", object{"prompt": seen, "prompt_id": fmt.Sprintf("%se%04d", n.id[:len(n.id)-5], n.turns+1)})
	w.speak(n, turn{typed, w.r.IntN(3) == 0})
	hook("answer", nil)
}

// begin starts a conversation, as long as there are few.
func (h *histories) begin(w *world) {
	h.t.Helper()
	if len(w.chats) > 1 {
		h.goOn(w)
		return
	}
	n := w.newNative(pick(w, []string{"claude", "gemini"}), w.trees[0], w.newChat())
	h.says(w, n, "/workspace.plan "+w.phrase())
}

// goOn continues a conversation in the user's session of it, or in a new one.
func (h *histories) goOn(w *world) {
	h.t.Helper()
	if all := w.entries(every...); len(all) > 0 {
		h.goOnIn(w, pick(w, all))
	}
}

func (h *histories) goOnIn(w *world, c entry) {
	h.t.Helper()
	for _, n := range w.natives {
		if n.chat.name == c.ID && n.at == w.trees[0] {
			h.says(w, n, fmt.Sprintf("say %d of %s, %s", n.turns+1, n.name, w.phrase()))
			return
		}
	}
	typed := "/workspace.resume " + c.ID
	if c.Status == "completed" {
		typed += " reopen"
	}
	h.says(w, w.newNative(pick(w, []string{"claude", "gemini"}), w.trees[0], &chat{name: c.ID}), typed)
}

// set runs a command on a random conversation: NAME [BEFORE] ID [AFTER].
func (h *histories) set(w *world, name, before, after string) {
	h.t.Helper()
	all := w.entries(every...)
	if len(all) == 0 {
		return
	}
	args := []string{name, before, pick(w, all).ID, after}
	args = slices.DeleteFunc(args, func(a string) bool { return a == "" })
	h.cortext(w, args...)
}

func (h *histories) fork(w *world) {
	h.t.Helper()
	if all := w.entries(every...); len(all) > 0 && len(all) < 5 {
		h.cortext(w, "fork", pick(w, all).ID, "--no-resume")
	}
}

// redact redacts the last turn of one of the user's sessions, wherever it is.
func (h *histories) redact(w *world) {
	h.t.Helper()
	if len(w.natives) == 0 {
		return
	}
	n := pick(w, w.natives)
	text := fmt.Sprintf("answer %d of %s", n.turns, n.name)
	for _, c := range w.entries(every...) {
		out, _, _ := w.run(command{dir: w.dir(), args: []string{"cortext", "show", c.ID, "--json"}})
		if !strings.Contains(out, n.id) || !strings.Contains(out, `"`+text+`"`) {
			continue
		}
		w.cortext(w.trees[0], command{args: []string{"cortext", "redact", c.ID, "--pattern", text + "$", "--yes"}}) // fails if git's history has the text
		if !h.took {
			h.redacted = append(h.redacted, n.id+" "+text)
		}
	}
}

func (h *histories) commit(w *world) {
	h.t.Helper()
	w.must(w.dir(), "git", "add", "-A")
	w.must(w.dir(), "git", "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("step %d", w.step))
}

// merging commits what is there and runs a git command that merges. Only a file outside of
// conversations, or one that a side deleted, may conflict; the user then gives up.
func (h *histories) merging(w *world, args ...string) bool {
	h.t.Helper()
	h.commit(w)
	w.must(w.dir(), "git", "fetch", "-q", "origin")
	if w.git(w.trees[0], args...) || h.keeps(w) {
		return true
	}
	w.finish(w.trees[0])
	w.must(w.dir(), "git", "reset", "-q", "--hard")
	return false
}

// keeps resolves conversations that one side removed and the other continued, as the user
// is told to, and finishes what git began.
func (h *histories) keeps(w *world) bool {
	h.t.Helper()
	if h.old {
		return false
	}
	t := w.trees[0]
	w.cortext(t, command{args: []string{"cortext", "pull"}})
	if len(w.ask(t, "diff", "--name-only", "--diff-filter=U")) > 0 {
		return false
	}
	op := w.underway(t)
	return op == "" || w.git(t, "-c", "core.editor=true", op, "--continue")
}

func (h *histories) push(w *world) bool {
	h.t.Helper()
	return w.git(w.trees[0], "push", "-q", "origin", "HEAD:main")
}

func (h *histories) exchange(w *world) {
	h.t.Helper()
	if h.merging(w, "merge", "-q", "--no-edit", "origin/main") {
		h.push(w)
	}
}

func (h *histories) rebase(w *world) {
	h.t.Helper()
	if h.merging(w, "rebase", "-q", "origin/main") {
		h.push(w)
	}
}

func (h *histories) cherryPick(w *world) {
	h.t.Helper()
	h.commit(w)
	w.must(w.dir(), "git", "fetch", "-q", "origin")
	if list := w.ask(w.trees[0], "rev-list", "--no-merges", "HEAD..origin/main", "--", "conversations"); len(list) > 0 {
		h.merging(w, "cherry-pick", pick(w, list))
	}
}

// stash puts changes away, takes those of the others, and gets its own back.
func (h *histories) stash(w *world) {
	h.t.Helper()
	t := w.trees[0]
	w.must(t.dir, "git", "fetch", "-q", "origin")
	stashed := len(w.ask(t, "status", "--porcelain")) > 0 && w.git(t, "stash", "-q", "-u")
	merged := w.git(t, "merge", "-q", "--no-edit", "origin/main")
	if !merged {
		w.finish(t)
		w.must(t.dir, "git", "reset", "-q", "--hard")
	}
	if stashed {
		w.pop(t)
	}
	h.took = true // if the stash did not apply, it is dropped
}

// revert takes back a commit. If that began a conversation that others continued, a merge
// asks; an older cortext cannot answer. A commit with the attributes stays.
func (h *histories) revert(w *world) {
	h.t.Helper()
	h.commit(w)
	list := w.ask(w.trees[0], "rev-list", "--no-merges", "--max-count=4", "HEAD", "--", "conversations")
	list = slices.DeleteFunc(list, func(commit string) bool {
		return len(w.ask(w.trees[0], "show", "--name-only", "--format=", commit, "--", ".gitattributes")) > 0 || h.old && len(w.ask(w.trees[0], "show", "--diff-filter=A", "--name-only", "--format=", commit, "--", "conversations")) > 0
	})
	if len(list) > 0 {
		h.took = true
		h.merging(w, "revert", "--no-edit", pick(w, list))
	}
}

func (h *histories) reset(w *world) {
	h.t.Helper()
	h.commit(w)
	h.took = true
	w.git(w.trees[0], "reset", "-q", pick(w, []string{"--hard", "--soft", "--mixed"}), "HEAD~1")
}

func (h *histories) squash(w *world) {
	h.t.Helper()
	if h.merging(w, "merge", "-q", "--squash", "origin/main") {
		h.commit(w)
	}
}
