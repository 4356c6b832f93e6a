package agenttest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Step is one model turn of a [Server.Script].
type Step struct {
	Think string // reasoning before it, if the request allows thinking
	Say   string
	Tools []ToolCall // called at once
}

// ToolCall is a call of a tool; Input is anything that is a JSON object.
type ToolCall struct {
	Name  string
	Input any
}

// script is a list of turns and the text that they answer.
type script struct {
	to    string
	turns []plan
}

// Script scripts the answer to a text: when the newest user text of a main
// request contains to, each step answers one request. The text is the one that
// directives are looked for in, so that of a slash command is what the command
// stands for. Of several scripts the first that fits counts, and before any
// directive. Script panics unless every step but the last one calls a tool, and
// the last none: the agent asks again after a tool's answer, and only then.
func (s *Server) Script(to string, steps ...Step) {
	made := script{to: to}
	for i, step := range steps {
		if last := i == len(steps)-1; last == (len(step.Tools) > 0) {
			panic(fmt.Sprintf("agenttest: step %d of %d of the script for %q calls %d tools", i+1, len(steps), to, len(step.Tools)))
		}
		turn := plan{think: step.Think, text: step.Say}
		for _, c := range step.Tools {
			input, err := json.Marshal(c.Input)
			if err != nil || input[0] != '{' {
				panic(fmt.Sprintf("agenttest: input of %s for %q is no JSON object: %v", c.Name, to, err))
			}
			turn.tools = append(turn.tools, call{name: c.Name, input: input})
		}
		made.turns = append(made.turns, turn)
	}
	if len(steps) == 0 {
		panic(fmt.Sprintf("agenttest: the script for %q is empty", to))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts = append(s.scripts, made)
}

// scripted returns the turn that a script answers the request with.
func (s *Server) scripted(r Request) (plan, bool) {
	text, at := r.newestUserText()
	if !r.Main() || isResumed(text) {
		return plan{}, false
	}
	done := callingTurns(r.messages[at:])
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, script := range s.scripts {
		if strings.Contains(text, script.to) {
			// Whoever asks on after the last turn is given it again.
			return script.turns[min(done, len(script.turns)-1)], true
		}
	}
	return plan{}, false
}
