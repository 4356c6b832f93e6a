package store

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"cortext/schema"
)

func TestCache(t *testing.T) {
	s := newTestStore(t)
	before := snapshot(t, s.dir)
	if b, ok := s.ReadCache("a/b.json"); ok || b != nil {
		t.Errorf("nothing is %q, %t", b, ok)
	}
	if got := s.ListCache("a"); got != nil {
		t.Errorf("nothing is listed as %q", got)
	}
	if err := s.RemoveCache("a/b.json"); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"one", "", "two\x00", strings.Repeat("x", 1<<20)} {
		if err := s.WriteCache("a/b.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, ok := s.ReadCache("a/b.json"); !ok || string(b) != text {
			t.Errorf("%.20q is %.20q, %t", text, b, ok)
		}
	}
	file := filepath.Join(s.dir, cacheDir, "a", "b.json")
	for name, mode := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if err := s.WriteCache("a/a.json", nil); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteCache("a/deep/c", nil); err != nil {
		t.Fatal(err)
	}
	writeFile(t, s, tmpDir+"/half.json-1.tmp", "a write that died")
	if got := s.ListCache("a"); !slices.Equal(got, []string{"a.json", "b.json"}) {
		t.Errorf("listed are %q", got)
	}
	if err := s.RemoveCache("a/b.json"); err != nil {
		t.Error(err)
	}
	if _, ok := s.ReadCache("a/b.json"); ok {
		t.Error("it is still there")
	}
	if got := s.ListCache("a"); !slices.Equal(got, []string{"a.json"}) {
		t.Errorf("listed are %q", got)
	}
	wantSame(t, s.dir, before) // only the cache was touched
	if err := os.RemoveAll(filepath.Join(s.dir, cacheDir)); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteCache("new", []byte("again")); err != nil {
		t.Errorf("without the folder: %v", err)
	}
}

// TestCacheNames checks that a name cannot lead out of the cache.
func TestCacheNames(t *testing.T) {
	s := newTestStore(t)
	before := snapshot(t, filepath.Dir(s.dir))
	for _, name := range []string{"", ".", "..", "../x", "a/../../x", "/etc/x", "a//b", "a/", "/", `a\b`, "a\x00b", "./a", "a/./b", "../../config.yaml", "\xff"} {
		if err := s.WriteCache(name, []byte("x")); err == nil {
			t.Errorf("%q is written", name)
		}
		if err := s.RemoveCache(name); err == nil {
			t.Errorf("%q is removed", name)
		}
		if b, ok := s.ReadCache(name); ok {
			t.Errorf("%q is %q", name, b)
		}
		if got := s.ListCache(name); got != nil {
			t.Errorf("%q holds %q", name, got)
		}
		if got := s.ListFiles(name); got != nil {
			t.Errorf("%q holds %q", name, got)
		}
		if err := s.RemoveFile(name); err == nil {
			t.Errorf("%q is removed", name)
		}
	}
	wantSame(t, filepath.Dir(s.dir), before)
	// Whatever an agent calls its session becomes one file name.
	for _, id := range []string{"", ".", "..", "../../x", "a/b", `a\b`, "a\x00", "CON", "x.", "\xff", "ü", "a b", strings.Repeat("x", 300)} {
		name := schema.PathElement(id)
		if checkPath(name) != nil || strings.ContainsAny(name, "/\\") || len(name) > 100 {
			t.Errorf("%.20q becomes %q", id, name)
		}
		if err := s.WriteCache("ids/"+name, []byte(id)); err != nil {
			t.Errorf("%.20q: %v", id, err)
		}
	}
	if got := s.ListCache("ids"); len(got) != 13 {
		t.Errorf("%d names for 13 ids: %q", len(got), got)
	}
}

// TestCacheIsInTheWay: anything but a file or folder where one is expected is a miss and
// is not followed.
func TestCacheIsInTheWay(t *testing.T) {
	s := newTestStore(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(s.dir, cacheDir, name) }
	if err := s.WriteCache("folder/x", nil); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"file-link": secret, "folder-link": outside} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Skip("NOT RUN: no symbolic links here:", err)
		}
	}
	for _, name := range []string{"folder", "file-link", "folder-link/secret"} {
		if b, ok := s.ReadCache(name); ok {
			t.Errorf("%s is %q", name, b)
		}
	}
	if got := s.ListCache("folder-link"); got != nil {
		t.Errorf("listed are %q", got)
	}
	if err := s.WriteCache("folder-link/x", nil); err == nil {
		t.Error("written through a link")
	}
	if err := s.WriteCache("folder", nil); err == nil {
		t.Error("a folder is replaced")
	}
	_ = s.WriteCache("file-link", []byte("ours"))
	_ = s.RemoveCache("folder-link/secret")
	_ = s.RemoveCache("file-link")
	if err := os.Symlink(secret, at("temp.new")); err != nil {
		t.Fatal(err)
	}
	_ = s.WriteCache("temp", []byte("ours"))
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		t.Errorf("outside is %q, %v", b, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside are %v, %v", entries, err)
	}
	if makePipe(at("pipe")) == nil {
		if b, ok := s.ReadCache("pipe"); ok { // nor does it wait for the pipe
			t.Errorf("a pipe is %q", b)
		}
	}
}

// TestCacheAtOnce checks that a reader sees one text or the other, whoever writes.
func TestCacheAtOnce(t *testing.T) {
	s := newTestStore(t)
	texts := []string{strings.Repeat("a", 50_000), strings.Repeat("b", 30_000)}
	var writers sync.WaitGroup
	for _, text := range texts {
		writers.Go(func() {
			for range 100 {
				_ = s.WriteCache("x", []byte(text)) // one of the two may fail
			}
		})
	}
	for range 300 {
		if b, ok := s.ReadCache("x"); ok && !slices.Contains(texts, string(b)) {
			t.Errorf("read %d bytes: %.10q … %.10q", len(b), b, b[max(0, len(b)-10):])
			break
		}
	}
	writers.Wait()
}

func TestRemoveFile(t *testing.T) {
	s := newTestStore(t)
	const name = ".workspace/local/kept/skipped/claude/x"
	if err := s.RemoveFile(name); err != nil {
		t.Errorf("without its folder: %v", err)
	}
	writeFile(t, s, name, "")
	if got := s.ListFiles(".workspace/local/kept/skipped/claude"); !slices.Equal(got, []string{"x"}) {
		t.Errorf("listed are %q", got)
	}
	if err := s.RemoveFile(name); err != nil {
		t.Error(err)
	}
	if ok, err := s.Exists(name); ok || err != nil {
		t.Errorf("it is there: %t, %v", ok, err)
	}
	if err := s.RemoveFile(".workspace/local"); err == nil {
		t.Error("a folder is removed")
	}
	writeFile(t, s, "target", "x")
	if err := os.Symlink("target", filepath.Join(s.dir, "link")); err != nil {
		t.Skip("NOT RUN: no symbolic links here:", err)
	}
	if err := s.RemoveFile("link"); err == nil {
		t.Error("a link is removed")
	}
}
