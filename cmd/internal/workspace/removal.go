package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"cortext/cmd/internal/registry"
	"cortext/schema"
	"cortext/store"
)

// What the user decides about native sessions: one that is skipped is left alone,
// and what belonged to a removed conversation is not captured again. Both hold for
// the user, in every work tree and clone on the machine; a removal is also recorded
// in the repository, as hashes, for other machines. Only an explicit command of the
// user's takes a decision back.

// Before version 1.2 the decisions were kept in each work tree. What is there still
// counts.
const (
	oldSkippedDir = ".workspace/local/kept/skipped/"
	oldRemovedDir = ".workspace/local/kept/removed/"
)

// RemovedDir holds a small file for each removed conversation (FORMAT.md, "Files").
const RemovedDir = ".workspace/removed"

func oldSkipName(agent, nativeID string) string {
	return oldSkippedDir + agent + "/" + schema.PathElement(nativeID)
}

func oldRemovedName(agent, nativeID string) string {
	return oldRemovedDir + agent + "/" + schema.PathElement(nativeID) + ".json"
}

// Skip leaves a native session alone from now on.
func (w *Workspace) Skip(agent, nativeID string) error {
	return w.Registry.Update(agent, nativeID, func(s *registry.Session) { s.Skipped = true })
}

// Skipped reports whether the user does not want a native session saved. If the
// registry cannot be read it says no: whoever captures reads the registry again, and
// fails with the reason instead of passing over the session in silence.
func (w *Workspace) Skipped(agent, nativeID string) bool {
	if s, err := w.Registry.Session(agent, nativeID); err == nil && s.Skipped {
		return true
	}
	ok, err := w.Store.Exists(oldSkipName(agent, nativeID))
	return ok && err == nil
}

// Unskip takes a Skip back.
func (w *Workspace) Unskip(agent, nativeID string) error {
	s, err := w.Registry.Session(agent, nativeID)
	if err == nil && s.Skipped {
		err = w.Registry.Update(agent, nativeID, func(s *registry.Session) { s.Skipped = false })
	}
	return errors.Join(err, w.Store.RemoveFile(oldSkipName(agent, nativeID)))
}

// Forget removes a conversation with its folder and notes that what the agents'
// transcripts have of it is not to be captured again. roots are, by agent and native
// id (joined by a line end), the lines that forks of its sessions may begin with.
func (w *Workspace) Forget(ctx context.Context, e store.Entry, roots map[string][]string) error {
	if op := w.GitOperation(); op != "" {
		return fmt.Errorf("git is in the middle of a %s: finish or abort it, then remove the conversation", op)
	}
	place := w.KnowClones(ctx)
	// The word is noted first: a kill after it leaves a folder that the user sees,
	// never one that comes back.
	for _, src := range e.Session.Sources {
		gone := registry.Removal{
			Place:   place,
			Segment: registry.Segment{Path: e.Path, ID: e.Session.ID, From: src.From, After: src.After},
			Roots:   roots[src.Agent+"\n"+src.NativeID],
		}
		if err := w.Registry.Update(src.Agent, src.NativeID, func(s *registry.Session) {
			s.Removed = append(s.Removed, gone)
			s.Bindings = slices.DeleteFunc(s.Bindings, func(b registry.Binding) bool { return w.SamePlace(b.Place) })
		}); err != nil {
			return err
		}
	}
	if err := w.Registry.Remove(schema.IDKey(e.Session.ID), place); err != nil {
		return err
	}
	if err := w.writeRemoval(e); err != nil {
		return err
	}
	for _, name := range append([]string{e.Path}, e.Twins...) {
		c, err := w.Conversation(name)
		if err != nil {
			return err
		}
		if err := errors.Join(c.Delete(), c.Close()); err != nil {
			return err
		}
	}
	return nil
}

// writeRemoval records a removal for other machines. The name tells contents apart,
// so that two clones that remove one conversation never conflict.
func (w *Workspace) writeRemoval(e store.Entry) error {
	var lines []string
	for _, src := range e.Session.Sources {
		lines = append(lines, removalHash(src.Agent, src.NativeID, src.From)+"\n")
	}
	if len(lines) == 0 {
		return nil // nothing could bring it back
	}
	slices.Sort(lines)
	text := strings.Join(slices.Compact(lines), "")
	sum := sha256.Sum256([]byte(text))
	return w.Store.WriteFile(path.Join(RemovedDir, schema.PathElement(e.Session.ID)+"-"+hex.EncodeToString(sum[:4])), []byte(text))
}

// removalHash names a segment of a native session without telling which it is.
func removalHash(agent, nativeID, from string) string {
	sum := sha256.Sum256([]byte(agent + "\n" + nativeID + "\n" + from))
	return "sha256-" + hex.EncodeToString(sum[:])
}

// removals returns the files of removals, by the hashes in them.
func (w *Workspace) removals() map[string]string {
	files := map[string]string{}
	for _, name := range w.Store.ListFiles(RemovedDir) {
		b, err := w.Store.ReadFile(path.Join(RemovedDir, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			files[strings.TrimSpace(line)] = path.Join(RemovedDir, name)
		}
	}
	return files
}

// RemovedSegments returns the segments of a native session whose conversations were
// removed.
func (w *Workspace) RemovedSegments(agent, nativeID string) ([]registry.Segment, error) {
	var list []registry.Segment
	s, err := w.Registry.Session(agent, nativeID)
	if err != nil {
		return nil, err
	}
	if len(s.Removed) > 0 { // it is worth asking git
		w.KnowClones(context.Background())
	}
	for _, r := range s.RemovedIn(w.SamePlace) {
		list = append(list, r.Segment)
	}
	var old struct {
		Parts []registry.Segment `json:"parts"`
	}
	b, err := w.Store.ReadFile(oldRemovedName(agent, nativeID))
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil || json.Unmarshal(b, &old) != nil:
		list = append(list, registry.Segment{}) // what was removed must not come back
	}
	list = append(list, old.Parts...)
	if len(w.Store.ListFiles(RemovedDir)) > 0 {
		if w.removals()[removalHash(agent, nativeID, "")] != "" {
			list = append(list, registry.Segment{})
		}
	}
	return list, nil
}

// ConversationRemoved reports whether the user removed a conversation, here, in
// another work tree or clone, or on another machine.
func (w *Workspace) ConversationRemoved(id string) (bool, error) {
	if id == "" {
		return false, nil
	}
	gone, err := w.Registry.Removed(schema.IDKey(id), func(p registry.Place) bool {
		w.KnowClones(context.Background())
		return w.SamePlace(p)
	})
	if gone || err != nil {
		return gone, err
	}
	return slices.ContainsFunc(w.Store.ListFiles(RemovedDir), func(name string) bool {
		return strings.HasPrefix(name, schema.PathElement(id)+"-")
	}), nil
}

// IsRemoved reports whether a segment was removed, here or on another machine.
func (w *Workspace) IsRemoved(agent, nativeID, from string) (bool, error) {
	list, err := w.RemovedSegments(agent, nativeID)
	if err != nil {
		return true, err
	}
	if slices.ContainsFunc(list, func(s registry.Segment) bool { return s.From == from }) {
		return true, nil
	}
	return w.removals()[removalHash(agent, nativeID, from)] != "", nil
}

// ForkOfRemoved reports whether a session that begins with the line root is a fork
// of one whose conversation was removed.
func (w *Workspace) ForkOfRemoved(agent, root string) bool {
	found := false
	_ = w.Registry.Sessions(agent, func(_ string, s registry.Session) {
		for _, r := range s.Removed {
			found = found || w.SamePlace(r.Place) && slices.Contains(r.Roots, root)
		}
	})
	for _, name := range w.Store.ListFiles(oldRemovedDir + agent) {
		var old struct {
			Roots []string `json:"roots"`
		}
		b, err := w.Store.ReadFile(path.Join(oldRemovedDir, agent, name))
		found = found || err == nil && json.Unmarshal(b, &old) == nil && slices.Contains(old.Roots, root)
	}
	return found
}

// BringBack lets a native session be captured again, all of it.
func (w *Workspace) BringBack(ctx context.Context, agent, nativeID string) error {
	s, err := w.Registry.Session(agent, nativeID)
	if err != nil {
		return err
	}
	var froms []string
	if len(s.Removed) > 0 {
		w.KnowClones(ctx)
		for _, r := range s.RemovedIn(w.SamePlace) {
			froms = append(froms, r.From)
			if err := w.Registry.BringBack(schema.IDKey(r.ID), w.SamePlace); err != nil {
				return err
			}
		}
		if err := w.Registry.Update(agent, nativeID, func(s *registry.Session) {
			s.Removed = slices.DeleteFunc(s.Removed, func(r registry.Removal) bool { return w.SamePlace(r.Place) })
		}); err != nil {
			return err
		}
	}
	records := w.removals()
	for _, from := range append(froms, "") {
		if name := records[removalHash(agent, nativeID, from)]; name != "" {
			if err := w.Store.RemoveFile(name); err != nil {
				return err
			}
		}
	}
	return w.Store.RemoveFile(oldRemovedName(agent, nativeID))
}

// RemovedHere lists the conversations that were removed, in another clone or on
// another machine, and whose folders are in this work tree.
func (w *Workspace) RemovedHere() (list []store.Entry, err error) {
	all, err := w.Store.List()
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		gone := len(e.Session.Sources) > 0
		for _, src := range e.Session.Sources {
			removed, err := w.IsRemoved(src.Agent, src.NativeID, src.From)
			if err != nil {
				return nil, err
			}
			gone = gone && removed
		}
		if gone && !e.Waiting {
			list = append(list, e)
		}
	}
	return list, nil
}
