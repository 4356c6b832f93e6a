package capture

import (
	"slices"

	"cortext/schema"
	"cortext/store"
)

// identify restores the identity of a conversation whose session.json is gone from the
// binding, and the source if git reverted it.
func (c *Capture) identify(tx *store.Tx, agent, nativeID string, seg Segment) error {
	if seg.ID == "" {
		return nil
	}
	s, _, err := tx.Session()
	if err != nil {
		return err
	}
	if tx.Written() {
		addSource(s, agent, nativeID, seg)
		return nil
	}
	if e, ok := c.catalog.branchOf(seg.ID); ok {
		*s = *e
		s.CountedBytes = 0
	}
	s.ID = seg.ID
	addSource(s, agent, nativeID, seg)
	if s.AgentConfig.Agent == "" {
		s.AgentConfig.Agent = agent
	}
	if s.AgentConfig.SystemPromptHash == "" && s.AgentConfig.Command != "" {
		return c.ws.Prompts.Describe(s, s.AgentConfig.Command, s.AgentConfig.Arguments)
	}
	return nil
}

// addSource records in s that a session goes into the conversation.
func addSource(s *schema.Session, agent, nativeID string, seg Segment) {
	if !slices.ContainsFunc(s.Sources, func(src schema.Source) bool { return src.NativeID == nativeID && src.From == seg.From }) {
		s.Sources = append(s.Sources, schema.Source{Agent: agent, NativeID: nativeID, From: seg.From, After: seg.After})
	}
}
