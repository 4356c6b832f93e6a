package model_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver for OpenCode's databases

	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
	"cortext/resume/model"
	"cortext/schema"
	"cortext/schema/tokens"
)

// TestFactors repeats the measurement behind the factors on real conversations: the
// growth of the vendor's reported input from one request to the next, divided by the
// o200k_base tokens of what was added. We cannot see everything that was sent
// (reminders of the agent, signatures), so the result is rather too high.
func TestFactors(t *testing.T) {
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		t.Skip("NOT RUN: CORTEXT_TRANSCRIPTS is not set")
	}
	type sum struct{ requests, grown, added int }
	sums := map[string]*sum{}
	for _, agent := range []inject.Agent{claude.Agent(), opencode.Agent(), gemini.Agent()} {
		err := filepath.WalkDir(filepath.Join(root, agent.Name()), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !strings.Contains(d.Name(), ".json") {
				return err
			}
			steps(t, agent, path, func(name string, grown, added int) {
				if sums[name] == nil {
					sums[name] = &sum{}
				}
				sums[name].requests++
				sums[name].grown += grown
				sums[name].added += added
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	enough := 0
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		s := sums[name]
		ratio := float64(s.grown) / float64(s.added)
		m, ok := model.Lookup(name)
		t.Logf("%s: %.3f over %d requests, %d tokens; the table has %g", name, ratio, s.requests, s.added, m.Factor)
		if s.added < 50_000 {
			continue
		}
		enough++
		if !ok || ratio > m.Factor+0.02 || m.Exact && ratio < 0.98 {
			t.Errorf("%s: measured %.3f, the table has %g", name, ratio, m.Factor)
		}
	}
	if enough < 3 {
		t.Errorf("%d models with 50,000 tokens or more", enough)
	}
}

// steps calls f for each request whose additions can be counted and are large enough
// that the agent's own additions matter little.
func steps(t *testing.T, agent inject.Agent, path string, f func(model string, grown, added int)) {
	tr, err := agent.Open(path, inject.Options{})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer tr.Close()
	before, added, countable := 0, 0, false
	err = tr.Each(func(sub string, b inject.Batch) error {
		if sub != "" {
			return nil
		}
		for _, m := range b.Messages {
			if u := m.Usage; u != nil && u.PromptTokens > 0 {
				now := int(u.PromptTokens)
				if grown := now - before; countable && grown > 0 && added >= 1_500 {
					f(m.Model, grown, added)
				}
				before, added, countable = now, 0, true
			}
			added += tokens.Count(m.Content)
			countable = countable && m.Reasoning == "" && len(m.Attachments) == 0
			for _, c := range m.ToolCalls {
				i := slices.IndexFunc(b.Tools, func(x schema.Tool) bool { return x.ID == c.ID })
				if i < 0 {
					countable = false
					continue
				}
				tool := b.Tools[i]
				added += tokens.Count(tool.Name) + tokens.Count(string(tool.Input)) + tokens.Count(tool.Output)
				countable = countable && len(tool.Attachments) == 0
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
