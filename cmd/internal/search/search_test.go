package search

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/search/grams"
	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/store"
)

// A world is a workspace with random conversations.
type world struct {
	t     *testing.T
	rng   *rand.Rand
	store *store.Store
	dir   string
	names []string
}

func newWorld(t *testing.T, seed uint64, conversations int) *world {
	dir := t.TempDir()
	st, _, err := store.Init(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 7)), store: st, dir: dir}
	for i := range conversations {
		w.add(i)
	}
	return w
}

// path returns the name of a file of a conversation.
func (w *world) path(conversation, file string) string {
	return filepath.Join(w.dir, conversation, ".session", file)
}

func (w *world) write(name, text string) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) add(i int) {
	name := fmt.Sprintf("conversations/2025-11-22/%04d-chat-x-%04d", i, i)
	w.names = append(w.names, name)
	s := schema.Session{Version: "1.2", ID: fmt.Sprintf("01kanht420fe0kcfqm06m7%04d", i), Status: schema.Active, ContextSummary: w.text(3), Title: w.text(2) + "x"}
	w.write(w.path(name, "session.json"), string(s.AppendLine(nil)))
	n := w.rng.IntN(40)
	w.write(w.path(name, "messages.jsonl"), w.messages(0, n))
	w.write(w.path(name, "tools.jsonl"), w.tools(0, w.rng.IntN(20), n))
}

// words are the words of random texts: some differ only in case, some need escapes.
var words = []string{"task", "TASK", "Ta\u017Fk", "tas\u212A", "größe", "GRÖSSE", "Größe", "λόγος", "ΛΌΓΟΣ", "検索", "src/main.go", `C:\dir`, `say "hi"`, "line\nbreak", "tab\there", "a", "x\x1b[31m", "👍", "\xed\xa0\xbd", "<b>", "k", "ß", "İstanbul", "ıs", "torn", "write", "struct{}{}", "a{", "}{ ",
	"caf\u00e9", "cafe\u0301", "\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"}

func (w *world) text(n int) string {
	var list []string
	for range w.rng.IntN(n + 1) {
		list = append(list, words[w.rng.IntN(len(words))])
	}
	return strings.Join(list, []string{" ", "", "\n", "\u00a0"}[w.rng.IntN(4)])
}

// quote spells a string as our writer does, or as another might.
func (w *world) quote(s string) string {
	if w.rng.IntN(2) == 0 {
		return string(rawjson.AppendQuote(nil, s))
	}
	var sb strings.Builder
	sb.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "") {
		switch {
		case r == '/' && w.rng.IntN(2) == 0:
			sb.WriteString(`\/`)
		case r < 0x20 || r == '"' || r == '\\' || w.rng.IntN(4) == 0 || r > 0x7f && w.rng.IntN(2) == 0:
			format := []string{`\u%04x`, `\u%04X`}[w.rng.IntN(2)]
			if r > 0xFFFF {
				a, b := utf16.EncodeRune(r)
				fmt.Fprintf(&sb, format+format, a, b)
			} else {
				fmt.Fprintf(&sb, format, r)
			}
		default:
			sb.WriteRune(r)
		}
	}
	sb.WriteByte('"')
	return sb.String()
}

func (w *world) messages(from, n int) string {
	var sb strings.Builder
	for i := from; i < from+n; i++ {
		id, parent := i, i-1
		rev := 0
		switch w.rng.IntN(8) {
		case 0: // another line of an earlier message
			id, parent = w.rng.IntN(i+1), -1
			rev = w.rng.IntN(3)
		case 1: // another branch
			parent = w.rng.IntN(i + 1)
		}
		fmt.Fprintf(&sb, `{"id":"m%d","parent_id":"m%d","timestamp":"2025-11-22T10:%02d:%02d.000Z","role":%q,"content":%s,"rev":%d}`, id, parent, i/60%60, i%60,
			[]string{"user", "assistant", "system"}[w.rng.IntN(3)], w.quote(w.text(6)), rev)
		w.end(&sb)
	}
	return sb.String()
}

// end ends a line, sometimes in a damaged way.
func (w *world) end(sb *strings.Builder) {
	switch w.rng.IntN(60) {
	case 0:
		sb.WriteString("\r\n")
	case 1:
		sb.WriteString("\n{\"id\":\"torn\",\"content\":\"task torn\n")
	case 2:
		sb.WriteString("\n\n<<<<<<< task\n")
	case 3: // two records on one line
	default:
		sb.WriteString("\n")
	}
}

func (w *world) tools(from, n, messages int) string {
	var sb strings.Builder
	for i := from; i < from+n; i++ {
		id := i
		if w.rng.IntN(3) == 0 {
			id = w.rng.IntN(i + 1)
		}
		fmt.Fprintf(&sb, `{"id":"t%d","message_id":"m%d","name":"Bash","input":{"command":%s,"list":[%s, 12]},"output":%s,"rev":%d}`, id, w.rng.IntN(messages+1),
			w.quote(w.text(4)), w.quote(w.text(2)), w.quote(w.text(8)), w.rng.IntN(2))
		w.end(&sb)
	}
	return sb.String()
}

func (w *world) source() Source { return sourceOf(w.t, w.store) }

func sourceOf(t testing.TB, st *store.Store) Source {
	l, err := listing.Open(st, listing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := Source{Store: st, Open: st.Open, Complete: true}
	for i := range l.Len() {
		s.Rows = append(s.Rows, l.Row(i))
	}
	return s
}

func (w *world) run(q *Query, s Source) (list []*Result) {
	err := q.Run(w.t.Context(), []Source{s}, 0, func(r *Result) { list = append(list, r) })
	if err != nil {
		w.t.Fatal(err)
	}
	slices.SortFunc(list, (*Result).Compare)
	return list
}

// decoded searches by decoding every record.
func (w *world) decoded(q *Query, s Source) (list []*Result) {
	for i := range s.Rows {
		row := &s.Rows[i]
		c, err := w.store.Open(store.Entry{Path: row.Path})
		if err != nil {
			w.t.Fatal(err)
		}
		found, have := q.named(row)
		r, err := (&reading{Query: q, c: &c.Reader, whole: true}).search(found, have, 0)
		_ = c.Close()
		if err != nil {
			w.t.Fatal(err)
		}
		if r != nil {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, (*Result).Compare)
	return list
}

// queries returns random queries.
func (w *world) query() (*Query, string) {
	word := func() string {
		s := words[w.rng.IntN(len(words))]
		if r := []rune(s); w.rng.IntN(3) == 0 {
			from := w.rng.IntN(len(r))
			s = string(r[from : from+1+w.rng.IntN(len(r)-from)])
		}
		return strings.ReplaceAll(strings.ToValidUTF8(s, ""), `"`, "")
	}
	text := word()
	var q *Query
	var err error
	switch w.rng.IntN(5) {
	case 0:
		text += " " + word()
		q, err = Parse(text)
	case 1:
		text = `"` + text + " " + word() + `"`
		q, err = Parse(text)
	case 2:
		text = []string{`t[aA]sk`, `^line$`, `gr.{1,2}e`, `(torn|write)\s`, `task+`, `\bta`, "line\nb", `(?i)TASK`, `x*k`}[w.rng.IntN(9)]
		q, err = ParseRegexps([]string{text})
	default:
		q, err = Parse(text)
	}
	if err != nil {
		return w.query()
	}
	q.In = append([]Field{""}, Fields...)[w.rng.IntN(4)]
	return q, fmt.Sprintf("%q in %q", text, q.In)
}

func compare(t *testing.T, what string, got, want []*Result) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d conversations, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%s:\ngot  %+v\nwant %+v", what, got[i], want[i])
		}
	}
}

// TestSameAsDecoding compares the search of raw bytes with one that decodes every record.
func TestSameAsDecoding(t *testing.T) {
	found := 0
	for seed := range uint64(worlds()) {
		w := newWorld(t, seed, 8)
		s := w.source()
		for range 60 {
			q, what := w.query()
			want := w.decoded(q, s)
			compare(t, fmt.Sprintf("seed %d, %s", seed, what), w.run(q, s), want)
			found += len(want)
		}
	}
	if found < 100 {
		t.Errorf("only %d conversations were found", found)
	}
}

// TestSameWithIndex compares searches with an index, which is updated and damaged while
// the logs change in every way, with decoding.
func TestSameWithIndex(t *testing.T) {
	blocks, ruledOut := 0, 0
	defer func() {
		if t.Logf("%d blocks, %d ruled out", blocks, ruledOut); blocks == 0 || ruledOut < 1000 {
			t.Error("the index was hardly used")
		}
	}()
	for seed := range uint64(worlds()) {
		w := newWorld(t, 100+seed, 8)
		for step := range 12 {
			time.Sleep(12 * time.Millisecond) // until the state of the logs is known
			s := w.source()
			s.Index = OpenIndex(w.store.Cache)
			s.Index.least, s.Index.block = 1, 500
			for _, seg := range s.Index.shards {
				blocks += seg.Blocks
			}
			for range 8 {
				q, what := w.query()
				compare(t, fmt.Sprintf("seed %d, step %d, %s", seed, step, what), w.run(q, s), w.decoded(q, s))
				for _, sets := range s.Index.lookUp(q).sets {
					for _, set := range sets {
						for i := range set {
							ruledOut += 8 - bits.OnesCount8(set[i])
						}
					}
				}
			}
			if err := s.Index.Update(t.Context(), w.store.Open); err != nil {
				t.Fatal(err)
			}
			_ = s.Index.Close()
			w.change()
		}
	}
}

// change changes some logs, and sometimes damages the index.
func (w *world) change() {
	for range 1 + w.rng.IntN(3) {
		name := w.names[w.rng.IntN(len(w.names))]
		messages, tools := w.path(name, "messages.jsonl"), w.path(name, "tools.jsonl")
		switch w.rng.IntN(6) {
		case 0: // git replaces a log
			_ = os.Remove(messages)
			w.write(messages, w.messages(0, w.rng.IntN(60)))
		case 1:
			_ = os.Remove(tools)
		case 2: // an editor does, or a torn write
			old, _ := os.ReadFile(messages)
			w.write(messages, string(old[:w.rng.IntN(len(old)+1)]))
		default:
			old, _ := os.ReadFile(messages)
			f, err := os.OpenFile(messages, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				w.t.Fatal(err)
			}
			_, _ = f.WriteString(w.messages(strings.Count(string(old), "\n"), w.rng.IntN(10)))
			_ = f.Close()
		}
	}
	files, _ := filepath.Glob(filepath.Join(w.dir, ".workspace/local/cache/search/*"))
	if len(files) == 0 || w.rng.IntN(3) > 0 {
		return
	}
	name := files[w.rng.IntN(len(files))]
	old, err := os.ReadFile(name)
	if err != nil {
		w.t.Fatal(err)
	}
	switch w.rng.IntN(5) {
	case 0:
		_ = os.Remove(name)
	case 1:
		w.write(name, string(old[:w.rng.IntN(len(old))]))
	case 2:
		w.write(name, "")
	case 3:
		w.write(name, "not an index")
	default:
		for range 1 + w.rng.IntN(2000) {
			old[w.rng.IntN(len(old))] ^= byte(1 + w.rng.IntN(255))
		}
		w.write(name, string(old))
	}
}

// worlds is how many random workspaces a test tries.
func worlds() int {
	if testing.Short() {
		return 4
	}
	return 20
}

// TestForget removes a conversation: the index has nothing of it afterwards.
func TestForget(t *testing.T) {
	w := newWorld(t, 1, 8)
	time.Sleep(12 * time.Millisecond) // until the state of the logs is known
	for step := range 2 {
		s := w.source()
		s.Index = OpenIndex(w.store.Cache)
		s.Index.least = 1
		q, err := Parse("task")
		if err != nil {
			t.Fatal(err)
		}
		w.run(q, s)
		if err := s.Index.Update(t.Context(), w.store.Open); err != nil {
			t.Fatal(err)
		}
		_ = s.Index.Close()
		has := func(name string) bool {
			x := OpenIndex(w.store.Cache)
			defer x.Close()
			return slices.ContainsFunc(x.shards, func(s *shard) bool {
				return slices.ContainsFunc(s.Entries, func(e grams.Entry) bool { return e.Log == hash(name+"/.session/messages.jsonl") })
			})
		}
		if !has(w.names[7]) || has(w.names[0]) == (step > 0) {
			t.Fatalf("step %d: the index does not cover what it should", step)
		}
		if err := os.RemoveAll(filepath.Join(w.dir, w.names[0])); err != nil {
			t.Fatal(err)
		}
		if err := Forget(w.store); err != nil {
			t.Fatal(err)
		}
		if has(w.names[0]) || step > 0 != has(w.names[7]) {
			t.Fatalf("step %d: the index forgot the wrong conversations", step)
		}
	}
}

// TestUpdateAlone: of several processes that find the same new text, one adds it to the index.
func TestUpdateAlone(t *testing.T) {
	w := newWorld(t, 1, 8)
	time.Sleep(12 * time.Millisecond) // until the state of the logs is known
	opened := func() *Index {
		x := OpenIndex(w.store.Cache)
		x.least = 1
		t.Cleanup(func() { x.Close() })
		return x
	}
	shards := func() int { return len(w.store.ListCache(indexDir)) }
	refresh := func(x *Index) {
		t.Helper()
		if err := x.Refresh(t.Context(), w.source()); err != nil {
			t.Fatal(err)
		}
	}
	one, other := opened(), opened()
	unlock, err := w.store.LockCache(indexDir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if refresh(one); one.CanUpdate() || one.size > 0 || shards() > 0 {
		t.Error("while another process updates the index, all logs were opened")
	}
	unlock()
	if refresh(one); !one.CanUpdate() || shards() != 1 {
		t.Errorf("alone: %d shards", shards())
	}
	if refresh(other); shards() != 1 {
		t.Errorf("after another process: %d shards", shards())
	}
}

// TestCompareCopies: copies of a conversation in several workspaces have one order, in whatever
// order they were found.
func TestCompareCopies(t *testing.T) {
	a, b := &Result{Source: 1, Count: 2}, &Result{Source: 2, Count: 2}
	if a.Compare(b) >= 0 || b.Compare(a) <= 0 {
		t.Errorf("a copy in the first workspace compares with one in the second: %d, %d", a.Compare(b), b.Compare(a))
	}
}
