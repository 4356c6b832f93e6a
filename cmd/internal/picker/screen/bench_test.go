package screen

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// many returns conversations as years of work make them.
func many(n int) fakeRows {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	rows := make(fakeRows, n)
	for i := range rows {
		title := fmt.Sprintf("%s the %s %s (%d)", pick("Fix", "Add", "Port", "Test", "Review", "Plan"), pick("login retry", "parser budget", "payment ledger", "search index", "日本語の検索", "release notes", "upload worker"),
			pick("after three failures", "when the file is empty", "on Windows", "with twenty writers"), i)
		at := clock().Add(-time.Duration(i) * 7 * time.Minute)
		rows[i] = listing.Row{ID: fmt.Sprintf("01k%023d", i), Path: at.Format("conversations/2006-01-02/1504") + "-debug-fix-the-login-retry", Title: title, Type: pick("debug", "plan", "feature"),
			Agent: pick("claude", "gemini", "opencode"), Status: pick("active", "paused", "completed"), Archived: i%11 == 0, LastActive: at, Messages: r.IntN(300),
			Summary: pick("We traced it to a missing flush, wrote a failing test first, then moved it before the rename.", "Open: the same path on Windows, and what the mails say.")}
	}
	return rows
}

// BenchmarkKey100k measures a key, from the message to the finished screen, among 100,000
// conversations; what runs meanwhile in the background is in BenchmarkWhole100k.
func BenchmarkKey100k(b *testing.B) {
	rows := many(100_000)
	for _, size := range [][2]int{{60, 20}, {80, 24}, {200, 60}} {
		o := options(rows)
		o.Preview = func(context.Context, listing.Row) (picker.Preview, error) { return picker.Preview{}, nil }
		m := newModel(context.Background(), o)
		m.width, m.height = size[0], size[1]
		m.finder.index.grow(rows.Len())
		for _, typed := range []string{"p", "pa", "par", "parser", "parser w", "login windows"} {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], typed), func(b *testing.B) {
				before, last := typed[:len(typed)-1], rune(typed[len(typed)-1])
				for b.Loop() {
					b.StopTimer()
					m.words, m.finder.answers = newLine(before), nil
					b.StartTimer()
					m.update(tea.KeyPressMsg{Code: last, Text: string(last)})
					m.View()
				}
			})
		}
		for _, key := range []rune{tea.KeyDown, tea.KeyEnd} {
			b.Run(fmt.Sprintf("%dx%d/%v", size[0], size[1], tea.Key{Code: key}), func(b *testing.B) {
				m.words = line{}
				m.filter()
				for b.Loop() {
					m.update(tea.KeyPressMsg{Code: key})
					m.View()
				}
			})
		}
	}
}

// BenchmarkWhole100k measures what the background does for a query: rank all rows, from
// scratch and among the matches of the query that it extends.
func BenchmarkWhole100k(b *testing.B) {
	f := newFinder(newIndex(many(100_000)), listing.Filter{All: true})
	f.index.grow(100_000)
	answerOf := func(text string) {
		if _, rest := f.find(newQuery(text)); rest != nil {
			whole, _ := rest()
			f.keep(whole)
		}
	}
	for _, typed := range []string{"pa", "parser", "prsr", "parser windows"} {
		b.Run(typed, func(b *testing.B) {
			for b.Loop() {
				f.answers = nil
				answerOf(typed)
			}
		})
		b.Run(typed+"/narrowed", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				f.answers = nil
				answerOf(typed[:len(typed)-1])
				b.StartTimer()
				answerOf(typed)
			}
		})
	}
}

// BenchmarkIndex100k measures making the index.
func BenchmarkIndex100k(b *testing.B) {
	rows := many(100_000)
	for b.Loop() {
		newIndex(rows).grow(rows.Len())
	}
}

// BenchmarkOpen100k measures what happens before the first frame, and the frame.
func BenchmarkOpen100k(b *testing.B) {
	o := options(many(100_000))
	for b.Loop() {
		m := newModel(context.Background(), o)
		m.width, m.height = 200, 60
		m.View()
	}
}
