//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var growthTurns = flag.Uint64("growth.turns", envNumber("CORTEXT_GROWTH", 5), "the number of turns of TestGrowth")

// TestGrowth commits a conversation after each turn, with the outputs of its calls in the
// log and without, and says by how much a message makes the repository grow, after git gc,
// compared with its text. scripts/growth.sh measures it.
func TestGrowth(t *testing.T) {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, tools := range []string{"full", "off"} {
		p := &pushers{t: t, root: t.TempDir()}
		p.env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+filepath.Join(p.root, "home"),
			"XDG_STATE_HOME="+filepath.Join(p.root, "home/state"), "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		dir := filepath.Join(p.root, "w")
		p.must(p.root, "git", "init", "-q", "-b", "main", dir)
		p.must(dir, "cortext", "init")
		p.must(dir, "cortext", "config", "set", "tools", tools)
		p.must(dir, "cortext", "config", "set", "commit", "stop")
		p.must(dir, "git", "add", "-A")
		p.must(dir, "git", "commit", "-qm", "start")
		p.must(dir, "git", "gc", "-q", "--prune=now")
		before := packed(dir)
		transcript := filepath.Join(p.root, "s1.jsonl")
		text, said := "", 0
		at := time.Date(2025, 11, 22, 10, 0, 0, 0, time.UTC)
		words := wordsFrom(1)
		for n := range int(*growthTurns) {
			question, answer, output := words(300), words(1500), words(3500)
			said += len(question) + len(answer)
			if tools == "full" {
				said += len(output)
			}
			stamp := func(k int) string {
				return at.Add(time.Duration(4*n+k) * time.Second).Format("2006-01-02T15:04:05.000Z")
			}
			text += fmt.Sprintf(`{"type":"user","uuid":"u%d","parentUuid":null,"sessionId":"s1","timestamp":"%s","message":{"role":"user","content":"%s"}}`+"\n", n, stamp(0), question)
			text += fmt.Sprintf(`{"type":"assistant","uuid":"a%d","parentUuid":"u%[1]d","sessionId":"s1","timestamp":"%s","message":{"id":"x%[1]d","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t%[1]d","name":"Bash","input":{"command":"make"}}]}}`+"\n", n, stamp(1))
			text += fmt.Sprintf(`{"type":"user","uuid":"r%d","parentUuid":"a%[1]d","sessionId":"s1","timestamp":"%s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":"%[3]s"}]}}`+"\n", n, stamp(2), output)
			text += fmt.Sprintf(`{"type":"assistant","uuid":"b%d","parentUuid":"r%[1]d","sessionId":"s1","timestamp":"%s","message":{"id":"y%[1]d","role":"assistant","model":"m","content":[{"type":"text","text":"%[3]s"}]}}`+"\n", n, stamp(3), answer)
			text = strings.ReplaceAll(text, fmt.Sprintf(`"uuid":"u%d","parentUuid":null`, n), fmt.Sprintf(`"uuid":"u%d","parentUuid":"b%d"`, n, n-1))
			if err := os.WriteFile(transcript, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p.must(dir, "cortext", "import", transcript)
			p.must(dir, "sh", "-c", `cortext stop "$(cortext list --json --status all | sed -n 's/.*"id":"\([0-9a-z]*\)".*/\1/p' | head -n 1)"`)
		}
		p.must(dir, "git", "gc", "-q", "--prune=now")
		grown := packed(dir) - before
		messages := 3 * int64(*growthTurns)
		t.Logf("tools: %-5s %d commits, %d messages: %d bytes per message after git gc, %.2f times their text", tools, *growthTurns, messages, grown/messages, float64(grown)/float64(said))
		if commits := strings.Count(p.must(dir, "git", "log", "--format=%s"), "[session]"); commits != int(*growthTurns) {
			t.Errorf("%d commits", commits)
		}
		if grown > int64(said)*3 {
			t.Errorf("%d bytes for %d bytes of text", grown, said)
		}
	}
}
