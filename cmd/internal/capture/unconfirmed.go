package capture

import (
	"cortext/schema"
	"cortext/store"
)

// Unconfirmed reports whether the logs of a conversation lack what was captured into
// them, as a checkpoint in the cache says, from a transcript that is gone.
func (c *Capture) Unconfirmed(conv *store.Conversation, s *schema.Session) bool {
	for _, src := range s.Sources {
		agent, ok := c.Agent(src.Agent)
		if !ok {
			continue
		}
		b, ok := c.cached(src.Agent, src.NativeID)
		if !ok || !b.gone(agent) {
			continue
		}
		for _, seg := range b.Segments {
			if schema.SameConversation(seg.ID, s.ID) && seg.Tree != (store.Checkpoint{}) && !conv.Confirms(seg.Tree) {
				return true
			}
		}
	}
	return false
}
