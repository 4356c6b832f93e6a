package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// corrupted is a conversation to damage, read, check and append to. Whatever happens to
// messages.jsonl, readers get the whole records, Check reports the damage, nothing is
// lost, and the next record is readable.
type corrupted struct {
	s    *Store
	c    *Conversation
	file string // messages.jsonl
}

func newCorrupted(tb testing.TB) *corrupted {
	s := newTestStore(tb)
	c := create(tb, s)
	appendBatch(tb, c, thread(0, 4))
	return &corrupted{s, c, filepath.Join(s.dir, c.file(messagesFile))}
}

// outcome describes what became of a file with a given content.
type outcome struct {
	ids    []string
	kinds  []jsonl.Kind
	aside  []byte // bytes that the next append moved away
	closed bool   // the append added a newline after the last record
}

// try replaces messages.jsonl with content, then reads, checks and appends.
func (k *corrupted) try(t *testing.T, content []byte) (o outcome) {
	t.Helper()
	if err := os.WriteFile(k.file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := k.s.Conversation(k.c.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for m, err := range c.Messages() {
		if err == nil {
			o.ids = append(o.ids, m.ID)
		}
	}
	checkLines(t, c)
	ids, _, _ := history(t, c, Limit{})
	for d := range k.s.Check() {
		if d.Offset < 0 || d.Offset > int64(len(content)) || d.Line < 1 || d.File != c.file(messagesFile) {
			t.Fatalf("damage is placed at %q line %d byte %d", d.File, d.Line, d.Offset)
		}
		o.kinds = append(o.kinds, d.Kind)
	}
	if _, _, err := c.Session(); err != nil {
		t.Fatal(err)
	}
	before, _ := k.s.ReadFile(c.file(sessionFile)) // for the next file: this one may be counted
	defer func() { writeFile(t, k.s, c.file(sessionFile), string(before)) }()
	last := message(9)
	last.ParentID = ""
	r := appendBatch(t, c, schema.Batch{Messages: []schema.Message{last}})
	for _, a := range r.SetAside {
		kept, err := k.s.ReadFile(a.Kept)
		if err != nil || int64(len(kept)) != a.Bytes {
			t.Fatalf("%+v: %d bytes, %v", a, len(kept), err)
		}
		o.aside = append(o.aside, kept...)
	}
	after, err := os.ReadFile(k.file)
	if err != nil {
		t.Fatal(err)
	}
	line := string(schema.AppendMessage(nil, storedMessage(t, c, "m9")))
	whole, ok := strings.CutSuffix(string(after), line)
	if !ok {
		t.Fatalf("the log ends in %q, not in the new line", after[max(0, len(after)-100):])
	}
	keep := len(content) - len(o.aside)
	rest := string(content[:keep])
	if slices.Contains(o.kinds, jsonl.Conflict) {
		var records []string
		for line := range strings.Lines(rest) {
			if !jsonl.IsMarker([]byte(line)) {
				records = append(records, line)
			}
		}
		rest = strings.Join(records, "")
	}
	switch {
	case string(content[keep:]) != string(o.aside):
		t.Fatalf("%q was set aside, which is not the end of the file", o.aside)
	case whole == rest+"\n":
		o.closed = true
	case whole != rest:
		t.Fatalf("the bytes before changed from %q to %q", rest, whole)
	}
	now, _, _ := history(t, c, Limit{})
	if !slices.Contains(now, "m9") || len(now) < len(ids) {
		t.Fatalf("history was %v and is %v with the new message", ids, now)
	}
	for d := range k.s.Check() {
		if d.Kind == jsonl.TornTail || d.Kind == jsonl.Unterminated {
			t.Fatalf("after the append: %v", d.Error())
		}
	}
	return o
}

// storedMessage returns the stored message with an id.
func storedMessage(t *testing.T, c *Conversation, id string) *schema.Message {
	t.Helper()
	for m, err := range c.Messages() {
		if err == nil && m.ID == id {
			return &m
		}
	}
	t.Fatalf("there is no message %s", id)
	return nil
}

func TestCutAtEveryByte(t *testing.T) {
	k := newCorrupted(t)
	content, err := os.ReadFile(k.file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(content) + 1 {
		if testing.Short() && n%4 > 0 && !bytes.Contains(content[max(n-1, 0):min(n+1, len(content))], []byte("\n")) {
			continue
		}
		cut := content[:n]
		o := k.try(t, cut)
		whole := bytes.Count(cut, []byte("\n"))
		torn := cut[bytes.LastIndexByte(cut, '\n')+1:]
		var kind []jsonl.Kind
		switch {
		case n < len(content) && content[n] == '\n' && len(torn) > 0: // only the newline is missing
			whole++
			kind = []jsonl.Kind{jsonl.Unterminated}
			if !o.closed || len(o.aside) > 0 {
				t.Errorf("cut at %d: closed %v, set aside %q", n, o.closed, o.aside)
			}
		case len(torn) > 0:
			kind = []jsonl.Kind{jsonl.TornTail}
			if !bytes.Equal(o.aside, torn) {
				t.Errorf("cut at %d: %q was set aside, want %q", n, o.aside, torn)
			}
		}
		if len(o.ids) != whole || !slices.Equal(o.kinds, kind) {
			t.Errorf("cut at %d: %v survive, want %d; damage %q, want %q", n, o.ids, whole, o.kinds, kind)
		}
	}
}

func TestEveryByteSpoilt(t *testing.T) {
	k := newCorrupted(t)
	content, err := os.ReadFile(k.file)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{"m0", "m1", "m2", "m3"}
	for _, spoil := range []byte{0, '\n', 0xFF} {
		for n := range content {
			if content[n] == spoil || testing.Short() && n%4 > 0 && content[n] != '\n' {
				continue
			}
			b := bytes.Clone(content)
			b[n] = spoil
			o := k.try(t, b)
			hit := bytes.Count(content[:n], []byte("\n"))
			for i, id := range ids {
				// The damaged record may be lost, or its id. Its neighbours must survive,
				// even if the newline between them is gone.
				if (i != hit || content[n] == '\n') && !slices.Contains(o.ids, id) {
					t.Errorf("%#x at %d in line %d: %v survive", spoil, n, hit+1, o.ids)
				}
			}
			if len(o.kinds) == 0 && spoil != '\n' {
				t.Errorf("%#x at %d: no damage is named", spoil, n)
			}
		}
	}
}

// corruptions are the kinds of damage seen in the field. Each names which of m0 to m3
// survive.
var corruptions = []struct {
	name  string
	spoil func(lines []string) string
	ids   string
	kinds []jsonl.Kind
}{
	{"as it was", func(l []string) string { return strings.Join(l, "") }, "m0 m1 m2 m3", nil},
	{"empty file", func([]string) string { return "" }, "", nil},
	{"welded: a newline is missing", func(l []string) string { return l[0] + strings.TrimSuffix(l[1], "\n") + l[2] + l[3] },
		"m0 m1 m2 m3", []jsonl.Kind{jsonl.Welded}},
	{"spliced: a record stands in another", func(l []string) string { return l[0] + l[1][:45] + l[2] + l[1][45:] + l[3] },
		"m0 m2 m3", []jsonl.Kind{jsonl.Broken, jsonl.Welded, jsonl.Broken}},
	{"a torn line, then whole ones", func(l []string) string { return l[0] + l[1][:30] + "\n" + l[2] + l[3] }, "m0 m2 m3", []jsonl.Kind{jsonl.Broken}},
	{"NULs within", func(l []string) string { return l[0] + l[1] + strings.Repeat("\x00", 4096) + l[2] + l[3] }, "m0 m1 m2 m3", []jsonl.Kind{jsonl.NULs}},
	{"NULs for a line", func(l []string) string { return l[0] + strings.Repeat("\x00", len(l[1])) + l[2] + l[3] }, "m0 m2 m3", []jsonl.Kind{jsonl.NULs}},
	{"NULs at the end", func(l []string) string { return strings.Join(l, "") + strings.Repeat("\x00", 143_000) }, "m0 m1 m2 m3", []jsonl.Kind{jsonl.NULs}},
	{"NULs behind an unterminated record", func(l []string) string { return strings.TrimSuffix(strings.Join(l, ""), "\n") + "\x00\x00" }, "m0 m1 m2 m3", []jsonl.Kind{jsonl.NULs}},
	{"byte order mark", func(l []string) string { return "\uFEFF" + strings.Join(l, "") }, "m0 m1 m2 m3", nil},
	{"CRLF", func(l []string) string { return strings.ReplaceAll(strings.Join(l, ""), "\n", "\r\n") }, "m0 m1 m2 m3", nil},
	{"blank lines", func(l []string) string { return "\n" + l[0] + "\n \t\n" + l[1] + l[2] + l[3] + "\n" }, "m0 m1 m2 m3", nil},
	{"conflict markers", func(l []string) string {
		return l[0] + "<<<<<<< HEAD\n" + l[1] + "||||||| base\n=======\n" + l[2] + l[3] + ">>>>>>> theirs\n"
	}, "m0 m1 m2 m3", []jsonl.Kind{jsonl.Conflict, jsonl.Conflict, jsonl.Conflict, jsonl.Conflict}},
	{"doubled by a union merge", func(l []string) string { return strings.Join(l, "") + l[2] + l[3] }, "m0 m1 m2 m3 m2 m3", nil},
	{"swapped", func(l []string) string { return l[0] + l[2] + l[1] + l[3] }, "m0 m2 m1 m3", nil},
	{"UTF-16", func(l []string) string {
		var b strings.Builder
		for _, c := range l[0] {
			b.WriteByte(byte(c))
			b.WriteByte(0)
		}
		return b.String() + "\n" + l[1] + l[2] + l[3]
	}, "m1 m2 m3", nil},
	{"not objects", func(l []string) string { return "[]\nnull\n12\n\"x\"\n" + l[0] + l[1] + l[2] + l[3] },
		"m0 m1 m2 m3", []jsonl.Kind{jsonl.Broken, jsonl.Broken, jsonl.Broken, jsonl.Broken}},
	{"objects that are no message", func(l []string) string {
		return "{}\n{\"role\":\"king\"}\n{\"id\":3,\"role\":\"user\"}\n" + l[0] + l[1] + l[2] + l[3]
	},
		"m0 m1 m2 m3", []jsonl.Kind{NotRecord, NotRecord, NotRecord}},
	{"deep nesting", func(l []string) string { return l[0] + strings.Repeat("[", 1_000_000) + "\n" + l[1] + l[2] + l[3] }, "m0 m1 m2 m3", []jsonl.Kind{jsonl.Broken}},
	{"unknown fields", func(l []string) string {
		return strings.Replace(strings.Join(l, ""), `{"id"`, `{"later":{"a":[1]},"id"`, 1)
	}, "m0 m1 m2 m3", nil},
	{"random bytes", func(l []string) string { return l[0] + "\x89PNG\r\n\x1a\n" + l[1] + l[2] + l[3] }, "m0 m1 m2 m3", nil},
}

func TestCorruptions(t *testing.T) {
	k := newCorrupted(t)
	content, err := os.ReadFile(k.file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(content), "\n")+"\n", "\n")[:4]
	for _, tt := range corruptions {
		t.Run(tt.name, func(t *testing.T) {
			o := k.try(t, []byte(tt.spoil(lines)))
			if got := strings.Join(o.ids, " "); got != tt.ids {
				t.Errorf("%s survive, want %s", got, tt.ids)
			}
			if tt.name != "UTF-16" && tt.name != "random bytes" && !slices.Equal(o.kinds, tt.kinds) {
				t.Errorf("damage %q, want %q", o.kinds, tt.kinds)
			}
		})
	}
}

// TestNotAFile replaces each file with something that is not a regular file: reading goes
// on without it and never blocks, Check reports it, and writing refuses.
func TestNotAFile(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "x"), []byte("theirs\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func(name string) error{
		"folder":           func(name string) error { return os.Mkdir(name, 0o755) },
		"pipe":             makePipe,
		"symlink out":      func(name string) error { return os.Symlink(filepath.Join(outside, "x"), name) },
		"symlink within":   func(name string) error { return os.Symlink("../../../../.gitattributes", name) },
		"dangling symlink": func(name string) error { return os.Symlink("nowhere", name) },
		"device":           makeDevice,
	}
	for kind, make := range kinds {
		for _, file := range []string{messagesFile, toolsFile, sessionFile} {
			t.Run(kind+" for "+file, func(t *testing.T) {
				k := newCorrupted(t)
				c := k.c
				c.Close()
				name := filepath.Join(k.s.dir, c.file(file))
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
				if err := make(name); errors.Is(err, errors.ErrUnsupported) || errors.Is(err, os.ErrPermission) {
					t.Skip("NOT RUN: this kind of file cannot be created here:", err)
				} else if err != nil {
					t.Fatal(err)
				}
				ids, h, damage := history(t, c, Limit{})
				if file == messagesFile && len(ids) > 0 || file != messagesFile && len(ids) != 4 {
					t.Errorf("history: %v", ids)
				}
				if file == toolsFile && len(h.Tools) > 0 || file == sessionFile && len(h.Tools) != 2 {
					t.Errorf("tools: %v", h.Tools)
				}
				if file != sessionFile && len(damage) != 1 {
					t.Errorf("damage: %v", damage)
				}
				ids, _, _ = history(t, c, Limit{Messages: 2})
				if file != messagesFile && len(ids) != 2 {
					t.Errorf("the last two: %v", ids)
				}
				sess, damage, err := c.Session()
				if err != nil || sess == nil || (file == sessionFile) != (len(damage) == 1) {
					t.Errorf("session: %+v, %v, %v", sess, damage, err)
				}
				if list, err := k.s.List(); err != nil || len(list) != 1 {
					t.Errorf("list: %v, %v", list, err)
				}
				if got := damages(k.s); len(got) != 1 || !strings.HasPrefix(got[0], c.file(file)+":0:0: ") {
					t.Errorf("check: %q", got)
				}
				before := snapshot(t, k.s.dir)
				_, err = c.Append(thread(4, 6))
				if (err == nil) != (file == sessionFile) {
					t.Errorf("append: %v", err)
				}
				err = c.Edit(func(s *schema.Session) error { s.Title = "x"; return nil })
				if (err == nil) != (file == toolsFile) {
					t.Errorf("edit: %v", err)
				}
				if file == messagesFile {
					wantSame(t, k.s.dir, before)
				}
				if b, _ := os.ReadFile(filepath.Join(outside, "x")); string(b) != "theirs\n" {
					t.Errorf("the file outside holds %q", b)
				}
			})
		}
	}
}

// TestSymlinkedLocal checks that no symlink leads private files into what git tracks.
func TestSymlinkedLocal(t *testing.T) {
	for _, name := range []string{localDir, cacheDir, keptDir, tmpDir} {
		s := newTestStore(t)
		c := create(t, s)
		if err := os.MkdirAll(filepath.Join(s.dir, "public/cache/tmp"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
		up := strings.Repeat("../", strings.Count(name, "/"))
		if err := os.Symlink(up+"public", filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, filepath.Join(s.dir, "public"))
		if err := c.Edit(func(s *schema.Session) error { s.Notes = "x"; return nil }); err == nil {
			t.Errorf("%s: written through a symlink", name)
		}
		wantSame(t, filepath.Join(s.dir, "public"), before)
	}
}

// TestSymlinkedFolders: a clone may hold symlinks in place of folders.
func TestSymlinkedFolders(t *testing.T) {
	outside := t.TempDir()
	const folder = "conversations/2025-11-22/1000-brainstorm-api-design-ee1s"
	for _, target := range []string{outside, "."} {
		for _, depth := range []string{"conversations", "conversations/2025-11-22", folder, folder + "/.session", folder + "/.session/subagents"} {
			k := newCorrupted(t)
			sub, err := k.c.Subagent("x")
			if err != nil {
				t.Fatal(err)
			}
			appendBatch(t, sub, thread(0, 1))
			sub.Close()
			k.c.Close()
			name := filepath.Join(k.s.dir, depth)
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, name); err != nil {
				t.Fatal(err)
			}
			if got := damages(k.s); len(got) == 0 {
				t.Errorf("%s -> %s: check finds nothing", depth, target)
			}
			if _, err := k.s.List(); err != nil && depth != "conversations" {
				t.Errorf("%s -> %s: list: %v", depth, target, err)
			}
			c, err := k.s.Conversation(k.c.Path())
			isSub := strings.HasSuffix(depth, "subagents")
			if (err == nil) != isSub {
				t.Errorf("%s -> %s: open: %v", depth, target, err)
			}
			if isSub {
				if _, err := c.Subagent("x"); err == nil {
					t.Errorf("%s -> %s: the sub-agent was opened", depth, target)
				}
			}
			// A Conversation opened before the symlink must not write through it.
			if _, err := k.c.Append(thread(4, 5)); err == nil && !isSub {
				t.Errorf("%s -> %s: appended", depth, target)
			}
			if _, err := sub.Append(thread(4, 5)); err == nil {
				t.Errorf("%s -> %s: appended to the sub-agent", depth, target)
			}
			if entries, _ := os.ReadDir(outside); len(entries) > 0 {
				t.Fatalf("%s -> %s: %v was made outside", depth, target, entries)
			}
		}
	}
}
