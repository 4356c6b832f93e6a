package listing

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/find"
	"cortext/schema"
	"cortext/store"
)

// A world is a workspace that changes at random, with a clock of its own.
type world struct {
	t   *testing.T
	dir string
	r   *rand.Rand
	now time.Time
	git string
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, dir: t.TempDir(), r: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	if err := os.MkdirAll(filepath.Join(w.dir, ".workspace"), 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// populated returns a world with n conversations.
func populated(t *testing.T, seed uint64, n int) *world {
	w := newWorld(t, seed)
	st := w.store()
	defer st.Close()
	for range n {
		w.create(st)
	}
	return w
}

func (w *world) store() *store.Store {
	st, err := store.Open(w.dir, store.Options{Now: func() time.Time { return w.now }})
	if err != nil {
		w.t.Fatal(err)
	}
	return st
}

func (w *world) options() Options {
	return Options{Now: func() time.Time { return w.now }, Git: func() string { return w.git }}
}

func pickOne[T any](w *world, list []T) T { return list[w.r.IntN(len(list))] }

var someWords = strings.Fields("login retry upload search straße 日本語 payment ledger API design cache Zürich flaky test plan review index page")

func (w *world) words() string {
	var list []string
	for range 2 + w.r.IntN(4) {
		list = append(list, pickOne(w, someWords))
	}
	return strings.Join(list, " ")
}

// create creates a conversation as cortext does.
func (w *world) create(st *store.Store) {
	w.now = w.now.Add(time.Duration(w.r.IntN(20*3600)) * time.Second)
	s := &schema.Session{Title: w.words(), Description: w.words(), ContextSummary: w.words(), Tags: strings.Fields(w.words())[:w.r.IntN(2)]}
	s.Status = pickOne(w, []schema.Status{schema.Active, schema.Paused, schema.Completed})
	s.AgentConfig.Agent = pickOne(w, []string{"claude", "gemini", "opencode"})
	s.AgentConfig.Model = pickOne(w, []string{"claude-opus-5", "gemini-3-pro"})
	s.Archived = w.r.IntN(8) == 0
	for range w.r.IntN(3) {
		src := schema.Source{Agent: s.AgentConfig.Agent, NativeID: fmt.Sprintf("n%d", w.r.Int64()), From: pickOne(w, []string{"", "p1"})}
		src.After = src.From
		s.Sources = append(s.Sources, src)
	}
	c, err := st.Create(pickOne(w, []string{"plan", "debug", "feature"}), s.Title, s, []byte("# notes\n"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	if w.r.IntN(3) > 0 {
		w.append(c)
	}
}

func (w *world) append(c *store.Conversation) {
	m := schema.Message{ID: fmt.Sprintf("m%d", w.r.Int64()), Role: schema.User, Content: w.words(), Timestamp: schema.NewTime(w.now)}
	if _, err := c.Append(schema.Batch{Messages: []schema.Message{m}}); err != nil {
		w.t.Fatal(err)
	}
}

// healthy returns a conversation that can be written to.
func (w *world) healthy(st *store.Store) (*store.Conversation, bool) {
	all, err := st.List()
	if err != nil {
		w.t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(e store.Entry) bool { return len(e.Damage) > 0 || e.Waiting })
	if len(all) == 0 {
		return nil, false
	}
	c, err := st.Open(pickOne(w, all))
	return c, err == nil
}

// byCortext changes something as commands do.
func (w *world) byCortext() {
	st := w.store()
	defer st.Close()
	w.now = w.now.Add(time.Second)
	if w.r.IntN(3) == 0 {
		w.create(st)
		return
	}
	c, ok := w.healthy(st)
	if !ok {
		return
	}
	defer c.Close()
	switch w.r.IntN(6) {
	case 0, 1:
		w.append(c)
	case 2:
		_ = c.Edit(func(s *schema.Session) error { s.Title, s.LastActive = w.words(), schema.NewTime(w.now); return nil })
	case 3:
		_ = c.Edit(func(s *schema.Session) error {
			s.Status = pickOne(w, []schema.Status{schema.Paused, schema.Completed})
			return nil
		})
	case 4:
		_ = c.Rename(w.words())
	case 5:
		_ = c.Delete()
	}
}

// folders returns the paths of all folders of conversations, relative to the workspace.
func (w *world) folders() []string {
	list, _ := filepath.Glob(filepath.Join(w.dir, "conversations/*/*"))
	return list
}

func (w *world) write(name string, b []byte) {
	if err := os.WriteFile(name, b, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// byHand changes something behind cortext's back.
func (w *world) byHand() {
	all := w.folders()
	if len(all) == 0 {
		return
	}
	folder := pickOne(w, all)
	session := filepath.Join(folder, ".session/session.json")
	switch w.r.IntN(12) {
	case 0:
		os.RemoveAll(folder)
	case 1:
		os.Remove(session)
	case 2:
		os.RemoveAll(filepath.Join(folder, ".session"))
	case 3:
		w.write(session, []byte("{ not json"))
	case 4, 5:
		if b, err := os.ReadFile(session); err == nil {
			w.write(session, []byte(strings.Replace(string(b), `"title": "`, `"title": "x`, 1)))
		}
	case 6:
		os.Rename(folder, folder+"x")
	case 7: // a merge of two clones
		to := filepath.Join(filepath.Dir(folder), "001-twin-"+fmt.Sprint(w.r.IntN(100)))
		os.CopyFS(to, os.DirFS(folder))
	case 8:
		if b, err := os.ReadFile(session); err == nil {
			w.write(session, []byte(strings.Replace(string(b), `"version": "1.2"`, `"version": "9.0"`, 1)))
		}
	case 9: // records wait
		rel, _ := filepath.Rel(w.dir, folder)
		to := filepath.Join(w.dir, ".workspace/local/kept/waiting", rel)
		if w.r.IntN(2) == 0 {
			os.MkdirAll(filepath.Dir(to), 0o700)
			os.Rename(folder, to)
		} else {
			os.CopyFS(to, os.DirFS(folder))
		}
	case 10:
		os.RemoveAll(filepath.Join(w.dir, ".workspace/local/kept/waiting"))
	case 11:
		log := filepath.Join(folder, ".session/messages.jsonl")
		if b, err := os.ReadFile(log); err == nil {
			w.write(log, b[:len(b)/2])
		}
	}
}

// change changes something at random, and returns what.
func (w *world) change() int {
	k := w.r.IntN(10)
	switch {
	case k < 5:
		w.byCortext()
	case k < 8:
		w.byHand()
	case k < 9:
		w.toCache(store.ListedCache, stateFile, "changes")
	default:
		w.git += "x"
		w.now = w.now.Add(2 * time.Minute)
	}
	return k
}

// toCache damages a file of the cache.
func (w *world) toCache(files ...string) {
	name := filepath.Join(w.dir, ".workspace/local/cache", pickOne(w, files))
	b, err := os.ReadFile(name)
	if err != nil {
		return
	}
	switch w.r.IntN(6) {
	case 0:
		os.Remove(name)
	case 1:
		w.write(name, b[:w.r.IntN(len(b)+1)])
	case 2:
		w.write(name, nil)
	case 3, 4:
		if len(b) > 0 {
			b[w.r.IntN(len(b))] ^= byte(1 + w.r.IntN(255))
			w.write(name, b)
		}
	case 5:
		if old, err := os.ReadFile(name + ".old"); err == nil {
			w.write(name, old)
		}
		w.write(name+".old", b)
	}
}

// wanted returns the rows of a listing without an index.
func (w *world) wanted() []Row {
	st := w.store()
	defer st.Close()
	all, err := st.List()
	if err != nil {
		w.t.Fatal(err)
	}
	rows := make([]Row, len(all))
	for i, e := range all {
		rows[i] = rowOf(e)
	}
	return rows
}

func normal(rows []Row) []Row {
	rows = slices.Clone(rows)
	for i := range rows {
		r := &rows[i]
		r.Created, r.LastActive = r.Created.UTC(), r.LastActive.UTC()
		if len(r.Tags) == 0 {
			r.Tags = nil
		}
		if len(r.Twins) == 0 {
			r.Twins = nil
		}
	}
	return rows
}

// compare compares rows.
func (w *world) compare(what string, got, want []Row) {
	w.t.Helper()
	got, want = normal(got), normal(want)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
			at := func(rows []Row) string {
				if i < len(rows) {
					return fmt.Sprintf("%+v", rows[i])
				}
				return "nothing"
			}
			w.t.Fatalf("%s: %d rows, want %d; row %d is\n%s\nwant\n%s", what, len(got), len(want), i, at(got), at(want))
		}
	}
}

// rowsOf returns the rows of a page, and checks that they are the same as JSON.
func (w *world) rowsOf(p *Page) (rows []Row) {
	w.t.Helper()
	var written bytes.Buffer
	if err := p.WriteJSON(&written); err != nil {
		w.t.Fatal(err)
	}
	all, err := p.Rows()
	if err != nil {
		w.t.Fatal(err)
	}
	want := "["
	for r := range all {
		if len(rows) > 0 {
			want += ","
		}
		listed := r.Listed()
		want += string(listed.Append(nil))
		if p.HasNotes(len(rows)) != r.hasNotes() {
			w.t.Errorf("HasNotes is wrong about %+v", r)
		}
		rows = append(rows, r)
	}
	if want += "]\n"; written.String() != want {
		w.t.Errorf("as JSON the page is\n%s\nwant\n%s", &written, want)
	}
	return rows
}

// everything selects all conversations.
var everything = Filter{All: true, Archived: true}

// check compares what a page shows with a listing without an index.
func (w *world) check(what string) {
	w.t.Helper()
	want := w.wanted()
	st := w.store()
	defer st.Close()
	l, err := Open(st, w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	defer l.Close()
	p, err := l.Page(Selection{Filter: everything})
	if err != nil {
		w.t.Fatal(err)
	}
	w.compare(what, w.rowsOf(p), want)
	w.checkSources(what, p, st)
}

// checkSources compares the sources of the rows of a page with those in the files.
func (w *world) checkSources(what string, p *Page, st *store.Store) {
	w.t.Helper()
	all, err := st.List()
	if err != nil {
		w.t.Fatal(err)
	}
	for k, e := range all {
		got, err := p.Sources(k)
		if err != nil && !errors.Is(err, errDamaged) {
			w.t.Fatal(err)
		}
		if err == nil && !slices.EqualFunc(got, e.Session.Sources, sameSource) {
			w.t.Fatalf("%s: the sources of %s are %v, want %v", what, e.Path, got, e.Session.Sources)
		}
	}
}

// checkAtOnce compares everything that a listing says with one without an index.
func (w *world) checkAtOnce(what string) {
	w.t.Helper()
	want := w.wanted()
	st := w.store()
	defer st.Close()
	l, err := Open(st, w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	defer l.Close()
	if l.Len() != len(want) {
		w.t.Fatalf("%s: %d conversations, want %d", what, l.Len(), len(want))
	}
	rows := make([]Row, l.Len())
	for i := range rows {
		rows[i] = l.Row(i)
	}
	w.compare(what+": Row", rows, want)
	for i := range want {
		if at, ok := l.byFolder(want[i].Path); !ok || at != i {
			w.t.Fatalf("%s: %q is at %d %v, want %d", what, want[i].Path, at, ok, i)
		}
		if at, ok := l.ByID(want[i].ID); !ok || !schema.SameConversation(want[at].ID, want[i].ID) {
			w.t.Fatalf("%s: %q is at %d %v, want %d", what, want[i].ID, at, ok, i)
		}
	}
	w.checkMatches(what, l, want)
	for _, s := range w.selections() {
		p, err := l.Page(s)
		if err != nil {
			w.t.Fatal(err)
		}
		total, hidden, archived, shown := naive(want, s)
		if p.Total != total || p.Hidden != hidden || p.Archived != archived {
			w.t.Fatalf("%s: %+v: %d, %d hidden, %d archived, want %d, %d, %d", what, s, p.Total, p.Hidden, p.Archived, total, hidden, archived)
		}
		at := l.Select(s.Filter)
		if len(at) != total || slices.ContainsFunc(at, func(i int) bool { return !s.Filter.Selects(&want[i]) }) {
			w.t.Fatalf("%s: %+v: %v are selected, want %d", what, s.Filter, at, total)
		}
		w.compare(fmt.Sprintf("%s: %+v", what, s), w.rowsOf(p), shown)
	}
}

// checkMatches compares what queries find with [find.Match].
func (w *world) checkMatches(what string, l *Listing, rows []Row) {
	w.t.Helper()
	queries := []string{"login", "login retry", "STRASSE", "日本", "rtry", "lgn upload", "nothing at all", "2026-03-05", "/", "a", "plan", "api ledger page"}
	if len(rows) > 0 {
		r := pickOne(w, rows)
		queries = append(queries, r.ID, r.ID[:8], r.Path, r.Folder(), r.ConversationID, r.Title, r.Description, r.Summary, "/srv/x/"+r.Path+"/.session")
	}
	for _, text := range append(queries, "2026") {
		var want []int
		for i := range rows {
			if bytes.Contains(find.AppendName(nil, rows[i].Title, rows[i].Folder(), rows[i].ID), find.AppendText(nil, text)) {
				want = append(want, i)
			}
		}
		if got := l.Mentioning(text); !slices.Equal(got, want) {
			w.t.Fatalf("%s: %q is mentioned in %v, want %v", what, text, got, want)
		}
	}
	for _, f := range []Filter{everything, {}, {Types: []string{"plan"}}, {Tags: []string{"login", "api"}, All: true}} {
		var items []find.Item
		var at []int
		for i := range rows {
			if f.Selects(&rows[i]) {
				items, at = append(items, *rows[i].item()), append(at, i)
			}
		}
		for _, query := range queries {
			want, wantTier := find.Match(items, query)
			for k := range want {
				want[k] = at[want[k]]
			}
			got, tier := l.Match(query, f)
			if !slices.Equal(got, want) || tier != wantTier {
				w.t.Fatalf("%s: %q with %+v finds %v in tier %d, want %v in tier %d", what, query, f, got, tier, want, wantTier)
			}
		}
	}
}

func (w *world) selections() []Selection {
	f := Filter{Types: []string{"PLAN", "debug"}, Since: w.now.AddDate(0, 0, -5)}
	return []Selection{
		{Limit: 5}, {Limit: 3, Offset: 4}, {Limit: 20, Filter: everything}, {Filter: f}, {Filter: Filter{Agents: []string{"gemini"}}, Limit: 4, Reverse: true},
		{Filter: Filter{Statuses: []string{"completed"}}}, {Filter: Filter{Statuses: []string{"active"}}}, {Filter: Filter{Statuses: []string{"Active"}, Archived: true}, Limit: 2, Offset: 1}, {Order: ByTitle, Limit: 10}, {Order: ByMessages, Filter: everything}, {Order: ByCreated, Reverse: true},
		{Filter: Filter{Tags: []string{"login", "api"}}}, {Offset: 1000}, {Limit: 7, Offset: 1000}, {Filter: Filter{Archived: true}}, {Filter: Filter{All: true}},
		{Filter: Filter{Words: []string{"login", "2026"}}}, {Filter: Filter{Words: []string{"日本"}, All: true}, Limit: 2}, {Filter: Filter{Models: []string{"OPUS"}}},
	}
}

// naive does what Page does.
func naive(rows []Row, s Selection) (total, hidden, archived int, shown []Row) {
	all := s.Filter
	all.All, all.Archived = true, true
	for i := range rows {
		if s.Filter.Selects(&rows[i]) {
			shown = append(shown, rows[i])
		} else if all.Selects(&rows[i]) {
			hidden++
			if rows[i].Archived && !s.Filter.Archived {
				archived++
			}
		}
	}
	total = len(shown)
	slices.SortStableFunc(shown, func(a, b Row) int {
		switch s.Order {
		case ByTitle:
			return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
		case ByMessages:
			return b.Messages - a.Messages
		case ByCreated:
			return b.Created.Compare(a.Created)
		}
		return 0
	})
	if s.Reverse {
		slices.Reverse(shown)
	}
	shown = shown[min(s.Offset, len(shown)):]
	if s.Limit > 0 {
		shown = shown[:min(s.Limit, len(shown))]
	}
	return total, hidden, archived, shown
}
