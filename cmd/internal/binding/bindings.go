package binding

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/registry"
	"cortext/schema"
	"cortext/store"
)

// Bindings keeps the bindings of the native sessions of a workspace: their segments in the
// user's registry, and everything in the cache. The cache alone is never trusted: its
// segments count only if the registry has them, its cursor only if the logs confirm it.
type Bindings struct {
	store      *store.Store
	registry   registry.Registry
	here       *registry.Here
	registered func(error)
}

// In returns the bindings of a workspace. registered is called with the result each time
// the segments of a session are written to the registry.
func In(st *store.Store, r registry.Registry, here *registry.Here, registered func(error)) *Bindings {
	return &Bindings{st, r, here, registered}
}

func folder(agent string) string { return "bindings/" + agent + "/" }

func fileOf(agent, nativeID string) string {
	return folder(agent) + schema.PathElement(nativeID) + ".json"
}

// Names lists the sessions of an agent that have cached bindings, each by the
// [schema.PathElement] of its native id.
func (bs *Bindings) Names(agent string) []string {
	names := bs.store.ListCache(strings.TrimSuffix(folder(agent), "/"))
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], ".json")
	}
	return names
}

// Named returns the cached binding of the session with a name that Names lists.
func (bs *Bindings) Named(agent, name string) (*Binding, bool) { return bs.read(fileOf(agent, name)) }

// Look describes the state of the file of the session with a name that Names lists, without
// opening it. It returns "" if the file may change without a visible difference.
func (bs *Bindings) Look(agent, name string) string {
	return bs.store.LookCache(fileOf(agent, name))
}

// Cached returns the binding in the cache; an inconsistent one counts as missing.
func (bs *Bindings) Cached(agent, nativeID string) (*Binding, bool) {
	b, ok := bs.read(fileOf(agent, nativeID))
	if ok && b.Transcript != bs.registry.Progress(bs.here.Workspace()).Of(agent, nativeID).Transcript {
		b.Transcript = "" // only the cache claims that it is the session's
	}
	return b, ok
}

func (bs *Bindings) read(name string) (*Binding, bool) {
	raw, ok := bs.store.ReadCache(name)
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
func (bs *Bindings) Lock(agent, nativeID string, wait time.Duration) (unlock func(), err error) {
	return bs.store.LockCache(fileOf(agent, nativeID), wait)
}

// Locked calls f while no other process works on the session.
func (bs *Bindings) Locked(agent, nativeID string, f func() error) error {
	unlock, err := bs.Lock(agent, nativeID, LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	return f()
}

// Save stores a binding: its segments in the user's registry, and all of it in the cache.
// If the cache write fails, the next reader only takes longer.
func (bs *Bindings) Save(agent, nativeID string, b *Binding) error {
	err := bs.Register(agent, nativeID, b)
	bs.SaveCursor(agent, nativeID, b)
	return err
}

// SaveCursor is Save for a binding whose segments have not changed.
func (bs *Bindings) SaveCursor(agent, nativeID string, b *Binding) {
	if at := b.Reached; at.Message != "" {
		at.Hooked, at.Transcript = b.Hooked, b.Transcript
		_ = bs.registry.Progress(bs.here.Workspace()).Set(agent, nativeID, at)
	}
	if raw, err := json.Marshal(b); err == nil {
		_ = bs.store.WriteCache(fileOf(agent, nativeID), raw)
	}
}

// Register stores the segments of a binding in the user's registry.
func (bs *Bindings) Register(agent, nativeID string, b *Binding) error {
	known, err := bs.registry.Sessions.Get(agent, nativeID)
	if err != nil {
		return err
	}
	var live []registry.Segment
	registered := known.In(bs.here.Same)
	for _, s := range b.Segments {
		// A removal recorded in this work tree may not be in others, as after a stash.
		if !s.Removed || slices.Contains(registered, s.Segment) {
			live = append(live, s.Segment)
		}
	}
	if len(live) == 0 || slices.Equal(registered, live) {
		return nil
	}
	place := bs.registry.Workspaces.Place(bs.here) // with what finds the session from a clone once this one is deleted
	err = bs.registry.Sessions.Update(agent, nativeID, func(s *registry.Session) { s.Bind(place, bs.here.Same, live) })
	bs.registered(err)
	return nil
}

// Release unbinds a session from a conversation if it has no messages.
func (bs *Bindings) Release(agent, nativeID, path string) error {
	err := bs.registry.Sessions.Update(agent, nativeID, func(s *registry.Session) {
		s.Bindings = slices.DeleteFunc(s.Bindings, func(b registry.Binding) bool {
			return bs.here.Same(b.Place) && len(b.Segments) == 1 && b.Segments[0].Path == path
		})
	})
	return errors.Join(err, bs.Drop(agent, nativeID))
}

// Drop drops the cached data about a session.
func (bs *Bindings) Drop(agent, nativeID string) error {
	return bs.store.RemoveCache(fileOf(agent, nativeID))
}

// All returns the cached bindings of an agent by the names that Names lists.
func (bs *Bindings) All(agent string) map[string]*Binding {
	list := map[string]*Binding{}
	for _, name := range bs.Names(agent) {
		if b, ok := bs.Named(agent, name); ok {
			list[name] = b
		}
	}
	return list
}
