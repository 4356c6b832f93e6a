package notes_test

import (
	"encoding/json"
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
	"cortext/resume/notes"
	"cortext/schema"
)

// histories returns an agent's transcript as histories: the conversation's and its
// sub-agents', by name.
func histories(t *testing.T, agent inject.Agent, file string) map[string]schema.History {
	t.Helper()
	paths := []string{file}
	if bundler, ok := agent.(inject.Bundler); ok {
		var err error
		if paths, err = bundler.Transcripts(file); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]schema.History{}
	for _, path := range paths {
		tr, err := agent.Open(path, inject.Options{})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		err = tr.Each(func(sub string, b inject.Batch) error {
			h := all[path+" "+sub]
			if h.Tools == nil {
				h.Tools = map[string]schema.Tool{}
			}
			h.Messages = append(h.Messages, b.Messages...)
			for _, x := range b.Tools {
				if before, seen := h.Tools[x.ID]; !seen || x.Rev >= before.Rev {
					h.Tools[x.ID] = x
				}
			}
			all[path+" "+sub] = h
			return nil
		})
		tr.Close()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return all
}

// inTurns adds a history to notes turn by turn, through JSON each time.
func inTurns(t *testing.T, h schema.History) *notes.Notes {
	t.Helper()
	s := new(notes.Notes)
	for from := 0; from < len(h.Messages); {
		to := from + 1
		for to < len(h.Messages) && h.Messages[to].Role != schema.User {
			to++
		}
		piece := schema.History{Messages: h.Messages[from:to], Tools: map[string]schema.Tool{}}
		for _, m := range piece.Messages {
			for _, c := range m.ToolCalls {
				if x, ok := h.Tools[c.ID]; ok {
					piece.Tools[c.ID] = x
				}
			}
		}
		s.Add(piece)
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		s = new(notes.Notes)
		if err := json.Unmarshal(b, s); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	return s
}

// TestAgents checks that an agent's transcript gives the same notes turn by turn as
// at once, on the fixtures and on real transcripts if there are any.
func TestAgents(t *testing.T) {
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		t.Log("NOT RUN on real transcripts: CORTEXT_TRANSCRIPTS is not set")
	}
	var total notes.Notes
	for _, agent := range []inject.Agent{claude.Agent(), opencode.Agent(), gemini.Agent()} {
		files, err := filepath.Glob("../../testdata/agents/" + agent.Name() + "/*/*/transcript.*")
		if err != nil || len(files) < 2 {
			t.Fatalf("fixtures of %s: %v, %v", agent.Name(), files, err)
		}
		if root != "" {
			err := filepath.WalkDir(filepath.Join(root, agent.Name()), func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() && strings.Contains(d.Name(), ".json") && !strings.HasSuffix(d.Name(), ".meta.json") {
					files = append(files, path)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, file := range files {
			all := histories(t, agent, file)
			for _, name := range slices.Sorted(maps.Keys(all)) {
				h := all[name]
				h.Messages, _ = schema.Branch(h.Messages)
				if len(h.Messages) == 0 {
					continue
				}
				whole := new(notes.Notes)
				whole.Add(h)
				if turns := inTurns(t, h); !notes.Same(whole, turns) {
					t.Errorf("%s: at once\n%+v\nturn by turn\n%+v", name, whole, turns)
				}
				total.Messages += whole.Messages
				total.Files = append(total.Files, whole.Files...)
				total.Commands = append(total.Commands, whole.Commands...)
			}
		}
	}
	if total.Messages < 30 || len(total.Files) == 0 || len(total.Commands) == 0 {
		t.Errorf("of all transcripts: %d messages, %d files, %d commands", total.Messages, len(total.Files), len(total.Commands))
	}
}
