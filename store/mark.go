package store

// A Mark is a place in the logs of a conversation. A writer that comes back for
// what is new since its last visit, as a hook does after each turn, takes one to
// save reading all that stands before it.
type Mark struct {
	Messages LogMark `json:"messages"`
	Tools    LogMark `json:"tools"`
}

// A LogMark is a place in one log: its length then, and the bytes before it by
// which it is known again, in hex. The zero value is the beginning.
type LogMark struct {
	Size int64  `json:"size"`
	Last string `json:"last"`
}

func (m Mark) of(name string) LogMark {
	if name == toolsFile {
		return m.Tools
	}
	return m.Messages
}

// Since promises that no record of the coming appends stands before m in the
// logs: the first append then reads only what is behind it, so that its cost does
// not grow with the conversation. A mark that does not fit the logs as they are
// now (a merge, an edit) is ignored. It must be called before anything is
// appended.
func (c *Conversation) Since(m Mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = m
}

// MarkBefore returns a mark that all records with these ids stand behind, of
// those that this value has appended or found. For a log that it did not touch it
// is the one given to [Conversation.Since].
func (c *Conversation) MarkBefore(messages, calls []string) (Mark, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.since
	var err error
	if c.messages != nil && c.messages.places != nil {
		if m.Messages, err = c.messages.markBefore(messages); err != nil {
			return Mark{}, err
		}
	}
	if c.tools != nil && c.tools.places != nil {
		if m.Tools, err = c.tools.markBefore(calls); err != nil {
			return Mark{}, err
		}
	}
	return m, nil
}
