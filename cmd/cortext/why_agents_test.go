//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/agenttest"
)

// A madeCommit is a commit, with what led to it.
type madeCommit struct {
	id, topic, prompt string
	unhooked          bool // the agent keeps git from running hooks
}

// commitEach is a shell command that makes five commits, of a file each.
func commitEach(name string) string {
	return fmt.Sprintf(`for i in 1 2 3 4 5; do echo "$i" > %[1]s-$i.txt; git add %[1]s-$i.txt; git commit -qm "%[1]s $i" && echo done-$i; done`, name)
}

// TestWhyAgents makes commits in conversations with the three agents, by the agents and by
// their user, and some that belong to none. With the hook of --link-commits, why leads each
// of them to its conversation and turn. Without it, why finds most of them, and says that
// it guesses. It guesses the commits that Gemini CLI makes, too: there git runs no hooks.
// With -short, each agent makes ten commits instead of fifteen.
func TestWhyAgents(t *testing.T) {
	for _, linked := range []bool{true, false} {
		t.Run(fmt.Sprint("linked ", linked), func(t *testing.T) {
			t.Parallel()
			args := []string{"--plugin"}
			if linked {
				args = append(args, "--link-commits")
			}
			s := newStageFor(t, []string{"claude", "opencode", "gemini"}, args...)
			s.run("git", "config", "user.name", "dev") // Gemini CLI hides the user's configuration
			s.run("git", "config", "user.email", "dev@example.com")
			var made, others []madeCommit
			note := func(list *[]madeCommit, n int, c madeCommit) {
				for _, id := range strings.Fields(s.run("git", "rev-list", fmt.Sprintf("--max-count=%d", n), "HEAD")) {
					c.id = id
					*list = append(*list, c)
				}
			}
			person := func(file, text, message string) {
				s.write(file, text)
				s.run("git", "add", file)
				s.run("git", "commit", "-qm", message)
			}
			note(&others, 1, madeCommit{}) // the one that made the workspace
			for _, p := range players() {
				topic := "topic-of-" + p.name
				turn := func(text, name string) {
					s.server.Script(text, agenttest.Step{Say: "I do it.", Tools: []agenttest.ToolCall{{Name: p.tool, Input: map[string]string{"command": commitEach(name), "description": "x"}}}}, agenttest.Step{Say: "did " + name})
				}
				turn(topic, p.name+"-one")
				s.play(p.begin(s, "workspace.plan", topic))
				note(&made, 5, madeCommit{topic: topic, prompt: topic, unhooked: p.name == "gemini"})
				last := ""
				turns := []string{"two", "three"}
				if testing.Short() {
					turns = turns[:1]
				}
				for _, n := range turns {
					last = "make-" + n + "-in-" + p.name
					turn(last, p.name+"-"+n)
					time.Sleep(1100 * time.Millisecond) // a commit knows its time to the second
					s.run("cortext", append([]string{"resume", topic, "--agent", p.name, "-p", last, "--"}, p.args...)...)
					note(&made, 5, madeCommit{topic: topic, prompt: last, unhooked: p.name == "gemini"})
				}
				// The user goes on with the agent's work while the conversation is active.
				s.run("cortext", "status", topic, "active")
				person(p.name+"-two-1.txt", "better\n", "improve it")
				person("of-"+p.name+".txt", "mine\n", "something of my own")
				note(&made, 2, madeCommit{topic: topic, prompt: last})
				s.run("cortext", "stop", topic)
			}
			person("later.txt", "x\n", "after all conversations")
			note(&others, 1, madeCommit{})
			right := 0
			for _, c := range append(made, others...) {
				var why struct{ Guess bool }
				cmd := s.command("cortext", "why", c.id, "--json")
				out, err := cmd.Output()
				if err != nil && (c.topic == "" || !linked) {
					continue // no answer is not a wrong one
				}
				if err := json.Unmarshal(out, &why); err != nil {
					t.Errorf("%s of %s: %v: %s", c.id, c.topic, err, out)
					continue
				}
				is := c.topic != "" && strings.Contains(string(out), `"title":"`+c.topic+`"`) && strings.Contains(string(out), c.prompt)
				if is {
					right++
				} else {
					t.Logf("%s, made after %q: %s", s.run("git", "log", "-1", "--format=%h %s", c.id), c.prompt, out)
				}
				if !is && !why.Guess || linked && is && why.Guess != c.unhooked {
					t.Errorf("the answer for %s of %q: guess is %v: %s", c.id, c.topic, why.Guess, out)
				}
			}
			t.Logf("right: %d of %d commits, with the hook: %v", right, len(made), linked)
			if linked && right != len(made) || right*5 < len(made)*4 {
				t.Errorf("right: %d of %d", right, len(made))
			}
		})
	}
}
