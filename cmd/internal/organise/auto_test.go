package organise

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/store"
)

// TestSelect: the settings select by days and by number, and never an active conversation or
// one that cannot be written.
func TestSelect(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	at := func(days int) schema.Time { return schema.NewTime(now.AddDate(0, 0, -days)) }
	entry := func(name string, days int, change func(*store.Entry)) store.Entry {
		e := store.Entry{Path: name, Session: &schema.Session{Status: schema.Paused, LastActive: at(days)}}
		if change != nil {
			change(&e)
		}
		return e
	}
	all := []store.Entry{
		entry("new", 0, nil),
		entry("week", 7, nil),
		entry("active", 40, func(e *store.Entry) { e.Session.Status = schema.Active }),
		entry("completed", 40, func(e *store.Entry) { e.Session.Status = schema.Completed }),
		entry("archived", 40, func(e *store.Entry) { e.Session.Archived = true }),
		entry("back", 50, func(e *store.Entry) { e.Session.ArchivedSet = &schema.Stamp[bool]{At: at(1)} }),
		entry("newer", 60, func(e *store.Entry) { e.Damage = []store.Damage{{Damage: jsonl.Damage{Kind: store.Newer}}} }),
		entry("waiting", 60, func(e *store.Entry) { e.Waiting = true }),
		entry("twins", 60, func(e *store.Entry) { e.Twins = []string{"x"} }),
		entry("old", 60, nil),
		entry("never", 60, func(e *store.Entry) { e.Session.LastActive = "" }),
	}
	for _, test := range []struct {
		days, most int
		want       string
	}{
		{0, 0, ""},
		{30, 0, "completed old"},
		{7, 0, "completed old"},
		{6, 0, "week completed old"},
		{100_000, 0, ""},
		{0, 1, "back week completed old"},
		{0, 3, "completed old"},
		{0, 4, "completed old"}, // the active one is the fourth
		{0, 5, "old"},
		{0, 100, ""},
		{30, 2, "week completed old"},
	} {
		w := &workspace.Workspace{Config: settings.Config{AutoArchiveDays: test.days, MaxConversations: test.most}, Env: workspace.Env{Now: func() time.Time { return now }}}
		var got []string
		for _, e := range AutoIn(w).selected(all) {
			got = append(got, e.Path)
		}
		if !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%d days, %d conversations: %q, want %q", test.days, test.most, got, test.want)
		}
	}
}
