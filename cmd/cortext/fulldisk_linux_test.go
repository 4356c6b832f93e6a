package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fullDiskIn names the folder that TestFullDisk, started in its own namespace, mounts its
// disk on.
const fullDiskIn = "CORTEXT_FULL_DISK"

// diskSize is the size of the disk in bytes, and diskPage the unit in which it fills up.
const (
	diskSize = 16 << 20
	diskPage = 4096
)

// TestFullDisk runs each command that organises or repairs on a disk that has room for
// nothing, for a page, for two and so on, until the command succeeds. Whatever fails must
// say why and lose nothing; and with room again, the same command must do what it does on
// an empty disk. The home folder is on the disk, too.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(fullDiskIn); dir != "" {
		testFullDisk(t, dir)
		return
	}
	program, err := clocked()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v", fmt.Sprintf("-test.short=%t", testing.Short()))
	cmd.Env = append(os.Environ(), fullDiskIn+"="+t.TempDir(), "CORTEXT_WALK_BINARY="+program)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Skipf("NOT RUN: the system allows no mounts: %v", err)
	}
	err = cmd.Wait()
	switch {
	case strings.Contains(out.String(), "--- SKIP"):
		t.Skipf("NOT RUN: the system allows no mounts:\n%s", out.String())
	case err != nil:
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log(out.String())
}

// A diskCase is a command that is run while the disk is full.
type diskCase struct {
	name  string
	args  []string
	setup func(*fullDisk) // what the user did before
	fresh bool            // it makes something with a random id: compare how many there are
	goes  bool            // records may go

	secret *regexp.Regexp // what must be nowhere afterwards
}

var diskCases = []diskCase{
	{name: "tag", args: []string{"tag", "new", "login"}},
	{name: "untag", args: []string{"untag", "old", "login"}},
	{name: "note", args: []string{"note", "a second note", "login"}},
	{name: "set", args: []string{"set", "ticket=2", "login"}},
	{name: "title", args: []string{"title", "login", "Another title"}},
	{name: "title --auto", args: []string{"title", "--auto", "login"}},
	{name: "archive", args: []string{"archive", "login", "cache"}},
	{name: "unarchive", args: []string{"unarchive", "done"}},
	{name: "rm", args: []string{"rm", "login retry", "--yes"}, goes: true},
	{name: "prune", args: []string{"prune", "--archived", "--yes"}, goes: true},
	{name: "fork", args: []string{"fork", "login", "--at", "3", "--no-resume"}, fresh: true},
	{name: "new", args: []string{"new", "plan", "A third one"}, fresh: true},
	{name: "repair", args: []string{"repair"}, setup: func(d *fullDisk) {
		log := filepath.Join(d.folder("handler1"), ".session/messages.jsonl")
		b, err := os.ReadFile(log)
		d.w.check(err)
		b = bytes.Replace(b, []byte("\n{"), []byte("\n\x00\x00\x00{{"), 3)
		d.w.check(os.WriteFile(log, b[:len(b)-300], 0o600))
		d.w.check(os.WriteFile(filepath.Join(d.folder("handler1"), ".session/session.json"), []byte("{"), 0o600))
	}},
	{name: "repair --undo", args: []string{"repair", "--undo"}, setup: func(d *fullDisk) {
		log := filepath.Join(d.folder("handler1"), ".session/messages.jsonl")
		b, err := os.ReadFile(log)
		d.w.check(err)
		d.w.check(os.WriteFile(log, append(b, "not a record\n"...), 0o600))
		d.w.must(d.dir, "cortext", "repair")
	}, goes: true},
	{name: "redact", args: []string{"redact", "login retry", "--pattern", "changed handler[0-9]+", "--yes"}, goes: true, secret: regexp.MustCompile("changed handler[0-9]")},
	{name: "config set", args: []string{"config", "set", "max_conversations", "1000"}},
	{name: "config set --user", args: []string{"config", "set", "--user", "remind_turns", "7"}},
	{name: "init", args: []string{"init", "--agent", "claude,gemini", "--commit", "off", "--yes"}, setup: func(d *fullDisk) {
		d.dir = filepath.Join(d.w.root, "other")
		d.w.must(d.w.root, "git", "init", "-q", d.dir)
	}, fresh: true},
	{name: "init again", args: []string{"init", "--agent", "claude,opencode,gemini"}},
}

// A fullDisk is a user whose home and workspace are on a small disk.
type fullDisk struct {
	w       *world
	disk    string
	dir     string // the workspace
	filler  string
	pattern string // the folder with everything as it is before a command
}

func testFullDisk(t *testing.T, dir string) {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Skip("NOT RUN: the system allows no mounts:", err)
	}
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)); err != nil {
		t.Skip("NOT RUN: the system allows no mounts:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) }) // the namespace ends with the process anyway
	t.Setenv("TMPDIR", disk)
	w := newWorld(t, 1)
	d := &fullDisk{w: w, disk: disk, dir: filepath.Join(w.root, "project"), filler: filepath.Join(disk, "filler")}
	d.begin()
	for _, c := range diskCases {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			d.pattern = filepath.Join(dir, strings.ReplaceAll(c.name, " ", "-"))
			d.dir = filepath.Join(w.root, "project")
			w.must(dir, "cp", "-a", w.root, d.pattern)
			defer d.restore(filepath.Join(dir, "begin"))
			if c.setup != nil {
				c.setup(d)
				w.must(dir, "rm", "-rf", d.pattern)
				w.must(dir, "cp", "-a", w.root, d.pattern)
			}
			d.try(c)
		})
	}
}

// begin makes the workspace: three conversations, the transcript of one of them, and git.
func (d *fullDisk) begin() {
	w := d.w
	w.must(w.root, "git", "init", "-q", d.dir)
	w.must(d.dir, "cortext", "init", "--agent", "claude", "--commit", "off")
	file := filepath.Join(w.home, ".claude/projects/p/turns.jsonl")
	w.write(file, transcriptOf(20))
	w.must(d.dir, "cortext", "import", file, "--title", "login retry")
	w.must(d.dir, "cortext", "new", "plan", "cache layout")
	w.must(d.dir, "cortext", "new", "chat", "done long ago")
	w.must(d.dir, "cortext", "status", "done", "completed")
	w.must(d.dir, "cortext", "archive", "done")
	w.must(d.dir, "cortext", "tag", "old", "login")
	w.must(d.dir, "cortext", "note", "a note", "login")
	w.must(d.dir, "git", "add", "-A")
	w.must(d.dir, "git", "commit", "-qm", "start")
	w.must(filepath.Dir(d.disk), "cp", "-a", w.root, filepath.Join(filepath.Dir(d.disk), "begin"))
}

// restore puts everything back as it was.
func (d *fullDisk) restore(pattern string) {
	d.w.check(os.RemoveAll(d.filler))
	for _, dir := range []string{"project", "other", "home"} {
		d.w.check(os.RemoveAll(filepath.Join(d.w.root, dir)))
		if _, err := os.Stat(filepath.Join(pattern, dir)); err == nil {
			d.w.must(d.disk, "cp", "-a", filepath.Join(pattern, dir), d.w.root)
		}
	}
}

// fill leaves room for so many pages.
func (d *fullDisk) fill(pages int64) {
	var fs syscall.Statfs_t
	d.w.check(syscall.Statfs(d.disk, &fs))
	f, err := os.Create(d.filler)
	d.w.check(err)
	d.w.check(syscall.Fallocate(int(f.Fd()), 0, 0, (int64(fs.Bavail)-pages)*diskPage))
	d.w.check(f.Close())
}

// folder returns the folder of the conversation with a word in its name.
func (d *fullDisk) folder(word string) string {
	found, err := filepath.Glob(filepath.Join(d.dir, "conversations/*/*"+word+"*"))
	d.w.check(err)
	if len(found) != 1 {
		d.w.t.Fatalf("folders with %s: %q", word, found)
	}
	return found[0]
}

// volatile matches the parts of a record that are random.
var volatile = regexp.MustCompile(`,"redacted":\[[^]]*\]`)

// state returns what the user has: everything in the workspace that git may have, the
// records that are kept for the user below local/kept, and the settings.
func (d *fullDisk) state() map[string]string {
	all := map[string]string{}
	for _, root := range []string{d.dir, filepath.Join(d.w.home, ".config")} {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(d.w.root, name)
			switch {
			case os.IsNotExist(err) && name == root:
				return fs.SkipAll
			case err != nil:
				return err
			case e.Name() == ".git" || strings.HasSuffix(rel, ".workspace/local"):
				return fs.SkipDir
			case e.Type().IsRegular():
				b, err := os.ReadFile(name)
				all[rel] = volatile.ReplaceAllString(times.ReplaceAllString(string(b), "TIME"), "")
				return err
			}
			return nil
		})
		d.w.check(err)
	}
	return all
}

// try runs a command with more and more room.
func (d *fullDisk) try(c diskCase) {
	t, w := d.w.t, d.w
	t.Helper()
	run := func() (string, int) {
		out, errs, code := w.run(command{dir: d.dir, args: append([]string{"cortext"}, c.args...)})
		if strings.Contains(errs, "panic") || strings.Contains(errs, "goroutine ") {
			t.Fatalf("%s", errs)
		}
		return out + errs, code
	}
	before := d.state()
	if out, code := run(); code != 0 {
		t.Fatalf("with room: exit code %d\n%s", code, out)
	}
	goal := d.state()
	d.checked(c, "with room")
	failed := 0
	for pages := int64(0); ; pages++ {
		if pages > 200 {
			t.Fatal("it never succeeds")
		}
		if testing.Short() && pages > 4 && pages%4 != 0 {
			continue
		}
		d.restore(d.pattern)
		d.fill(pages)
		out, code := run()
		w.check(os.Remove(d.filler))
		at := fmt.Sprintf("with %d pages of room: exit code %d\n%s", pages, code, out)
		now := d.state()
		if code == 0 {
			d.compare(c, at, now, goal)
			d.checked(c, at)
			t.Logf("failed %d times; succeeds with room for %d pages", failed, pages)
			return
		}
		failed++
		for _, text := range []string{"no space left on device", "make room on the disk"} {
			if !strings.Contains(out, text) {
				t.Errorf("%s\nthe error does not say %q", at, text)
			}
		}
		d.lost(c, at, before, goal, now)
		if again, code := run(); code != 0 {
			t.Fatalf("%s\nwith room again: exit code %d\n%s", at, code, again)
		}
		d.compare(c, at, d.state(), goal)
		d.checked(c, at)
		if t.Failed() {
			return
		}
	}
}

// checked fails if a check finds damage.
func (d *fullDisk) checked(c diskCase, at string) {
	d.w.t.Helper()
	if c.secret != nil {
		for _, dir := range []string{d.dir, filepath.Join(d.w.home, ".local"), filepath.Join(d.w.home, ".cache")} {
			d.w.check(filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
				switch {
				case os.IsNotExist(err):
				case err != nil:
					return err
				case e.Name() == ".git":
					return fs.SkipDir
				case e.Type().IsRegular():
					b, err := os.ReadFile(name)
					if found := c.secret.Find(b); found != nil {
						d.w.t.Errorf("%s\n%q is still in %s", at, found, name)
					}
					return err
				}
				return nil
			}))
		}
	}
	if c.name == "repair --undo" {
		return // the damage is back
	}
	if out, errs, code := d.w.run(command{dir: d.dir, args: []string{"cortext", "check"}}); code != 0 {
		d.w.t.Errorf("%s\ncheck: exit code %d\n%s%s", at, code, out, errs)
	}
}

// lost fails if a file is neither as before nor as the command makes it: a log may have
// more, and a new file may be there early.
func (d *fullDisk) lost(c diskCase, at string, before, goal, now map[string]string) {
	d.w.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(before)) {
		is, there := now[name]
		switch {
		case is == before[name] && there:
		case c.goes && there && is == goal[name]:
		case c.goes && !there:
			for other := range now {
				if strings.HasPrefix(name, "project/conversations/") && filepath.Dir(other) == filepath.Dir(name) {
					d.w.t.Errorf("%s\n%s is gone, but %s is not", at, name, other)
				}
			}
		case c.name == "repair":
			// What is damaged may be half repaired: the run after it must repair the rest.
		case is != goal[name]:
			d.w.t.Errorf("%s\n%s is neither as before nor as it should become:\n%s", at, name, is)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(now[name])) && now[name] != before[name] {
			d.w.t.Errorf("%s\n%s is half written:\n%q", at, name, now[name])
		}
	}
}

// compare fails unless everything is as the command leaves it with room.
func (d *fullDisk) compare(c diskCase, at string, now, goal map[string]string) {
	d.w.t.Helper()
	if c.fresh {
		if len(now) != len(goal) {
			d.w.t.Errorf("%s\n%d files, want %d:\n%s", at, len(now), len(goal), strings.Join(slices.Sorted(maps.Keys(now)), "\n"))
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(goal)) {
		if is, ok := now[name]; !ok {
			d.w.t.Errorf("%s\n%s is missing", at, name)
		} else if is != goal[name] {
			d.w.t.Errorf("%s\n%s differs: %s", at, name, firstDifference(goal[name], is))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, ok := goal[name]; !ok {
			d.w.t.Errorf("%s\n%s is left over", at, name)
		}
	}
}
