package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/listing"
	"cortext/schema"
	"cortext/store"
)

// TestChoices: completed conversations come last in a list to choose from, and the latest
// one is that which was active last, whatever its status.
func TestChoices(t *testing.T) {
	w := openWorkspace(t)
	if _, err := w.Latest(); !errors.Is(err, ErrEmpty) {
		t.Errorf("without any: %v", err)
	}
	for _, title := range []string{"one thing", "two things", "three things"} {
		e, _, err := w.Begin(Beginning{Type: "plan", Title: title, Arguments: title})
		if err != nil {
			t.Fatal(err)
		}
		if title == "two things" {
			if _, err := w.Status.Set(e, schema.Completed); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := w.Choices()
	if err != nil || len(all) != 3 || all[2].Session.Title != "two things" {
		t.Errorf("%+v, %v", all, err)
	}
	first, err := w.Store.List()
	if err != nil {
		t.Fatal(err)
	}
	if e, err := w.Latest(); err != nil || e.Path != first[0].Path {
		t.Errorf("the latest is %q, %v, want %q", e.Path, err, first[0].Path)
	}

	done := listing.Filter{Statuses: []string{"completed"}, Archived: true}
	for _, query := range []string{"", "thing"} {
		if hits, err := w.Matching(query, &done); err != nil || len(hits) != 1 || hits[0].Session.Title != "two things" {
			t.Errorf("among the completed, %q: %+v, %v", query, hits, err)
		}
	}
	var missing *NotFoundError
	if _, err := w.Matching("one", &done); !errors.As(err, &missing) || len(missing.Near) > 1 {
		t.Errorf("one that is not completed: %v", err)
	}
	var many *AmbiguousError
	if _, err := w.Pick("things"); !errors.As(err, &many) || len(many.Candidates) != 2 || many.More != 0 {
		t.Errorf("several: %v", err)
	}
}

// TestNoMatch: a query that matches nothing looks at all files only if the last look is a
// while ago.
func TestNoMatch(t *testing.T) {
	w := openWorkspace(t)
	for i := range 40 {
		title := fmt.Sprint("topic ", i)
		if _, _, err := w.Begin(Beginning{Type: "plan", Title: title, Arguments: title}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.RefreshListing(nil); err != nil {
		t.Fatal(err)
	}
	e, err := w.Pick("topic 7")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.Store.Root(), e.Path, ".session", "session.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), `"title": "topic 7"`, `"title": "edited by hand"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, later := range []time.Duration{0, 2 * time.Minute} {
		l, err := listing.Open(w.Store, listing.Options{Now: func() time.Time { return time.Now().Add(later) }})
		if err != nil {
			t.Fatal(err)
		}
		found, _, err := matching(l, "edited by hand", everything, candidates)
		var missing *NotFoundError
		switch {
		case later == 0 && !errors.As(err, &missing):
			t.Errorf("at once: %v, %v: all files were read", found, err)
		case later > 0 && (err != nil || len(found) != 1):
			t.Errorf("after %v: %v, %v", later, found, err)
		}
		_ = l.Close()
	}
}

// TestRefreshAlone: while one process refreshes the listing, others see that, and do not
// refresh it, too.
func TestRefreshAlone(t *testing.T) {
	w := openWorkspace(t)
	for range 40 { // fewer have no index
		if _, _, err := w.Begin(Beginning{Type: "plan", Title: "one thing", Arguments: "one thing"}); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := w.Store.LockCache(refreshLock, 0)
	if err != nil {
		t.Fatal(err)
	}
	refreshed := func() bool {
		t.Helper()
		w.Store.ForgetListed()
		if err := w.RefreshListingAlone(); err != nil {
			t.Fatal(err)
		}
		f, _, there := w.Store.OpenCache(store.ListedCache)
		if there {
			f.Close()
		}
		return there
	}
	if refreshed() || w.CanRefreshListing() {
		t.Error("while another process refreshes it")
	}
	unlock()
	if !refreshed() || !w.CanRefreshListing() {
		t.Error("alone")
	}

	locks := filepath.Join(w.Store.Root(), ".workspace/local/cache/locks")

	// If the index or its state cannot be written, as on a full disk, lists do not start it again
	// at once.
	for _, name := range []string{store.ListedCache, "listing-state"} {
		file := filepath.Join(w.Store.Root(), ".workspace/local/cache", name)
		if !refreshed() {
			t.Fatal("no index")
		}
		if !w.CanRefreshListing() {
			t.Fatal("before anything failed")
		}
		if err := errors.Join(os.RemoveAll(file), os.MkdirAll(filepath.Join(file, "x"), 0o700), w.RefreshListingAlone()); err != nil {
			t.Fatal(err)
		}
		if w.CanRefreshListing() {
			t.Errorf("right after %s could not be written", name)
		}
		if err := errors.Join(os.RemoveAll(file), os.RemoveAll(locks)); err != nil {
			t.Fatal(err)
		}
	}

	// Nobody can take the lock on a read-only disk, or where something else has its place.
	if err := errors.Join(os.RemoveAll(locks), os.WriteFile(locks, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if refreshed() || w.CanRefreshListing() {
		t.Error("without a place for the lock")
	}
}
