package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/store"
)

// bigWorld returns a workspace with logs of CORTEXT_BENCH_MB megabytes (default: 64), in
// conversations of about one megabyte. It is made below CORTEXT_BENCH_DIR, if that is set,
// and used again.
func bigWorld(b *testing.B) (st *store.Store, dir string, size int64) {
	mb, err := strconv.Atoi(os.Getenv("CORTEXT_BENCH_MB"))
	if err != nil {
		mb = 64
	}
	dir = os.Getenv("CORTEXT_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	dir = filepath.Join(dir, fmt.Sprintf("search-%d", mb))
	st, created, err := store.Init(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	rng := rand.New(rand.NewPCG(1, 1))
	vocabulary := make([]string, 20000)
	for i := range vocabulary {
		n := 2 + rng.IntN(9)
		for range n {
			vocabulary[i] += string("etaoinshrdlucmfwypvbgkqjxz"[min(rng.IntN(26), rng.IntN(26))])
		}
	}
	text := func(words int) string {
		var sb strings.Builder
		for range words {
			sb.WriteString(vocabulary[min(rng.IntN(20000), rng.IntN(20000), rng.IntN(20000))])
			sb.WriteString([]string{" ", " ", " ", " ", " ", ", ", ".\n", "\t", " \"", "ö ", "/"}[rng.IntN(11)])
		}
		return sb.String()
	}
	for i := range mb {
		in := filepath.Join(dir, fmt.Sprintf("conversations/2025-%02d-%02d/%04d-chat-x-%04d/.session", 1+i/28%12, 1+i%28, i, i))
		size += 1 << 20
		if len(created) == 0 {
			continue
		}
		if err := os.MkdirAll(in, 0o700); err != nil {
			b.Fatal(err)
		}
		var messages, tools strings.Builder
		n := 0
		for messages.Len()+tools.Len() < 1<<20 {
			said := text(20 + rng.IntN(200))
			if i == mb/2 && n == 100 {
				said += " the quizzical regression "
			}
			fmt.Fprintf(&messages, `{"id":"m%d","parent_id":"m%d","timestamp":"2025-11-22T10:%02d:%02d.000Z","role":%q,"content":%s,"tokens":200}`+"\n",
				n, n-1, n/60%60, n%60, []string{"user", "assistant"}[n%2], rawjson.AppendQuote(nil, said))
			fmt.Fprintf(&tools, `{"id":"t%d","message_id":"m%d","name":"Bash","input":{"command":%s},"output":%s,"success":true}`+"\n",
				n, n, rawjson.AppendQuote(nil, text(10)), rawjson.AppendQuote(nil, text(150)))
			n++
		}
		s := schema.Session{Version: "1.2", ID: fmt.Sprintf("01kanht420fe0kcfqm06m7%04d", i), Status: schema.Active, Title: text(3), MessageCount: n, CountedBytes: int64(messages.Len())}
		for name, content := range map[string]string{"session.json": string(s.AppendLine(nil)), "messages.jsonl": messages.String(), "tools.jsonl": tools.String()} {
			if err := os.WriteFile(filepath.Join(in, name), []byte(content), 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	return st, dir, size
}

// BenchmarkScan searches without an index; ripgrep, if it is installed, searches the same
// files in the same run.
func BenchmarkScan(b *testing.B) {
	st, dir, size := bigWorld(b)
	s := sourceOf(b, st)
	for _, words := range []string{"Quizzical", "quizzical", "quizzical regression", "nowhere", "message", "eta"} {
		b.Run(strings.ReplaceAll(words, " ", "_"), func(b *testing.B) {
			q, err := Parse(words)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(size)
			for b.Loop() {
				if err := q.Run(b.Context(), []Source{s}, 3, func(*Result) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("ripgrep_"+strings.ReplaceAll(words, " ", "_"), func(b *testing.B) {
			rg, err := exec.LookPath("rg")
			if err != nil {
				b.Skip("ripgrep is not installed")
			}
			b.SetBytes(size)
			for b.Loop() {
				_ = exec.Command(rg, "-c", "-F", "--hidden", "--no-ignore", "-S", words, filepath.Join(dir, "conversations")).Run()
			}
		})
	}
}

// BenchmarkIndexed searches with an index. BenchmarkIndexed/build makes it, and reports
// its size in percent of the logs.
func BenchmarkIndexed(b *testing.B) {
	st, _, size := bigWorld(b)
	s := sourceOf(b, st)
	rare, err := Parse("quizzical")
	if err != nil {
		b.Fatal(err)
	}
	search := func(b *testing.B, q *Query) {
		s.Index = OpenIndex(st.Cache)
		if err := q.Run(b.Context(), []Source{s}, 3, func(*Result) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("build", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			b.StopTimer()
			for _, name := range st.ListCache(indexDir) {
				_ = st.RemoveCache(indexDir + "/" + name)
			}
			search(b, rare)
			b.StartTimer()
			if err := s.Index.Update(b.Context(), st.Open); err != nil {
				b.Fatal(err)
			}
			_ = s.Index.Close()
		}
		total := int64(0)
		for _, name := range st.ListCache(indexDir) {
			f, n, _ := st.OpenCache(indexDir + "/" + name)
			_ = f.Close()
			total += n
		}
		b.ReportMetric(100*float64(total)/float64(size), "%size")
	})
	for _, words := range []string{"quizzical", "Quizzical", "quizzical regression", "nowhere"} {
		q, err := Parse(words)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(strings.ReplaceAll(words, " ", "_"), func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				search(b, q)
				_ = s.Index.Close()
			}
		})
	}
}
