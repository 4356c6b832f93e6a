//go:build unix

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var mergeRounds = flag.Uint64("merge.rounds", envNumber("CORTEXT_MERGE_ROUNDS", 10), "the number of rounds of TestStopsMerge, of three merges each")

// A pair is two users on two machines, each with a clone of the same history.
type pair struct {
	t         *testing.T
	sides     [2]*world
	conflicts int
	merges    int
}

// TestStopsMerge lets two users continue the same conversations, title and stop them, and
// merges their work in both directions. Git must leave no conflict below .session/, both
// clones must read the same, and the next write must make the bytes equal.
func TestStopsMerge(t *testing.T) {
	t.Parallel()
	seed := max(*walkSeed, 1)
	p := &pair{t: t, sides: [2]*world{newWorld(t, 2*seed), newWorld(t, 2*seed+1)}}
	one, two := p.sides[0], p.sides[1]
	one.must(one.root, "git", "init", "-q", one.tree("clone").dir)
	one.must(one.dir(), "cortext", "init", "--agent", "claude,gemini", "--commit", "off")
	// The transcripts are from January: everything would be idle, and the next command on
	// either side would pause it.
	config := filepath.Join(one.dir(), ".workspace", "config.yaml")
	text, err := os.ReadFile(config)
	one.check(err)
	one.write(config, strings.Replace(string(text), "idle_minutes: 5", "idle_minutes: 0", 1))
	for range 3 {
		one.begin(one.trees[0])
	}
	one.must(one.dir(), "cortext", "sync")
	one.must(one.dir(), "git", "add", "-A")
	one.must(one.dir(), "git", "commit", "-qm", "start")
	two.must(two.root, "git", "clone", "-q", one.dir(), two.tree("clone").dir)
	one.must(one.dir(), "git", "remote", "add", "other", two.dir())
	two.must(two.dir(), "git", "remote", "add", "other", one.dir())
	for round := 1; round <= int(*mergeRounds); round++ {
		for _, w := range p.sides {
			w.step = round
			w.editSome()
		}
		p.round()
	}
	t.Logf("%d of %d merges conflicted below .session/", p.conflicts, p.merges)
	for _, w := range p.sides {
		w.report()
	}
}

// dir returns the folder of the world's only clone.
func (w *world) dir() string { return w.trees[0].dir }

// An entry is a conversation in the output of cortext list --json.
type entry struct {
	ID, Path, Title, Status string
	MessageCount            int `json:"message_count"`
}

// entries lists conversations, by default those that are neither completed nor archived.
func (w *world) entries(flags ...string) (all []entry) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.must(w.dir(), append([]string{"cortext", "list", "--json"}, flags...)...)), &all); err != nil {
		w.t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// editSome continues the conversation that the other side also continues, stops it, does
// a few random things, as a user does between two merges, and commits.
func (w *world) editSome() {
	w.t.Helper()
	t := w.trees[0]
	set := func(args ...string) {
		if out, errs, code := w.cortext(t, command{args: append([]string{"cortext"}, args...)}); code != 0 {
			w.fail(args[0]+" failed", "exit code %d\n%s%s", code, out, errs)
		}
	}
	all := w.entries()
	both := all[w.step%len(all)]
	w.resumeListed(both)
	set("stop", both.ID)
	for range w.r.IntN(4) {
		c := pick(w, w.entries())
		switch w.r.IntN(7) {
		case 0:
			set("title", c.ID, fmt.Sprintf("%s %d", w.phrase(), w.step))
		case 1:
			set("status", c.ID, pick(w, []string{"active", "paused", "completed"}))
		case 2:
			if len(w.chats) < 4 {
				w.begin(t)
				set("sync")
			}
		default:
			w.resumeListed(c)
			if w.r.IntN(4) > 0 {
				set("stop", c.ID)
			}
		}
	}
	w.must(t.dir, "git", "add", "-A")
	w.must(t.dir, "git", "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("step %d", w.step))
}

// resumeListed continues a conversation, in this user's session of it or a new one.
func (w *world) resumeListed(c entry) {
	w.t.Helper()
	for _, n := range w.natives {
		if n.chat.name == c.ID && w.r.IntN(3) > 0 {
			w.does(n, turn{fmt.Sprintf("say %d of %s, %s", n.turns+1, n.name, w.phrase()), w.r.IntN(2) == 0})
			return
		}
	}
	typed := "/workspace.resume " + c.ID
	if c.Status == "completed" {
		typed += " reopen"
	}
	n := w.newNative(pick(w, []string{"claude", "gemini"}), w.trees[0], &chat{name: c.ID})
	w.does(n, turn{typed: typed})
}

// round merges each side into the other, makes both write, and merges the result.
func (p *pair) round() {
	p.t.Helper()
	one, two := p.sides[0], p.sides[1]
	for _, w := range p.sides {
		w.must(w.dir(), "git", "fetch", "-q", "other")
	}
	for _, w := range p.sides { // in both directions
		p.merge(w)
	}
	p.same("after a merge in both directions")
	before := one.clock
	if two.clock.After(before) {
		before = two.clock
	}
	before = before.Truncate(time.Second).Add(time.Second)
	for _, w := range p.sides {
		w.clock = before
		for _, c := range w.entries() {
			w.must(w.dir(), "cortext", "stop", c.ID)
		}
	}
	p.sameBytes(before)
	read := p.same("after both have stopped")
	for _, w := range p.sides {
		w.must(w.dir(), "git", "add", "-A")
		w.must(w.dir(), "git", "commit", "-q", "--allow-empty", "-m", "both have stopped")
	}
	one.must(one.dir(), "git", "fetch", "-q", "other")
	p.merge(one)
	two.must(two.dir(), "git", "fetch", "-q", "other")
	two.must(two.dir(), "git", "merge", "-q", "--ff-only", "other/main")
	if now := p.same("after another merge"); now != read {
		one.fail("merging again changes what is read", "%s", firstDifference(read, now))
	}
}

// merge merges the other side's branch, without conflicts.
func (p *pair) merge(w *world) {
	p.t.Helper()
	p.merges++
	if w.git(w.trees[0], "merge", "-q", "--no-edit", "other/main") { // fails for a conflict below .session/
		return
	}
	p.conflicts++
	w.must(w.dir(), "git", "checkout", "-q", "--ours", ".")
	w.must(w.dir(), "git", "add", "-A")
	w.must(w.dir(), "git", "commit", "-q", "--no-edit")
}

// reading returns the output of list and show, independent of order and folder.
func (w *world) reading(flags ...string) string {
	w.t.Helper()
	var b strings.Builder
	for _, c := range w.entries(flags...) {
		fmt.Fprintf(&b, "%s %q %s %d messages\n", c.ID, c.Title, c.Status, c.MessageCount)
		var s shown
		out, errs, code := w.run(command{dir: w.dir(), args: []string{"cortext", "show", c.ID, "--json"}})
		if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 {
			w.fail("show failed", "%s: exit code %d, %v\n%s", c.ID, code, err, errs)
		}
		slices.SortFunc(s.Session.Sources, func(a, b struct {
			NativeID string `json:"native_id"`
		}) int {
			return strings.Compare(a.NativeID, b.NativeID)
		})
		fmt.Fprintf(&b, "  %q %s %v\n", s.Session.Title, s.Session.Status, s.Session.Sources)
		for _, m := range s.Messages {
			fmt.Fprintf(&b, "  %s after %q: %s %q\n", m.ID, m.ParentID, m.Role, m.Content)
		}
		for _, x := range s.Tools {
			fmt.Fprintf(&b, "  %s %s %q\n", x.ID, x.Name, x.Output)
		}
	}
	return b.String()
}

// same checks that both clones read the same, and returns the reading.
func (p *pair) same(when string) string {
	p.t.Helper()
	a, b := p.sides[0].reading(), p.sides[1].reading()
	if a != b {
		p.sides[0].fail("the clones read differently", "%s:\n%s", when, firstDifference(a, b))
	}
	return a
}

// firstDifference returns the first line in which two texts differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n  %s\n  %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}

var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// sameBytes checks that session.json is equal in both clones, except for the times of the
// last writes.
func (p *pair) sameBytes(since time.Time) {
	p.t.Helper()
	var texts [2]string
	for i, w := range p.sides {
		var b strings.Builder
		for _, c := range w.entries() {
			raw, err := os.ReadFile(filepath.Join(w.dir(), c.Path, ".session/session.json"))
			w.check(err)
			b.WriteString(times.ReplaceAllStringFunc(string(raw), func(s string) string {
				if at, err := time.Parse(time.RFC3339, s); err == nil && !at.Before(since) {
					return "now"
				}
				return s
			}))
		}
		texts[i] = b.String()
	}
	if texts[0] != texts[1] {
		p.sides[0].fail("session.json differs after both wrote", "%s", firstDifference(texts[0], texts[1]))
	}
}
