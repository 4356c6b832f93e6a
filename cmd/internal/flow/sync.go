package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// SyncOptions say what is looked for in the agents' stores.
type SyncOptions struct {
	Agents []string // names; none: all
	Was    []string // absolute folders that the work tree was in before

	// Adopt captures also what no /workspace command began.
	Adopt bool

	// Clones looks also for conversations that were held in other clones of the
	// repository.
	Clones bool

	// Until leaves out sessions in which something happened after it; the zero time
	// leaves out none.
	Until time.Time

	Progress func(agent string, done, total int)
}

// A Synced says what was found in the agents' stores.
type Synced struct {
	Sessions int        // of this workspace
	New      []Imported // conversations that were not here
	Grown    int        // sessions that had more than was captured
	Appended int        // messages of those
	Unsure   []inject.Native
	Errors   []error // what could not be read or captured; the rest is
}

// Sync captures what the agents' stores on this machine have of this workspace's
// conversations and is not here. What the user removed or does not want saved is
// left alone.
func (w *Workspace) Sync(ctx context.Context, o SyncOptions) (*Synced, error) {
	for _, name := range o.Agents {
		if _, ok := w.agent(name); !ok {
			return nil, &AgentError{Agent: name, Known: w.agents()}
		}
	}
	out := &Synced{}
	if err := w.notePlace(); err != nil {
		out.Errors = append(out.Errors, err)
	}
	out.Errors = append(out.Errors, w.CleanUp(context.WithoutCancel(ctx))...)
	at := w.places(ctx, o.Was, o.Clones)
	known := sync.OnceValues(w.sources) // most often the folder tells
	for _, agent := range w.env.Agents {
		if agent.Sessions == nil || len(o.Agents) > 0 && !slices.Contains(o.Agents, agent.Name) {
			continue
		}
		natives, err := agent.Sessions(w.env.Machine)
		if err != nil {
			out.Errors = append(out.Errors, err)
		}
		var ours []inject.Native
		for _, n := range natives {
			if at.hold(ctx, n) {
				ours = append(ours, n)
				continue
			}
			ids, err := known()
			switch {
			case err != nil:
				return nil, err
			case ids[agent.Name+"\n"+n.NativeID]:
				ours = append(ours, n)
			case at.mayHold(n):
				out.Unsure = append(out.Unsure, n)
			}
		}
		out.Sessions += len(ours)
		if len(ours) == 0 {
			continue
		}
		if err := w.syncSessions(ctx, agent, ours, o, out); err != nil {
			return out, err
		}
	}
	if out.Sessions > 0 {
		w.keepIDs()
	}
	return out, nil
}

// sources are the sessions that the conversations were captured from, each as its
// agent, a line end, and its id.
func (w *Workspace) sources() (map[string]bool, error) {
	all, err := w.Store.List()
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, e := range all {
		for _, src := range e.Session.Sources {
			ids[src.Agent+"\n"+src.NativeID] = true
		}
	}
	return ids, nil
}

// syncSessions captures sessions, the oldest first, so that a fork comes after
// what it was made from.
func (w *Workspace) syncSessions(ctx context.Context, agent inject.Agent, list []inject.Native, o SyncOptions, out *Synced) error {
	slices.SortStableFunc(list, func(a, b inject.Native) int { return a.Updated.Compare(b.Updated) })
	seen := w.readLooked(agent.Name)
	im := &Importer{}
	w.syncing = &syncing{all: sync.OnceValues(w.Store.List), roots: map[string]map[string]bool{}}
	defer func() { w.syncing = nil }()
	for i, n := range list {
		if err := ctx.Err(); err != nil {
			w.writeLooked(agent.Name, seen)
			return err
		}
		if o.Progress != nil {
			o.Progress(agent.Name, i, len(list))
		}
		if seen.has(n, o.Adopt) || !o.Until.IsZero() && n.Updated.After(o.Until) {
			continue
		}
		ours, err := w.rescue(ctx, im, agent, n, o.Adopt, out)
		if err != nil {
			if ctx.Err() != nil {
				w.writeLooked(agent.Name, seen)
				return ctx.Err()
			}
			out.Errors = append(out.Errors, err)
			continue
		}
		seen.add(n, ours)
	}
	w.writeLooked(agent.Name, seen)
	return nil
}

// Discover captures the conversations of this workspace that a /workspace command
// began where no hook told of it, as in OpenCode without its plugin, and what was
// missed of others. One that has just begun is active.
func (w *Workspace) Discover(ctx context.Context) (*Synced, error) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	out, err := w.discover(ctx, SyncOptions{})
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // the rest comes the next time
	}
	return out, err
}

func (w *Workspace) discover(ctx context.Context, o SyncOptions) (*Synced, error) {
	out, err := w.Sync(ctx, o)
	if err != nil {
		return out, err
	}
	recent := w.env.Now().Add(-time.Duration(max(w.Config.IdleMinutes, 1)) * time.Minute)
	for _, got := range out.New {
		e, err := w.entry(got.Path)
		if err == nil && e.Session.LastActive.Time().After(recent) {
			_, err = w.SetStatus(e, schema.Active)
		}
		if err != nil {
			out.Errors = append(out.Errors, err)
		}
	}
	return out, nil
}

// rescue captures one session. It is not ours where no command began it and it is
// not to be adopted.
func (w *Workspace) rescue(ctx context.Context, im *Importer, agent inject.Agent, n inject.Native, adopt bool, out *Synced) (ours bool, err error) {
	if w.skipped(agent.Name, n.NativeID) {
		return true, nil
	}
	var t *tie
	err = w.locked(agent, inject.Event{NativeID: n.NativeID}, lockWait, func() (err error) {
		if t, err = w.tieOf(agent, n.NativeID, n.Path); err != nil || len(t.Parts) == 0 || !t.grown(agent) {
			return err
		}
		count, err := w.follow(ctx, agent, n.NativeID, t)
		if out.Appended += count; count > 0 {
			out.Grown++
		}
		return err
	})
	if err != nil || len(t.Parts) > 0 {
		return true, err
	}
	if !adopt {
		if begun, err := w.begunIn(agent, n, t); err != nil || !begun {
			return false, err
		}
	}
	if im.w == nil {
		fresh, err := w.NewImporter(ImportOptions{})
		if err != nil {
			return true, err
		}
		*im = *fresh
	}
	got, err := im.File(ctx, agent, n.Path)
	var empty *EmptyError
	if errors.As(err, &empty) {
		return true, nil // nothing was said in it yet
	}
	if err != nil {
		return true, err
	}
	out.New = append(out.New, *got)
	return true, nil
}

// begunIn reports whether a session that is in no conversation has a command that
// begins one. What was looked through before is not read again.
func (w *Workspace) begunIn(agent inject.Agent, n inject.Native, t *tie) (bool, error) {
	tr, err := w.readOn(agent, n.Path, t.Looked, false)
	if err != nil {
		return false, err
	}
	defer tr.Close()
	if tr.Command == "" {
		t.Transcript, t.Looked, t.Seen = n.Path, tr.Next, w.conversationsSeen()
		w.writeTie(agent.Name, n.NativeID, t)
	}
	return tr.Command != "", nil
}

// looked is what the cache knows of sessions that were looked at: when each was
// updated last. A session that has not changed since needs no second look.
type looked struct {
	Seen    string           `json:"seen"`    // the conversations that there were
	Updated map[string]int64 `json:"updated"` // by the path of the transcript, in nanoseconds; some agents split a session over files
	Left    map[string]bool  `json:"left"`    // by the path: no command began it, who adopts looks again
}

func lookedName(agent string) string { return fmt.Sprintf("looked/%s.json", agent) }

func (w *Workspace) readLooked(agent string) looked {
	var l looked
	b, ok := w.Store.ReadCache(lookedName(agent))
	if !ok || json.Unmarshal(b, &l) != nil || l.Seen != w.conversationsSeen() || l.Updated == nil || l.Left == nil {
		l = looked{Updated: map[string]int64{}, Left: map[string]bool{}}
	}
	return l
}

func (l *looked) has(n inject.Native, adopt bool) bool {
	return !n.Updated.IsZero() && l.Updated[n.Path] == n.Updated.UnixNano() && !(adopt && l.Left[n.Path])
}

func (l *looked) add(n inject.Native, ours bool) {
	l.Updated[n.Path] = n.Updated.UnixNano()
	delete(l.Left, n.Path)
	if !ours {
		l.Left[n.Path] = true
	}
}

// writeLooked remembers what was looked at. A failure costs the next look time only.
func (w *Workspace) writeLooked(agent string, l looked) {
	l.Seen = w.conversationsSeen()
	if b, err := json.Marshal(l); err == nil {
		_ = w.Store.WriteCache(lookedName(agent), b)
	}
}

// syncing is what is known while many sessions are looked at, so that it is not
// found out for each of them again.
type syncing struct {
	all   func() ([]store.Entry, error) // the conversations that there were
	roots map[string]map[string]bool    // by agent: the lines that sessions of ours begin with
}

// entries are the conversations; while many sessions are looked at, those that
// there were at first: what has come since is in the cache.
func (w *Workspace) entries() ([]store.Entry, error) {
	if w.syncing != nil {
		return w.syncing.all()
	}
	return w.Store.List()
}

// mayBeFork reports whether a session that begins with the line root may be a fork
// of one of ours. It is sure of the contrary only while many are looked at.
func (w *Workspace) mayBeFork(agent inject.Agent, root string) bool {
	if w.syncing == nil {
		return true
	}
	known := w.syncing.roots[agent.Name]
	if known == nil {
		all, err := w.syncing.all()
		if err != nil {
			return true
		}
		known = map[string]bool{}
		for _, t := range w.ties(agent.Name) {
			for _, root := range t.Roots {
				known[root] = known[root] || len(t.Parts) > 0
			}
		}
		for _, e := range all {
			for _, src := range e.Session.Sources {
				if _, ok := w.readTie(agent.Name, src.NativeID); !ok && src.Agent == agent.Name {
					for _, root := range w.rootsOfSource(agent.Name, src.NativeID) {
						known[root] = true
					}
				}
			}
		}
		w.syncing.roots[agent.Name] = known
	}
	if known[root] {
		return true
	}
	known[root] = true // the next that begins so may be a fork of this one
	return false
}
