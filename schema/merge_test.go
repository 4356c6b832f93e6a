package schema_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/schema"
)

// An event is a change of one member by one person at one time.
type event struct {
	member string // for tags, with the tag
	at     schema.Time
	to     string          // in JSON
	saw    map[string]bool // the events that its author had seen
}

// A clone is a session.json with the events that led to it.
type clone struct {
	text    []byte
	events  map[string]event
	sources map[string]bool
}

// A world creates clones, edits and merges them.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	dir     string
	style   []string // of git merge-file
	created map[string]string
	n       int
}

func (w *world) parse(text []byte) *schema.Session {
	w.t.Helper()
	s, err := schema.ParseSession(text)
	if err != nil {
		w.t.Fatalf("%v\n%s", err, text)
	}
	return s
}

func (w *world) marshal(s *schema.Session) []byte {
	w.t.Helper()
	b, err := s.Marshal()
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// settable returns the members that can be set, except tags and notes, in JSON.
func settable(s *schema.Session) map[string]string {
	m := map[string]string{
		"title": asJSON(s.Title), "status": asJSON(s.Status), "archived": asJSON(s.Archived),
		"summary": asJSON(s.ContextSummary), "type": asJSON(s.ConversationType), "plan": "null",
	}
	if s.Plan != nil {
		m["plan"] = "{" + asJSON(s.Plan.Steps) // as in the file, for stamps of equal time
	}
	return m
}

// create creates a conversation. Each optional member is present at random, so that any
// two may be neighbours in the file.
func (w *world) create() clone {
	some := func() bool { return w.rand.IntN(2) == 0 }
	s := &schema.Session{Version: schema.Version, ID: "01kanht420fe0kcfqm06m7hv37", Status: schema.Active, MessageCount: 2, LastActive: "2026-01-01T00:00:00.000Z"}
	if some() {
		s.Title, s.ConversationID = "first title", "1030-brainstorm-api-design-hv37"
	}
	if some() {
		s.ContextSummary, s.CreatedAt = "first summary", "2026-01-01T00:00:00.000Z"
	}
	if some() {
		s.Plan = &schema.Plan{Steps: []schema.Step{{Content: "first", Status: "pending"}}}
	}
	if some() {
		s.Description, s.AgentConfig.Agent = "begin", "claude"
	}
	if some() {
		s.Tags = []string{"z", "a"}
	}
	if some() {
		s.ConversationType = "brainstorm"
	}
	if some() {
		s.Git = &schema.Git{Branch: "main"}
	}
	if some() {
		s.WorkingDir, s.Notes = "api", "first note"
	}
	w.created = settable(s)
	w.created["notes"] = s.Notes
	for _, tag := range s.Tags {
		w.created["tag "+tag] = "true"
	}
	return clone{w.marshal(s), map[string]event{}, map[string]bool{}}
}

// edit makes up to n edits, each a separate write.
func (w *world) edit(c clone, n int) clone {
	s := w.parse(c.text)
	c.events, c.sources = maps.Clone(c.events), maps.Clone(c.sources)
	skew := time.Duration(w.rand.IntN(3)-1) * time.Hour // of the clone's clock
	for range w.rand.IntN(n + 1) {
		before := s.Clone()
		for range 1 + w.rand.IntN(3) {
			w.change(s, c.sources)
		}
		w.n++
		s.Stamp(before, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(skew+time.Duration(w.n)*time.Second))
		w.record(c.events, before, s)
		s = w.parse(w.marshal(s))
	}
	c.text = w.marshal(s)
	return c
}

func (w *world) change(s *schema.Session, sources map[string]bool) {
	w.n++
	pick := func(list ...string) string { return list[w.rand.IntN(len(list))] }
	text := pick("", "x", "first title", "first summary", "brainstorm", fmt.Sprintf("text %d", w.n))
	switch w.rand.IntN(10) {
	case 0:
		s.Title = text
	case 1:
		s.Status = schema.Statuses()[w.rand.IntN(3)]
	case 2:
		s.Archived = !s.Archived
	case 3:
		s.ContextSummary = text
	case 4:
		if s.Plan = nil; text != "" {
			s.Plan = &schema.Plan{Steps: []schema.Step{{Content: text, Status: "pending"}}}
		}
	case 5:
		s.ConversationType = text
	case 6:
		tag := pick("a", "b", "c", "z")
		if at := slices.Index(s.Tags, tag); at >= 0 {
			s.Tags = slices.Delete(s.Tags, at, at+1)
		} else {
			s.Tags = append(s.Tags, tag)
		}
	case 7:
		s.Notes = pick("", fmt.Sprintf("note %d", w.n))
	case 8:
		id := fmt.Sprint("native-", 9999-w.n)
		s.Sources = append(s.Sources, schema.Source{Agent: "claude", NativeID: id})
		sources[id] = true
	case 9: // a stop
		s.Status, s.ContextSummary = schema.Paused, fmt.Sprintf("summary %d", w.n)
		s.MessageCount, s.Tokens, s.CountedBytes = w.n, int64(w.n), int64(w.n)
		s.LastActive = schema.NewTime(time.Date(2026, 1, 1, 0, 0, w.n, 0, time.UTC))
		s.Usage = &schema.Usage{PromptTokens: int64(w.n)}
	}
}

// record adds to events what an edit set, and when, according to its stamps.
func (w *world) record(events map[string]event, before, s *schema.Session) {
	saw := map[string]bool{}
	for id := range events {
		saw[id] = true
	}
	add := func(member, to string, at schema.Time) {
		w.n++
		events[fmt.Sprint(w.n)] = event{member, at, to, saw}
	}
	is, was := settable(s), settable(before)
	times := map[string]schema.Time{}
	if s.TitleSet != nil {
		times["title"] = s.TitleSet.At
	}
	if s.StatusSet != nil {
		times["status"] = s.StatusSet.At
	}
	if s.ArchivedSet != nil {
		times["archived"] = s.ArchivedSet.At
	}
	if s.SummarySet != nil {
		times["summary"] = s.SummarySet.At
	}
	if s.TypeSet != nil {
		times["type"] = s.TypeSet.At
	}
	if s.PlanSet != nil {
		times["plan"] = s.PlanSet.At
	}
	for member, to := range is {
		if to != was[member] {
			add(member, to, times[member])
		}
	}
	for _, t := range s.TagsSet {
		if slices.Contains(before.Tags, t.Tag) != t.On {
			add("tag "+t.Tag, fmt.Sprint(t.On), t.At)
		}
	}
	if s.Notes != before.Notes {
		add("notes", s.Notes, s.NotesSet[0].At)
	}
}

// merge returns what git makes of two clones with a common ancestor.
func (w *world) merge(base, a, b clone) clone {
	w.t.Helper()
	for name, c := range map[string]clone{"base": base, "a": a, "b": b} {
		if err := os.WriteFile(filepath.Join(w.dir, name), c.text, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	cmd := exec.Command("git", append(append([]string{"merge-file", "-q", "-p"}, w.style...), "a", "base", "b")...)
	cmd.Dir = w.dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() < 1 || exit.ExitCode() > 127) {
		w.t.Fatal(err)
	}
	m := clone{out, maps.Clone(a.events), maps.Clone(a.sources)}
	maps.Copy(m.events, b.events)
	maps.Copy(m.sources, b.sources)
	w.check(m, base, a, b)
	return m
}

// mend returns what the next write makes of a merged file, except for the counters, which
// the store takes from the logs.
func (w *world) mend(c clone) clone {
	w.t.Helper()
	s := w.parse(c.text)
	s.MessageCount, s.Tokens, s.CountedBytes, s.Usage = 0, 0, 0, nil
	c.text = w.marshal(s)
	if again := w.parse(c.text); again.Repair != nil {
		w.t.Fatalf("a written file needs repair\n%s", c.text)
	} else if b := w.marshal(again); !bytes.Equal(b, c.text) {
		w.t.Fatalf("written as\n%s\nand then as\n%s", c.text, b)
	}
	return c
}

// check compares a clone's file with what follows from all events it has seen.
func (w *world) check(c clone, from ...clone) {
	w.t.Helper()
	s := w.parse(c.text)
	fault := func(member, got, want string) {
		w.t.Helper()
		for i, f := range from {
			w.t.Logf("%s:\n%s", []string{"base", "one side", "the other"}[i], f.text)
		}
		w.t.Fatalf("%s is %s, want %s in\n%s", member, got, want, c.text)
	}
	is, last := settable(s), map[string]event{}
	for _, tag := range []string{"a", "b", "c", "z"} {
		is["tag "+tag] = fmt.Sprint(slices.Contains(s.Tags, tag))
	}
	for _, e := range c.events {
		if old, ok := last[e.member]; !ok || cmp.Or(cmp.Compare(e.at, old.at), cmp.Compare(e.to, old.to)) > 0 {
			last[e.member] = e
		}
	}
	for member, got := range is {
		want := cmp.Or(last[member].to, w.created[member], "false")
		if got != want {
			fault(member, got, want)
		}
	}
	var notes []event
	for id, e := range c.events {
		replaced := false
		for _, other := range c.events {
			replaced = replaced || other.member == "notes" && other.saw[id]
		}
		if e.member == "notes" && !replaced {
			notes = append(notes, e)
		}
	}
	slices.SortFunc(notes, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.to, b.to)) })
	var texts []string
	for _, e := range notes {
		if e.to != "" {
			texts = append(texts, e.to)
		}
	}
	want := strings.Join(texts, "\n\n")
	if last["notes"].at == "" {
		want = w.created["notes"]
	}
	if s.Notes != want {
		fault("notes", s.Notes, want)
	}
	have := map[string]bool{}
	for _, src := range s.Sources {
		have[src.NativeID] = true
	}
	if !maps.Equal(have, c.sources) || len(s.Sources) != len(have) {
		fault("sources", fmt.Sprint(s.Sources), fmt.Sprint(c.sources))
	}
}

// same fails unless all clones are written with the same bytes.
func (w *world) same(clones ...clone) {
	w.t.Helper()
	want := w.mend(clones[0])
	for _, c := range clones[1:] {
		if got := w.mend(c); !bytes.Equal(got.text, want.text) {
			w.t.Fatalf("one order is written as\n%s\nthe other as\n%s\nfrom\n%s\nand\n%s", want.text, got.text, clones[0].text, c.text)
		}
	}
}

// However files are merged with the committed attributes, and in whatever order, the
// values set last are read, no addition is lost, and all clones write the same bytes. No
// member has a stamp from its creation.
func TestMergeUnion(t *testing.T) {
	for round := range rounds(t) {
		w := &world{t: t, rand: rand.New(rand.NewPCG(uint64(round), 1)), dir: t.TempDir(), style: []string{"--union"}}
		o := w.create()
		a, b, c := w.edit(o, 4), w.edit(o, 4), w.edit(o, 4)
		ab, ba, bc, ac := w.merge(o, a, b), w.merge(o, b, a), w.merge(o, b, c), w.merge(o, a, c)
		w.same(ab, ba)
		all := w.merge(o, ab, c)
		w.same(all, w.merge(o, c, ba), w.merge(o, a, bc), w.merge(a, ab, ac), w.merge(a, w.mend(ac), ab), w.merge(o, w.mend(ba), c))
		w.same(w.merge(a, ab, ba), ab)

		// Both clones pull the merge, write, and merge again.
		ab1, ab2 := w.edit(w.mend(ab), 3), w.edit(w.mend(ab), 3)
		w.same(w.merge(ab, ab1, ab2), w.merge(ab, ab2, ab1))
		b2 := w.edit(b, 3)
		w.same(w.merge(b, ab1, b2), w.merge(b, b2, ab1))
		w.same(w.merge(o, ab1, c), w.merge(o, c, ab1))
		w.same(w.merge(ab, ab1, all), w.merge(ab, all, ab1))
	}
}

// The same if git merges the file as text, as a forge does, and someone commits the
// markers.
func TestMergeMarkers(t *testing.T) {
	for _, style := range [][]string{{}, {"--diff3"}, {"--zdiff3"}} {
		for round := range rounds(t) / 2 {
			w := &world{t: t, rand: rand.New(rand.NewPCG(uint64(round), 2)), dir: t.TempDir(), style: style}
			o := w.create()
			a, b, c := w.edit(o, 4), w.edit(o, 4), w.edit(o, 4)
			ab, ba := w.merge(o, a, b), w.merge(o, b, a)
			w.same(ab, ba)
			if s, at := w.parse(ab.text), bytes.Index(ab.text, []byte("<<<<<<<")); at >= 0 && (s.Repair == nil || s.Repair.Conflict != int64(at)) {
				t.Fatalf("repair is %+v, the conflict at %d", s.Repair, at)
			} else if at < 0 && s.Repair != nil {
				t.Fatalf("repair is %+v of a clean merge\n%s", s.Repair, ab.text)
			}
			w.same(w.merge(o, w.mend(ab), c), w.merge(o, c, w.mend(ba)))
			w.same(w.merge(b, w.edit(w.mend(ab), 0), w.edit(b, 0)), ab)
			ab1, b2 := w.edit(w.mend(ab), 3), w.edit(b, 3)
			w.same(w.merge(b, ab1, b2), w.merge(b, b2, ab1))
		}
	}
}

// rounds returns how often a random test runs: CORTEXT_MERGES from the environment, or a
// small number.
func rounds(t *testing.T) int {
	n := 40
	if v := os.Getenv("CORTEXT_MERGES"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}
