package history

import (
	"iter"
	"slices"
	"strings"

	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// backwards calls f for the messages of the branch that would be resumed, from last to
// first, until f returns false. It reads no more of the end of the log than needed.
func backwards(w workspace.Conversations, e store.Entry, f func(m *schema.Message) bool) error {
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

// LastAgent returns the agent last used in a conversation: the agent of its newest
// message, else of its last session.
func LastAgent(w workspace.Conversations, e store.Entry) (name string, err error) {
	s := e.Session
	err = backwards(w, e, func(m *schema.Message) bool {
		name = s.AgentOf(m.Source)
		return name == ""
	})
	if name == "" {
		name = s.LastAgent()
	}
	return name, err
}

// enoughAlone is how many messages are searched for a model if only one agent was used,
// since session.json then names its model.
const enoughAlone = 128

// LastModel returns the model that answered last in an agent's sessions of a
// conversation, or "" if unknown. Messages of other agents do not count.
func LastModel(w workspace.Conversations, e store.Entry, agent string) (name string, err error) {
	s := e.Session
	is := func(src schema.Source) bool { return src.Agent == agent }
	if s.AgentConfig.Agent != agent && !slices.ContainsFunc(s.Sources, is) {
		return "", nil
	}
	alone := s.AgentConfig.Agent == agent && !slices.ContainsFunc(s.Sources, func(src schema.Source) bool { return !is(src) })
	seen := 0
	err = backwards(w, e, func(m *schema.Message) bool {
		seen++
		if m.Role == schema.Assistant && m.Model != schema.SyntheticModel && s.AgentOf(m.Source) == agent {
			name = m.Model
		}
		return name == "" && !(alone && seen >= enoughAlone)
	})
	return name, err
}

// Branches returns the branch of a conversation that a resume continues, and the other
// branches in which a user got an answer. It keeps only the beginning of each message's
// content.
func Branches(w workspace.Conversations, e store.Entry) (newest []schema.Message, others [][]schema.Message, err error) {
	all, err := headsOf(w, e)
	if err != nil {
		return nil, nil, err
	}
	others = slices.DeleteFunc(schema.Others(all), func(b []schema.Message) bool { return !answered(b) })
	newest, _ = schema.Branch(all)
	return newest, others, nil
}

// beginnings keeps only the part of each message that names its branch, because a log may
// be larger than memory.
func beginnings(messages iter.Seq2[schema.Message, error]) iter.Seq2[schema.Message, error] {
	return func(yield func(schema.Message, error) bool) {
		for m, err := range messages {
			text := strings.ToValidUTF8(m.Content[:min(len(m.Content), 300)], "")
			if !yield(schema.Message{ID: m.ID, ParentID: m.ParentID, Timestamp: m.Timestamp, Role: m.Role, Rev: m.Rev, Redacted: m.Redacted, Source: m.Source, Content: strings.Clone(text)}, err) {
				return
			}
		}
	}
}

// answered reports whether a branch has a user message with an answer.
func answered(branch []schema.Message) bool {
	at := slices.IndexFunc(branch, func(m schema.Message) bool { return m.Role == schema.User })
	return at >= 0 && slices.ContainsFunc(branch[at:], func(m schema.Message) bool { return m.Role == schema.Assistant && m.Content != "" })
}
