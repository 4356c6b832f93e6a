package listing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cortext/schema"
	"cortext/store"
)

// settle waits until file times tell further changes apart.
func settle() { time.Sleep(12 * time.Millisecond) }

// steps is how often a world changes.
func steps() int {
	if testing.Short() {
		return 12
	}
	return 60
}

// TestPagesAreAsOnDisk: whatever happens to the files and to the caches, a page shows what
// a listing without an index shows.
func TestPagesAreAsOnDisk(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := populated(t, seed, 50)
			w.check("cold")
			settle()
			for i := range steps() {
				var done string
				for range 1 + w.r.IntN(2) {
					done += fmt.Sprint(w.change(), " ")
				}
				if w.r.IntN(2) == 0 {
					settle()
				}
				w.check(fmt.Sprintf("step %d: %s", i, done))
			}
		})
	}
}

// TestOwnChangesShowAtOnce: what cortext changed shows everywhere, even without a look at
// the files.
func TestOwnChangesShowAtOnce(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := populated(t, seed, 60)
			w.checkAtOnce("cold")
			settle()
			for i := range steps() {
				w.byCortext()
				if w.r.IntN(6) == 0 {
					w.toCache(store.ListedCache, stateFile) // an old list of changes is stale for a minute
				}
				w.checkAtOnce(fmt.Sprint("step ", i))
			}
		})
	}
}

func TestAgents(t *testing.T) {
	for _, c := range []struct {
		began, sources string
		want, last     string
	}{
		{"claude", "", "claude", "claude"},
		{"claude", "claude claude", "claude", "claude"},
		{"claude", "claude gemini", "claude\ngemini", "gemini"},
		{"claude", "claude gemini opencode gemini", "claude\nopencode\ngemini", "gemini"},
		{"claude", "claude gemini claude", "claude\ngemini\nclaude", "claude"},
		{"", "gemini", "\ngemini", "gemini"},
		{"", "", "", ""},
	} {
		s := &schema.Session{}
		s.AgentConfig.Agent = c.began
		for _, name := range strings.Fields(c.sources) {
			s.Sources = append(s.Sources, schema.Source{Agent: name})
		}
		r := rowOf(store.Entry{Session: s})
		if r.Agents != c.want || r.Agent != c.began || r.LastAgent() != c.last {
			t.Errorf("%q, then %q: agents %q, began in %q, last %q", c.began, c.sources, r.Agents, r.Agent, r.LastAgent())
		}
	}
}

func TestWords(t *testing.T) {
	r := Row{Title: "Σίσυφος", Path: "conversations/2026-03-01/1030-plan-topic-abcd", Summary: "Die Straße nach İstanbul", Description: "ÄRGER", Tags: []string{"GROẞ"}}
	for _, c := range []struct {
		words string
		want  bool
	}{
		{"ΣΊΣΥΦΟΣ", true},
		{"σίσυφος TOPIC", true},
		{"STRASSE", true},
		{"istanbul ärger", true},
		{"gross", true},
		{"Σίσυφος Zürich", false},
	} {
		if f := (Filter{Words: strings.Fields(c.words)}); f.Selects(&r) != c.want {
			t.Errorf("%q is found: %t", c.words, !c.want)
		}
	}
}
