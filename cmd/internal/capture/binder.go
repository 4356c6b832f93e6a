package capture

import (
	"context"
	"errors"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
)

// A Binder finds out which conversations a native session goes into, and makes sessions
// continue in conversations. Every binding that it returns lists the segments found in the
// user's registry and in the conversations' sources, and marks those that the user removed.
type Binder struct {
	ws       *workspace.Workspace
	bindings *binding.Bindings
	catalog  *catalog
	forks    *forks
}

// Bind returns the binding of a session. Its segments come from the registry or, if that
// knows nothing, from the conversations' sources. A fork of one of our sessions continues
// in the conversation of that session. A binding without segments means that the session
// is not ours.
func (bd *Binder) Bind(agent inject.Agent, nativeID, transcript string) (*binding.Binding, error) {
	return bd.bind(nativeSession{agent: agent, id: nativeID, transcript: transcript})
}

// BindResumed is [Binder.Bind] for a session that its agent resumes. Another machine may have
// continued it in other conversations since, so their sources are read again.
func (bd *Binder) BindResumed(agent inject.Agent, nativeID, transcript string) (*binding.Binding, error) {
	return bd.bindListed(nativeSession{agent: agent, id: nativeID, transcript: transcript})
}

// A nativeSession is a session of an agent, with what is known about its transcript.
type nativeSession struct {
	agent      inject.Agent
	id         string
	transcript string             // empty: unknown
	opened     *inject.Transcript // by an import, which saves the binding of a new session itself; nil: not open
}

func (bd *Binder) bind(n nativeSession) (*binding.Binding, error) {
	known, err := bd.ws.Registry.Sessions.Get(n.agent.Name(), n.id)
	if err != nil {
		return nil, err
	}
	b, ok := bd.bindings.Cached(n.agent.Name(), n.id)
	registered := known.In(bd.ws.Here.Same)
	if len(registered) == 0 && len(known.Bindings) > 0 { // a clone may have written it last
		bd.ws.Here.KnowClones(context.Background())
		registered = known.In(bd.ws.Here.Same)
	}
	switch {
	case ok && len(registered) > 0 && b.Has(registered) && b.KnowsRemoved(known.RemovedIn(bd.ws.Here.Same)):
	case ok && len(registered) == 0 && len(known.Removed) == 0 && b.Seen == bd.catalog.seen() && len(b.Roots) > 0:
		// It had no root when it was last checked, so it was empty then: it may be a
		// fork.
	default:
		segments, err := bd.segments(n)
		if err != nil {
			return nil, err
		}
		if b, err = bd.rebind(n, segments, b); err != nil {
			return nil, err
		}
	}
	return b, bd.update(n, b)
}

// bindListed is Bind for callers that can afford to look at all conversations. It also finds
// sources that git brought and that neither the registry nor the cache knows.
func (bd *Binder) bindListed(n nativeSession) (*binding.Binding, error) {
	b, err := bd.bind(n)
	if err != nil || len(b.Segments) == 0 {
		return b, err
	}
	segments, err := bd.segments(n)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(segments, func(s binding.Segment) bool {
		return !slices.ContainsFunc(b.Segments, func(have binding.Segment) bool {
			return have.From == s.From && (have.Path != "" || s.Removed)
		})
	}) {
		return b, nil
	}
	if b, err = bd.rebind(n, segments, b); err != nil {
		return nil, err
	}
	return b, bd.update(n, b)
}

// update updates a binding with the conversations that were removed or named since it was
// written.
func (bd *Binder) update(n nativeSession, b *binding.Binding) error {
	if n.transcript != "" {
		b.Transcript = n.transcript
	}
	for i, s := range b.Segments { // the user may have removed or restored it elsewhere
		gone, err := bd.ws.Removed.Segment(n.agent.Name(), n.id, s.Segment)
		if err == nil && !gone && s.Removed {
			gone, err = bd.staysRemoved(n.agent.Name(), n.id, s)
		}
		if err != nil {
			return err
		}
		if b.Segments[i].Path, err = bd.placeOf(s); err != nil {
			return err
		}
		if s.Removed && !gone { // nothing was captured from it since
			b.Cursor, b.Subagents = inject.Cursor{}, nil
		}
		b.Segments[i].Removed = gone
	}
	return nil
}

// placeOf returns the folder of a segment, which may have been named since the binding
// was written.
func (bd *Binder) placeOf(s binding.Segment) (string, error) {
	if !workspace.Unnamed(s.Path) || s.ID == "" {
		return s.Path, nil
	}
	if there, err := bd.ws.Store.Exists(s.Path + "/.session"); there || err != nil {
		return s.Path, err
	}
	e, ok, err := bd.ws.ByConversation(s.ID)
	if err != nil || !ok || e.Waiting {
		return s.Path, err
	}
	return e.Path, nil
}

// staysRemoved reports whether a segment that the cache marks as removed still is. A
// segment without a conversation, where only the start is known, stays removed.
func (bd *Binder) staysRemoved(agent, nativeID string, s binding.Segment) (bool, error) {
	if s.Path == "" {
		return true, nil
	}
	return bd.ws.Removed.Source(agent, nativeID, s.From)
}

// segments looks up the segments of a session.
func (bd *Binder) segments(n nativeSession) ([]binding.Segment, error) {
	of := bd.ws.Index.OfSession
	if n.opened == nil && n.transcript != "" && len(bd.forks.transcripts.rootsOf(n.agent, n.transcript)) == 0 {
		of = bd.ws.Index.OfEmpty
	}
	all, err := bd.catalog.entriesOf(n.id, of)
	if err != nil {
		return nil, err
	}
	return bd.segmentsOf(all, n.agent.Name(), n.id)
}

// rebind returns a new binding with these segments. From the old binding it takes what does not
// depend on segments.
func (bd *Binder) rebind(n nativeSession, segments []binding.Segment, old *binding.Binding) (*binding.Binding, error) {
	b := &binding.Binding{Segments: segments, Seen: bd.catalog.seen()}
	if old != nil {
		b.Transcript, b.Roots, b.Version, b.Permission = old.Transcript, old.Roots, old.Version, old.Permission
		b.Turns, b.Reminded = old.Turns, old.Reminded
		if old.Segments == nil {
			b.Looked, b.Answered = old.Looked, old.Answered
		}
	}
	b.Current = max(len(b.Segments)-1, 0)
	if n.transcript != "" && !binding.HasBeginning(b.Segments) {
		if err := bd.forks.bindFork(n, b); err != nil {
			return nil, err
		}
	}
	if len(b.Segments) == 0 && (len(b.Roots) == 0 || n.opened != nil) {
		return b, nil // nothing is known yet, or the import saves it
	}
	return b, bd.bindings.Save(n.agent.Name(), n.id, b)
}

// A Place is where a session continues a conversation.
type Place struct {
	Path  string // of the conversation
	After string // id of the message; empty: the last one of the newest branch
}

// ContinueIn makes a session continue in a conversation, after the given message or, if
// there is none, after the last one. The user asks for this: if the conversation was removed,
// this session is captured into it again, but its earlier sessions stay removed.
func (bd *Binder) ContinueIn(agent inject.Agent, e inject.Event, b *binding.Binding, to Place) error {
	path := to.Path
	s := binding.Segment{Segment: registry.Segment{Path: path}}
	if len(b.Segments) > 0 {
		s.From = bd.From(e)
	}
	entry, err := bd.ws.Entry(path)
	if err != nil {
		return err
	}
	s.ID = entry.Session.ID
	if s.Resumed, err = bd.ws.Removed.Segment(agent.Name(), e.NativeID, s.Segment); err != nil {
		return err
	}
	if s.After = to.After; s.After == "" {
		if s.After, err = bd.lastMessage(path); err != nil {
			return err
		}
	}
	if err := bd.addSource(s, schema.Source{Agent: agent.Name(), NativeID: e.NativeID, Version: b.Version}); err != nil {
		return err
	}
	b.Add(s)
	if e.Transcript != "" {
		b.Transcript = e.Transcript
	}
	return bd.bindings.Save(agent.Name(), e.NativeID, b)
}

// lastMessage returns the id of the message at which a conversation would be resumed.
func (bd *Binder) lastMessage(path string) (string, error) {
	conv, err := bd.ws.Conversation(path)
	if err != nil {
		return "", err
	}
	defer conv.Close()
	return workspace.LastMessageID(conv)
}

// From returns the From value of a segment that a prompt begins.
func (bd *Binder) From(e inject.Event) string {
	return binding.FromPrompt(e.PromptID, bd.ws.Env.Now())
}

// addSource records in a conversation that a native session continues in it.
func (bd *Binder) addSource(s binding.Segment, src schema.Source) error {
	src.From, src.After = s.From, s.After
	conv, err := bd.ws.Conversation(s.Path)
	if err != nil {
		return err
	}
	defer conv.Close()
	return conv.Edit(func(sess *schema.Session) error {
		workspace.AddSource(sess, src)
		return nil
	})
}

// NameCurrent names the conversation that a session is in if it began without a topic.
// See [workspace.Workspace.Name].
func (bd *Binder) NameCurrent(ctx context.Context, agent, nativeID string, b *binding.Binding, said string) (moved bool, err error) {
	at := b.CurrentSegment().Path
	to, err := bd.ws.Name(ctx, at, said)
	if to == at {
		return false, err
	}
	for i := range b.Segments {
		if b.Segments[i].Path == at {
			b.Segments[i].Path = to
		}
	}
	return true, errors.Join(err, bd.bindings.Save(agent, nativeID, b))
}

// AwaitsName reports whether the next prompt of a session may name its conversation. It
// reads one small file.
func (bd *Binder) AwaitsName(agent, nativeID string) bool {
	b, ok := bd.bindings.Cached(agent, nativeID)
	return ok && b.Bound() && workspace.Unnamed(b.CurrentSegment().Path)
}
