package listing

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cortext/schema"
	"cortext/store"
)

// filled returns a world with conversations and an index.
func filled(t *testing.T, n int) *world {
	w := populated(t, 99, n)
	st := w.store()
	defer st.Close()
	settle()
	if _, err := Refresh(st, w.options()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) open() *Listing {
	w.t.Helper()
	st := w.store()
	w.t.Cleanup(func() { st.Close() })
	l, err := Open(st, w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { l.Close() })
	return l
}

// retitle edits the title of a row's conversation by hand.
func (w *world) retitle(r *Row, title string) {
	w.t.Helper()
	name := filepath.Join(w.dir, r.Path, ".session/session.json")
	b, err := os.ReadFile(name)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(name, []byte(strings.Replace(string(b), `"title": "`+r.Title, `"title": "`+title, 1)))
}

// TestHandEdits: an edit by hand shows on a page at once, and elsewhere after a look at all
// files, which is due after a minute or after git changed something.
func TestHandEdits(t *testing.T) {
	w := filled(t, 40)
	l := w.open()
	if l.Stale() {
		t.Error("a new index is stale")
	}
	first, last := l.Row(0), l.Row(39)
	w.retitle(&first, "first by hand")
	w.retitle(&last, "last by hand")

	l = w.open()
	p, err := l.Page(Selection{Filter: everything, Limit: 3})
	if err != nil || p.Row(0).Title != "first by hand" {
		t.Errorf("the page shows %q, %v", p.Row(0).Title, err)
	}
	if l.Row(39).Title != last.Title {
		t.Error("one page made all files be looked at")
	}
	w.retitle(&Row{Path: first.Path, Title: "first by hand"}, "first again")
	if err := os.RemoveAll(filepath.Join(w.dir, l.Row(20).Path)); err != nil {
		t.Fatal(err)
	}
	gone := l.Row(20).Path
	if l = w.open(); l.Row(0).Title == "first again" {
		t.Error("Open looked at all files")
	}
	if err := l.Recheck([]string{first.Path, gone, "conversations/nothing/there"}); err != nil {
		t.Fatal(err)
	}
	if _, ok := l.byFolder(gone); ok || l.Row(0).Title != "first again" || l.Len() != 39 || l.Row(38).Title != last.Title {
		t.Errorf("after Recheck: %q, %v, %d rows, %q", l.Row(0).Title, ok, l.Len(), l.Row(38).Title)
	}
	w.now = w.now.Add(2 * sweepEvery)
	if l = w.open(); !l.Stale() {
		t.Error("not stale after two minutes")
	}
	if err := l.Refresh(); err != nil || l.Row(38).Title != "last by hand" || l.Stale() {
		t.Errorf("after Refresh: %q, %v", l.Row(38).Title, err)
	}

	w.retitle(&Row{Path: last.Path, Title: "last by hand"}, "from git")
	w.git = "another commit"
	if l = w.open(); l.Row(38).Title != "from git" {
		t.Errorf("after a checkout: %q", l.Row(38).Title)
	}
}

// TestRefreshCloses: an index that another one replaced is closed when nobody reads it any
// more: at once, or with the listing if a page may read it.
func TestRefreshCloses(t *testing.T) {
	for _, changed := range []bool{false, true} {
		w := filled(t, 40)
		l := w.open()
		refresh := func() (before *index) {
			t.Helper()
			before = l.view.Load().base
			if changed {
				w.retitle(new(l.Row(7)), l.Row(7).Title+" by hand")
			}
			if err := l.Refresh(); err != nil || l.view.Load().base == before {
				t.Fatalf("changed %v: the index is the same, %v", changed, err)
			}
			return before
		}
		if first := refresh(); !errors.Is(first.close(), os.ErrClosed) {
			t.Errorf("changed %v: the replaced index is open", changed)
		}
		l.Close()
		l = w.open()
		p, err := l.Page(Selection{Filter: everything})
		if err != nil {
			t.Fatal(err)
		}
		second := refresh()
		if rows, err := p.Rows(); err != nil || len(slices.Collect(rows)) != 40 {
			t.Errorf("changed %v: the page is gone, %v", changed, err)
		}
		if _, err := second.sections.in.ReadAt(make([]byte, 1), 0); err != nil {
			t.Errorf("changed %v: the index of a page is closed: %v", changed, err)
		}
		l.Close()
		if !errors.Is(second.close(), os.ErrClosed) {
			t.Errorf("changed %v: the index of a page is open after Close", changed)
		}
	}
}

// TestNothingGoneIsShown: a conversation that vanished after the listing was opened is not
// on its pages.
func TestNothingGoneIsShown(t *testing.T) {
	w := filled(t, 40)
	l := w.open()
	if err := os.RemoveAll(filepath.Join(w.dir, l.Row(1).Path)); err != nil {
		t.Fatal(err)
	}
	p, err := l.Page(Selection{Filter: everything, Limit: 3})
	if err != nil || p.Len() != 3 || p.Total != 39 || p.Row(1).Path == l.Row(1).Path {
		t.Errorf("%d of %d rows, %v", p.Len(), p.Total, err)
	}
	r := l.Row(1)
	if _, err := l.Read(&r); err == nil {
		t.Error("it can still be read")
	}
}

// TestListWhileWriting: lists that are made while many write show what was written before.
func TestListWhileWriting(t *testing.T) {
	w := filled(t, 40)
	var group sync.WaitGroup
	for k := range 20 {
		r := w.open().Row(k)
		group.Go(func() {
			st, err := store.Open(w.dir, store.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer st.Close()
			c, err := st.Conversation(r.Path)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for n := range 5 {
				m := schema.Message{ID: fmt.Sprintf("w%d-%d", k, n), Role: schema.User, Content: "x", Timestamp: schema.NewTime(time.Now())}
				if _, err := c.Append(schema.Batch{Messages: []schema.Message{m}}); err != nil {
					t.Error(err)
				}
				l, err := Open(st, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if at, ok := l.byFolder(r.Path); !ok || l.Row(at).Messages != r.Messages+n+1 {
					t.Errorf("%s: %d messages, want %d", r.Path, l.Row(at).Messages, r.Messages+n+1)
				}
				l.Close()
			}
		})
	}
	for range 2 {
		group.Go(func() {
			st, err := store.Open(w.dir, store.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer st.Close()
			for range 20 {
				if _, err := Refresh(st, Options{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	w.check("afterwards")
}

// TestNoIndexToWrite: a cache that cannot be written changes nothing but the time it takes.
func TestNoIndexToWrite(t *testing.T) {
	w := filled(t, 40)
	local := filepath.Join(w.dir, ".workspace/local")
	if err := os.RemoveAll(local); err != nil {
		t.Fatal(err)
	}
	w.write(local, []byte("a file where the folder should be\n"))
	w.checkAtOnce("without a place for it")
}

// TestSmall: few conversations get no index.
func TestSmall(t *testing.T) {
	w := filled(t, 3)
	w.checkAtOnce("three")
	if _, err := os.Stat(filepath.Join(w.dir, ".workspace/local/cache", store.ListedCache)); err == nil {
		t.Error("three conversations have an index")
	}
}

// TestForget: after Forget the index holds nothing of a conversation that was removed. It
// is rebuilt, not dropped; if it cannot be rebuilt, it goes.
func TestForget(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		spoil func(w *world)
		kept  bool
	}{
		{"written", 60, func(*world) {}, true},
		{"too few are left", small, func(*world) {}, false},
		{"locked", 60, func(w *world) {
			unlock, err := w.store().LockCache("listing", 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(unlock)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := filled(t, c.n)
			r := w.open().Row(3)
			st := w.store()
			defer st.Close()
			removed, err := st.Conversation(r.Path)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(removed.Delete(), removed.Close()); err != nil {
				t.Fatal(err)
			}
			index := filepath.Join(w.dir, ".workspace/local/cache", store.ListedCache)
			if b, err := os.ReadFile(index); err != nil || !bytes.Contains(b, []byte(r.Path)) {
				t.Fatalf("the index was dropped or lacks the conversation before: %v", err)
			}
			c.spoil(w)
			if err := Forget(st, w.options()); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(index)
			if kept := err == nil; kept != c.kept || bytes.Contains(b, []byte(r.Path)) {
				t.Errorf("the index is kept: %v, want %v; it has the conversation: %v", kept, c.kept, bytes.Contains(b, []byte(r.Path)))
			}
			w.checkAtOnce("afterwards")
		})
	}
}

// TestProgress: a long look at all files is reported.
func TestProgress(t *testing.T) {
	dir := generate(t, 2*reportEvery)
	st, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	last, of := 0, 0
	l, err := Open(st, Options{Progress: func(done, all int) { last, of = done, all }})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if last != 2*reportEvery || of != last || l.Len() != last {
		t.Errorf("reported %d of %d for %d", last, of, l.Len())
	}
}

// byFolder returns the position of the conversation with a folder or twin at the given path
// relative to the workspace.
func (l *Listing) byFolder(path string) (at int, ok bool) {
	l.try(func(v *view) (err error) { at, ok, err = v.byFolder(path); return err })
	return at, ok
}
