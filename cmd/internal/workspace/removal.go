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

// The user's decisions about native sessions: a skipped session is left alone, and what
// belonged to a removed conversation is not captured again. Both hold for the user, in
// every work tree and clone on the machine. A removal is also recorded in the repository,
// as hashes, for other machines. Only an explicit command of the user takes a decision
// back.

// Before version 1.2 each work tree stored the decisions. Old decisions there still
// count.
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

// Skipped reports whether the user does not want a native session saved. If the registry
// cannot be read it returns false: capture reads the registry again and fails with the
// reason, instead of silently passing over the session.
func (w *Workspace) Skipped(agent, nativeID string) bool {
	if s, err := w.Registry.Session(agent, nativeID); err == nil && s.Skipped {
		return true
	}
	ok, err := w.Store.Exists(oldSkipName(agent, nativeID))
	return ok && err == nil
}

// Unskip undoes a Skip.
func (w *Workspace) Unskip(agent, nativeID string) error {
	s, err := w.Registry.Session(agent, nativeID)
	if err == nil && s.Skipped {
		err = w.Registry.Update(agent, nativeID, func(s *registry.Session) { s.Skipped = false })
	}
	return errors.Join(err, w.Store.RemoveFile(oldSkipName(agent, nativeID)))
}

// Forget removes a conversation with its folder and records that its parts of the agents'
// transcripts are not to be captured again. roots maps agent and native id (joined by a
// newline) to the lines with which forks of its sessions may begin.
func (w *Workspace) Forget(ctx context.Context, e store.Entry, roots map[string][]string) error {
	if op := w.GitOperation(); op != "" {
		return fmt.Errorf("%s: finish or abort it, then remove the conversation", underWay(op))
	}
	if err := e.Unread(); err != nil {
		return fmt.Errorf("remove %q: which sessions it has cannot be known: %w", e.Path, err)
	}
	place := w.KnowClones(ctx)
	paths := append([]string{e.Path}, e.Twins...)
	if err := w.Registry.BeginRemoval(place.Workspace, registry.Removing{ID: e.Session.ID, Paths: paths}); err != nil {
		return err
	}
	noted, err := w.noteRemoval(e, place, roots)
	if err == nil {
		err = w.deleteFolders(paths)
	}
	if err != nil {
		return w.removalFailed(noted, paths, err)
	}
	return w.Registry.EndRemoval(place.Workspace, e.Session.ID)
}

// writeRemoval records a removal for other machines.
func (w *Workspace) writeRemoval(e store.Entry) error {
	var hashes []string
	for _, src := range e.Session.Sources {
		hashes = append(hashes, removalHash(src.Agent, src.NativeID, src.From))
	}
	return w.writeHashes(schema.PathElement(e.Session.ID), hashes)
}

// writeHashes writes a removal file if there are any hashes. The file is named after its
// content, so two clones that remove the same conversation never conflict.
func (w *Workspace) writeHashes(name string, hashes []string) error {
	if len(hashes) == 0 {
		return nil // nothing could bring it back
	}
	slices.Sort(hashes)
	text := strings.Join(slices.Compact(hashes), "\n") + "\n"
	sum := sha256.Sum256([]byte(text))
	return w.Store.WriteFile(path.Join(RemovedDir, name+"-"+hex.EncodeToString(sum[:4])), []byte(text))
}

// removalHash identifies a segment of a native session without revealing the session.
func removalHash(agent, nativeID, from string) string {
	sum := sha256.Sum256([]byte(agent + "\n" + nativeID + "\n" + from))
	return "sha256-" + hex.EncodeToString(sum[:])
}

// removals holds the hashes in the files of [RemovedDir].
type removals map[string]bool

// removals reads what was removed. An unreadable file is an error, because its sessions
// would be captured again.
func (w *Workspace) removals() (removals, error) {
	records := removals{}
	names, err := w.Store.FilesIn(RemovedDir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		file := path.Join(RemovedDir, name)
		hashes, err := w.readHashes(file)
		if err != nil {
			return nil, err
		}
		for _, hash := range hashes {
			records[hash] = true
		}
	}
	return records, nil
}

// readHashes reads one removal file; a missing file has no hashes.
func (w *Workspace) readHashes(file string) ([]string, error) {
	b, err := w.Store.ReadFile(file)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: make it readable, or restore it from git", file, err)
	}
	return strings.Fields(string(b)), nil
}

// has reports whether a segment was removed.
func (r removals) has(agent, nativeID, from string) bool {
	return r[removalHash(agent, nativeID, from)]
}

// RemovedSegments returns the segments of a native session whose conversations were
// removed.
func (w *Workspace) RemovedSegments(agent, nativeID string) ([]registry.Segment, error) {
	list, err := w.removedOnMachine(agent, nativeID)
	if err != nil {
		return nil, err
	}
	records, err := w.removals()
	if err != nil {
		return nil, err
	}
	if records.has(agent, nativeID, "") {
		list = append(list, registry.Segment{})
	}
	return list, nil
}

// RemovedPrompts returns the prompts, out of those given, that began a conversation
// removed on another machine.
func (w *Workspace) RemovedPrompts(agent, nativeID string, prompts []string) (gone []string, err error) {
	if len(prompts) == 0 {
		return nil, nil
	}
	records, err := w.removals()
	if err != nil {
		return nil, err
	}
	for _, p := range prompts {
		if records.has(agent, nativeID, p) {
			gone = append(gone, p)
		}
	}
	return gone, nil
}

// removedOnMachine returns the segments of a native session whose conversations were
// removed on this machine.
func (w *Workspace) removedOnMachine(agent, nativeID string) (list []registry.Segment, err error) {
	s, err := w.Registry.Session(agent, nativeID)
	if err != nil {
		return nil, err
	}
	if len(s.Removed) > 0 { // worth asking git
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
	case err != nil:
		return nil, err
	case json.Unmarshal(b, &old) != nil:
		list = append(list, registry.Segment{}) // removed content must not come back
	}
	return append(list, old.Parts...), nil
}

// ConversationRemoved reports whether the user removed a conversation, here, in another
// work tree or clone, or on another machine, and has not resumed it in any session since.
func (w *Workspace) ConversationRemoved(id string) (bool, error) {
	gone, err := w.conversationRemoved(id)
	if err != nil || !gone {
		return false, err
	}
	kept := false
	err = w.eachKept(id, func(string, string) { kept = true })
	return !kept, err
}

// SegmentRemoved reports whether a segment must not be captured: the user removed its
// conversation and has not resumed it in this session since, or removed it again.
func (w *Workspace) SegmentRemoved(agent, nativeID string, s registry.Segment) (bool, error) {
	if s.Kept {
		return w.IsRemoved(agent, nativeID, s.From)
	}
	return w.conversationRemoved(s.ID)
}

// eachKept calls f for each session in which a conversation was resumed after its
// removal.
func (w *Workspace) eachKept(id string, f func(agent, nativeName string)) error {
	var errs []error
	for _, agent := range w.Env.Agents {
		errs = append(errs, w.Registry.Sessions(agent.Name, func(name string, s registry.Session) {
			if slices.ContainsFunc(s.In(w.SamePlace), func(seg registry.Segment) bool { return seg.Kept && schema.SameConversation(seg.ID, id) }) {
				f(agent.Name, name)
			}
		}))
	}
	return errors.Join(errs...)
}

// dropKept makes the sessions in which a conversation was resumed count as removed with
// it.
func (w *Workspace) dropKept(id string) error {
	var errs []error
	err := w.eachKept(id, func(agent, name string) {
		errs = append(errs, w.Registry.Update(agent, name, func(s *registry.Session) {
			segments := s.In(w.SamePlace)
			for i := range segments {
				segments[i].Kept = segments[i].Kept && !schema.SameConversation(segments[i].ID, id)
			}
		}))
	})
	return errors.Join(append(errs, err)...)
}

func (w *Workspace) conversationRemoved(id string) (bool, error) {
	if id == "" {
		return false, nil
	}
	if gone, err := w.removedByUser(id); gone || err != nil {
		return gone, err
	}
	names, err := w.Store.FilesIn(RemovedDir)
	return slices.ContainsFunc(names, func(name string) bool { return removalOf(name, id) }), err
}

// removedByUser reports whether the user removed a conversation on this machine.
func (w *Workspace) removedByUser(id string) (bool, error) {
	return w.Registry.Removed(schema.IDKey(id), func(p registry.Place) bool {
		w.KnowClones(context.Background())
		return w.SamePlace(p)
	})
}

// removalOf reports whether name is a removal file of the conversation with an id.
func removalOf(name, id string) bool {
	end := strings.LastIndexByte(name, '-')
	return end >= 0 && schema.SameConversation(name[:end], schema.PathElement(id))
}

// IsRemoved reports whether a segment was removed, here or on another machine.
func (w *Workspace) IsRemoved(agent, nativeID, from string) (bool, error) {
	records, err := w.removals()
	if err != nil {
		return true, err
	}
	return w.isRemoved(records, schema.Source{Agent: agent, NativeID: nativeID, From: from})
}

func (w *Workspace) isRemoved(records removals, src schema.Source) (bool, error) {
	if records.has(src.Agent, src.NativeID, src.From) {
		return true, nil
	}
	list, err := w.removedOnMachine(src.Agent, src.NativeID)
	return err != nil || slices.ContainsFunc(list, func(s registry.Segment) bool { return s.From == src.From }), err
}

// ForkOfRemoved reports whether a session that begins with the line root is a fork of one
// whose conversation was removed. places are the places from which the user removed a
// conversation that begins with it.
func (w *Workspace) ForkOfRemoved(agent, root string, places []registry.Place) bool {
	if len(places) > 0 {
		w.KnowClones(context.Background())
	}
	if slices.ContainsFunc(places, w.SamePlace) {
		return true
	}
	for _, name := range w.Store.ListFiles(oldRemovedDir + agent) {
		var old struct {
			Roots []string `json:"roots"`
		}
		b, err := w.Store.ReadFile(path.Join(oldRemovedDir, agent, name))
		if err == nil && json.Unmarshal(b, &old) == nil && slices.Contains(old.Roots, root) {
			return true
		}
	}
	return false
}

// BringBack allows a native session to be captured again, completely, into the
// conversations it is in; here are those in this work tree. froms are the places where
// its later segments may begin: on another machine only the transcript shows them.
func (w *Workspace) BringBack(ctx context.Context, agent, nativeID string, froms []string, here []registry.Segment) error {
	s, err := w.Registry.Session(agent, nativeID)
	if err != nil {
		return err
	}
	w.KnowClones(ctx)
	segments := append(slices.Clone(here), s.In(w.SamePlace)...)
	for _, r := range s.RemovedIn(w.SamePlace) {
		segments = append(segments, r.Segment)
	}
	for _, seg := range segments {
		if err := errors.Join(w.Registry.BringBack(schema.IDKey(seg.ID), w.SamePlace), w.Registry.EndRemoval(w.Place().Workspace, seg.ID)); err != nil {
			return err
		}
	}
	if len(s.Removed) > 0 {
		if err := w.Registry.Update(agent, nativeID, func(s *registry.Session) {
			back := s.In(w.SamePlace) // the conversations that it was in; a clone may still have their folders
			for _, r := range s.RemovedIn(w.SamePlace) {
				if !slices.ContainsFunc(back, func(seg registry.Segment) bool { return seg.From == r.From }) {
					back = append(slices.Clone(back), r.Segment)
				}
			}
			if len(back) > 0 {
				s.Bind(w.Place(), w.SamePlace, back)
			}
			s.Removed = slices.DeleteFunc(s.Removed, func(r registry.Removal) bool { return w.SamePlace(r.Place) })
		}); err != nil {
			return err
		}
	}
	hashes := []string{removalHash(agent, nativeID, "")}
	for _, from := range froms {
		hashes = append(hashes, removalHash(agent, nativeID, from))
	}
	for _, seg := range segments {
		hashes = append(hashes, removalHash(agent, nativeID, seg.From))
	}
	for _, name := range w.Store.ListFiles(RemovedDir) {
		again := slices.ContainsFunc(segments, func(seg registry.Segment) bool { return removalOf(name, seg.ID) })
		if err := w.withdraw(path.Join(RemovedDir, name), hashes, again); err != nil {
			return err
		}
	}
	return w.Store.RemoveFile(oldRemovedName(agent, nativeID))
}

// broughtBack prefixes the name of a removal file whose conversation the user brought
// back. Only the sessions in the file stay removed.
const broughtBack = "back"

// withdraw removes hashes from a removal file. If the file has any of them, or if all is
// set because the conversation is back, its other hashes move to a file that names no
// conversation.
func (w *Workspace) withdraw(file string, hashes []string, all bool) error {
	have, err := w.readHashes(file)
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(have), func(hash string) bool { return slices.Contains(hashes, hash) })
	if len(rest) == len(have) && !all {
		return nil
	}
	if err := w.writeHashes(broughtBack, rest); err != nil {
		return err
	}
	return w.Store.RemoveFile(file)
}

// RemovedHere lists conversations that were removed in another clone or on another
// machine, and whose folders are still in this work tree.
func (w *Workspace) RemovedHere() (list []store.Entry, err error) {
	all, err := w.Store.List()
	if err != nil {
		return nil, err
	}
	return w.RemovedAmong(all...)
}

// RemovedAmong returns those of the given conversations that RemovedHere would list.
func (w *Workspace) RemovedAmong(entries ...store.Entry) (list []store.Entry, err error) {
	records, err := w.removals()
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, name := range w.Store.ListFiles(RemovedDir) {
		if end := strings.LastIndexByte(name, '-'); end >= 0 {
			named[schema.IDKey(name[:end])] = true
		}
	}
	for _, e := range entries {
		gone, err := w.isRemovedHere(records, named, e)
		if err != nil {
			return nil, err
		}
		if gone && !e.Waiting {
			list = append(list, e)
		}
	}
	return list, nil
}

// isRemovedHere reports whether a conversation was removed, by its id or with all of its
// sources. named holds the ids that removal files are named after.
func (w *Workspace) isRemovedHere(records removals, named map[string]bool, e store.Entry) (bool, error) {
	if id := e.Session.ID; id != "" {
		gone := named[schema.IDKey(schema.PathElement(id))]
		if !gone {
			var err error
			if gone, err = w.removedByUser(id); err != nil {
				return false, err
			}
		}
		if gone { // unless a session keeps it
			return w.ConversationRemoved(id)
		}
	}
	gone := len(e.Session.Sources) > 0
	for _, src := range e.Session.Sources {
		removed, err := w.isRemoved(records, src)
		if err != nil {
			return false, err
		}
		gone = gone && removed
	}
	return gone, nil
}
