//go:build unix

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settle captures what the transcripts have, and exchanges until all clones have the same
// commit.
func (h *histories) settle() {
	h.t.Helper()
	for _, w := range h.users {
		w.step++
		h.cortext(w, "sync", "--restore")
		h.commit(w)
	}
	for range 2 {
		for _, w := range h.users {
			if !h.merging(w, "merge", "-q", "--no-edit", "origin/main") {
				w.fail("a merge did not end", "merge of origin/main")
			}
			if !h.push(w) {
				w.fail("push failed", "after a merge")
			}
		}
	}
	for _, w := range h.users {
		w.must(w.dir(), "git", "fetch", "-q", "origin")
		w.must(w.dir(), "git", "merge", "-q", "--ff-only", "origin/main")
	}
}

// repairForks repairs forks whose beginning a revert took back, and which then went on: no
// transcript has what a fork copied, check names it, and repair finds it in git's history.
// Any other damage is left for compare.
func (h *histories) repairForks() {
	h.t.Helper()
	w := h.users[0]
	out, _, _ := w.run(command{dir: w.dir(), args: []string{"cortext", "check"}})
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "-fork-") || !strings.Contains(line, ": missing (the message follows") {
			return
		}
	}
	if out != "" {
		h.cortext(w, "repair")
		h.commit(w)
		h.settle()
	}
}

// compare checks that all clones read the same, without damage, and that they have what
// was said, once.
func (h *histories) compare() {
	h.t.Helper()
	first := h.users[0].reading(every...)
	for _, w := range h.users {
		if now := w.reading(every...); now != first {
			w.fail("the clones read differently", "%s", firstDifference(first, now))
		}
		h.cortext(w, "check")
		if out := w.must(w.dir(), "git", "status", "--porcelain"); out != "" {
			w.fail("reading changed the work tree", "%s", out)
		}
		h.complete(w)
	}
}

// complete checks that one conversation has each message of each session, and that no
// redacted text is read. If all have the driver, none is in the file either; else the line
// that a merge brings back stays beside the redacted one until the log is next read whole.
func (h *histories) complete(w *world) {
	h.t.Helper()
	in := map[string]map[string]bool{} // by id of the message: the conversations that captured it
	texts := map[string]string{}
	for _, c := range w.entries(every...) {
		var s shown
		out, errs, code := w.run(command{dir: w.dir(), args: []string{"cortext", "show", c.ID, "--json"}})
		if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 {
			w.fail("show failed", "%s: exit code %d, %v\n%s", c.ID, code, err, errs)
		}
		seen := map[string]bool{}
		for _, m := range s.Messages {
			if seen[m.ID] {
				w.fail("a message twice", "%s in %s", m.ID, c.Path)
			}
			seen[m.ID] = true
			if m.Source != "" {
				if in[m.ID] == nil {
					in[m.ID] = map[string]bool{}
				}
				in[m.ID][c.ID] = true
			}
		}
		texts[c.ID] = out
		if h.seed%3 == 0 && !h.old { // all have the driver
			raw, err := os.ReadFile(filepath.Join(w.dir(), c.Path, ".session/messages.jsonl"))
			w.check(err)
			texts[c.ID] += string(raw)
		}
	}
	for _, u := range h.users {
		for _, n := range u.natives {
			for _, id := range n.ids {
				if len(in[id]) != 1 {
					w.fail("a message in no or several conversations", "%s of %s of seed %d, turn of %d: in %q", id, n.name, u.seed, n.turns, slices.Sorted(maps.Keys(in[id])))
				}
			}
		}
	}
	if h.took {
		return
	}
	for _, r := range h.redacted {
		source, text, _ := strings.Cut(r, " ")
		for id, raw := range texts {
			for record := range strings.SplitSeq(raw, `{"id":`) {
				if strings.Contains(record, source) && strings.Contains(record, `"`+text+`"`) {
					w.fail("a redacted text came back", "%s in %s:\n%s", text, id, record)
				}
			}
		}
	}
}
