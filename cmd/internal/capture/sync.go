package capture

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
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

	// Restore puts back what git took from the work tree.
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
	Taken     int        // messages that git took from the work tree
	Unsure    []inject.SessionRef
	Errors    []error // what could not be read or captured; the rest was
}

// Captured says how many messages of a conversation were captured from an agent's
// session.
type Captured struct {
	Agent    string
	Path     string
	Messages int
}

// A scan caches lookups while many sessions are processed.
type scan struct {
	all   func() ([]store.Entry, error)     // the conversations at the start
	named func() (map[native]string, error) // conversations by session: see namedAmong
	seen  string
	roots map[string]map[string]bool // by agent: the first lines of our sessions
	inGit func() map[string]inBranch

	located map[string]located // by agent: all transcripts
	scanned map[string]scanned // by agent: sessions looked at before

	unwanted map[string]unwanted // by agent
}

func (c *Capture) newScan(list func() ([]store.Entry, error)) *scan {
	all := sync.OnceValues(list)
	return &scan{
		all: all, seen: c.ws.IDs.Seen(), roots: map[string]map[string]bool{}, unwanted: map[string]unwanted{},
		located: map[string]located{}, scanned: map[string]scanned{},
		named: sync.OnceValues(func() (map[native]string, error) {
			entries, err := all()
			return namedAmong(entries), err
		}),
	}
}

// entriesOf returns at least the conversations that list a native session as a source.
func (c *Capture) entriesOf(nativeID string) ([]store.Entry, error) {
	if c.scan != nil {
		return c.scan.all()
	}
	return c.ws.Store.ListAny(func(k store.Known) bool { return k.Has(nativeID) })
}

// entries returns the conversations. During a scan it returns those that existed at the
// start; later ones are in the cache.
func (c *Capture) entries() ([]store.Entry, error) {
	if c.scan != nil {
		return c.scan.all()
	}
	return c.ws.Store.List()
}

// Sync captures the messages of this workspace's sessions that the agents' stores on this
// machine have and the workspace lacks. It leaves alone what the user removed or skipped
// and, without Restore, puts back nothing that git took from the work tree.
func (c *Capture) Sync(ctx context.Context, o SyncOptions) (*SyncResult, error) {
	for _, name := range o.Agents {
		if _, ok := c.ws.Env.Agent(name); !ok {
			return nil, &AgentError{Agent: name, Known: c.ws.Env.AgentNames()}
		}
	}
	out := &SyncResult{}
	if o.Adopt {
		if err := c.noteRoot(); err != nil {
			out.Errors = append(out.Errors, err)
		}
	}
	at := c.findRoots(ctx, o.Was, o.Clones)
	if o.Clones {
		c.ws.Here.KnowClones(ctx)
	}
	c.scan = c.newScan(c.ws.Store.List)
	defer func() { c.scan = nil; c.writeHeads() }()
	c.ws.Store.Remember()
	c.scan.inGit = sync.OnceValue(func() map[string]inBranch { return c.sourcesInGit(ctx) })
	known := sync.OnceValues(func() (map[native]bool, error) { // the folder usually decides
		named, err := c.scan.named()
		if err != nil {
			return nil, err
		}
		return c.sources(named, o.Restore)
	})
	for _, agent := range c.ws.Env.Agents {
		if len(o.Agents) > 0 && !slices.Contains(o.Agents, agent.Name()) {
			continue
		}
		natives, err := c.sessions(agent)
		c.scan.located[agent.Name()] = locatedAmong(natives)
		if err != nil {
			out.Errors = append(out.Errors, err)
		}
		var ours []inject.SessionRef
		for _, n := range natives {
			if at.contains(ctx, n) {
				ours = append(ours, n)
				continue
			}
			ids, err := known()
			switch {
			case err != nil:
				return nil, err
			case ids[native{agent.Name(), schema.PathElement(n.NativeID)}]:
				ours = append(ours, n)
			case at.mayContain(n):
				out.Unsure = append(out.Unsure, n)
			}
		}
		out.Sessions += len(ours)
		if len(ours) == 0 {
			continue
		}
		if err := c.syncSessions(ctx, agent, ours, o, out); err != nil {
			return out, err
		}
	}
	if len(o.Agents) == 0 {
		c.readHeads().prune()
	}
	c.scan = nil
	if err := c.settle(o.Restore); err != nil {
		out.Errors = append(out.Errors, err)
	}
	if out.Sessions > 0 {
		c.ws.IDs.Keep()
	}
	return out, nil
}

// sources returns the sessions that conversations were captured from, by the file names
// derived from their ids. With restore it includes sessions captured in a work tree that
// is gone with its conversations.
func (c *Capture) sources(named map[native]string, restore bool) (map[native]bool, error) {
	ids := map[native]bool{}
	for of := range named {
		ids[native{of.agent, schema.PathElement(of.id)}] = true
	}
	for _, agent := range c.ws.Env.Agents {
		if !restore {
			break
		}
		if err := c.ws.Registry.Sessions(agent.Name(), func(name string, s registry.Session) {
			if len(s.In(c.ws.Here.Same)) > 0 {
				ids[native{agent.Name(), name}] = true
			}
		}); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// syncSessions captures sessions, oldest first, so that a fork comes after its original.
func (c *Capture) syncSessions(ctx context.Context, agent inject.Agent, list []inject.SessionRef, o SyncOptions, out *SyncResult) error {
	slices.SortStableFunc(list, func(a, b inject.SessionRef) int { return a.Updated.Compare(b.Updated) })
	seen := c.readScanned(agent.Name())
	c.scan.scanned[agent.Name()] = seen
	for i, n := range list {
		if err := ctx.Err(); err != nil {
			c.writeScanned(agent, seen)
			return err
		}
		if o.Progress != nil {
			o.Progress(agent.Name(), i, len(list))
		}
		look := lookAt(agent, n.Path)
		adopted := o.Adopt && seen.At[n.Path].Left
		if !o.Restore && !adopted && !c.needsLook(agent, n, &seen, look) || !o.Until.IsZero() && lastWritten(agent, n).After(o.Until) {
			continue
		}
		ours, err := c.syncSession(ctx, agent, n, o, out)
		if errors.Is(err, errElsewhere) {
			continue
		}
		if err != nil {
			if ctx.Err() != nil {
				c.writeScanned(agent, seen)
				return ctx.Err()
			}
			out.Errors = append(out.Errors, err)
			continue
		}
		seen.add(agent, n, lookedOnce{Look: look, Left: !ours})
	}
	c.writeScanned(agent, seen)
	return nil
}

// errElsewhere is returned for a session that is left to another work tree. The next sync
// looks at it again.
var errElsewhere = errors.New("held in another work tree")

// syncSession captures one session. The session is not ours if it begins no conversation
// and Adopt is not set.
func (c *Capture) syncSession(ctx context.Context, agent inject.Agent, n inject.SessionRef, o SyncOptions, out *SyncResult) (ours bool, err error) {
	if c.ws.Removed.Skipped(agent.Name(), n.NativeID) {
		return true, nil
	}
	var b *Binding
	err = c.Locked(agent.Name(), n.NativeID, func() (err error) {
		if b, err = c.BindListed(agent, n.NativeID, n.Path); err != nil {
			return err
		}
		if len(b.Segments) == 0 {
			if s, ok := c.inGit(agent.Name(), n.NativeID); ok {
				b.Segments = []Segment{s}
			}
		}
		if len(b.Segments) == 0 {
			return nil
		}
		if c.elsewhere(b) && o.mode() == Unasked && !c.ownsSession(n) {
			out.Elsewhere++
			return nil // it is in another work tree
		}
		got, err := c.Ingest(ctx, agent, n.NativeID, b, Options{Mode: o.mode(), Held: c.ownsSession(n)})
		if out.Appended += got.Appended; got.Appended > 0 {
			out.Grown++
		}
		out.Taken += got.Taken
		out.note(agent.Name(), got.Captured())
		for _, path := range got.Begun {
			im, countErr := c.importedIn(agent.Name(), path, &got)
			if err = errors.Join(err, countErr); countErr == nil {
				im.left = b.Stopped || path != b.CurrentSegment().Path
				out.New = append(out.New, *im)
			}
		}
		if err == nil && !b.Hooked && b.Bound() && c.ownsSession(n) {
			at := b.CurrentSegment().Path
			_, err = c.NameCurrent(ctx, agent.Name(), n.NativeID, b, "")
			out.moved(at, b.CurrentSegment().Path)
		}
		return err
	})
	if err != nil || len(b.Segments) > 0 {
		return true, err
	}
	if o.Own && !c.ownsSession(n) {
		return true, errElsewhere // the work tree that it was held in begins its conversation
	}
	if !o.Adopt {
		if begins, err := c.begins(agent, n, b); err != nil || !begins {
			return false, err
		}
	}
	im, err := c.NewImporter(ImportOptions{})
	if err != nil {
		return true, err
	}
	got, err := im.file(ctx, agent, n.Path, func(*inject.Transcript) error { return nil })
	var empty *EmptyError
	if errors.As(err, &empty) {
		return true, nil // no messages yet
	}
	if err != nil {
		return true, err
	}
	for _, im := range got.Each() {
		im.left = im.left || im.Path != got.Path
		out.New = append(out.New, im)
		out.note(agent.Name(), map[string]int{im.Path: im.Appended})
	}
	return true, nil
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
func (c *Capture) begins(agent inject.Agent, n inject.SessionRef, b *Binding) (bool, error) {
	t, again, err := c.readOn(agent, n.Path, b.Looked, false)
	if err != nil {
		return false, err
	}
	defer t.Close()
	b.Answered = b.Answered && !again || isAnswered(t)
	if t.Command != "" || c.all() && b.Answered && (n.Dir != "" || c.isHeldHere(t.WorkingDir)) {
		return true, nil
	}
	b.Transcript, b.Looked, b.Seen = n.Path, t.Next, c.seen()
	c.saveCursor(agent.Name(), n.NativeID, b)
	return false, nil
}

// all reports whether sessions without commands are captured, too.
func (c *Capture) all() bool { return c.ws.Config.Capture == workspace.CaptureAll }

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
			_, err = c.ws.SetStatus(e, schema.Active)
		}
		if err != nil {
			out.Errors = append(out.Errors, err)
		}
	}
	return out, nil
}
