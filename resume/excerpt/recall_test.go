package excerpt_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver for OpenCode's databases

	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
	"cortext/resume"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/tokens"
)

// transcripts returns the real transcripts that can be cut.
func transcripts(tb testing.TB) (all []*Transcript) {
	tb.Helper()
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		tb.Skip("NOT RUN: CORTEXT_TRANSCRIPTS is not set")
	}
	for _, pattern := range Patterns() {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			tb.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			if t := Read(filepath.Base(file), data); t != nil && len(Cuts(t.Said)) > 0 {
				all = append(all, t)
			}
		}
	}
	return all
}

func agents() map[string]inject.Agent {
	return map[string]inject.Agent{"claude": claude.Agent(), "opencode": opencode.Agent(), "gemini": gemini.Agent()}
}

// history returns what cortext would have captured before a cut.
func history(tb testing.TB, t *Transcript, at int) schema.History {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "transcript"+filepath.Ext(t.Name))
	if err := os.WriteFile(file, t.Cut(at), 0o600); err != nil {
		tb.Fatal(err)
	}
	tr, err := agents()[t.Agent].Open(file, inject.Options{})
	if err != nil {
		tb.Fatalf("%s: %v", t.Name, err)
	}
	defer tr.Close()
	var messages []schema.Message
	place, h := map[string]int{}, schema.History{Tools: map[string]schema.Tool{}}
	err = tr.Each(func(sub string, b inject.Batch) error {
		if sub != "" {
			return nil
		}
		for _, m := range b.Messages {
			if i, ok := place[m.ID]; ok && m.ID != "" {
				if m.Rev >= messages[i].Rev {
					messages[i] = m
				}
				continue
			}
			place[m.ID] = len(messages)
			messages = append(messages, m)
		}
		for _, c := range b.Tools {
			if have, ok := h.Tools[c.ID]; !ok || c.Rev >= have.Rev {
				h.Tools[c.ID] = c
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatalf("%s: %v", t.Name, err)
	}
	h.Messages, h.Aside = schema.Branch(messages)
	return h
}

// A payloadOf makes a payload of a history in at most budget tokens.
type payloadOf func(tb testing.TB, s *schema.Session, h schema.History, all []Said, budget int) string

// built returns the payload of a strategy.
func built(strategy string) payloadOf {
	return func(tb testing.TB, s *schema.Session, h schema.History, _ []Said, budget int) string {
		st := new(notes.Notes)
		st.Add(h)
		said := *s
		said.ContextSummary, said.Plan = st.Summary(), st.Plan
		p, err := resume.Build(&said, h, resume.Options{Notes: st, Now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), Budget: budget, Strategy: strategy})
		if err != nil {
			tb.Fatal(err)
		}
		if n := tokens.Count(p.Text); n > budget {
			tb.Fatalf("%d tokens of %d", n, budget)
		}
		return p.Text
	}
}

// tail returns the end of the texts, without tool results unless results is set.
func tail(results bool) payloadOf {
	return func(_ testing.TB, _ *schema.Session, _ schema.History, all []Said, budget int) string {
		var b strings.Builder
		for _, s := range all {
			if results || s.Kind != "result" {
				b.WriteString(s.Kind + ": " + s.Text + "\n")
			}
		}
		text := b.String()
		text = text[max(0, len(text)-budget*8):]
		for tokens.Count(text) > budget {
			text = text[len(text)-len(text)*(budget-1)/tokens.Count(text):]
		}
		return text
	}
}

// A cutAt is a conversation up to a user turn.
type cutAt struct {
	*Transcript
	at      int
	before  []Said
	need    map[string]float64
	session *schema.Session
	history schema.History
}

func cutOf(tb testing.TB, t *Transcript, at int) *cutAt {
	h := history(tb, t, t.Said[at].At)
	return &cutAt{t, at, t.Said[:at], Future(t.Said, at), &schema.Session{ConversationType: "chat", Title: "a conversation", MessageCount: len(h.Messages)}, h}
}

// size estimates the bytes of a payload with everything.
func (c *cutAt) size() (n int) {
	for _, s := range c.before {
		n += len(s.Kind) + len(s.Text) + 3
	}
	return n
}

// spoken returns the tokens of what the user and the agent said.
func (c *cutAt) spoken() (n int) {
	for _, s := range c.before {
		if s.Kind == "user" || s.Kind == "assistant" {
			n += tokens.Count(s.Text)
		}
	}
	return n
}

// A mean is the mean of a measure over payloads.
type mean struct{ sum, n float64 }

func (m *mean) add(sum, n float64) {
	if n > 0 {
		m.sum, m.n = m.sum+sum/n, m.n+1
	}
}

// measured has the means of all measures for some payloads.
type measured map[string]*mean

func (m measured) add(name string, sum, n float64) {
	if m[name] == nil {
		m[name] = new(mean)
	}
	m[name].add(sum, n)
}

// take measures a payload.
func (m measured) take(group string, c *cutAt, payload string) {
	ours, told := splitPayload(payload)
	names := Score(c.need, payload)
	m.add(group+"names", names, 1)
	m.add(group+"names-"+c.Agent, names, 1)
	m.add(group+"in-context", inContext(c.need, c.before, ours, payload), 1)
	for _, kind := range []string{"user", "assistant"} {
		whole, all := wholeSentences(c.before, kind, payload)
		m.add(group+kind+"-whole", float64(whole), float64(all))
	}
	shards, all := shardsIn(c.before, told)
	m.add(group+"shards", float64(shards), float64(all))
	m.add(group+"ours", float64(tokens.Count(ours)), float64(tokens.Count(payload)))
}

func (m measured) report(b *testing.B) {
	for name, v := range m {
		b.ReportMetric(v.sum/v.n, name)
	}
}

// budgets returns the sizes of the payloads that are measured, in tokens; with -short, one.
func budgets() []int {
	if testing.Short() {
		return []int{8000}
	}
	return []int{2000, 8000, 32000}
}

// usualProse is the size, in tokens, that the prose of most conversations does not
// reach.
const usualProse = 7200

// BenchmarkRecall reports the mean measures of payloads of the [budgets], over the cuts of the
// real transcripts with a larger history: for all of them, for those whose prose fits, and for
// those with less than [usualProse].
func BenchmarkRecall(b *testing.B) {
	all := transcripts(b)
	payloads := map[string]payloadOf{"ranked": built(""), "pruned-tools": built(resume.PrunedTools), "recent-plus-summary": built(resume.RecentPlus), "minimal-state": built(resume.MinimalState), "tail": tail(true), "no-results": tail(false)}
	for _, budget := range budgets() {
		for name, payload := range payloads {
			b.Run(fmt.Sprintf("%s/%d", name, budget), func(b *testing.B) {
				for b.Loop() {
					m := measured{}
					for _, t := range all {
						for _, at := range Cuts(t.Said) {
							c := cutOf(b, t, at)
							if len(c.need) >= 5 && c.size() >= budget*34/10 {
								p := payload(b, c.session, c.history, c.before, budget)
								m.take("", c, p)
								if c.spoken() < budget*9/10 {
									m.take("fits-", c, p)
								}
								if c.spoken() < usualProse {
									m.take("usual-", c, p)
								}
							}
						}
					}
					m.report(b)
				}
			})
		}
	}
}

// BenchmarkQuestions reports the share of the questions that payloads of the [budgets]
// answer; -v lists the others.
func BenchmarkQuestions(b *testing.B) {
	byFile := questions(b)
	for _, budget := range budgets() {
		b.Run(fmt.Sprint(budget), func(b *testing.B) {
			for b.Loop() {
				m := measured{}
				for _, file := range slices.Sorted(maps.Keys(byFile)) {
					data, err := os.ReadFile(filepath.Join(os.Getenv("CORTEXT_TRANSCRIPTS"), file))
					if err != nil {
						b.Skip("NOT RUN: the transcripts are not there")
					}
					t := Read(file, data)
					for _, q := range byFile[file] {
						c := cutOf(b, t, q.Cut)
						answered := 0.0
						if q.answered(built("")(b, c.session, c.history, c.before, budget)) {
							answered = 1
						} else {
							b.Logf("not answered: %s: %s (%s at %d)", q.Kind, q.Question, file, q.Cut)
						}
						m.add("answered", answered, 1)
						m.add(q.Kind, answered, 1)
					}
				}
				m.report(b)
			}
		})
	}
}
