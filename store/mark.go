package store

import "path"

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

// Mark returns where the logs ended when this value first appended to them: all
// that it wrote stands behind it. For a log that it never wrote to, that is the
// mark given to [Conversation.Since].
func (c *Conversation) Mark() Mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.since
	if at, ok := c.first[messagesFile]; ok {
		m.Messages = at
	}
	if at, ok := c.first[toolsFile]; ok {
		m.Tools = at
	}
	return m
}

// noteFirst keeps where a log ended before this value's first append to it.
func (c *Conversation) noteFirst(l *logFile) {
	name := path.Base(l.name)
	if _, ok := c.first[name]; ok {
		return
	}
	if c.first == nil {
		c.first = map[string]LogMark{}
	}
	c.first[name] = l.before
}
