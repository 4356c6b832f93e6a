// Package binding says which conversations a native session goes into, and how far it was
// captured. It keeps that in the cache and in the user's registry. It reads no transcript
// and writes no conversation.
package binding

import (
	"errors"
	"io/fs"
	"slices"

	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A Binding is what is known about one native session: which conversations it goes into,
// and how far it was captured. It lives in the cache. If it is lost, its segments are
// found again in the user's registry and in the conversations' sources, and everything
// else by reading the transcript from its beginning.
type Binding struct {
	Transcript string   `json:"transcript"`
	Roots      []string `json:"roots"`      // first lines by which a fork of the session is recognized
	Version    string   `json:"version"`    // of the agent
	Permission string   `json:"permission"` // the last permission mode
	Hooked     bool     `json:"hooked"`     // the agent's hooks report its turns

	Provider *schema.Provider `json:"-"` // of the last answer read
	Reached  registry.Reached `json:"-"` // how far this run captured; without a message: not at all

	Segments []Segment `json:"segments"` // in session order; none: the session is not ours
	Reply    string    `json:"said"`     // hash of the end of the model's last reply
	At       int       `json:"at"`       // index of the segment that holds the cursor
	Current  int       `json:"current"`  // index of the segment that the session is in
	Prompt   string    `json:"prompt"`   // the agent's id of the prompt that began it, if the agent has ids
	Stopped  bool      `json:"stopped"`  // the user stopped the current conversation
	Turns    int       `json:"turns"`    // answered turns since the last stop
	Reminded bool      `json:"reminded"` // reminded to stop since then
	Seen     string    `json:"seen"`     // the conversations that existed when the binding was made

	Cursor inject.Cursor `json:"cursor"`
	Torn   bool          `json:"torn,omitempty"` // the transcript ended in an incomplete line
	// Looked is how far a session without segments was searched for a command. Answered:
	// a model answered something up to there.
	Looked   inject.Cursor `json:"looked,omitzero"`
	Answered bool          `json:"answered,omitempty"`
	// Ordinary: the user typed no command in the session, so cortext adds nothing to it.
	Ordinary bool `json:"ordinary,omitempty"`
	// Commanded: the transcript contains a command that begins a conversation.
	Commanded bool `json:"commanded,omitempty"`
	// Subagents records how far the sub-agents' own transcripts were captured, by id.
	Subagents map[string]SubCursor `json:"subagents,omitempty"`
	// SegmentOf maps messages that new ones may follow to their segment, if there are
	// several segments.
	SegmentOf map[string]int `json:"segment_of,omitempty"`
}

// A Segment is the part of a native session that belongs to one conversation.
type Segment struct {
	registry.Segment
	Start   string `json:"start,omitempty"` // the message that it begins with, once that is known
	Removed bool   `json:"removed,omitempty"`

	Tree    store.Checkpoint `json:"tree,omitzero"`    // in the work tree's logs
	Waiting store.Checkpoint `json:"waiting,omitzero"` // in the logs of waiting records
	Whole   bool             `json:"whole,omitempty"`  // the waiting records are the whole segment
}

// A SubCursor records how far a sub-agent's transcript was captured.
type SubCursor struct {
	Cursor     inject.Cursor    `json:"cursor"`
	Checkpoint store.Checkpoint `json:"checkpoint"`
	Waiting    bool             `json:"waiting,omitempty"` // delivered to the logs of waiting records
}

// sound reports whether the binding is consistent; the cache may hold anything.
func (b *Binding) sound() bool {
	n := max(len(b.Segments), 1)
	for _, i := range b.SegmentOf {
		if i < 0 || i >= n {
			return false
		}
	}
	return b.At >= 0 && b.At < n && b.Current >= 0 && b.Current < n
}

// CurrentSegment returns the segment that the session is in. There must be one.
func (b *Binding) CurrentSegment() Segment { return b.Segments[b.Current] }

// Bound reports whether the session is currently in a conversation.
func (b *Binding) Bound() bool { return len(b.Segments) > 0 && !b.CurrentSegment().Removed }

// Captured reports whether any part of the session belongs to a conversation.
func (b *Binding) Captured() bool {
	return slices.ContainsFunc(b.Segments, func(s Segment) bool { return !s.Removed })
}

// Add makes the session continue in another segment.
func (b *Binding) Add(s Segment) {
	b.Segments = append(b.Segments, s)
	b.Current = len(b.Segments) - 1
	b.Stopped, b.Turns, b.Reminded = false, 0, false
}

// Has reports whether the binding has exactly the registered segments.
func (b *Binding) Has(registered []registry.Segment) bool {
	var known []registry.Segment
	for _, s := range b.Segments {
		if !s.Removed || slices.Contains(registered, s.Segment) {
			known = append(known, s.Segment)
		}
	}
	return slices.Equal(known, registered)
}

// KnowsRemoved reports whether the binding has a segment for each removal in gone.
func (b *Binding) KnowsRemoved(gone []registry.Removal) bool {
	return !slices.ContainsFunc(gone, func(r registry.Removal) bool {
		return !slices.ContainsFunc(b.Segments, func(s Segment) bool { return s.From == r.From })
	})
}

// Gone reports whether a transcript that was read no longer exists: agents delete old
// ones.
func (b *Binding) Gone(agent inject.Agent) bool {
	_, err := agent.Stat(b.Transcript)
	return b.Cursor.Size > 0 && errors.Is(err, fs.ErrNotExist)
}

// Grown reports whether a transcript, or that of a sub-agent, has changed since it was
// read.
func (b *Binding) Grown(agent inject.Agent) bool {
	size, err := agent.Stat(b.Transcript)
	if err != nil {
		return false
	}
	if size != b.Cursor.Size {
		return true
	}
	subs, err := agent.Subagents(b.Transcript)
	return err == nil && slices.ContainsFunc(subs, func(s inject.Subagent) bool {
		size, err := agent.Stat(s.Path)
		return err == nil && size > 0 && size != b.Subagents[s.NativeID].Cursor.Size
	})
}

// Learn records what a transcript says about the agent, for session.json.
func (b *Binding) Learn(t *inject.Transcript) {
	if t.Version != "" {
		b.Version = t.Version
	}
	if t.Permission != "" {
		b.Permission = t.Permission
	}
	if t.Provider != nil {
		b.Provider = t.Provider
	}
}
