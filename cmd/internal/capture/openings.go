package capture

import (
	"slices"
	"time"

	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
)

// An Opening is a program of an agent that has a conversation open.
type Opening struct {
	Agent string
	In    string // the workspace it was launched in; empty: this program did not launch it
	PID   int
	Since time.Time
}

// Openings lists the programs that have a conversation open, according to our launches and
// the agents. Not every agent says what it has open.
func Openings(ws *workspace.Workspace, s *schema.Session) (list []Opening) {
	add := func(o Opening) {
		if o.PID > 0 && Runs(o.PID) && !slices.ContainsFunc(list, func(other Opening) bool { return other.PID == o.PID }) {
			list = append(list, o)
		}
	}
	for _, l := range ws.Registry.LaunchesOf(s.ID) {
		if !l.Unused {
			add(Opening{l.Agent, l.In, l.PID, l.Began})
		}
	}
	for _, agent := range ws.Env.Agents {
		lister, ok := agent.(inject.RunningLister)
		if !ok {
			continue
		}
		for _, r := range lister.Running(ws.Env.Machine) {
			if slices.ContainsFunc(s.Sources, func(src schema.Source) bool { return src.Agent == agent.Name() && src.NativeID == r.NativeID }) {
				add(Opening{agent.Name(), "", r.PID, r.Since})
			}
		}
	}
	return list
}
