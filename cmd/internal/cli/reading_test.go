package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"cortext/cmd/internal/picker"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// TestReloadAfterEverywhere: what changed while all workspaces were shown is seen afterwards.
func TestReloadAfterEverywhere(t *testing.T) {
	r := newReading(t)
	beginIn(t, r, 1)
	if rows, err := r.reload(t.Context(), nil); err != nil || rows == nil || rows.Len() != 1 {
		t.Fatal(rows, err)
	}
	beginIn(t, r, 2)
	if rows, err := r.everywhere(t.Context()); err != nil || rows.Len() != 2 {
		t.Fatal(rows, err)
	}
	if rows, err := r.reload(t.Context(), nil); err != nil || rows == nil || rows.Len() != 2 {
		t.Error("after it:", rows, err)
	}
	if rows, err := r.reload(t.Context(), nil); err != nil || rows != nil {
		t.Error("without a change:", rows, err)
	}
}

// TestUnchangeable: why nothing can be changed is at the start of the line, before the path.
func TestUnchangeable(t *testing.T) {
	err := fmt.Errorf("%w: do this", &fs.PathError{Op: "openat", Path: ".workspace/local/lock", Err: syscall.EACCES})
	if why := unchangeable(err); why != "nothing can be changed here: permission denied (.workspace/local/lock)" {
		t.Errorf("it says %q", why)
	}
	if why := unchangeable(errors.New("no disk")); why != "nothing can be changed here: no disk" {
		t.Errorf("it says %q", why)
	}
}

// TestLastExchange: commands that manage conversations are not what was said last.
func TestLastExchange(t *testing.T) {
	var said []schema.Message
	for i, text := range []string{"REST or GraphQL?", "REST", "/workspace.stop-conversation", "Saved.", "/workspace.resume api", "It is resumed."} {
		said = append(said, schema.Message{Role: []schema.Role{schema.User, schema.Assistant}[i%2], Content: text})
	}
	want := []picker.Line{{Who: "you", Text: "REST or GraphQL?"}, {Who: "agent", Text: "REST"}}
	for n := 2; n <= len(said); n += 2 {
		if got := lastExchange(&schema.Session{}, said[:n]); !slices.Equal(got, want) {
			t.Errorf("of %d messages: %v", n, got)
		}
	}
}

// TestSearchShowsMessages: a search in the picker shows what was said, not the title, which
// the row has.
func TestSearchShowsMessages(t *testing.T) {
	r := newReading(t)
	beginIn(t, r, 1)
	e, err := r.w.Pick("thing 1")
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.w.Open(e)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tx, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	err = tx.Append(schema.Batch{Messages: []schema.Message{{ID: "m1", Role: schema.User, Content: "the answer about the thing"}}})
	if err := errors.Join(err, tx.Commit()); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{"answer thing": "the answer about the thing", "1": "thing 1"} {
		var hits []picker.Hit
		err := r.search(t.Context(), words, func(h picker.Hit) { hits = append(hits, h) })
		if err != nil || len(hits) != 1 || hits[0].Sentence != want {
			t.Errorf("%q: %v, %v", words, hits, err)
		}
	}
}

// TestSearchGoesOn: a search in the picker finds the other conversations if one cannot be read.
func TestSearchGoesOn(t *testing.T) {
	r := newReading(t)
	beginIn(t, r, 1)
	beginIn(t, r, 2)
	e, err := r.w.Pick("thing 2")
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(r.w.Store.Root(), filepath.FromSlash(e.Path), ".session", "messages.jsonl")
	if err := os.WriteFile(log, []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var hits []picker.Hit
	err = r.search(t.Context(), "thing", func(h picker.Hit) { hits = append(hits, h) })
	var standIn *store.StandInError
	if !errors.As(err, &standIn) || len(hits) != 2 {
		t.Errorf("it finds %v and reports %v", hits, err)
	}
}

// newReading opens a new workspace of a new user.
func newReading(t *testing.T) *reading {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	st, _, err := store.Init(dir)
	if err != nil {
		t.Fatal(err)
	}
	st.Close()
	r, err := readingIn(workspace.Env{
		Dir: dir, Machine: inject.Machine{Home: home, Getenv: func(string) string { return "" }}, Now: time.Now, Rand: rand.Reader,
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// beginIn begins the conversation with a number.
func beginIn(t *testing.T, r *reading, n int) {
	t.Helper()
	title := fmt.Sprintf("thing %d", n)
	if _, _, err := r.w.Begin(workspace.Beginning{Type: "plan", Title: title, Arguments: title}); err != nil {
		t.Fatal(err)
	}
}

// TestReadingReleases: a picker that stays open while conversations change does not keep every
// list that it has shown.
func TestReadingReleases(t *testing.T) {
	files := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("the system does not list open files: ", err)
		}
		return len(list)
	}
	r := newReading(t)
	for n := range 40 { // fewer have no index
		beginIn(t, r, n)
	}
	before := files()
	const changes = 30
	for n := range changes {
		beginIn(t, r, 100+n)
		if err := r.refresh(nil); err != nil || r.rows.Len() != 41+n {
			t.Fatalf("change %d is not seen: %d conversations, %v", n, r.rows.Len(), err)
		}
	}
	for range 50 {
		if runtime.GC(); files() < before+changes/2 {
			return
		}
		time.Sleep(20 * time.Millisecond) // the garbage collector closes files in a goroutine
	}
	t.Errorf("%d files are open, %d before", files(), before)
}
