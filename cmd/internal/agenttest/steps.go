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

// ToolCall is a call of a tool; Input is any value that encodes to a JSON object.
type ToolCall struct {
	Name  string
	Input any
}

// script is a list of turns and the text that they answer.
type script struct {
	to    string
	turns []plan
}

// Script scripts the answers to a text: if the newest user text of a main request contains
// the text, each step answers one request. It uses the same text as directives do; for a
// slash command that is the expanded text. The first matching script wins, and scripts take
// precedence over directives. Script panics unless every step except the last calls a tool,
// and the last calls none, because the agent asks again only after a tool's answer.
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
				panic(fmt.Sprintf("agenttest: input of %s for %q is not a JSON object: %v", c.Name, to, err))
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
			// Further requests after the last turn get that turn again.
			return script.turns[min(done, len(script.turns)-1)], true
		}
	}
	return plan{}, false
}
