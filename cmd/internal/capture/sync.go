package capture

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/worktrees"
	"cortext/inject"
	"cortext/schema"
)

// SyncOptions control a sync of the agents' stores.
type SyncOptions struct {
	Agents []string // names; empty: all
	Was    []string // absolute paths of earlier locations of the work tree

	// Adopt also captures sessions that no /workspace command began.
	Adopt bool

	// Clones also looks for sessions held in other clones of the repository.
	Clones bool

	// Own begins conversations only for sessions that were held in this work tree.
	Own bool

	// Restore puts back what git removed from the work tree.
	Restore bool

	// Until leaves out sessions with activity after it; the zero time leaves out none.
	Until time.Time

	Progress func(agent string, done, total int)
}

func (o SyncOptions) mode() Mode {
	if o.Restore {
		return PutBack
	}
	return Unasked
}

// A SyncResult says what a sync found in the agents' stores.
type SyncResult struct {
	Sessions  int        // of this workspace
	New       []Imported // new conversations
	Grown     int        // sessions with messages not captured before
	Appended  int        // messages captured from those
	Captured  []Captured // of all sessions
	Elsewhere int        // sessions whose conversations are not in this work tree
	Taken     int        // messages that git removed from the work tree
	Unsure    []inject.SessionRef
	Gone      []inject.SessionRef // captured in a work tree that is gone, with conversations that git does not have
	Errors    []error             // what could not be read or captured; the rest was
}

// Captured says how many messages of a conversation were captured from an agent's
// session.
type Captured struct {
	Agent    string
	Path     string
	Messages int
}

// Sync captures messages that the agents' stores on this machine have for this workspace's
// sessions and that the workspace lacks. It ignores what the user removed or skipped.
// Without Restore it puts back nothing that git removed from the work tree.
func (c *Capture) Sync(ctx context.Context, o SyncOptions) (*SyncResult, error) {
	for _, name := range o.Agents {
		if _, ok := c.ws.Env.Agent(name); !ok {
			return nil, &AgentError{Agent: name, Known: c.ws.Env.AgentNames()}
		}
	}
	s := &syncRun{c: c, ctx: ctx, opts: o, out: &SyncResult{}}
	if o.Adopt {
		if err := c.location.note(); err != nil {
			s.out.Errors = append(s.out.Errors, err)
		}
	}
	s.at = worktrees.Find(ctx, c.ws.Store.Root(), o.Was)
	s.at.AddMoved(c.location.previous())
	if o.Clones {
		s.at.AddClones(ctx)
		c.ws.Here.KnowClones(ctx)
	}
	c.catalog.start(c.ws.Index.All)
	defer func() { c.catalog.scan = nil; c.transcripts.heads.write() }()
	c.catalog.scan.inGit = sync.OnceValue(func() branches { return c.catalog.readBranches(ctx, "conversations") })
	s.sources = sync.OnceValues(s.findSources)
	s.foreign = c.scans.foreign()
	defer c.scans.keepForeign(s.foreign)
	for _, agent := range c.ws.Env.Agents {
		if len(o.Agents) > 0 && !slices.Contains(o.Agents, agent.Name()) {
			continue
		}
		ours, err := s.ours(agent)
		if err != nil {
			return s.out, err
		}
		s.out.Sessions += len(ours)
		if len(ours) == 0 {
			continue
		}
		if err := s.captureAll(agent, ours); err != nil {
			return s.out, err
		}
	}
	if len(o.Agents) == 0 {
		c.transcripts.heads.prune()
	}
	c.catalog.scan = nil
	if err := c.waiting.moveBack(o); err != nil {
		s.out.Errors = append(s.out.Errors, err)
	}
	return s.out, nil
}

// A syncRun is one sync of the agents' stores.
type syncRun struct {
	c       *Capture
	ctx     context.Context
	opts    SyncOptions
	at      *worktrees.Folders                 // the folders whose sessions belong to this workspace
	sources func() (map[sessionID]bool, error) // see findSources; the folder of a session usually decides
	out     *SyncResult

	foreign *foreignSessions
}

// ours lists the sessions of an agent that belong to this workspace.
func (s *syncRun) ours(agent inject.Agent) (ours []inject.SessionRef, err error) {
	natives, err := s.c.transcripts.sessions(agent)
	s.c.catalog.scan.located[agent.Name()] = locatedAmong(natives)
	if err != nil {
		s.out.Errors = append(s.out.Errors, err)
	}
	for _, n := range natives {
		if s.at.Contains(s.ctx, n) {
			ours = append(ours, n)
			continue
		}
		listed, err := s.isListed(sessionID{agent.Name(), n.NativeID})
		switch {
		case err != nil:
			return nil, err
		case listed:
			ours = append(ours, n)
		case s.gone(agent, n):
			s.out.Gone = append(s.out.Gone, n)
		case s.at.MayContain(n):
			s.out.Unsure = append(s.out.Unsure, n)
		}
	}
	return ours, nil
}

// isListed reports whether a conversation lists a session as a source. Only a sync that the
// user asked for looks at the conversations again if nothing seems to have changed since the
// last one.
func (s *syncRun) isListed(n sessionID) (bool, error) {
	if s.opts.Own && s.c.scans.isForeign(s.foreign, n) {
		return false, nil
	}
	ids, err := s.sources()
	if err != nil {
		return false, err
	}
	listed := ids[sessionID{n.agent, schema.PathElement(n.id)}]
	if !listed {
		s.foreign.add(n)
	}
	return listed, nil
}

// gone reports whether a session was captured in a work tree or clone that is gone, and git
// has none of its conversations: they were never committed, and git removes a work tree
// without asking even if it contains ignored files.
func (s *syncRun) gone(agent inject.Agent, n inject.SessionRef) bool {
	if !s.opts.Clones || s.c.ws.Removed.Skipped(agent.Name(), n.NativeID) {
		return false
	}
	known, err := s.c.ws.Registry.Sessions.Get(agent.Name(), n.NativeID)
	if err != nil || !slices.ContainsFunc(known.Bindings, func(b registry.Binding) bool {
		_, err := os.Stat(b.Workspace)
		return errors.Is(err, fs.ErrNotExist) && s.c.ws.Here.Same(b.Place)
	}) {
		return false
	}
	_, committed := s.c.catalog.inGit(agent.Name(), n.NativeID)
	return !committed
}

// findSources returns the sessions that conversations were captured from, with the file
// names derived from their ids. With Restore it includes sessions captured in a work tree
// that is gone with its conversations.
func (s *syncRun) findSources() (map[sessionID]bool, error) {
	named, err := s.c.catalog.scan.named()
	if err != nil {
		return nil, err
	}
	ids := map[sessionID]bool{}
	for of := range named {
		ids[sessionID{of.agent, schema.PathElement(of.id)}] = true
	}
	for _, agent := range s.c.ws.Env.Agents {
		if !s.opts.Restore {
			break
		}
		if err := s.c.ws.Registry.Sessions.Each(agent.Name(), func(name string, known registry.Session) {
			if len(known.In(s.c.ws.Here.Same)) > 0 {
				ids[sessionID{agent.Name(), name}] = true
			}
		}); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// captureAll captures sessions, oldest first, so that a fork comes after its original.
func (s *syncRun) captureAll(agent inject.Agent, list []inject.SessionRef) error {
	slices.SortStableFunc(list, func(a, b inject.SessionRef) int { return a.Updated.Compare(b.Updated) })
	seen := s.c.scans.read(agent.Name())
	s.c.catalog.scan.scanned[agent.Name()] = seen
	for i, n := range list {
		if err := s.ctx.Err(); err != nil {
			s.c.scans.write(agent, seen)
			return err
		}
		if s.opts.Progress != nil {
			s.opts.Progress(agent.Name(), i, len(list))
		}
		look := lookAt(agent, n.Path)
		adopted := s.opts.Adopt && seen.At[n.Path].Left
		if !s.opts.Restore && !adopted && !s.c.scans.needsLook(agent, n, &seen, look) || !s.opts.Until.IsZero() && lastWritten(agent, n).After(s.opts.Until) {
			continue
		}
		ours, err := s.capture(agent, n)
		if errors.Is(err, errElsewhere) {
			continue
		}
		if err != nil {
			if s.ctx.Err() != nil {
				s.c.scans.write(agent, seen)
				return s.ctx.Err()
			}
			s.out.Errors = append(s.out.Errors, err)
			continue
		}
		seen.add(agent, n, lookedOnce{Look: look, Left: !ours})
	}
	s.c.scans.write(agent, seen)
	return nil
}

// errElsewhere is returned for a session that is left to another work tree. The next sync
// looks at it again.
var errElsewhere = errors.New("held in another work tree")

// capture captures one session. The session is not ours if it begins no conversation and
// Adopt is not set.
func (s *syncRun) capture(agent inject.Agent, n inject.SessionRef) (ours bool, err error) {
	if s.c.ws.Removed.Skipped(agent.Name(), n.NativeID) {
		// If this fails, git's removals may look new once the user undoes the skip.
		_ = s.c.Locked(agent.Name(), n.NativeID, func() error { return s.noteSkipped(agent, n) })
		return true, nil
	}
	var b *binding.Binding
	err = s.c.Locked(agent.Name(), n.NativeID, func() (err error) {
		b, err = s.captureBound(agent, n)
		return err
	})
	if err != nil || len(b.Segments) > 0 {
		return true, err
	}
	if s.opts.Own && !s.c.location.owns(n) {
		return true, errElsewhere // the work tree that it was held in begins its conversation
	}
	if !s.opts.Adopt {
		if begins, err := s.c.begins(agent, n, b); err != nil || !begins {
			return false, err
		}
	}
	return true, s.importNew(agent, n)
}

// captureBound captures a session that goes into conversations. If the binding that it
// returns has no segments, the session goes into none. The caller holds the session's
// lock.
func (s *syncRun) captureBound(agent inject.Agent, n inject.SessionRef) (*binding.Binding, error) {
	b, err := s.c.bindListed(nativeSession{agent: agent, id: n.NativeID, transcript: n.Path})
	if err != nil {
		return b, err
	}
	if len(b.Segments) == 0 {
		recorded, ok := s.c.catalog.inGit(agent.Name(), n.NativeID)
		if !ok {
			return b, nil
		}
		b.Segments = []binding.Segment{recorded}
	}
	own := s.c.location.owns(n)
	if s.c.homes.elsewhere(b) && s.opts.mode() == Unasked && !own {
		s.out.Elsewhere++
		return b, nil // it is in another work tree
	}
	got, err := s.c.Ingest(s.ctx, agent, n.NativeID, b, Options{Mode: s.opts.mode(), OwnTree: own})
	if s.out.Appended += got.Appended; got.Appended > 0 {
		s.out.Grown++
	}
	s.out.Taken += got.Taken
	s.out.note(agent.Name(), got.Captured())
	for _, path := range got.Begun {
		im, countErr := s.c.importedIn(agent.Name(), path, &got)
		if err = errors.Join(err, countErr); countErr == nil {
			im.left = b.Stopped || path != b.CurrentSegment().Path
			s.out.New = append(s.out.New, *im)
		}
	}
	if err == nil && !b.Hooked && b.Bound() && own {
		at := b.CurrentSegment().Path
		_, err = s.c.NameCurrent(s.ctx, agent.Name(), n.NativeID, b, "")
		s.out.moved(at, b.CurrentSegment().Path)
	}
	return b, err
}

// importNew captures a session that begins a conversation.
func (s *syncRun) importNew(agent inject.Agent, n inject.SessionRef) error {
	im, err := s.c.NewImporter(ImportOptions{})
	if err != nil {
		return err
	}
	got, err := im.file(s.ctx, agent, n.Path, func(*inject.Transcript) error { return nil })
	if errors.As(err, new(*EmptyError)) {
		return nil // no messages yet
	}
	if err != nil {
		return err
	}
	for _, im := range got.Each() {
		im.left = im.left || im.Path != got.Path
		s.out.New = append(s.out.New, im)
		s.out.note(agent.Name(), map[string]int{im.Path: im.Appended})
	}
	return nil
}

// moved records that a conversation now has another folder.
func (r *SyncResult) moved(from, to string) {
	for i := range r.New {
		if r.New[i].Path == from {
			r.New[i].Path = to
		}
	}
	for i := range r.Captured {
		if r.Captured[i].Path == from {
			r.Captured[i].Path = to
		}
	}
}

// note adds the messages captured from an agent's session.
func (r *SyncResult) note(agent string, messages map[string]int) {
	for _, path := range slices.Sorted(maps.Keys(messages)) {
		if messages[path] > 0 {
			r.Captured = append(r.Captured, Captured{agent, path, messages[path]})
		}
	}
}

// begins reports whether a session without a conversation begins one: with a command or,
// if all sessions are captured, with its first answer. It reads only what was not
// searched before.
func (c *Capture) begins(agent inject.Agent, n inject.SessionRef, b *binding.Binding) (bool, error) {
	t, again, err := c.transcripts.open(agent, n.Path, inject.Options{From: b.Looked})
	if err != nil {
		return false, err
	}
	defer t.Close()
	b.Answered = b.Answered && !again || isAnswered(t)
	if t.Command != "" || c.ws.Config.CapturesAll() && b.Answered && (n.Dir != "" || c.location.holds(t.WorkingDir)) {
		return true, nil
	}
	b.Transcript, b.Looked, b.Seen = n.Path, t.Next, c.catalog.seen()
	c.SaveCursor(agent.Name(), n.NativeID, b)
	return false, nil
}

// isAnswered reports whether a model has said something in a transcript.
func isAnswered(t *inject.Transcript) bool { return t.Model != "" && t.LastReply != "" }

// Discover captures the sessions of this workspace that begin conversations without a
// hook, as in OpenCode without its plugin, and messages missed in other sessions. A new
// conversation becomes active.
func (c *Capture) Discover(ctx context.Context) (*SyncResult, error) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	out, err := c.DiscoverAll(ctx, SyncOptions{})
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // the rest is captured the next time
	}
	return out, err
}

// DiscoverAll is Discover with options and without a time limit.
func (c *Capture) DiscoverAll(ctx context.Context, o SyncOptions) (*SyncResult, error) {
	o.Own = true
	out, err := c.Sync(ctx, o)
	if err != nil {
		return out, err
	}
	recent := c.ws.Env.Now().Add(-time.Duration(max(c.ws.Config.IdleMinutes, 1)) * time.Minute)
	for _, got := range out.New {
		if got.left {
			continue
		}
		e, err := c.ws.Entry(got.Path)
		if err == nil && e.Session.LastActive.Time().After(recent) {
			_, err = c.ws.Status.Set(e, schema.Active)
		}
		if err != nil {
			out.Errors = append(out.Errors, err)
		}
	}
	return out, nil
}
