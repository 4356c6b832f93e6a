package capture

import (
	"cortext/schema"
	"cortext/store"
)

// Shortened reports whether the log of a conversation is shorter than a cached checkpoint
// says, while the transcript it was captured from is gone. lost is the number of messages
// that the log has lost since, or 0 if unknown.
func (c *Capture) Shortened(conv *store.Conversation, s *schema.Session) (lost int, is bool, err error) {
	size, err := c.ws.Store.LogSize(conv.Path())
	if err != nil || conv.HasMore() {
		return 0, false, nil // the log or folder is not in the work tree, or more records will come
	}
	held := 0
	for _, src := range s.Sources {
		agent, ok := c.ws.Env.Agent(src.Agent)
		if !ok {
			continue
		}
		b, ok := c.Cached(src.Agent, src.NativeID)
		if !ok || !b.Gone(agent) {
			continue
		}
		for _, seg := range b.Segments {
			if schema.SameConversation(seg.ID, s.ID) && size < seg.Tree.Messages.End {
				is, held = true, max(held, seg.Tree.Held)
			}
		}
	}
	if held == 0 {
		return 0, is, nil
	}
	have, err := conv.MessageIDs()
	lost = max(held-len(have), 0)
	return lost, lost > 0, err
}
