package excerpt_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A question is about a real conversation, cut before a text: something that anyone
// who continues there has to know. A payload answers it if all patterns match in it.
// Its author saw only the conversation.
type question struct {
	File     string   `json:"file"` // below CORTEXT_TRANSCRIPTS
	Cut      int      `json:"cut"`  // index of the text
	Kind     string   `json:"kind"` // decision, why, tried, error, constraint, step, command, file, value
	Question string   `json:"question"`
	Patterns []string `json:"patterns"`
	Source   []int    `json:"source"` // texts that contain the answer

	patterns []*regexp.Regexp
}

// questions reads the questions in testdata, by file.
func questions(tb testing.TB) map[string][]question {
	tb.Helper()
	all := map[string][]question{}
	files, err := filepath.Glob(filepath.Join("testdata", "questions*.jsonl"))
	if extra := os.Getenv("CORTEXT_QUESTIONS"); extra != "" {
		files = append(files, filepath.SplitList(extra)...)
	}
	if err != nil || len(files) == 0 {
		tb.Fatalf("no questions: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var q question
			if err := json.Unmarshal([]byte(line), &q); err != nil {
				tb.Fatalf("%s: %v", file, err)
			}
			for _, p := range q.Patterns {
				q.patterns = append(q.patterns, regexp.MustCompile("(?i)"+p))
			}
			all[q.File] = append(all[q.File], q)
		}
	}
	return all
}

func (q *question) answered(text string) bool {
	for _, p := range q.patterns {
		if !p.MatchString(text) {
			return false
		}
	}
	return true
}
