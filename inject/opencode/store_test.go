package opencode

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"cortext/inject"
)

// TestStore finds the sessions of a machine, wherever OpenCode is configured to keep
// them.
func TestStore(t *testing.T) {
	db := slurp(t, fixtures+"1.18.33/store/transcript.db")
	const a, archived, child = "ses_dff9b6187ffeOJTeBSCOKhGxQq", "ses_dff9b00b4ffejYKUoFfwIW74Lx", "ses_dff9b2827ffeTlyNiE2F28Egkx"
	home := t.TempDir()
	usual := write(t, home, ".local/share/opencode/opencode.db", db)
	data := filepath.Dir(usual)
	dev := write(t, data, "opencode-dev.db", db)
	write(t, data, "opencode-notes.txt", "x")
	xdg := t.TempDir()
	moved := write(t, xdg, "opencode/opencode.db", db)
	for name, c := range map[string]struct {
		env    map[string]string
		file   string
		stores []string
	}{
		"usual":    {nil, usual, []string{data}},
		"XDG":      {map[string]string{"XDG_DATA_HOME": xdg}, moved, []string{filepath.Dir(moved)}},
		"absolute": {map[string]string{"OPENCODE_DB": moved}, moved, []string{filepath.Dir(moved)}},
		"relative": {map[string]string{"OPENCODE_DB": "opencode-dev.db"}, dev, []string{data}},
		"memory":   {map[string]string{"OPENCODE_DB": ":memory:"}, "", nil},
		"none":     {map[string]string{"OPENCODE_DB": "none.db"}, "", []string{data}},
	} {
		m := machine(home, c.env)
		list, err := adapter.Sessions(m)
		want := 2
		if c.file == "" {
			want = 0
		}
		if err != nil || len(list) != want {
			t.Errorf("%s: %d sessions, %v", name, len(list), err)
		}
		for _, n := range list {
			if n.Path != c.file+"#"+n.NativeID || n.Dir != "/home/dev/shop" || len(n.Root) != 40 || n.Updated.Year() != 2026 || n.NativeID != a && n.NativeID != archived {
				t.Errorf("%s: %+v", name, n)
			}
			if tr, _ := readAll(t, n.Path, inject.Options{}); tr.NativeID != n.NativeID {
				t.Errorf("%s: %s", name, tr.NativeID)
			}
		}
		for _, id := range []string{a, archived, child, "nosuch", ""} {
			path, ok, err := adapter.Locate(m, id)
			if err != nil || ok != (c.file != "" && strings.HasPrefix(id, "ses_")) || ok && path != c.file+"#"+id {
				t.Errorf("%s: %s is at %q, %t, %v", name, id, path, ok, err)
			}
		}
		var dirs []string
		for _, s := range adapter.Stores(m) {
			dirs = append(dirs, s.Dir)
		}
		if strings.Join(dirs, ":") != strings.Join(c.stores, ":") {
			t.Errorf("%s: stores %v", name, dirs)
		}
	}
	write(t, data, "opencode.db", db[:3000])
	list, err := adapter.Sessions(machine(home, nil))
	if err == nil || !strings.Contains(err.Error(), usual) || len(list) != 2 || !strings.HasPrefix(list[0].Path, dev) {
		t.Errorf("a damaged database beside a whole one: %v, %v", list, err)
	}
}

// TestOldStore reads the folders of an old version if there is no database.
func TestOldStore(t *testing.T) {
	home := t.TempDir()
	share := "open*[x]"
	if runtime.GOOS == "windows" { // where no name has an asterisk
		share = "open[x]"
	}
	data := filepath.Join(home, ".local", "share", share, "opencode")
	if err := os.CopyFS(data, os.DirFS(fixtures+"1.1.40/folder")); err != nil {
		t.Fatal(err)
	}
	m := machine(home, map[string]string{"XDG_DATA_HOME": filepath.Dir(data)})
	list, err := adapter.Sessions(m)
	if err != nil || len(list) != 1 || list[0].Dir != "/home/dev/shop" || len(list[0].Root) != 40 || list[0].Updated.IsZero() {
		t.Fatalf("%+v, %v", list, err)
	}
	path, ok, _ := adapter.Locate(m, list[0].NativeID)
	if !ok || path != list[0].Path {
		t.Errorf("located %q, %t", path, ok)
	}
	if _, ok, err := adapter.Locate(m, "nosuch"); ok || err != nil {
		t.Error("located a session that is not there")
	}
	before, err := adapter.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	tr, b := readAll(t, path, inject.Options{})
	if before != tr.Next.Size || len(b.Messages) != 2 {
		t.Errorf("%d; cursor %+v", before, tr.Next)
	}
	parts, _ := fs.Glob(os.DirFS(data), "storage/part/*/prt_200600000006*")
	write(t, data, parts[0], "no JSON")
	after, err := adapter.Stat(path)
	tr, b = readAll(t, path, inject.Options{})
	if err != nil || after == before || len(b.Tools) != 0 || !strings.Contains(strings.Join(tr.Warnings, ""), "1 files of the session") {
		t.Errorf("%d, %v; %d calls, %q", after, err, len(b.Tools), tr.Warnings)
	}
	// A name in a file does not lead out of the store.
	own := strings.Replace(slurp(t, path), `"ses_4b5d713cffeFolderFolder01"`, `"../message/ses_4b5d713cffeFolderFolder01"`, 1)
	write(t, filepath.Dir(path), filepath.Base(path), own)
	if _, b := readAll(t, path, inject.Options{}); len(b.Messages) != 0 {
		t.Errorf("%d messages of a session whose id is a path", len(b.Messages))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(parts[0], path); err != nil {
		t.Fatal(err)
	}
	if list, err := adapter.Sessions(m); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestFlatParts reads the oldest layout, with the parts of all sessions in one
// folder.
func TestFlatParts(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "storage/session/p/ses_x.json", `{"id":"x","version":"0.1","projectID":"p","parentID":null,"title":"T","time":{"created":1730000200000}}`)
	write(t, dir, "storage/message/x/2.json", `{"id":"a","role":"assistant","time":{"created":1730000202000},"modelID":"m"}`)
	write(t, dir, "storage/message/x/1.json", `{"role":"user","time":{"created":1730000203000}}`)
	write(t, dir, "storage/part/1.json", `{"messageID":"a","id":"t","type":"tool","callID":"c","tool":"bash","state":{"status":"success","input":{},"output":"o"}}`)
	write(t, dir, "storage/part/2.json", `{"messageID":"other","id":"o","type":"text","text":"not mine"}`)
	write(t, dir, "storage/part/3.json", `{"messageID":"1","id":"u","type":"text","text":"said"}`)
	tr, b := readAll(t, path, inject.Options{})
	if len(b.Messages) != 2 || b.Messages[0].ID != "a" || b.Messages[1].Content != "said" || !*b.Tools[0].Success || tr.Title != "T" {
		t.Errorf("%+v", b)
	}
	if state, err := adapter.Stat(path); err != nil || state != tr.Next.Size {
		t.Errorf("stat gives %d, %v; the cursor has %d", state, err, tr.Next.Size)
	}
}

// TestSubagents lists the sessions that a session started, directly and indirectly. A
// call id that may not be unique must be the one that the messages have.
func TestSubagents(t *testing.T) {
	s := newStore(t, false)
	s.session("root", "")
	s.session("one", "root")
	s.session("two", "root")
	s.session("deep", "one")
	s.session("loop", "deep")
	s.do(`update session set parent_id = 'loop' where id = 'root'`) // a ring
	start := func(session, n, call, child string) {
		s.message(session, map[string]any{"id": session + n, "role": "assistant"})
		s.part(session, session+n, map[string]any{"id": "p" + session + n, "type": "tool", "tool": "task", "callID": call,
			"state": map[string]any{"status": "completed", "metadata": map[string]any{"sessionId": child}}})
	}
	start("root", "1", "c", "one")
	start("root", "2", "c", "two")
	start("root", "3", "c", "one") // resumed
	start("one", "1", "call_which_stands_once", "deep")
	list, err := adapter.Subagents(s.file + "#root")
	var got []string
	for _, x := range list {
		got = append(got, x.NativeID+"="+x.ToolCallID)
		if tr, _ := readAll(t, x.Path, inject.Options{}); tr.Parent == "" || tr.NativeID != x.NativeID {
			t.Errorf("%+v", tr)
		}
	}
	if want := "one=c two=c#proot2 deep=call_which_stands_once loop="; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v", got, err)
	}
	tr, _ := readAll(t, s.file+"#root", inject.Options{})
	if tr.Calls["one"] != "c" || tr.Calls["two"] != "c#proot2" {
		t.Errorf("calls %v", tr.Calls)
	}
	for _, path := range []string{fixtures + "1.18.33/stopped/transcript.json", "nosuch"} {
		if list, err := adapter.Subagents(path); len(list) != 0 || err != nil {
			t.Errorf("%s: %v, %v", path, list, err)
		}
	}
}

// TestRemove checks that the program removes a session with nothing but a payload and
// keeps any other.
func TestRemove(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: the stand-in for the agent is a shell script")
	}
	at, err := time.Parse(time.RFC3339, "2026-11-21T22:26:40Z")
	if err != nil {
		t.Fatal(err)
	}
	r := inject.Request{Payload: "payload", Shown: "Resumed", NativeID: "11111111-2222-4333-8444-555555555555"}
	imported := parseDoc(t, payloadDocument(r, at, "1.18.33", ""))
	id := sessionID(r.NativeID, at)
	turn := parseDoc(t, exported(asking+typed+"]}")).Messages[0]
	for name, c := range map[string]struct {
		change func(s *storeFile)
		gone   bool
	}{
		"unused":       {func(*storeFile) {}, true},
		"a turn":       {func(s *storeFile) { s.message(id, turn.Info); s.part(id, turn.Info["id"].(string), turn.Parts[0]) }, false},
		"another text": {func(s *storeFile) { s.do(`update part set data = replace(data, 'payload', 'other')`) }, false},
		"not there":    {func(s *storeFile) { s.do(`delete from session`) }, false},
		"taken back": {func(s *storeFile) {
			s.message(id, turn.Info)
			s.part(id, turn.Info["id"].(string), turn.Parts[0])
			s.do(`update session set revert = json_object('messageID', ?)`, turn.Info["id"])
		}, false},
	} {
		s := newStore(t, true)
		s.put(id, imported)
		c.change(s)
		home := t.TempDir()
		script := write(t, home, "opencode", "#!/bin/sh\ntest \"$1\" = --version && echo 1.18.33 && exit\necho \"$@\" > \"${0%/*}/asked\"\n")
		if err := os.Chmod(script, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := adapter.Remove(t.Context(), machine(home, map[string]string{"OPENCODE_DB": s.file, "CORTEXT_OPENCODE": script}), id); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		asked, _ := os.ReadFile(filepath.Join(home, "asked"))
		if want := "--pure session delete " + id + "\n"; (string(asked) == want) != c.gone || !c.gone && len(asked) > 0 {
			t.Errorf("%s: the program was asked to %q", name, asked)
		}
	}
}
