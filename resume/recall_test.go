package resume_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
	"cortext/resume"
	"cortext/resume/digest"
	"cortext/resume/recall"
	"cortext/schema"
	"cortext/schema/tokens"
)

// transcripts are the real ones that can be cut.
func transcripts(tb testing.TB) (all []*recall.Transcript) {
	tb.Helper()
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		tb.Skip("NOT RUN: CORTEXT_TRANSCRIPTS is not set")
	}
	for _, pattern := range recall.Patterns() {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			tb.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			if t := recall.Read(filepath.Base(file), data); t != nil && len(recall.Cuts(t.Said)) > 0 {
				all = append(all, t)
			}
		}
	}
	return all
}

func agents() map[string]inject.Agent {
	return map[string]inject.Agent{"claude": claude.Agent(), "opencode": opencode.Agent(), "gemini": gemini.Agent()}
}

// history is what cortext would have captured before a cut.
func history(tb testing.TB, t *recall.Transcript, at int) schema.History {
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

// A payloadOf makes a payload of a history in at most so many tokens.
type payloadOf func(tb testing.TB, s *schema.Session, h schema.History, all []recall.Said, budget int) string

// chat is a command of the length of cortext's own, as an imported conversation has
// it: its text counts.
var chat = resume.Command{Name: "/workspace.chat", File: ".workspace/commands/chat.md", Body: strings.Repeat("Keep the document of this conversation up to date while you talk. ", 23)}

// built is the payload of a strategy.
func built(strategy string) payloadOf {
	return func(tb testing.TB, s *schema.Session, h schema.History, _ []recall.Said, budget int) string {
		st := new(digest.State)
		st.Add(h)
		p, err := resume.Build(s, h, resume.Options{State: st, Command: chat, Now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), Budget: budget, Strategy: strategy})
		if err != nil {
			tb.Fatal(err)
		}
		if n := tokens.Count(p.Text); n > budget {
			tb.Fatalf("%d tokens of %d", n, budget)
		}
		return p.Text
	}
}

// tail is the end of the texts, without the results of tools where results is not
// set.
func tail(results bool) payloadOf {
	return func(_ testing.TB, _ *schema.Session, _ schema.History, all []recall.Said, budget int) string {
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

// BenchmarkRecall reports the mean recall of payloads at 2,000, 8,000 and 32,000
// tokens over the cuts of the real transcripts whose history is larger than that;
// "all" is that of ours, "<agent>" its mean over one agent's, "tail" and
// "no-results" those of simple payloads.
func BenchmarkRecall(b *testing.B) {
	all := transcripts(b)
	payloads := map[string]payloadOf{"ranked": built(""), "recent-turns": built(resume.RecentTurns), "pruned-tools": built(resume.PrunedTools), "recent-plus-summary": built(resume.RecentPlus), "minimal-state": built(resume.MinimalState), "tail": tail(true), "no-results": tail(false)}
	for _, budget := range []int{2000, 8000, 32000} {
		b.Run(fmt.Sprint(budget), func(b *testing.B) {
			for b.Loop() {
				sum, n := map[string]float64{}, map[string]float64{}
				for _, t := range all {
					for _, cut := range recall.Cuts(t.Said) {
						need := recall.Future(t.Said, cut)
						size := 0
						for _, s := range t.Said[:cut] {
							size += len(s.Kind) + len(s.Text) + 3
						}
						if len(need) < 5 || size < budget*34/10 {
							continue
						}
						h := history(b, t, t.Said[cut].At)
						s := &schema.Session{ConversationType: "chat", Title: "a conversation", MessageCount: len(h.Messages)}
						for name, of := range payloads {
							r := recall.Score(need, of(b, s, h, t.Said[:cut], budget))
							sum[name] += r
							n[name]++
							if name == "ranked" {
								sum[t.Agent] += r
								n[t.Agent]++
							}
						}
					}
				}
				for name := range sum {
					b.ReportMetric(sum[name]/n[name], name)
				}
				b.ReportMetric(n["ranked"], "cuts")
			}
		})
	}
}
