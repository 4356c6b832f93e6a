package capture

import (
	"fmt"

	"cortext/inject"
)

// caughtUp are the sessions of an agent that had nothing new when [Capture.CatchUp] last looked,
// by the names of their bindings. As long as neither the binding nor the transcript looks
// different, both stay closed: a workspace may have thousands.
type caughtUp map[string]closedSession

// A closedSession is what a session without anything new looked like.
type closedSession struct {
	Binding    string `json:"binding"`    // state of its file
	Transcript string `json:"transcript"` // its path
	Look       string `json:"look"`       // state of the transcript and its sub-agents'
}

func caughtUpName(agent string) string { return fmt.Sprintf("caughtup/%s.json", agent) }

func (c *Capture) caughtUp(agent inject.Agent) caughtUp {
	known := caughtUp{}
	if !readCached(c.ws.Store, caughtUpName(agent.Name()), &known) || known == nil {
		return caughtUp{}
	}
	return known
}

// unchanged reports whether a session still looks as it did. binding is the state of the
// binding's file, or "" if it may change without looking different.
func (known caughtUp) unchanged(agent inject.Agent, name, binding string) bool {
	was, ok := known[name]
	return ok && binding != "" && was.Binding == binding && lookAt(agent, was.Transcript) == was.Look
}
