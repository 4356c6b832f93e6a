package flow

import (
	"encoding/json"
	"errors"

	"cortext/store"
)

// A conversation that was removed must not come back by itself from a transcript
// that the agent still has: a tombstone tells which parts of a native session
// belonged to it. It must outlive the cache.

func tombstone(agent, nativeID string) string {
	return ".workspace/local/kept/removed/" + agent + "/" + store.NativeName(nativeID) + ".json"
}

// Remove removes a conversation with its folder. What the agents' transcripts have
// of it is captured no more, until one is imported by name.
func (w *Workspace) Remove(e store.Entry) error {
	for _, src := range e.Session.Sources {
		parts := append(w.removedParts(src.Agent, src.NativeID), part{Path: e.Path, From: src.From, After: src.After, Removed: true})
		b, err := json.Marshal(parts)
		if err == nil {
			err = w.Store.WriteFile(tombstone(src.Agent, src.NativeID), b)
		}
		if err == nil {
			err = w.Store.RemoveCache(tieName(src.Agent, src.NativeID))
		}
		if err != nil {
			return err
		}
	}
	c, err := w.Store.Conversation(e.Path)
	if err != nil {
		return err
	}
	return errors.Join(c.Delete(), c.Close())
}

// removedParts are the parts of a native session whose conversations were removed.
func (w *Workspace) removedParts(agent, nativeID string) (parts []part) {
	b, err := w.Store.ReadFile(tombstone(agent, nativeID))
	if err != nil || json.Unmarshal(b, &parts) != nil {
		return nil
	}
	for i := range parts {
		parts[i].Removed = true
	}
	return parts
}

// bringBack lets a session be captured again.
func (w *Workspace) bringBack(agent, nativeID string) error {
	name := tombstone(agent, nativeID)
	if ok, err := w.Store.Exists(name); err != nil || !ok {
		return err
	}
	return errors.Join(w.Store.RemoveFile(name), w.Store.RemoveCache(tieName(agent, nativeID)))
}
