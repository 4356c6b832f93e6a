//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// checkTurn checks, after the hook at the end of a turn, that every message of a session
// is in its conversation's log in its work tree, once and in order; or waiting, if it may
// wait.
func (w *world) checkTurn(n *native, mayWait bool) {
	w.t.Helper()
	if n.state != kept {
		return
	}
	now := w.look(n.at)
	lines := now.lines()
	var missing []string
	for _, id := range n.ids {
		if len(lines[id]) == 0 && !(mayWait && now.waiting[id]) {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		where := "its folder is in the work tree"
		if mayWait {
			where = "its folder is not in the work tree, or git is busy"
		}
		kind := "missing after a turn"
		if n.killed {
			kind += " of a session whose first hook was killed"
		}
		w.fail(kind, "%s in %s; %s\n%s", n.name, n.at.name, where, w.list(missing))
	}
	w.checkOrder(n, now)
}

// checkOrder checks that the messages of a session in one folder are in order: in the
// file, or by their parents.
func (w *world) checkOrder(n *native, now *snapshot) {
	w.t.Helper()
	for _, f := range now.folders {
		at, parent := map[string]int{}, map[string]string{}
		for i, r := range f.records {
			if _, known := at[r.ID]; !known {
				at[r.ID] = i
			}
			parent[r.ID] = r.Parent
		}
		last := ""
		for _, id := range n.ids {
			i, here := at[id]
			if !here {
				continue
			}
			if last != "" && at[last] > i && parent[id] != last {
				w.fail("out of order", "%s in %s of %s: %s stands before %s", n.name, f.path, n.at.name, id, last)
			}
			last = id
		}
	}
}

func (w *world) list(ids []string) string {
	var b strings.Builder
	for i, id := range ids {
		if i == 8 {
			fmt.Fprintf(&b, "  … and %d more\n", len(ids)-i)
			break
		}
		fmt.Fprintf(&b, "  - %s\n", w.named(id))
	}
	return b.String()
}

// checkAll ends git's operation in each work tree, restores what git removed, and checks
// that every message is there once.
func (w *world) checkAll() {
	w.t.Helper()
	w.note("# check everything")
	w.checkModel()
	for _, t := range w.trees {
		w.finish(t)
		w.git(t, "sparse-checkout", "disable")
		w.restore(t)
	}
	for _, t := range w.trees {
		w.checkTree(t)
	}
}

// finish ends git's operation in a work tree.
func (w *world) finish(t *workTree) {
	w.t.Helper()
	for range 3 {
		switch op := w.underway(t); op {
		case "":
			return
		case "bisect":
			if !w.git(t, "bisect", "reset") {
				w.git(t, "reset", "-q", "--hard")
				w.git(t, "bisect", "reset", "HEAD")
			}
		default:
			if !w.git(t, op, "--abort") {
				w.git(t, op, "--quit")
				w.git(t, "reset", "-q", "--hard")
			}
		}
	}
	if op := w.underway(t); op != "" {
		w.t.Fatalf("%s in %s does not end", op, t.name)
	}
}

// restore runs sync --restore, or sync for a cortext without that flag.
func (w *world) restore(t *workTree) {
	w.t.Helper()
	args := []string{"cortext", "sync", "--restore"}
	if _, errs, _ := w.run(command{dir: t.dir, args: []string{"cortext", "sync", "--restore", "--help"}}); strings.Contains(errs, "unknown flag") {
		args = args[:2]
	}
	a := act{who: "sync --restore", asked: true, all: true}
	w.watch(t, a, func() {
		if out, errs, code := w.cortext(t, command{args: args}); code != 0 {
			w.fail("sync --restore failed", "in %s: exit code %d\n%s%s", t.name, code, out, errs)
		}
	})
	// The next write merges what is in two folders.
	now := w.look(t)
	for _, c := range w.chats {
		if places := now.where(c); len(places) > 1 && c.natives[0].state != removed {
			if places[0].id != "" {
				w.watch(t, act{who: "stop", asked: true, chats: []*chat{c}}, func() { w.cortext(t, command{args: []string{"cortext", "stop", places[0].id}}) })
				w.uncertain(c)
			}
		}
	}
}

// checkTree checks that a work tree has every message of the sessions held in it, none
// twice, with one folder per conversation and no damage.
func (w *world) checkTree(t *workTree) {
	w.t.Helper()
	now := w.look(t)
	lines := now.lines()
	for _, n := range w.natives {
		var missing []string
		for _, id := range n.ids {
			if len(lines[id]) == 0 {
				missing = append(missing, id)
			}
		}
		if n.at == t && n.state == kept && len(missing) > 0 {
			w.fail("missing after restoring", "%s in %s\n%s", n.name, t.name, w.list(missing))
		}
		w.checkOrder(n, now)
	}
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		w.checkOnce(t, id, now)
	}
	for _, f := range now.folders {
		in := map[string]bool{}
		for _, r := range f.records {
			if n := w.owner[r.ID]; n != nil {
				in[n.chat.name] = true
			}
		}
		if len(in) > 1 {
			w.fail("two conversations in one folder", "%s of %s holds %v", f.path, t.name, slices.Sorted(maps.Keys(in)))
		}
	}
	byID := map[string]string{}
	for _, f := range now.folders {
		if end := f.path[strings.LastIndexByte(f.path, '-')+1:]; f.id != "" && !strings.HasSuffix(f.id, end) {
			w.fail("a session.json with the id of another conversation", "%s of %s: %s", f.path, t.name, f.id)
		}
		if len(f.records) == 0 {
			continue // the other folder has taken over its records
		}
		if n := w.owner[f.records[0].ID]; n != nil && n.state == removed {
			continue // see checkOnce
		}
		if first, twice := byID[f.id]; twice && f.id != "" {
			w.fail("one conversation in two folders", "%s of %s: %s, %s", f.id, t.name, first, f.path)
		}
		byID[f.id] = f.path
	}
	w.checkDamage(t, now)
}

// checkOnce checks that a message is in one folder, on one line, except for equal lines
// that a git merge may have made.
func (w *world) checkOnce(t *workTree, id string, now *snapshot) {
	w.t.Helper()
	var in []string
	for _, f := range now.folders {
		revs := map[int]string{}
		for _, r := range f.records {
			if r.ID != id {
				continue
			}
			if len(in) == 0 || in[len(in)-1] != f.path {
				in = append(in, f.path)
			}
			if other, known := revs[r.Rev]; known && other != r.line {
				w.fail("two different lines of a message", "%s of %s: %s\n%s%s", f.path, t.name, w.named(id), other, r.line)
			}
			revs[r.Rev] = r.line
		}
	}
	if n := w.owner[id]; n != nil && n.state == removed {
		return // git alone brings folders of what the user removed, and nothing writes to them
	}
	if len(in) > 1 {
		w.fail("a message in two folders", "%s of %s: %s", strings.Join(in, ", "), t.name, w.named(id))
	}
}

var conversationPath = regexp.MustCompile(`conversations/[0-9-]+/[^/: ]+`)

// checkDamage runs cortext check. What the user removed or skipped may be missing.
func (w *world) checkDamage(t *workTree, now *snapshot) {
	w.t.Helper()
	w.watch(t, act{who: "check", quiet: true}, func() {
		out, errs, code := w.cortext(t, command{args: []string{"cortext", "check"}})
		if code == 0 {
			return
		}
		var bad []string
		excused := false
		for line := range strings.Lines(out + errs) {
			if w.excused(t, line, now) {
				excused = true
			} else if strings.Contains(line, "conversations/") {
				bad = append(bad, line)
			}
		}
		if len(bad) > 0 || !excused {
			w.fail("check found damage", "in %s\n%s%s", t.name, out, errs)
		}
	})
}

// excused reports whether a line names a conversation with a session that the user
// skipped or removed, here or in the last commit.
func (w *world) excused(t *workTree, line string, now *snapshot) bool {
	if path := conversationPath.FindString(line); path != "" {
		for _, file := range []string{"messages.jsonl", "tools.jsonl", "session.json"} {
			out, _, _ := w.run(command{dir: t.dir, args: []string{"git", "show", "HEAD:./" + path + "/.session/" + file}})
			if here, err := os.ReadFile(filepath.Join(t.dir, path, ".session", file)); err == nil {
				out += string(here)
			}
			if slices.ContainsFunc(w.natives, func(n *native) bool { return n.state != kept && strings.Contains(out, `"`+n.id+`"`) }) {
				return true
			}
			for line := range strings.Lines(out) {
				var r struct {
					ID      string `json:"id"`
					Message string `json:"message_id"` // of a call
				}
				if json.Unmarshal([]byte(line), &r) == nil && slices.ContainsFunc([]string{r.ID, r.Message}, func(id string) bool { return w.owner[id] != nil && w.owner[id].state != kept }) {
					return true
				}
			}
		}
	}
	for _, c := range w.chats {
		if !slices.ContainsFunc(c.natives, func(n *native) bool { return n.state != kept }) {
			continue
		}
		for _, f := range now.where(c) {
			if strings.Contains(line, f.path) {
				return true
			}
		}
	}
	return false
}

// checkModel imports each transcript into a new workspace: cortext must derive the ids
// that the walk expects.
func (w *world) checkModel() {
	w.t.Helper()
	t := &workTree{name: "scratch", dir: filepath.Join(w.root, "scratch"), had: map[string]bool{}, torn: map[string]bool{}, parsed: map[string]parsed{}}
	w.must(w.root, "git", "init", "-q", t.dir)
	home := []string{"HOME=" + filepath.Join(w.root, "scratch-home"), "XDG_STATE_HOME=" + filepath.Join(w.root, "scratch-home/state")}
	cortext := func(args ...string) {
		w.t.Helper()
		if out, errs, code := w.run(command{dir: t.dir, env: home, args: append([]string{"cortext"}, args...)}); code != 0 {
			w.t.Fatalf("%q: exit code %d\n%s%s", args, code, out, errs)
		}
	}
	cortext("init")
	var files []string
	for _, n := range w.natives {
		if n.turns > 0 && !slices.Contains(files, n.file) {
			files = append(files, n.file)
		}
	}
	if len(files) > 0 {
		cortext(append([]string{"import"}, files...)...)
	}
	derived := map[string][]string{}
	for _, f := range w.look(t).folders {
		for _, r := range f.records {
			derived[r.Source] = append(derived[r.Source], r.ID)
		}
	}
	for _, n := range w.natives {
		var ids []string
		for _, p := range w.parts(n) {
			ids = append(ids, p.ids...)
		}
		if n.parted {
			slices.Sort(ids)
			slices.Sort(derived[n.id])
		}
		if !slices.Equal(derived[n.id], ids) {
			w.t.Fatalf("seed %d, step %d: the walk expects of %s (%s) the messages\n%q, imported alone it has\n%q", w.seed, w.step, n.name, n.agent, ids, derived[n.id])
		}
	}
}
