package resume_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
	"cortext/resume"
	"cortext/resume/digest"
	"cortext/schema"
	"cortext/schema/tokens"
)

// How much of what the next turns need is in a payload? For a conversation that is
// cut at a turn of the user, the specific names that the following 30 texts use and
// that stood before the cut are looked for in the payload, each with the weight of
// how rare it was. It needs no model.

const (
	window  = 30 // texts behind a cut
	maxCuts = 6
)

// A said is one text of a transcript; at is what the transcript is cut before.
type said struct {
	kind, text string // user, assistant, call, result
	at         int
}

var (
	nameRun  = regexp.MustCompile(`[A-Za-z_~./-][A-Za-z0-9_./~-]{4,}`)
	camel    = regexp.MustCompile(`[a-z][A-Z]`)
	hasDigit = regexp.MustCompile(`[0-9]`)
	hasWord  = regexp.MustCompile(`[A-Za-z]`)
)

// namesOf are the specific names in a text.
func namesOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, n := range nameRun.FindAllString(text, -1) {
		n = strings.Trim(n, "./-~")
		if len(n) >= 5 && (strings.ContainsAny(n, "/_") || strings.Contains(n[1:len(n)-1], ".") || camel.MatchString(n) || hasDigit.MatchString(n) && hasWord.MatchString(n)) {
			all[n] = true
		}
	}
	return all
}

// cuts are the turns that a conversation is cut at.
func cuts(all []said) []int {
	var at []int
	for i, s := range all {
		if s.kind == "user" && i > 20 && len(all)-i > window/2 && len([]rune(s.text)) > 3 {
			at = append(at, i)
		}
	}
	if len(at) > maxCuts {
		var some []int
		for k := range maxCuts {
			some = append(some, at[int(math.RoundToEven(float64(k*(len(at)-1))/(maxCuts-1)))])
		}
		at = slices.Compact(some)
	}
	return at
}

// future are the names that are needed, with their weights.
func future(all []said, cut int) map[string]float64 {
	in := map[string]int{}
	for _, s := range all[:cut] {
		for n := range namesOf(s.text) {
			in[n]++
		}
	}
	need := map[string]float64{}
	for _, s := range all[cut:min(cut+window, len(all))] {
		if s.kind == "result" {
			continue
		}
		for n := range namesOf(s.text) {
			if in[n] > 0 {
				need[n] = math.Log(1 + float64(cut)/float64(in[n]))
			}
		}
	}
	return need
}

// recall is the weight of the names that a payload holds over that of all.
func recall(need map[string]float64, payload string) float64 {
	have, all := 0.0, 0.0
	for _, n := range slices.Sorted(keysOf(need)) {
		all += need[n]
		if strings.Contains(payload, n) {
			have += need[n]
		}
	}
	return have / all
}

func keysOf(m map[string]float64) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// A transcript is a file of an agent, read by means of its own.
type transcript struct {
	name  string
	agent inject.Agent
	said  []said
	cut   func(at int) []byte // the file as it was before
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }
func list(v any) []any            { l, _ := v.([]any); return l }
func str(v any) string            { s, _ := v.(string); return s }

func spelled(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n")
}

func readClaude(data []byte) *transcript {
	lines := strings.SplitAfter(string(data), "\n")
	t := &transcript{agent: claude.Agent(), cut: func(at int) []byte { return []byte(strings.Join(lines[:at], "")) }}
	for n, line := range lines {
		var r map[string]any
		kind := ""
		if json.Unmarshal([]byte(line), &r) == nil {
			kind = str(r["type"])
		}
		if kind != "user" && kind != "assistant" || r["isMeta"] == true || r["isSidechain"] == true || r["isCompactSummary"] == true {
			continue
		}
		content := object(r["message"])["content"]
		if s, ok := content.(string); ok {
			content = []any{map[string]any{"type": "text", "text": s}}
		}
		for _, c := range list(content) {
			switch b := object(c); str(b["type"]) {
			case "text":
				t.said = append(t.said, said{kind, str(b["text"]), n})
			case "tool_use":
				t.said = append(t.said, said{"call", str(b["name"]) + " " + spelled(b["input"]), n})
			case "tool_result":
				text := str(b["content"])
				var parts []string
				for _, p := range list(b["content"]) {
					parts = append(parts, str(object(p)["text"]))
				}
				if len(parts) > 0 {
					text = strings.Join(parts, "\n")
				}
				t.said = append(t.said, said{"result", text, n})
			}
		}
	}
	return t
}

// readDocument reads an export of OpenCode or a session of Gemini CLI.
func readDocument(data []byte) *transcript {
	var doc map[string]any
	if json.Unmarshal(data, &doc) != nil {
		return nil
	}
	messages := list(doc["messages"])
	t := &transcript{agent: opencode.Agent(), cut: func(at int) []byte {
		doc["messages"] = messages[:at]
		return []byte(spelled(doc))
	}}
	if doc["projectHash"] != nil {
		t.agent = gemini.Agent()
	}
	for n, v := range messages {
		m := object(v)
		role := str(object(m["info"])["role"])
		for _, v := range list(m["parts"]) {
			p := object(v)
			switch state := object(p["state"]); {
			case str(p["type"]) == "text" && p["synthetic"] != true && p["ignored"] != true:
				t.said = append(t.said, said{role, str(p["text"]), n})
			case str(p["type"]) == "tool":
				out := str(state["output"])
				if out == "" {
					out = str(state["error"])
				}
				t.said = append(t.said, said{"call", str(p["tool"]) + " " + spelled(state["input"]), n}, said{"result", out, n})
			}
		}
		text := str(m["content"])
		for _, p := range list(m["content"]) {
			text += str(object(p)["text"]) + "\n"
		}
		if kind := str(m["type"]); (kind == "user" || kind == "gemini") && text != "" {
			t.said = append(t.said, said{map[string]string{"user": "user", "gemini": "assistant"}[kind], text, n})
		}
		for _, v := range list(m["toolCalls"]) {
			c := object(v)
			t.said = append(t.said, said{"call", str(c["name"]) + " " + spelled(c["args"]), n}, said{"result", spelled(c["result"]), n})
		}
	}
	return t
}

// transcripts are the real ones that can be cut.
func transcripts(tb testing.TB) (all []*transcript) {
	tb.Helper()
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		tb.Skip("NOT RUN: CORTEXT_TRANSCRIPTS is not set")
	}
	for _, pattern := range []string{"claude/*/*.jsonl", "opencode/*/*.json", "gemini/*/*.json"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			tb.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			read := readDocument
			if strings.HasSuffix(file, ".jsonl") {
				read = readClaude
			}
			if t := read(data); t != nil && len(cuts(t.said)) > 0 {
				t.name = filepath.Base(file)
				all = append(all, t)
			}
		}
	}
	return all
}

// history is what cortext would have captured before a cut.
func (t *transcript) history(tb testing.TB, at int) schema.History {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "transcript"+filepath.Ext(t.name))
	if err := os.WriteFile(file, t.cut(at), 0o600); err != nil {
		tb.Fatal(err)
	}
	tr, err := t.agent.Open(file, inject.Options{})
	if err != nil {
		tb.Fatalf("%s: %v", t.name, err)
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
		tb.Fatalf("%s: %v", t.name, err)
	}
	h.Messages, h.Aside = schema.Branch(messages)
	return h
}

// A payloadOf makes a payload of a history in at most so many tokens.
type payloadOf func(tb testing.TB, s *schema.Session, h schema.History, all []said, budget int) string

// built is the payload of a strategy.
func built(strategy string) payloadOf {
	return func(tb testing.TB, s *schema.Session, h schema.History, _ []said, budget int) string {
		st := new(digest.State)
		st.Add(h)
		p, err := resume.Build(s, h, resume.Options{State: st, Now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), Budget: budget, Strategy: strategy})
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
	return func(_ testing.TB, _ *schema.Session, _ schema.History, all []said, budget int) string {
		var b strings.Builder
		for _, s := range all {
			if results || s.kind != "result" {
				b.WriteString(s.kind + ": " + s.text + "\n")
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
					for _, cut := range cuts(t.said) {
						need := future(t.said, cut)
						size := 0
						for _, s := range t.said[:cut] {
							size += len(s.kind) + len(s.text) + 3
						}
						if len(need) < 5 || size < budget*34/10 {
							continue
						}
						h := t.history(b, t.said[cut].at)
						s := &schema.Session{ConversationType: "chat", Title: "a conversation", MessageCount: len(h.Messages)}
						for name, of := range payloads {
							r := recall(need, of(b, s, h, t.said[:cut], budget))
							sum[name] += r
							n[name]++
							if name == "ranked" {
								sum[t.agent.Name] += r
								n[t.agent.Name]++
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
