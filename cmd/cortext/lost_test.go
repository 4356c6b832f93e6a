package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/store/secrets"
)

// said is the content of an OpenCode or Gemini CLI document that must not get lost, read
// without the adapters.
type said struct {
	texts []string
	calls int
}

// TestNothingLost looks for every message text and tool call of the real OpenCode and
// Gemini CLI transcripts in what was captured.
func TestNothingLost(t *testing.T) {
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		t.Skip("NOT RUN: CORTEXT_TRANSCRIPTS is not set")
	}
	for agent, read := range map[string]func([]byte) (said, error){"opencode": exported, "gemini": documented} {
		files, err := filepath.Glob(filepath.Join(root, agent, "*", "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("transcripts of %s: %v, %v", agent, files, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, nothingSaid) {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := read(data)
			if err != nil || len(want.texts) == 0 {
				t.Fatalf("%s: %d texts, %v", file, len(want.texts), err)
			}
			dir := t.TempDir()
			must(t, "-C", dir, "init")
			abs, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			line := importLines(t, must(t, "-C", dir, "import", "--json", abs))[0]
			captured(t, filepath.Base(file), must(t, "-C", dir, "show", line.ID, "--json"), want)
		}
	}
}

// captured checks that everything said is in the output of cortext show --json.
func captured(t *testing.T, name, out string, want said) {
	t.Helper()
	var have struct {
		Messages []struct{ Content, Reasoning string }
		Tools    []struct {
			Input  json.RawMessage
			Output string
		}
	}
	decode(t, out, &have)
	var all strings.Builder
	for _, m := range have.Messages {
		all.WriteString(m.Content + "\n" + m.Reasoning + "\n")
	}
	for _, x := range have.Tools {
		all.WriteString(x.Output + "\n")
	}
	if len(have.Tools) != want.calls {
		t.Errorf("%s: %d calls of tools, %d captured", name, want.calls, len(have.Tools))
	}
	redact := secrets.New()
	for _, text := range want.texts {
		text, err := redact.Text(text, secrets.Counts{})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); !strings.Contains(all.String(), line) {
				t.Errorf("%s: lost: %.200q", name, line)
			}
		}
	}
}

// exported reads a document of opencode export.
func exported(data []byte) (s said, err error) {
	var doc struct {
		Messages []struct {
			Parts []struct {
				Type, Text string
				Synthetic  bool
				State      struct{ Output, Error string }
			}
		}
	}
	err = json.Unmarshal(data, &doc)
	for _, m := range doc.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Type == "tool":
				s.calls++
				s.texts = append(s.texts, p.State.Output, p.State.Error)
			case !p.Synthetic:
				s.texts = append(s.texts, p.Text)
			}
		}
	}
	return s, err
}

// documented reads a session-*.json of Gemini CLI.
func documented(data []byte) (s said, err error) {
	var doc struct {
		Messages []struct {
			Type, Content string
			Thoughts      []struct{ Subject, Description string }
			ToolCalls     []struct {
				ID     string
				Result []struct {
					FunctionResponse struct {
						Response struct{ Output, Error string }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return s, fmt.Errorf("the document: %w", err)
	}
	for _, m := range doc.Messages {
		if m.Type == "user" || m.Type == "gemini" {
			s.texts = append(s.texts, m.Content)
		}
		for _, thought := range m.Thoughts {
			s.texts = append(s.texts, thought.Subject, thought.Description)
		}
		for _, c := range m.ToolCalls {
			s.calls++
			for _, r := range c.Result {
				s.texts = append(s.texts, r.FunctionResponse.Response.Output, r.FunctionResponse.Response.Error)
			}
		}
	}
	return s, nil
}
