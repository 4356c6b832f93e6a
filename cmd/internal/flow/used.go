package flow

import (
	"slices"

	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// backwards calls f for the messages of the branch that would be resumed, from last to
// first, until f returns false. It reads no more of the end of the log than needed.
func (w *Workspace) backwards(e store.Entry, f func(m *schema.Message) bool) error {
	c, err := w.Open(e)
	if err != nil {
		return err
	}
	defer c.Close()
	for seen, most := 0, 16; ; most *= 8 {
		h, _, err := c.History(store.Limit{Messages: most})
		if err != nil {
			return err
		}
		for i := len(h.Messages) - 1 - seen; i >= 0; i-- {
			if !f(&h.Messages[i]) {
				return nil
			}
		}
		if len(h.Messages) < most {
			return nil
		}
		seen = len(h.Messages)
	}
}

// lastAgent returns the agent last used in a conversation: the agent of its newest
// message, else of its last session.
func (w *Workspace) lastAgent(e store.Entry) (name string, err error) {
	s := e.Session
	err = w.backwards(e, func(m *schema.Message) bool {
		name = agentOf(s, m.Source)
		return name == ""
	})
	if n := len(s.Sources); name == "" && n > 0 {
		name = s.Sources[n-1].Agent
	}
	if name == "" {
		name = s.AgentConfig.Agent
	}
	return name, err
}

// enoughAlone is how many messages are searched for a model if only one agent was used,
// since session.json then names its model.
const enoughAlone = 128

// lastModel returns the model that answered last in an agent's sessions of a
// conversation, or "" if unknown. Messages of other agents do not count.
func (w *Workspace) lastModel(e store.Entry, agent inject.Agent) (name string, err error) {
	s := e.Session
	is := func(src schema.Source) bool { return src.Agent == agent.Name() }
	if s.AgentConfig.Agent != agent.Name() && !slices.ContainsFunc(s.Sources, is) {
		return "", nil
	}
	alone := s.AgentConfig.Agent == agent.Name() && !slices.ContainsFunc(s.Sources, func(src schema.Source) bool { return !is(src) })
	seen := 0
	err = w.backwards(e, func(m *schema.Message) bool {
		seen++
		if m.Role == schema.Assistant && m.Model != "<synthetic>" && agentOf(s, m.Source) == agent.Name() {
			name = m.Model
		}
		return name == "" && !(alone && seen >= enoughAlone)
	})
	return name, err
}

// agentOf returns the agent of the native session source. A message without a source,
// which the first version of the format allows, belongs to the agent that the
// conversation began in.
func agentOf(s *schema.Session, source string) string {
	if source == "" {
		return s.AgentConfig.Agent
	}
	for _, src := range s.Sources {
		if src.NativeID == source {
			return src.Agent
		}
	}
	return ""
}
