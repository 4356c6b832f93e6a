package flow

import (
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A conversation that was removed must not come back by itself from a transcript
// that the agent still has: a tombstone tells which parts of a native session
// belonged to it, and how a fork of that begins. It must outlive the cache.

// A tombstone is what is left of the conversations that a native session went into
// and that were removed.
type tombstone struct {
	Parts []part   `json:"parts"`
	Roots []string `json:"roots"` // lines that a fork of the session may begin with
}

const removedDir = ".workspace/local/kept/removed/"

func tombstoneName(agent, nativeID string) string {
	return removedDir + agent + "/" + schema.PathElement(nativeID) + ".json"
}

// Remove removes a conversation with its folder. What the agents' transcripts have
// of it is captured no more, until one is imported by name.
func (w *Workspace) Remove(e store.Entry) (err error) {
	// No hook may go on with one of its sessions meanwhile.
	sources := e.Session.Sources
	slices.SortFunc(sources, func(a, b schema.Source) int { return strings.Compare(a.Agent+a.NativeID, b.Agent+b.NativeID) })
	held := map[string]bool{}
	for _, src := range sources {
		if held[src.Agent+src.NativeID] {
			continue
		}
		held[src.Agent+src.NativeID] = true
		unlock, err := w.lockTie(src.Agent, src.NativeID, lockWait)
		if err != nil {
			return err
		}
		defer unlock()
	}
	c, err := w.Store.Conversation(e.Path)
	if err != nil {
		return err
	}
	roots := map[string][]string{}
	for _, src := range sources {
		roots[src.Agent+src.NativeID] = w.rootsOfSource(src.Agent, src.NativeID)
	}
	if err := errors.Join(c.Delete(), c.Close()); err != nil {
		return err
	}
	for _, src := range sources {
		t := w.readTombstone(src.Agent, src.NativeID)
		t.Parts = append(t.Parts, part{Path: e.Path, From: src.From, After: src.After})
		t.Roots = append(t.Roots, roots[src.Agent+src.NativeID]...)
		b, err := json.Marshal(t)
		if err == nil {
			err = w.Store.WriteFile(tombstoneName(src.Agent, src.NativeID), b)
		}
		if err == nil {
			err = w.Store.RemoveCache(tieName(src.Agent, src.NativeID))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rootsOfSource are the lines that a fork of a session may begin with.
func (w *Workspace) rootsOfSource(name, nativeID string) []string {
	if t, ok := w.readTie(name, nativeID); ok && len(t.Roots) > 0 {
		return t.Roots
	}
	agent, ok := w.agent(name)
	if !ok {
		return nil
	}
	file, ok := agent.Locate(w.env.Machine, nativeID)
	if !ok {
		return nil
	}
	return rootsOf(agent, file)
}

// readTombstone returns what is left of a session. One that cannot be read stands
// for all of the session: what was removed must not come back.
func (w *Workspace) readTombstone(agent, nativeID string) (t tombstone) {
	b, err := w.Store.ReadFile(tombstoneName(agent, nativeID))
	if errors.Is(err, store.ErrNotFound) {
		return t
	}
	if err != nil || json.Unmarshal(b, &t) != nil {
		return tombstone{Parts: []part{{}}}
	}
	return t
}

// removedParts are the parts of a native session whose conversations were removed.
func (w *Workspace) removedParts(agent, nativeID string) []part {
	parts := w.readTombstone(agent, nativeID).Parts
	for i := range parts {
		parts[i].Removed = true
	}
	return parts
}

// forkOfRemoved reports whether a session that begins with the line root is a fork
// of one whose conversation was removed.
func (w *Workspace) forkOfRemoved(agent inject.Agent, root string) bool {
	dir := removedDir + agent.Name
	for _, name := range w.Store.ListFiles(dir) {
		var t tombstone
		b, err := w.Store.ReadFile(path.Join(dir, name))
		if err == nil && json.Unmarshal(b, &t) == nil && slices.Contains(t.Roots, root) {
			return true
		}
	}
	return false
}

// bringBack lets a session be captured again, all of it.
func (w *Workspace) bringBack(agent, nativeID string) error {
	name := tombstoneName(agent, nativeID)
	if ok, err := w.Store.Exists(name); err != nil || !ok {
		return err
	}
	return errors.Join(w.Store.RemoveFile(name), w.Store.RemoveCache(tieName(agent, nativeID)))
}
