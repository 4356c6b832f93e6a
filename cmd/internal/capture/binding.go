package capture

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
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
	reached  registry.Reached // how far this run captured; without a message: not at all

	Segments []Segment `json:"segments"` // in session order; none: the session is not ours
	Said     string    `json:"said"`     // hash of the end of the model's last reply
	At       int       `json:"at"`       // index of the segment that holds the cursor
	Current  int       `json:"current"`  // index of the segment that the session is in
	Prompt   string    `json:"prompt"`   // the agent's id of the prompt that began it, if the agent has ids
	Stopped  bool      `json:"stopped"`  // the user stopped the current conversation
	Turns    int       `json:"turns"`    // answered turns since the last stop
	Reminded bool      `json:"reminded"` // reminded to stop since then
	Seen     string    `json:"seen"`     // the conversations that existed when the binding was made

	Cursor inject.Cursor `json:"cursor"`
	Torn   bool          `json:"torn,omitempty"` // the transcript ended in a line cut off
	// Looked is how far a session without segments was searched for a command. Answered:
	// a model answered something up to there.
	Looked   inject.Cursor `json:"looked,omitzero"`
	Answered bool          `json:"answered,omitempty"`
	// Ordinary: the user typed no command in the session, so cortext adds nothing to it.
	Ordinary bool `json:"ordinary,omitempty"`
	// Commanded: the transcript has a command that begins a conversation.
	Commanded bool `json:"commanded,omitempty"`
	// Subagents records how far the sub-agents' own transcripts were captured, by id.
	Subagents map[string]subCursor `json:"subagents,omitempty"`
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

// A subCursor records how far a sub-agent's transcript was captured.
type subCursor struct {
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

func bindingName(agent, nativeID string) string {
	return "bindings/" + agent + "/" + schema.PathElement(nativeID) + ".json"
}

// cached returns the binding in the cache; an inconsistent one counts as missing.
func (c *Capture) cached(agent, nativeID string) (*Binding, bool) {
	b, ok := c.cachedAt(bindingName(agent, nativeID))
	if ok && b.Transcript != c.ws.Registry.Reached(c.ws.Here.Workspace(), agent, nativeID).Transcript {
		b.Transcript = "" // only the cache claims that it is the session's
	}
	return b, ok
}

func (c *Capture) cachedAt(name string) (*Binding, bool) {
	raw, ok := c.ws.Store.ReadCache(name)
	b := new(Binding)
	if !ok || json.Unmarshal(raw, b) != nil || !b.sound() {
		return nil, false
	}
	return b, true
}

// LockWait is how long a command waits for another process that works on the same
// session.
const LockWait = 10 * time.Second

// Lock keeps other processes off a native session: an agent may run two hooks of one
// session at once.
func (c *Capture) Lock(agent, nativeID string, wait time.Duration) (unlock func(), err error) {
	return c.ws.Store.LockCache(bindingName(agent, nativeID), wait)
}

// Locked calls f while no other process works on the session.
func (c *Capture) Locked(agent, nativeID string, f func() error) error {
	unlock, err := c.Lock(agent, nativeID, LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	return f()
}

// Save stores a binding: its segments in the user's registry, and all of it in the cache.
// If the cache write fails, the next reader only takes longer.
func (c *Capture) Save(agent, nativeID string, b *Binding) error {
	err := c.register(agent, nativeID, b)
	c.saveCursor(agent, nativeID, b)
	return err
}

// saveCursor is Save for a binding whose segments have not changed.
func (c *Capture) saveCursor(agent, nativeID string, b *Binding) {
	if at := b.reached; at.Message != "" {
		at.Hooked, at.Transcript = b.Hooked, b.Transcript
		_ = c.ws.Registry.Reach(c.ws.Here.Workspace(), agent, nativeID, at)
	}
	if raw, err := json.Marshal(b); err == nil {
		_ = c.ws.Store.WriteCache(bindingName(agent, nativeID), raw)
	}
}

func (c *Capture) register(agent, nativeID string, b *Binding) error {
	known, err := c.ws.Registry.Session(agent, nativeID)
	if err != nil {
		return err
	}
	var live []registry.Segment
	registered := known.In(c.ws.Here.Same)
	for _, s := range b.Segments {
		// A removal recorded in this work tree may not be in others, as after a stash.
		if !s.Removed || slices.Contains(registered, s.Segment) {
			live = append(live, s.Segment)
		}
	}
	if len(live) == 0 || slices.Equal(registered, live) {
		return nil
	}
	err = c.ws.Registry.Update(agent, nativeID, func(s *registry.Session) { s.Bind(c.ws.Here.Place(), c.ws.Here.Same, live) })
	c.noteUnregistered(errors.Join(err, c.noteRoot()))
	return nil
}

// Release unbinds a session from a conversation if it has no messages.
func (c *Capture) Release(agent, nativeID, path string) error {
	err := c.ws.Registry.Update(agent, nativeID, func(s *registry.Session) {
		s.Bindings = slices.DeleteFunc(s.Bindings, func(b registry.Binding) bool {
			return c.ws.Here.Same(b.Place) && len(b.Segments) == 1 && b.Segments[0].Path == path
		})
	})
	return errors.Join(err, c.Forgotten(agent, nativeID))
}

// Behindhand reports whether a session's transcript has grown since it was captured.
func (c *Capture) Behindhand(agent inject.Agent, nativeID string) bool {
	b, ok := c.cached(agent.Name(), nativeID)
	return ok && b.Grown(agent)
}

// Forgotten drops the cached data about a session.
func (c *Capture) Forgotten(agent, nativeID string) error {
	return c.ws.Store.RemoveCache(bindingName(agent, nativeID))
}

// Bind returns the binding of a session. Its segments come from the registry or, if that
// knows nothing, from the conversations' sources. A fork of one of our sessions continues
// in the conversation of that session. A binding without segments means that the session
// is not ours.
func (c *Capture) Bind(agent inject.Agent, nativeID, transcript string) (*Binding, error) {
	known, err := c.ws.Registry.Session(agent.Name(), nativeID)
	if err != nil {
		return nil, err
	}
	b, ok := c.cached(agent.Name(), nativeID)
	registered := known.In(c.ws.Here.Same)
	if len(registered) == 0 && len(known.Bindings) > 0 { // a clone may have written it last
		c.ws.Here.KnowClones(context.Background())
		registered = known.In(c.ws.Here.Same)
	}
	switch {
	case ok && len(registered) > 0 && b.has(registered) && b.knowsRemoved(known.RemovedIn(c.ws.Here.Same)):
	case ok && len(registered) == 0 && len(known.Removed) == 0 && b.Seen == c.seen() && len(b.Roots) > 0:
		// It had no root when it was last looked at, so it was empty then: it may be a
		// fork.
	default:
		if b, err = c.rebind(agent, nativeID, transcript, b); err != nil {
			return nil, err
		}
	}
	return b, c.bring(agent, nativeID, transcript, b)
}

// BindListed is Bind for callers that list the conversations anyway: git may have brought
// sources of the session that neither the registry nor the cache knows.
func (c *Capture) BindListed(agent inject.Agent, nativeID, transcript string) (*Binding, error) {
	b, err := c.Bind(agent, nativeID, transcript)
	if err != nil || len(b.Segments) == 0 {
		return b, err
	}
	all, err := c.entriesOf(nativeID)
	if err != nil {
		return nil, err
	}
	segments, err := c.segmentsOf(all, agent.Name(), nativeID)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(segments, func(s Segment) bool {
		return !slices.ContainsFunc(b.Segments, func(have Segment) bool {
			return have.From == s.From && (have.Path != "" || s.Removed)
		})
	}) {
		return b, nil
	}
	if b, err = c.rebind(agent, nativeID, transcript, b); err != nil {
		return nil, err
	}
	return b, c.bring(agent, nativeID, transcript, b)
}

// bring updates a binding with the conversations that were removed or named since it was
// written.
func (c *Capture) bring(agent inject.Agent, nativeID, transcript string, b *Binding) error {
	if transcript != "" {
		b.Transcript = transcript
	}
	for i, s := range b.Segments { // the user may have removed or restored it elsewhere
		gone, err := c.ws.Removed.Segment(agent.Name(), nativeID, s.Segment)
		if err == nil && !gone && s.Removed {
			gone, err = c.staysRemoved(agent.Name(), nativeID, s)
		}
		if err != nil {
			return err
		}
		if b.Segments[i].Path, err = c.placeOf(s); err != nil {
			return err
		}
		if s.Removed && !gone { // nothing of it was captured since
			b.Cursor, b.Subagents = inject.Cursor{}, nil
		}
		b.Segments[i].Removed = gone
	}
	return nil
}

// placeOf returns the folder of a segment, which may have been named since the binding
// was written.
func (c *Capture) placeOf(s Segment) (string, error) {
	if !workspace.Unnamed(s.Path) || s.ID == "" {
		return s.Path, nil
	}
	if there, err := c.ws.Store.Exists(s.Path + "/.session"); there || err != nil {
		return s.Path, err
	}
	e, ok, err := c.ws.ByConversation(s.ID)
	if err != nil || !ok || e.Waiting {
		return s.Path, err
	}
	return e.Path, nil
}

// NameCurrent names the conversation that a session is in if it began without a topic.
// See [workspace.Workspace.Name].
func (c *Capture) NameCurrent(ctx context.Context, agent, nativeID string, b *Binding, said string) (moved bool, err error) {
	at := b.CurrentSegment().Path
	to, err := c.ws.Name(ctx, at, said)
	if to == at {
		return false, err
	}
	for i := range b.Segments {
		if b.Segments[i].Path == at {
			b.Segments[i].Path = to
		}
	}
	return true, errors.Join(err, c.Save(agent, nativeID, b))
}

// AwaitsName reports whether the next prompt of a session may name its conversation. It
// reads one small file.
func (c *Capture) AwaitsName(agent, nativeID string) bool {
	b, ok := c.cached(agent, nativeID)
	return ok && b.Bound() && workspace.Unnamed(b.CurrentSegment().Path)
}

// staysRemoved reports whether a segment that the cache marks as removed still is. A
// segment without a conversation, of which only the start is known, stays removed.
func (c *Capture) staysRemoved(agent, nativeID string, s Segment) (bool, error) {
	if s.Path == "" {
		return true, nil
	}
	return c.ws.Removed.Source(agent, nativeID, s.From)
}

// has reports whether the binding has exactly the registered segments.
func (b *Binding) has(registered []registry.Segment) bool {
	var known []registry.Segment
	for _, s := range b.Segments {
		if !s.Removed || slices.Contains(registered, s.Segment) {
			known = append(known, s.Segment)
		}
	}
	return slices.Equal(known, registered)
}

// knowsRemoved reports whether the binding has a segment for each removal in gone.
func (b *Binding) knowsRemoved(gone []registry.Removal) bool {
	return !slices.ContainsFunc(gone, func(r registry.Removal) bool {
		return !slices.ContainsFunc(b.Segments, func(s Segment) bool { return s.From == r.From })
	})
}

// rebind looks up the segments of a session again. It keeps cached cursors and
// checkpoints that fit; they are verified when used.
func (c *Capture) rebind(agent inject.Agent, nativeID, transcript string, old *Binding) (*Binding, error) {
	all, err := c.entriesOf(nativeID)
	if err != nil {
		return nil, err
	}
	segments, err := c.segmentsOf(all, agent.Name(), nativeID)
	if err != nil {
		return nil, err
	}
	b := &Binding{Segments: segments, Seen: c.seen()}
	if old != nil {
		b.Transcript, b.Roots, b.Version, b.Permission = old.Transcript, old.Roots, old.Version, old.Permission
		b.Turns, b.Reminded = old.Turns, old.Reminded
		if old.Segments == nil {
			b.Looked, b.Answered = old.Looked, old.Answered
		}
	}
	b.Current = max(len(b.Segments)-1, 0)
	if transcript != "" && !hasBeginning(b.Segments) {
		if err := c.adoptFork(agent, nativeID, transcript, b); err != nil {
			return nil, err
		}
	}
	if len(b.Segments) == 0 && (len(b.Roots) == 0 || transcript != "" && c.opened.file == transcript) {
		return b, nil // nothing is known yet, or the import saves it
	}
	return b, c.Save(agent.Name(), nativeID, b)
}

// seen is [workspace.Workspace.Seen]. During a scan it returns the value from the start
// of the scan.
func (c *Capture) seen() string {
	if c.scan != nil {
		return c.scan.seen
	}
	return c.ws.IDs.Seen()
}

// bindings lists the cached bindings.
func (c *Capture) bindings(agent string) map[string]*Binding {
	list := map[string]*Binding{}
	for _, name := range c.ws.Store.ListCache("bindings/" + agent) {
		if b, ok := c.cachedAt("bindings/" + agent + "/" + name); ok {
			list[name] = b
		}
	}
	return list
}

// addSource records in a conversation that a native session continues in it.
func (c *Capture) addSource(s Segment, src schema.Source) error {
	src.From, src.After = s.From, s.After
	conv, err := c.ws.Conversation(s.Path)
	if err != nil {
		return err
	}
	defer conv.Close()
	return conv.Edit(func(sess *schema.Session) error {
		for _, have := range sess.Sources {
			if have.Agent == src.Agent && have.NativeID == src.NativeID && have.From == src.From {
				return nil
			}
		}
		sess.Sources = append(sess.Sources, src)
		return nil
	})
}

// gone reports whether a transcript that was read no longer exists: agents delete old
// ones.
func (b *Binding) gone(agent inject.Agent) bool {
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
