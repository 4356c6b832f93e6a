package listing

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/schema"
	"cortext/store"
)

// sizes are the numbers of conversations that benchmarks list.
var sizes = []int{1_000, 10_000, 100_000}

// generate writes n conversations with files as small as real ones, a hundred a day.
func generate(tb testing.TB, n int) (dir string) {
	dir = tb.TempDir()
	make := func(name string) {
		if err := os.MkdirAll(name, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	make(filepath.Join(dir, ".workspace"))
	begin := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	words := strings.Fields("login retry upload search payment ledger design cache parser timeout worker queue index review migration schema")
	for i := range n {
		at := begin.Add(time.Duration(i) * 864 * time.Second)
		title := fmt.Sprintf("%s %s %s %d", words[i%16], words[i/16%16], words[i/256%16], i)
		s := &schema.Session{
			Version: schema.Version, ID: schema.DerivedID("claude", fmt.Sprint(i), at), Title: title, ConversationType: []string{"plan", "debug", "feature"}[i%3],
			Status: schema.Paused, CreatedAt: schema.NewTime(at), LastActive: schema.NewTime(at.Add(time.Hour)), MessageCount: 40, Tokens: 12345,
			Description:    "Please look at " + title + ": it fails on the second run and nobody knows why, since the log holds nothing.",
			ContextSummary: "Decided: " + words[i/3%16] + " first. Open: whether " + words[i/7%16] + " needs another release. Last: tests pass.",
		}
		if i%10 == 0 {
			s.Status = schema.Completed
		}
		s.AgentConfig.Agent, s.AgentConfig.Model = "claude", "claude-opus-4-5"
		folder := store.FolderName(s, s.ConversationType, title)
		s.ConversationID = filepath.Base(folder)
		b, err := s.Marshal()
		if err != nil {
			tb.Fatal(err)
		}
		make(filepath.Join(dir, folder, ".session"))
		for name, content := range map[string][]byte{"session.json": b, "messages.jsonl": nil} {
			if err := os.WriteFile(filepath.Join(dir, folder, ".session", name), content, 0o600); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return dir
}

// withSizes runs a benchmark for each number of conversations, with an index.
func withSizes(b *testing.B, f func(b *testing.B, st *store.Store, n int)) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if testing.Short() && n > 10_000 {
				b.Skip("takes minutes to generate")
			}
			dir := generate(b, n)
			st, err := store.Open(dir, store.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			settle()
			if _, err := Refresh(st, Options{}); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			f(b, st, n)
		})
	}
}

// BenchmarkListing compares everything that a listing does with walking and decoding.
func BenchmarkListing(b *testing.B) {
	withSizes(b, func(b *testing.B, st *store.Store, n int) {
		page := func(b *testing.B, s Selection, rows int) {
			for b.Loop() {
				l, err := Open(st, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if p, err := l.Page(s); err != nil || p.Len() != rows {
					b.Fatal(p.Len(), err)
				}
				l.Close()
			}
		}
		match := func(b *testing.B, query string, hits int) {
			for b.Loop() {
				l, err := Open(st, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if at, _ := l.Match(query, everything); len(at) != hits {
					b.Fatal(query, len(at))
				}
				l.Close()
			}
		}
		b.Run("page", func(b *testing.B) { page(b, Selection{Limit: 30}, 30) })
		b.Run("all", func(b *testing.B) { page(b, Selection{Filter: everything}, n) })
		b.Run("id", func(b *testing.B) {
			id := schema.DerivedID("claude", "7", time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(7*864*time.Second))
			match(b, id, 1)
		})
		b.Run("words", func(b *testing.B) { match(b, fmt.Sprint(n/2, " ", n/2), 1) })
		b.Run("prompt", func(b *testing.B) { match(b, fmt.Sprintf("nobody %d: knows", n/2), 1) })
		b.Run("summary", func(b *testing.B) { match(b, "nosuchword anywhere", 0) })
		b.Run("sweep", func(b *testing.B) {
			for b.Loop() {
				if _, err := Refresh(st, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("cold", func(b *testing.B) {
			for b.Loop() {
				st.ForgetListed()
				if _, err := Refresh(st, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("walk", func(b *testing.B) {
			for b.Loop() {
				walk(b, st.Root(), n)
			}
		})
	})
}

// walk lists conversations without any index.
func walk(b *testing.B, root string, n int) {
	found := 0
	err := filepath.WalkDir(filepath.Join(root, "conversations"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "session.json" {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var s struct {
			ID, Title, Status, Description string
			Type                           string    `json:"conversation_type"`
			LastActive                     time.Time `json:"last_active"`
			MessageCount                   int       `json:"message_count"`
			Summary                        string    `json:"context_summary"`
		}
		found++
		return json.Unmarshal(content, &s)
	})
	if err != nil || found != n {
		b.Fatal(found, err)
	}
}

// BenchmarkPosition finds the position of each of many rows after some of them changed. More
// changes should not make it much slower.
func BenchmarkPosition(b *testing.B) {
	records := make([]*record, 100_000)
	for i := range records {
		records[i] = &record{Row: Row{Path: fmt.Sprintf("conversations/2026-03-01/%06d-plan", i), LastActive: time.Unix(int64(-i), 0)}}
	}
	x, _, err := inMemory(records)
	if err != nil {
		b.Fatal(err)
	}
	for _, changed := range []int{0, 1000} {
		up := &update{gone: map[int]bool{}}
		for k := range changed {
			row := k * (x.n / changed)
			up.gone[row], up.added = true, append(up.added, records[row])
		}
		v, err := newView(x, up)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(changed), func(b *testing.B) {
			for b.Loop() {
				found := 0
				for row := range x.n {
					if _, ok := v.layout.position(row); ok {
						found++
					}
				}
				if found != x.n-changed {
					b.Fatal(found)
				}
			}
		})
	}
}
