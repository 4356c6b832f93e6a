//go:build unix

package main

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A story is a sequence of steps that independent random steps rarely make. Each step is git, a
// git command that merges, or a verb of [telling]. took says whether git takes something back.
type story struct {
	steps string
	took  bool
}

var stories = []story{
	{"fork; turn; commit; git reset -q --hard HEAD~1; turn", true},
	{"fork; turn; again; turn", true},
	{"turn; again; turn", true},
	{"exchange; git rm -rqf conversations; commit; other turn; other exchange; exchange; turn", true},
	{"turn; git stash -q -u; meanwhile; turn; pop", true},
	{"turn; commit; git tag -f mark; git reset -q --hard HEAD~1; turn; meanwhile; merging merge -q --no-edit mark", true},
	{"turn; exchange; meanwhile; turn; git add -A; git commit -q --amend --no-edit; exchange", false},
	{"exchange; git tag -f mark; turn; commit; turn; commit; push; meanwhile; git reset -q --soft mark; commit; exchange", false},
	{"commit; git checkout -q -B side; turn; commit; git checkout -q main; turn; merging cherry-pick side; merging revert --no-edit HEAD; merging merge -q --no-edit side", true},
	{"turn; redact; rebase; turn", false},
	{"turn; stop; commit; turn; git reset -q --soft HEAD~1; meanwhile; turn", false},
	{"commit; git checkout -q --detach HEAD~1; turn; commit; git tag -f mark; meanwhile; git checkout -q main; merging merge -q --no-edit mark", false},
	{"commit; tree; turn; commit; meanwhile; turn; exchange; turn; leave; exchange; turn", false},
	{"exchange; shallow; turn; commit; git fetch -q --unshallow; meanwhile; exchange; turn; leave; turn", false},
	{"turn; commit; meanwhile; turn; git pull -q --rebase --autostash origin main; turn; push", true},
	{"exchange; turn; commit; turn; commit; meanwhile; patches; turn", true},
	{"turn; meanwhile; commit; git fetch -q; git merge -q --no-commit --no-ff origin/main; turn; git commit -q --no-edit; turn", false},
	{"turn; commit; turn; commit; git rebase -q -x false HEAD~2; turn; meanwhile; git rebase --continue; git rebase --continue; turn", true},
	{"commit; turn; git add -- conversations/*/session.json; git commit -q -m part; meanwhile; git checkout -q -- .; turn", true},
	{"turn; commit; git checkout -q HEAD~1 -- conversations; turn; meanwhile; commit", true},
	{"turn; exchange; other turn; other exchange; turn; exchange; merging revert --no-edit -m 1 HEAD; turn; exchange", true},
	{"exchange; second; turn; leave; turn", true},
	{"exchange; shallow; turn; leave; turn", true},
	{"turn; commit; git clean -qfdx; turn", false},
	{"exchange; meanwhile; turn; git add -A; git commit -q --amend --no-edit; git push -q --force origin HEAD:main; turn", true},
	{"turn; commit; turn; commit; git bisect start -q HEAD HEAD~2; turn; meanwhile; git bisect reset; turn", false},
}

// renames are stories of folders that users rename, though FORMAT.md says that nobody does.
// After some random steps, such as a squash, git leaves other conflicts of a renamed folder than
// those that a pull resolves.
var renames = []story{
	{"commit; exchange; other exchange; rename; commit; exchange; other rename; other commit; other turn; other exchange; exchange; turn", false},
	{"commit; exchange; other exchange; rename; commit; turn; exchange; other turn; other exchange; exchange", false},
}

// TestStories tells each story once, several in one history. The stories of TestHistories
// come between random steps.
func TestStories(t *testing.T) {
	const each = 9
	stories := slices.Concat(stories, renames)
	for at := 0; at < len(stories); at += each {
		t.Run(fmt.Sprint("from ", at), func(t *testing.T) {
			t.Parallel()
			h := newHistories(t, uint64(1+at/each), "off")
			for i, s := range stories[at:min(at+each, len(stories))] {
				w := h.users[h.r.IntN(len(h.users))]
				w.step = i + 1
				h.tell(w, s)
			}
			h.end()
		})
	}
}

// A telling runs a story.
type telling struct {
	*histories
	w, other *world // who acts, and who may
	on       string // the conversation that the story is about
}

// tell lets a user live through a story.
func (h *histories) tell(w *world, s story) {
	h.t.Helper()
	w.note("# story: %s", s.steps)
	h.took = h.took || s.took
	others := slices.DeleteFunc(slices.Clone(h.users), func(u *world) bool { return u == w })
	t := &telling{histories: h, w: w, other: others[h.r.IntN(len(others))]}
	for step := range strings.SplitSeq(s.steps, "; ") {
		t.do(w, step)
	}
	for _, tree := range w.trees {
		w.finish(tree)
		if w.unmerged(tree) {
			w.git(tree, "reset", "-q", "--hard")
		}
	}
	if len(w.ask(w.trees[0], "symbolic-ref", "-q", "HEAD")) == 0 {
		w.git(w.trees[0], "checkout", "-q", "main")
	}
}

// do takes a step.
func (t *telling) do(w *world, step string) {
	t.t.Helper()
	verb, rest, _ := strings.Cut(step, " ")
	switch verb {
	case "git":
		w.git(w.trees[0], strings.Fields(rest)...)
	case "merging":
		t.merging(w, strings.Fields(rest)...)
	case "other":
		t.other.step = w.step
		t.do(t.other, rest)
	case "meanwhile":
		for range t.r.IntN(3) {
			t.other.step = w.step
			t.step(t.other, historySteps)
		}
	case "turn":
		t.turn(w)
	case "fork":
		before := w.entries(every...)
		t.fork(w)
		for _, c := range w.entries(every...) {
			if !slices.ContainsFunc(before, func(e entry) bool { return e.ID == c.ID }) {
				t.on = c.ID
			}
		}
	case "stop":
		if c, ok := t.conversation(w); ok {
			t.cortext(w, "stop", c.ID)
		}
	case "rename":
		if c, ok := t.conversation(w); ok {
			w.git(w.trees[0], "mv", c.Path, path.Join(path.Dir(c.Path), fmt.Sprint("by-", filepath.Base(w.root), "-", w.step)))
		}
	case "tree":
		t.enter(w, "tree", "git", "worktree", "add", "-q", "-b", fmt.Sprint("tree-", w.step))
	case "shallow":
		t.enter(w, "shallow", "git", "clone", "-q", "--depth=1", "file://"+t.remote)
	case "second":
		t.enter(w, "second", "git", "clone", "-q", t.remote)
	case "leave":
		dir := w.dir()
		w.trees = w.trees[1:]
		w.must(w.root, "rm", "-rf", dir)
		w.must(w.dir(), "git", "worktree", "prune")
	case "again":
		w.must(w.root, "rm", "-rf", w.dir())
		w.must(w.root, "git", "clone", "-q", t.remote, w.dir())
		t.install(w)
	case "patches":
		t.patches(w)
	default:
		map[string]func(*histories, *world){
			"commit": (*histories).commit, "exchange": (*histories).exchange, "rebase": (*histories).rebase, "redact": (*histories).redact,
			"push": func(h *histories, w *world) { h.push(w) }, "pop": func(_ *histories, w *world) { w.pop(w.trees[0]) },
		}[step](t.histories, w)
	}
}

// conversation returns the user's entry of the conversation that the story is about, or makes
// the story about another one that the user has.
func (t *telling) conversation(w *world) (c entry, ok bool) {
	t.t.Helper()
	all := w.entries(every...)
	if len(all) == 0 {
		return c, false
	}
	if i := slices.IndexFunc(all, func(e entry) bool { return e.ID == t.on }); i >= 0 {
		return all[i], true
	}
	c = pick(w, all)
	t.on = c.ID
	return c, true
}

func (t *telling) turn(w *world) {
	t.t.Helper()
	if c, ok := t.conversation(w); ok {
		t.goOnIn(w, c)
	}
}

// enter makes another work tree, in which the user acts until leaving it.
func (t *telling) enter(w *world, name string, command ...string) {
	t.t.Helper()
	tree := w.tree(fmt.Sprint(name, "-", w.step))
	w.must(w.dir(), append(command, tree.dir)...)
	w.trees = append([]*workTree{tree}, w.trees[:len(w.trees)-1]...)
	t.install(w)
}

// patches takes the commits that the remote lacks through a mail, as git format-patch writes it and git am reads it.
func (t *telling) patches(w *world) {
	t.t.Helper()
	tree, out := w.trees[0], filepath.Join(w.root, fmt.Sprint("patches-", w.step))
	w.must(tree.dir, "git", "fetch", "-q", "origin")
	w.must(tree.dir, "git", "format-patch", "-q", "-o", out, "origin/main")
	w.git(tree, "reset", "-q", "--hard", "origin/main")
	files, err := filepath.Glob(filepath.Join(out, "*.patch"))
	w.check(err)
	if len(files) > 0 && !w.git(tree, append([]string{"am", "-q", "-3"}, files...)...) {
		w.git(tree, "am", "--abort")
	}
}
