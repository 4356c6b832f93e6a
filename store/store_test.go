package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
)

func TestFind(t *testing.T) {
	s := newTestStore(t)
	deep := filepath.Join(s.dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{s.dir, deep} {
		if root, err := Find(dir); root != s.dir || err != nil {
			t.Errorf("Find(%q) = %q, %v", dir, root, err)
		}
	}
	if os.Symlink(workspaceDir, filepath.Join(deep, workspaceDir)) == nil { // a loop, which cannot be resolved
		if root, err := Find(deep); err == nil || errors.Is(err, ErrNoWorkspace) {
			t.Errorf("below what cannot be looked at: %q, %v", root, err)
		}
	}
	if root, err := Find(t.TempDir()); !errors.Is(err, ErrNoWorkspace) {
		t.Errorf("outside: %q, %v", root, err)
	}
	if _, err := Open(t.TempDir(), Options{}); !errors.Is(err, ErrNoWorkspace) {
		t.Errorf("open outside: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing"), Options{}); !errors.Is(err, ErrNoWorkspace) {
		t.Errorf("open what is missing: %v", err)
	}
}

func TestInit(t *testing.T) {
	dir := t.TempDir()
	theirs := "*.png binary" // no newline at the end
	if err := os.WriteFile(filepath.Join(dir, AttributesFile), []byte(theirs), 0o644); err != nil {
		t.Fatal(err)
	}
	s, created, err := Init(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if want := []string{workspaceDir, localDir, ignoreFile, AttributesFile}; !slices.Equal(created, want) {
		t.Errorf("created %q, want %q", created, want)
	}
	b, _ := os.ReadFile(filepath.Join(dir, AttributesFile))
	if want := theirs + "\n" + strings.Join(attributes(), "\n") + "\n"; string(b) != want {
		t.Errorf(".gitattributes is %q, want %q", b, want)
	}
	before := snapshot(t, dir)
	s, created, err = Init(dir)
	if err != nil || created != nil {
		t.Errorf("again: created %q, %v", created, err)
	}
	s.Close()
	wantSame(t, dir, before)

	// Opening and reading a fresh clone, which has no .workspace/local, creates nothing.
	if err := os.RemoveAll(filepath.Join(dir, localDir)); err != nil {
		t.Fatal(err)
	}
	before = snapshot(t, dir)
	s = openTestStore(t, dir)
	if _, err := s.List(); err != nil {
		t.Error(err)
	}
	if _, err := s.ReadFile(".workspace/config.yaml"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	wantSound(t, s)
	wantSame(t, dir, before)
	c := create(t, s)
	appendBatch(t, c, thread(0, 1))
	if got := readFile(t, s, ignoreFile); got != "*\n" {
		t.Errorf("%s is %q after the first write", ignoreFile, got)
	}
}

func TestInitRefusals(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"a file at .workspace":    func(dir string) error { return os.WriteFile(filepath.Join(dir, workspaceDir), nil, 0o644) },
		"a symlink at attributes": func(dir string) error { return os.Symlink("/etc/hosts", filepath.Join(dir, AttributesFile)) },
	} {
		dir := t.TempDir()
		if err := prepare(dir); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Init(dir); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestFiles(t *testing.T) {
	s := newTestStore(t)
	for name, mode := range map[string]os.FileMode{
		".workspace/config.yaml":                                 0o644,
		".workspace/commands/debug.md":                           0o644,
		"conversations/2025-11-22/001-x/.session/other/1-9.json": 0o600,
		".workspace/local/kept/attachments/ab/abcd":              0o600,
	} {
		if ok, err := s.Exists(name); ok || err != nil {
			t.Errorf("%s exists before: %v, %v", name, ok, err)
		}
		for _, content := range []string{"one", "two"} {
			if err := s.WriteFile(name, []byte(content)); err != nil {
				t.Fatal(err)
			}
			if b, err := s.ReadFile(name); string(b) != content || err != nil {
				t.Errorf("%s: %q, %v", name, b, err)
			}
		}
		if ok, err := s.Exists(name); !ok || err != nil {
			t.Errorf("%s exists after: %v, %v", name, ok, err)
		}
		info, err := os.Stat(filepath.Join(s.dir, name))
		if err != nil || info.Mode() != mode && runtime.GOOS != "windows" {
			t.Errorf("%s has mode %v, %v, want %v", name, info.Mode(), err, mode)
		}
	}
	if err := os.Chmod(filepath.Join(s.dir, ".workspace/config.yaml"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteFile(".workspace/config.yaml", nil); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(filepath.Join(s.dir, ".workspace/config.yaml")); info.Mode() != 0o640 && runtime.GOOS != "windows" {
		t.Errorf("a rewrite made the mode %v", info.Mode())
	}
	for _, name := range []string{"", ".", "..", "../x", "/etc/passwd", "a/../b", `a\b`, "a\x00b",
		"conversations/d/n/.session/messages.jsonl", "conversations/d/n/.session/subagents/x/session.json", "conversations/d/n/.session/summaries/1-9.json"} {
		if err := s.WriteFile(name, nil); err == nil {
			t.Errorf("%q was written", name)
		}
	}
	if err := os.Truncate(filepath.Join(s.dir, ".workspace/config.yaml"), maxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadFile(".workspace/config.yaml"); !errors.Is(err, errTooLarge) {
		t.Errorf("a file of %d bytes: %v", maxFile+1, err)
	}
}

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{
		"API Design Discussion":        "api-design-discussion",
		"  What's   the -- plan?? ":    "whats-the-plan",
		"":                             "untitled",
		"日本語":                          "ri-ben-yu",
		"Привет, мир!":                 "privet-mir",
		"한국어 테스트":                      "hangugeo-teseuteu",
		"🎉":                            "untitled",
		"don’t panic":                  "dont-panic",
		"Über die Größe: café, naïve!": "uber-die-grosse-cafe-naive",
		"../../etc/passwd":             "etc-passwd",
		"con":                          "con-0",
		"COM1":                         "com1-0",
		"a\x00b\nc":                    "a-b-c",
		strings.Repeat("word ", 30):    "word-word-word-word-word-word-word-word-word",
		strings.Repeat("x", 100):       strings.Repeat("x", 48),
		strings.Repeat("x", 48) + " y": strings.Repeat("x", 48),
	} {
		if got := Slug(title); got != want || len(got) > slugBytes {
			t.Errorf("Slug(%q) = %q, want %q", title, got, want)
		}
		if again := Slug(Slug(title)); again != Slug(title) {
			t.Errorf("Slug(Slug(%q)) = %q", title, again)
		}
	}
}

func TestConversationPaths(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	if c.Path() != "conversations/2025-11-22/1000-brainstorm-api-design-ee1s" {
		t.Errorf("path %q", c.Path())
	}
	if _, err := s.Conversation(c.Path()); err != nil {
		t.Error(err)
	}
	for _, name := range []string{c.Path() + "/", c.Path() + "/x", "conversations/2025-11-22", "conversations/2025-11-22/002-x", "other/a/b", "../x", ""} {
		if _, err := s.Conversation(name); err == nil {
			t.Errorf("%q was opened", name)
		}
	}
	if _, err := s.Conversation("conversations/2025-11-22/002-x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing one: %v", err)
	}
}

func TestCreate(t *testing.T) {
	s := newTestStore(t)
	sess := &schema.Session{Title: "API Design"}
	c, err := s.Create("brainstorm", "API Design", sess, []byte("# API Design\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "version": "1.2",
  "title": "API Design",
  "conversation_id": "1000-brainstorm-api-design-ee1s",
  "status": "active",
  "created_at": "2025-11-22T10:00:00.000Z",
  "conversation_type": "brainstorm",
  "last_active": "2025-11-22T10:00:00.000Z",
  "message_count": 0,
  "id": "01kang368060rk4csm6mv3ee1s"
}
`
	got := readFile(t, s, c.file(sessionFile))
	if got != want {
		t.Errorf("session.json is\n%s\nwant\n%s", got, want)
	}
	if got := readFile(t, s, c.Path()+"/brainstorm.md"); got != "# API Design\n" {
		t.Errorf("the markdown is %q", got)
	}
	for name, mode := range map[string]os.FileMode{
		"": os.ModeDir | 0o700, messagesFile: 0o600, toolsFile: 0o600, sessionFile: 0o600,
	} {
		info, err := os.Stat(filepath.Join(s.dir, c.dir, name))
		if err != nil || info.Mode() != mode && runtime.GOOS != "windows" {
			t.Errorf("%q has mode %v, %v, want %v", name, info.Mode(), err, mode)
		}
	}
	// Without a document, none is created; the id distinguishes two folders of the same
	// minute and title.
	c2, err := s.Create("brainstorm", "API Design", &schema.Session{}, nil)
	if err != nil || !strings.HasPrefix(c2.Path(), "conversations/2025-11-22/1000-brainstorm-api-design-") || c2.Path() == c.Path() {
		t.Errorf("%v, %v", c2.Path(), err)
	}
	if ok, _ := s.Exists(c2.Path() + "/brainstorm.md"); ok {
		t.Error("a markdown file without content was made")
	}
	// Day and minute are the conversation's, in UTC.
	c3, err := s.Create("debug", "x", &schema.Session{ID: testID("abcd"), CreatedAt: "2025-11-21T23:31:05.000-02:00"}, nil)
	if err != nil || c3.Path() != "conversations/2025-11-22/0131-debug-x-abcd" {
		t.Errorf("%v, %v", c3.Path(), err)
	}
	// The same conversation is not created twice.
	again, err := s.Create("brainstorm", "API Design", &schema.Session{ID: sess.ID}, nil)
	if !errors.Is(err, ErrExist) || again == nil || again.Path() != c.Path() {
		t.Errorf("the same id: %v, %v", again, err)
	}
	for _, bad := range []string{"a/b", "", "A", ".."} {
		if _, err := s.Create(bad, "t", &schema.Session{}, nil); err == nil {
			t.Errorf("created for type %q", bad)
		}
	}
	wantSound(t, s)
}

// testID returns an id that ends in end.
func testID(end string) string { return strings.Repeat("1", 26-len(end)) + end }

// TestDiscard checks that an unpublished conversation leaves nothing.
func TestDiscard(t *testing.T) {
	s := newTestStore(t)
	before := snapshot(t, s.dir)
	c, err := s.Stage("plan", "x", &schema.Session{}, []byte("# x\n"))
	if err != nil {
		t.Fatal(err)
	}
	appendBatch(t, c, thread(0, 4))
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Errorf("a staged conversation is listed: %v, %v", list, err)
	}
	c.Discard()
	wantSame(t, s.dir, before)
	if got, err := os.ReadDir(filepath.Join(s.dir, stageDir)); err != nil || len(got) > 0 {
		t.Errorf("%v is left, %v", got, err)
	}
	c = create(t, s)
	before = snapshot(t, s.dir)
	c.Discard() // no effect on a published one
	wantSame(t, s.dir, before)
}
