package capture

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
)

// Bindings keeps the bindings of native sessions: their segments in the user's registry,
// and all of each in the cache.
type Bindings struct {
	ws       *workspace.Workspace
	location *location
	warnings *warnings
}

func bindingName(agent, nativeID string) string {
	return "bindings/" + agent + "/" + schema.PathElement(nativeID) + ".json"
}

// cached returns the binding in the cache; an inconsistent one counts as missing.
func (bs *Bindings) cached(agent, nativeID string) (*Binding, bool) {
	b, ok := bs.at(bindingName(agent, nativeID))
	if ok && b.Transcript != bs.ws.Registry.Reached(bs.ws.Here.Workspace(), agent, nativeID).Transcript {
		b.Transcript = "" // only the cache claims that it is the session's
	}
	return b, ok
}

func (bs *Bindings) at(name string) (*Binding, bool) {
	raw, ok := bs.ws.Store.ReadCache(name)
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
	return bs.ws.Store.LockCache(bindingName(agent, nativeID), wait)
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
	err := bs.register(agent, nativeID, b)
	bs.saveCursor(agent, nativeID, b)
	return err
}

// saveCursor is Save for a binding whose segments have not changed.
func (bs *Bindings) saveCursor(agent, nativeID string, b *Binding) {
	if at := b.reached; at.Message != "" {
		at.Hooked, at.Transcript = b.Hooked, b.Transcript
		_ = bs.ws.Registry.Reach(bs.ws.Here.Workspace(), agent, nativeID, at)
	}
	if raw, err := json.Marshal(b); err == nil {
		_ = bs.ws.Store.WriteCache(bindingName(agent, nativeID), raw)
	}
}

func (bs *Bindings) register(agent, nativeID string, b *Binding) error {
	known, err := bs.ws.Registry.Session(agent, nativeID)
	if err != nil {
		return err
	}
	var live []registry.Segment
	registered := known.In(bs.ws.Here.Same)
	for _, s := range b.Segments {
		// A removal recorded in this work tree may not be in others, as after a stash.
		if !s.Removed || slices.Contains(registered, s.Segment) {
			live = append(live, s.Segment)
		}
	}
	if len(live) == 0 || slices.Equal(registered, live) {
		return nil
	}
	err = bs.ws.Registry.Update(agent, nativeID, func(s *registry.Session) { s.Bind(bs.ws.Here.Place(), bs.ws.Here.Same, live) })
	bs.warnings.unregistered(errors.Join(err, bs.location.note()))
	return nil
}

// Release unbinds a session from a conversation if it has no messages.
func (bs *Bindings) Release(agent, nativeID, path string) error {
	err := bs.ws.Registry.Update(agent, nativeID, func(s *registry.Session) {
		s.Bindings = slices.DeleteFunc(s.Bindings, func(b registry.Binding) bool {
			return bs.ws.Here.Same(b.Place) && len(b.Segments) == 1 && b.Segments[0].Path == path
		})
	})
	return errors.Join(err, bs.Drop(agent, nativeID))
}

// Grown reports whether a session's transcript has grown since it was captured.
func (bs *Bindings) Grown(agent inject.Agent, nativeID string) bool {
	b, ok := bs.cached(agent.Name, nativeID)
	return ok && b.Grown(agent)
}

// Drop drops the cached data about a session.
func (bs *Bindings) Drop(agent, nativeID string) error {
	return bs.ws.Store.RemoveCache(bindingName(agent, nativeID))
}

// all lists the cached bindings.
func (bs *Bindings) all(agent string) map[string]*Binding {
	list := map[string]*Binding{}
	for _, name := range bs.ws.Store.ListCache("bindings/" + agent) {
		if b, ok := bs.at("bindings/" + agent + "/" + name); ok {
			list[name] = b
		}
	}
	return list
}
