package capture

import (
	"cortext/schema"
	"cortext/store"
)

// Shortened reports whether the log of a conversation is shorter than a checkpoint in the
// cache says that it was, and the transcript that it was captured from is gone.
func (c *Capture) Shortened(conv *store.Conversation, s *schema.Session) bool {
	size, err := c.ws.Store.LogSize(conv.Path())
	if err != nil || conv.HasMore() {
		return false
	}
	for _, src := range s.Sources {
		agent, ok := c.ws.Agent(src.Agent)
		if !ok {
			continue
		}
		b, ok := c.cached(src.Agent, src.NativeID)
		if !ok || !b.gone(agent) {
			continue
		}
		for _, seg := range b.Segments {
			if schema.SameConversation(seg.ID, s.ID) && size < seg.Tree.Messages.End {
				return true
			}
		}
	}
	return false
}
