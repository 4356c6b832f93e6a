//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A deed is a command that organises conversations: what a user runs, what a second run
// says, and what takes it back.
type deed struct {
	name  string
	args  []string // ALL stands for the ids of all conversations, ONE for the first
	again string   // what a second run says; its files must be as after the first
	code  int      // the exit code of the second run
	undo  []string // nothing if there is no way back

	before func(*organised) // what happened before
	wild   bool             // each run makes something new
}

var deeds = []deed{
	{name: "tag", args: []string{"tag", "SIDE,both", "ALL"}, again: ": already tagged SIDE, both$", undo: []string{"untag", "SIDE,both", "ALL"}},
	{name: "untag", args: []string{"untag", "both", "ALL"}, again: ": was not tagged both$", undo: []string{"tag", "both", "ALL"}, before: func(o *organised) {
		o.must("tag", "both", "ALL")
	}},
	{name: "note", args: []string{"note", "a note of SIDE", "ALL"}, again: ": already has this note$"},
	{name: "note --replace", args: []string{"note", "--replace", "all of SIDE", "ALL"}, again: ": already has these notes$", undo: []string{"note", "--replace", "", "ALL"}, before: func(o *organised) {
		o.must("note", "--replace", "", "ALL")
	}},
	{name: "set", args: []string{"set", "ticket=SIDE", "SIDE=1", "ALL"}, again: ": already has this value of ticket, SIDE$", undo: []string{"set", "ticket=", "SIDE=", "ALL"}},
	{name: "title", args: []string{"title", "ONE", "called", "by", "SIDE"}, again: ": already called called by SIDE$"},
	{name: "title --auto", args: []string{"title", "--auto", "ALL"}, again: "already called Change handler"},
	{name: "archive", args: []string{"archive", "ALL"}, again: ": already archived$", undo: []string{"unarchive", "ALL"}},
	{name: "unarchive", args: []string{"unarchive", "ALL"}, again: ": was not archived$", undo: []string{"archive", "ALL"}, before: func(o *organised) {
		o.must("archive", "ALL")
	}},
	{name: "status", args: []string{"status", "ONE", "completed"}, again: " is completed$", undo: []string{"status", "ONE", "paused"}},
	{name: "config set", args: []string{"config", "set", "max_conversations", "100000"}, again: "max_conversations: 100000 already,", undo: []string{"config", "unset", "max_conversations"}},
	{name: "init", args: []string{"init", "DRIVER"}, again: "up to date, nothing to do"},
	{name: "repair", args: []string{"repair"}, again: "nothing to repair", undo: []string{"repair", "--undo"}, before: func(o *organised) {
		log := filepath.Join(o.w.dir(), o.entries()[0].Path, ".session/messages.jsonl")
		b, err := os.ReadFile(log)
		o.w.check(err)
		o.w.check(os.WriteFile(log, append([]byte("no record\n"), b...), 0o600))
	}},
	{name: "redact", args: []string{"redact", "ALL", "--pattern", "secret-of-SIDE-[0-9]+", "--yes"}, again: "nothing matches", before: func(o *organised) {
		o.must("note", "--replace", "it is secret-of-a-1, or secret-of-b-1", "ONE")
		o.must("set", "key=secret-of-a-1 or secret-of-b-1", "ONE")
	}},
	{name: "fork", args: []string{"fork", "ONE", "--at", "2", "--no-resume"}, wild: true},
	{name: "prune", args: []string{"prune", "--archived", "--yes"}, again: "no conversation matches: nothing to remove", before: func(o *organised) {
		o.must("archive", "ONE")
	}},
	{name: "rm", args: []string{"rm", "ALL", "--yes"}, again: "no conversation matches", code: 3},
}

// TestOrganise runs every command that organises conversations on one and on five of them:
// once, once more, which changes nothing and says so, and taken back; and then by two users
// in two clones, whose work git merges, with the merge driver and without. CORTEXT_ORGANISE
// is another number of conversations; scripts/organise.sh runs it for 10,000.
func TestOrganise(t *testing.T) {
	sizes := []int{1, 5}
	if s := os.Getenv("CORTEXT_ORGANISE"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		sizes = []int{n}
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n, " conversations"), func(t *testing.T) {
			t.Parallel()
			o := newOrganised(t, n, "a")
			for _, d := range deeds {
				o.twice(d)
				t.Log(d.name)
			}
		})
		for _, driver := range []string{"--no-merge-driver", "--no-merge-driver=false"} {
			t.Run(fmt.Sprint(n, " conversations in two clones, ", driver), func(t *testing.T) {
				t.Parallel()
				organisePair(t, n, driver)
			})
		}
	}
}

// organised is a user with conversations.
type organised struct {
	t    *testing.T
	w    *world
	side string // a word for what only this user does
	ids  []string

	driver string // a flag of init, or ""
}

// newOrganised makes a workspace with n conversations, committed.
func newOrganised(t *testing.T, n int, side string) *organised {
	t.Helper()
	o := &organised{t: t, w: newWorld(t, 1), side: side}
	w := o.w
	w.must(w.root, "git", "init", "-q", w.tree("clone").dir)
	w.must(w.dir(), "cortext", "init", "--agent", "claude", "--commit", "off")
	w.must(w.dir(), "sed", "-i", "s/idle_minutes: 5/idle_minutes: 0/", ".workspace/config.yaml")
	files := filepath.Join(w.root, "files")
	for i := range n {
		w.write(filepath.Join(files, fmt.Sprintf("%05d.jsonl", i)), organisedTranscript(i))
	}
	w.must(w.dir(), "cortext", "import", files)
	o.commit("start")
	o.look()
	if len(o.ids) != n {
		t.Fatalf("%d conversations, want %d", len(o.ids), n)
	}
	return o
}

// organisedTranscript returns a transcript of two turns, in which texts of both users are.
func organisedTranscript(i int) string {
	var b strings.Builder
	parent, at := "null", time.Date(2025, 11, 1+i%28, i%24, i%60, 0, 0, time.UTC)
	for turn := range 2 {
		for _, role := range []string{"user", "assistant"} {
			id := fmt.Sprintf("%c-%d-%d", role[0], i, turn)
			at = at.Add(time.Second)
			text := fmt.Sprintf("Change handler %d so that it takes its two keys from the environment, as all others do. They are secret-of-a-%[1]d and secret-of-b-%[1]d.", i)
			fmt.Fprintf(&b, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"s%05d","timestamp":%q,"message":{"role":%[1]q,"id":"m-%[2]s","model":"m","content":%[6]q}}`+"\n", role, id, parent, i, at.Format(time.RFC3339), text)
			parent = strconv.Quote(id)
		}
	}
	return b.String()
}

// entries lists all conversations, sorted by id.
func (o *organised) entries() []entry { return o.w.entries(every...) }

// look reads the ids.
func (o *organised) look() {
	o.ids = nil
	for _, e := range o.entries() {
		o.ids = append(o.ids, e.ID)
	}
}

// command returns a command for this user.
func (o *organised) command(args []string) command {
	c := command{dir: o.w.dir(), args: []string{"cortext"}}
	for _, a := range args {
		switch a {
		case "ALL":
			c.args = append(c.args, o.ids...)
		case "DRIVER":
			if o.driver != "" {
				c.args = append(c.args, o.driver)
			}
		case "ONE":
			c.args = append(c.args, o.ids[0])
		default:
			c.args = append(c.args, o.text(a))
		}
	}
	return c
}

func (o *organised) text(s string) string { return strings.ReplaceAll(s, "SIDE", o.side) }

// must runs a command that must succeed.
func (o *organised) must(args ...string) string {
	o.t.Helper()
	o.w.tick(time.Second)
	out, errs, code := o.w.run(o.command(args))
	if code != 0 {
		o.t.Fatalf("%q: exit code %d\n%s%s", args, code, out, errs)
	}
	return out + errs
}

func (o *organised) commit(message string) {
	o.w.must(o.w.dir(), "git", "add", "-A")
	o.w.must(o.w.dir(), "git", "commit", "-q", "--allow-empty", "-m", message)
}

// files returns what git may have of the workspace.
func (o *organised) files() map[string]string {
	all := map[string]string{}
	o.w.check(filepath.WalkDir(o.w.dir(), func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == ".git" || e.Name() == "local":
			return fs.SkipDir
		case e.Type().IsRegular():
			b, err := os.ReadFile(name)
			all[name] = string(b)
			return err
		}
		return nil
	}))
	return all
}

// same fails unless two states are equal.
func (o *organised) same(d deed, when string, want, got map[string]string) {
	o.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			o.t.Fatalf("%s, %s: %s\n%s", d.name, when, name, firstDifference(want[name], got[name]))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			o.t.Fatalf("%s, %s: %s is new", d.name, when, name)
		}
	}
}

// read returns what commands show of all conversations, and of a few of them in detail.
func (o *organised) read() string {
	o.t.Helper()
	var b strings.Builder
	var all []map[string]any
	o.w.check(json.Unmarshal([]byte(o.w.must(o.w.dir(), append([]string{"cortext", "list", "--json"}, every...)...)), &all))
	slices.SortFunc(all, func(x, y map[string]any) int {
		return strings.Compare(fmt.Sprint(x["id"]), fmt.Sprint(y["id"]))
	})
	for i, row := range all {
		delete(row, "branches")
		fmt.Fprintln(&b, row)
		if i < 5 {
			b.WriteString(o.must("show", fmt.Sprint(row["id"])))
		}
	}
	return b.String()
}

// twice runs a command, runs it again and takes it back.
func (o *organised) twice(d deed) {
	t := o.t
	t.Helper()
	if d.before != nil {
		d.before(o)
	}
	shown, before := "", o.files()
	if d.name != "repair" { // what is damaged is read with a warning
		shown = o.read()
	}
	o.must(d.args...)
	after := o.files()
	if d.name != "init" && d.name != "title --auto" && fmt.Sprint(before) == fmt.Sprint(after) {
		t.Fatalf("%s changed nothing", d.name)
	}
	if d.wild {
		o.must("check")
		o.look()
		return
	}
	out, errs, code := o.w.run(o.command(d.args))
	if code != d.code || !regexp.MustCompile("(?m)"+o.text(d.again)).MatchString(out+errs) {
		t.Fatalf("%s, again: exit code %d, want %d and %q\n%s%s", d.name, code, d.code, d.again, out, errs)
	}
	o.same(d, "again", after, o.files())
	o.must("check")
	if d.undo != nil {
		o.must(d.undo...)
		if d.name == "repair" {
			o.same(d, "undone", before, o.files())
			o.must(d.args...)
		} else if now := o.read(); now != shown {
			t.Fatalf("%s, undone: %s", d.name, firstDifference(shown, now))
		}
	}
	o.look()
}

// organisePair lets two users run each command in their clones at once, and merges.
func organisePair(t *testing.T, n int, driver string) {
	t.Helper()
	a := newOrganised(t, n, "a")
	b := &organised{t: t, w: newWorld(t, 2), side: "b", ids: a.ids}
	b.w.must(b.w.root, "git", "clone", "-q", a.w.dir(), b.w.tree("clone").dir)
	a.w.must(a.w.dir(), "git", "remote", "add", "origin", b.w.dir())
	for _, o := range []*organised{a, b} {
		o.driver = driver
		o.must("init", "--agent", "claude", "DRIVER")
	}
	now := a.w.clock
	for _, d := range deeds {
		for _, o := range []*organised{a, b} {
			now = now.Add(time.Hour)
			o.w.clock = now
			if d.before != nil {
				d.before(o)
			}
			o.must(d.args...)
			o.commit(d.name)
		}
		for i, o := range []*organised{b, a} {
			o.w.must(o.w.dir(), "git", "fetch", "-q", "origin")
			how := []string{"merge", "-q", "--no-edit", "origin/main"}
			if i == 1 {
				how = []string{"merge", "-q", "--ff-only", "origin/main"}
			}
			if out, errs, code := o.w.run(command{dir: o.w.dir(), args: append([]string{"git"}, how...)}); code != 0 {
				t.Fatalf("%s: git %q: exit code %d\n%s%s\n%s", d.name, how, code, out, errs, o.w.must(o.w.dir(), "git", "status", "--short"))
			}
		}
		read := a.read()
		if other := b.read(); other != read {
			t.Fatalf("%s: the clones read differently: %s", d.name, firstDifference(read, other))
		}
		if d.name == "redact" {
			a.hidden()
			// Without the driver, the next write removes the lines that the merge brought back.
			a.must("tag", "merged", "ALL")
			a.commit("after the merge")
			b.w.must(b.w.dir(), "git", "pull", "-q", "--ff-only", "origin", "main")
		}
		a.merged(d, read)
		for _, o := range []*organised{a, b} {
			o.must("check")
			if out := o.w.must(o.w.dir(), "git", "status", "--porcelain"); out != "" {
				t.Fatalf("%s: reading changed files:\n%s", d.name, out)
			}
			o.look()
		}
		t.Log(d.name)
	}
}

// hidden checks that neither show nor resume shows what either user redacted.
func (o *organised) hidden() {
	o.t.Helper()
	for _, id := range o.ids[:min(len(o.ids), 5)] {
		for _, args := range [][]string{{"show", id}, {"show", id, "--last", "2"}, {"resume", id, "--print"}, {"resume", id, "--print", "--budget", "300"}, {"resume", id, "--print", "--strategy", "pruned-tools"}} {
			out, errs, _ := o.w.run(o.command(args))
			if found := planted.FindString(out + errs); found != "" {
				o.t.Errorf("%q shows %s:\n%s", args, found, out+errs)
			}
		}
	}
}

var planted = regexp.MustCompile(`secret-of-[ab]-\d+`)

// merged checks that the work of both users is there.
func (o *organised) merged(d deed, read string) {
	o.t.Helper()
	has := map[string][]string{
		"tag":            {"a, both, b|both, a, b|b, both, a|a, b, both|both, b, a"},
		"note":           {"a note of a", "a note of b"},
		"set":            {`\ba: *1`, `\bb: *1`, "ticket: *b"},
		"note --replace": {"all of b"},
		"title":          {"called by b"},
	}
	for _, expr := range has[d.name] {
		if !regexp.MustCompile(expr).MatchString(read) {
			o.t.Errorf("%s: %q is not shown:\n%s", d.name, expr, read[:min(len(read), 5000)])
		}
	}
	switch d.name {
	case "redact":
		for name, text := range o.files() {
			if found := planted.FindString(text); found != "" {
				o.t.Fatalf("%s is back in %s", found, name)
			}
		}
	case "fork":
		if n := len(o.entries()); n != len(o.ids)+2 {
			o.t.Errorf("%d conversations after two forks of %d", n, len(o.ids))
		}
	case "rm":
		if n := len(o.entries()); n != 0 {
			o.t.Errorf("%d conversations are left", n)
		}
	}
}
