//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// A record is a line of a messages.jsonl.
type record struct {
	ID     string `json:"id"`
	Parent string `json:"parent_id"`
	Source string `json:"source"`
	Rev    int    `json:"rev"`
	line   string
}

// A folder is a conversation's folder with a .session/ in it.
type folder struct {
	path    string
	id      string   // from session.json
	natives []string // its sources
	records []record
}

// holds reports whether a folder has any message of a conversation.
func (f *folder) holds(c *chat) bool {
	for _, n := range c.natives {
		if !n.parted && slices.Contains(f.natives, n.id) || slices.ContainsFunc(f.records, func(r record) bool { return slices.Contains(n.ids, r.ID) }) {
			return true
		}
	}
	return false
}

// A snapshot is the content of a work tree at a moment.
type snapshot struct {
	folders []*folder
	dirs    map[string]bool   // folders below conversations/, with or without a .session/
	files   map[string]string // hash of each file that cortext writes and git sees
	waiting map[string]bool   // ids of messages in .workspace/local/kept
}

// parsed is the content of a file at a given size and time.
type parsed struct {
	key     string
	sum     string
	records []record
	id      string
	natives []string
	ids     []string
}

var (
	sessionID = regexp.MustCompile(`(?m)^\s*"id": ?"([^"]+)"`)
	nativeID  = regexp.MustCompile(`"native_id": ?"([^"]+)"`)
	anyID     = regexp.MustCompile(`"id": ?"([^"]+)"`)
)

func submatches(re *regexp.Regexp, b []byte) (all []string) {
	for _, m := range re.FindAllSubmatch(b, -1) {
		all = append(all, string(m[1]))
	}
	return all
}

// parse reads a file, unless it is unchanged.
func (w *world) parse(t *workTree, path string) (p parsed, ok bool) {
	w.t.Helper()
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return p, false // deleted meanwhile
	}
	key := fmt.Sprint(info.Size(), info.ModTime().UnixNano(), info.Sys().(*syscall.Stat_t).Ino)
	if p = t.parsed[path]; p.key == key {
		return p, true
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return p, false
	}
	p = parsed{key: key, sum: fmt.Sprintf("%x", sha256.Sum256(raw))}
	switch {
	case strings.Contains(path, "/.workspace/local/kept/"):
		p.ids = submatches(anyID, raw)
	case filepath.Base(path) == "messages.jsonl":
		for line := range bytes.Lines(raw) {
			var r record
			if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &r) == nil && r.ID != "" {
				r.line = string(line)
				p.records = append(p.records, r)
			}
		}
	case filepath.Base(path) == "session.json":
		if ids := submatches(sessionID, raw); len(ids) > 0 {
			p.id = ids[0]
		}
		p.natives = submatches(nativeID, raw)
	}
	t.parsed[path] = p
	return p, true
}

// look reads the content of a work tree.
func (w *world) look(t *workTree) *snapshot {
	w.t.Helper()
	s := &snapshot{dirs: map[string]bool{}, files: map[string]string{}, waiting: map[string]bool{}}
	byPath := map[string]*folder{}
	visit := func(path string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(path, t.dir+"/")
		if err == nil && d.IsDir() {
			s.dirs[rel] = true
		}
		if err != nil || d.IsDir() {
			return nil // deleted meanwhile
		}
		p, ok := w.parse(t, path)
		if !ok {
			return nil
		}
		if strings.HasPrefix(rel, ".workspace/local/") {
			for _, id := range p.ids {
				s.waiting[id] = true
			}
			return nil
		}
		s.files[rel] = p.sum
		at, name, ok := strings.Cut(rel, "/.session/")
		if !ok {
			return nil
		}
		f := byPath[at]
		if f == nil {
			f = &folder{path: at}
			byPath[at] = f
			s.folders = append(s.folders, f)
		}
		switch name {
		case "session.json":
			f.id, f.natives = p.id, p.natives
		case "messages.jsonl":
			f.records = p.records
		}
		return nil
	}
	for _, dir := range []string{"conversations", ".workspace/removed", ".workspace/commands", ".workspace/local/kept"} {
		_ = filepath.WalkDir(filepath.Join(t.dir, dir), visit)
	}
	for _, file := range []string{".gitattributes", ".workspace/config.yaml"} {
		if p, ok := w.parse(t, filepath.Join(t.dir, file)); ok {
			s.files[file] = p.sum
		}
	}
	return s
}

// where lists the folders with messages of a conversation.
func (s *snapshot) where(c *chat) (list []*folder) {
	for _, f := range s.folders {
		if f.holds(c) {
			list = append(list, f)
		}
	}
	return list
}

// lines returns the lines of each message by id.
func (s *snapshot) lines() map[string][]record {
	all := map[string][]record{}
	for _, f := range s.folders {
		for _, r := range f.records {
			all[r.ID] = append(all[r.ID], r)
		}
	}
	return all
}

// An act describes the purpose of a cortext command.
type act struct {
	who   string  // the command
	asked bool    // the user asks it to write conversations
	chats []*chat // the conversations it is about
	quiet bool    // it only reads
	all   bool    // it looks at all sessions of the work tree
	torn  bool    // it is killed, so cortext may not have recorded what it wrote
}

func (a act) about(n *native) bool { return n != nil && slices.Contains(a.chats, n.chat) }

// watch calls f, which runs cortext, and compares the work tree before and after.
func (w *world) watch(t *workTree, a act, f func()) (before, after *snapshot) {
	w.t.Helper()
	busy := w.underway(t)
	before = w.look(t)
	had := maps.Clone(t.had)
	head := w.ask(t, "rev-parse", "HEAD")
	f()
	after = w.look(t)
	if now := w.ask(t, "rev-parse", "HEAD"); !slices.Equal(head, now) {
		w.compareCommits(t, a, head[0], now[0])
	}
	w.compareLines(t, a, before, after)
	w.compareUnasked(t, a, change{before, after, had})
	// cortext cannot know about messages that git brings and removes again before a command
	// has read the session, nor about what a killed command wrote.
	old := before.lines()
	for _, seen := range []*snapshot{before, after} {
		for id := range seen.lines() {
			n := w.owner[id]
			switch {
			case a.torn && !had[id] && len(old[id]) == 0:
				t.torn[id] = true
			case !a.torn && (a.all || a.about(n)):
				delete(t.torn, id)
				t.had[id] = true
			case n != nil && n.at == t && !t.torn[id]:
				t.had[id] = true
			}
		}
	}
	for _, n := range w.natives {
		n.spoke = n.spoke && (n.at != t || !a.all && !a.about(n))
	}
	w.compareFiles(t, a, before, after, busy)
	out, _, _ := w.run(command{dir: t.dir, args: []string{"git", "status", "--porcelain", "--untracked-files=all", "--", ".workspace"}})
	if strings.Contains(out, ".workspace/local") {
		w.fail(".workspace/local is not ignored", "in %s after %s:\n%s", t.name, a.who, out)
	}
	return before, after
}

// compareCommits checks that no commit by cortext deletes a message.
func (w *world) compareCommits(t *workTree, a act, old, now string) {
	w.t.Helper()
	out, _, _ := w.run(command{dir: t.dir, args: []string{"git", "diff", "--no-renames", "--unified=0", old, now, "--", "conversations"}})
	deleted, added := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(out) {
		var r record
		if json.Unmarshal([]byte(line[1:]), &r) == nil && r.Source != "" {
			deleted[r.ID] = deleted[r.ID] || line[0] == '-'
			added[r.ID] = added[r.ID] || line[0] == '+'
		}
	}
	for _, id := range slices.Sorted(maps.Keys(deleted)) {
		if !deleted[id] || added[id] || a.who == "rm" {
			continue
		}
		// If a merge duplicated a line, one copy may go.
		if _, _, code := w.run(command{dir: t.dir, args: []string{"git", "grep", "-q", "-F", `"id":"` + id + `"`, now, "--", "conversations"}}); code != 0 {
			w.fail("cortext committed the deletion of a message", "%s in %s: %s", a.who, t.name, w.named(id))
		}
	}
}

// compareLines checks that every line stays, no existing line is added again, and nothing
// skipped or removed comes back.
func (w *world) compareLines(t *workTree, a act, before, after *snapshot) {
	w.t.Helper()
	old, now := before.lines(), after.lines()
	for _, id := range slices.Sorted(maps.Keys(old)) {
		if len(now[id]) == 0 && !(a.who == "rm" && a.about(w.owner[id])) {
			w.fail("cortext dropped a line", "%s in %s: %s", a.who, t.name, w.named(id))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		n := w.owner[id]
		was, is := map[int]int{}, map[int]int{}
		for _, r := range old[id] {
			was[r.Rev]++
		}
		for _, r := range now[id] {
			if is[r.Rev]++; is[r.Rev] > max(1, was[r.Rev]) {
				w.fail("cortext wrote a message twice", "%s in %s: %s", a.who, t.name, w.named(id))
			}
		}
		if n != nil && len(old[id]) == 0 && n.forbidden(id) {
			kind := map[state]string{removed: "removed", skipped: "skipped"}[n.state]
			w.fail("what was "+kind+" came back", "%s in %s: %s", a.who, t.name, w.named(id))
		}
	}
}

// A change is the content of a work tree before a command, after it, and ever before.
type change struct {
	before, after *snapshot
	had           map[string]bool
}

// compareUnasked checks that only the conversation's own session, or a user who asks for
// it, restores anything.
func (w *world) compareUnasked(t *workTree, a act, c change) {
	w.t.Helper()
	old, now := c.before.lines(), c.after.lines()
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if n := w.owner[id]; n != nil && n.at == t && slices.ContainsFunc(w.parts(n), func(p *native) bool { return p.spoke }) {
			continue // a turn of the conversation's own session
		}
		if len(old[id]) == 0 && c.had[id] && !c.before.waiting[id] && !a.asked && !a.about(w.owner[id]) {
			w.fail(a.who+" restored what git removed", "in %s: %s", t.name, w.named(id))
		}
	}
	if a.who != "hook" || a.asked {
		return
	}
	for _, one := range a.chats {
		was := slices.ContainsFunc(one.natives, func(n *native) bool {
			return slices.ContainsFunc(n.ids, func(id string) bool { return c.had[id] })
		})
		if !was || len(c.before.where(one)) > 0 {
			continue
		}
		for _, f := range c.after.where(one) {
			if !c.before.dirs[f.path] {
				w.fail("a hook made a folder that git removed", "%s of %s in %s", f.path, one.name, t.name)
			}
		}
	}
}

// compareFiles checks that a reading command changes nothing, and that no command changes
// anything during a git operation. It records what was written unasked.
func (w *world) compareFiles(t *workTree, a act, before, after *snapshot, busy string) {
	w.t.Helper()
	for _, path := range slices.Sorted(maps.Keys(after.files)) {
		if before.files[path] == after.files[path] {
			continue
		}
		if a.quiet {
			w.fail("a command that reads wrote", "%s in %s: %s", a.who, t.name, path)
		}
		if busy != "" && !slices.Contains([]string{"rm", "import"}, a.who) {
			w.fail("cortext wrote during "+busy, "%s in %s: %s", a.who, t.name, path)
		}
		own := a.asked
		for _, f := range after.folders {
			for _, c := range a.chats {
				own = own || strings.HasPrefix(path, f.path+"/") && f.holds(c)
			}
		}
		if who, known := t.unasked[path]; own {
			t.unasked[path] = ""
		} else if _, was := before.files[path]; !was && (!known || who != "") {
			t.unasked[path] = a.who // a file that already existed would block git anyway
		}
	}
}

// named describes a message.
func (w *world) named(id string) string {
	n := w.owner[id]
	if n == nil {
		return id + " of no session of the walk"
	}
	return fmt.Sprintf("message %s (%d of %d) of %s (%s, held in %s, conversation %s)", id, slices.Index(n.ids, id)+1, len(n.ids), n.name, n.agent, n.at.name, n.chat.name)
}
