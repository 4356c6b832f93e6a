package store

import "cortext/schema"

// A Copy is the copy of a conversation in one other place: a commit, a transcript, a
// backup.
type Copy struct {
	From     string          // the place, as users know it
	Session  *schema.Session // nil: none
	Messages []byte          // lines of messages.jsonl
	Tools    []byte          // lines of tools.jsonl
}

// SetLog sets the log in a file with the given name. It reports false if no log has that
// name.
func (c *Copy) SetLog(name string, lines []byte) bool {
	switch name {
	case messagesFile:
		c.Messages = lines
	case toolsFile:
		c.Tools = lines
	default:
		return false
	}
	return true
}

// Copies are the copies of a conversation and its sub-agents in other places, the
// preferred places first.
type Copies struct {
	Places    []Copy
	Subagents map[string]*Copies // by the name of their folder

	// Whole says that the agents' transcripts of all of the conversation's sessions were
	// read to their ends. Counters above the count are then wrong, not the log.
	Whole bool
}

// Of returns the copies of a sub-agent, by the name of its folder.
func (f *Copies) Of(subagent string) *Copies {
	if f == nil || f.Subagents[subagent] == nil {
		return &Copies{}
	}
	return f.Subagents[subagent]
}

// Add adds a place's copy of a sub-agent, or of the conversation itself if the name is
// empty.
func (f *Copies) Add(subagent string, find Copy) {
	if subagent == "" {
		f.Places = append(f.Places, find)
		return
	}
	if f.Subagents == nil {
		f.Subagents = map[string]*Copies{}
	}
	if f.Subagents[subagent] == nil {
		f.Subagents[subagent] = &Copies{}
	}
	f.Subagents[subagent].Places = append(f.Subagents[subagent].Places, find)
}
