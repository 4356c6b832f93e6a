// Package removal records which sessions and conversations the user does not want saved,
// and answers whether one may be captured.
// Skipped sessions are not captured, and neither is anything that belonged to a removed
// conversation. Both decisions apply to the user in every work tree and clone on the
// machine. The repository also records removals, as hashes, for other machines. Only an
// explicit command reverses a decision.
package removal

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"cortext/cmd/internal/registry"
	"cortext/schema"
	"cortext/store"
)

// Version 1.1 and earlier stored decisions in each work tree. Those still apply.
const (
	oldSkippedDir = ".workspace/local/kept/skipped/"
	oldDir        = ".workspace/local/kept/removed/"
)

// Removed knows what the user removed or skipped in one workspace.
type Removed struct {
	store    *store.Store
	registry registry.Registry
	here     *registry.Here
	agents   []string
	files    files
	resumed  map[string]bool // see ReadResumed; nil if it was not read
}

// In returns the decisions about the workspace at a place. agents names the agents whose
// sessions it may have.
func In(st *store.Store, r registry.Registry, here *registry.Here, agents []string) *Removed {
	return &Removed{store: st, registry: r, here: here, agents: agents, files: files{st}}
}

func oldSkipName(agent, nativeID string) string {
	return oldSkippedDir + agent + "/" + schema.PathElement(nativeID)
}

func oldRemovedName(agent, nativeID string) string {
	return oldDir + agent + "/" + schema.PathElement(nativeID) + ".json"
}

// Skip stops capturing a native session.
func (r *Removed) Skip(agent, nativeID string) error {
	return r.registry.Sessions.Update(agent, nativeID, func(s *registry.Session) { s.Skipped = true })
}

// Skipped reports whether the user does not want a native session saved. If the registry
// cannot be read it returns false: capture reads the registry again and fails with the
// reason, instead of silently passing over the session.
func (r *Removed) Skipped(agent, nativeID string) bool {
	if s, err := r.registry.Sessions.Get(agent, nativeID); err == nil && s.Skipped {
		return true
	}
	ok, err := r.store.Exists(oldSkipName(agent, nativeID))
	return ok && err == nil
}

// Unskip undoes a Skip.
func (r *Removed) Unskip(agent, nativeID string) error {
	s, err := r.registry.Sessions.Get(agent, nativeID)
	if err == nil && s.Skipped {
		err = r.registry.Sessions.Update(agent, nativeID, func(s *registry.Session) { s.Skipped = false })
	}
	return errors.Join(err, r.store.RemoveFile(oldSkipName(agent, nativeID)))
}

// Segments returns the segments of a native session whose conversations were
// removed.
func (r *Removed) Segments(agent, nativeID string) ([]registry.Segment, error) {
	list, err := r.removedOnMachine(agent, nativeID)
	if err != nil {
		return nil, err
	}
	records, err := r.files.all()
	if err != nil {
		return nil, err
	}
	if records.has(agent, nativeID, "") {
		list = append(list, registry.Segment{})
	}
	return list, nil
}

// Prompts returns those of the given prompts that started a conversation removed on another
// machine.
func (r *Removed) Prompts(agent, nativeID string, prompts []string) (gone []string, err error) {
	if len(prompts) == 0 {
		return nil, nil
	}
	records, err := r.files.all()
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
func (r *Removed) removedOnMachine(agent, nativeID string) (list []registry.Segment, err error) {
	s, err := r.registry.Sessions.Get(agent, nativeID)
	if err != nil {
		return nil, err
	}
	if len(s.Removed) > 0 { // only then is running git worthwhile
		r.here.KnowClones(context.Background())
	}
	for _, gone := range s.RemovedIn(r.here.Same) {
		list = append(list, gone.Segment)
	}
	var old struct {
		Parts []registry.Segment `json:"parts"`
	}
	b, err := r.store.ReadFile(oldRemovedName(agent, nativeID))
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return nil, err
	case json.Unmarshal(b, &old) != nil:
		list = append(list, registry.Segment{}) // removed content must not come back
	}
	return append(list, old.Parts...), nil
}

// Conversation reports whether the user removed a conversation, on any machine, and has not
// resumed it in any session since.
func (r *Removed) Conversation(id string) (bool, error) {
	gone, err := r.removed(id)
	if err != nil || !gone {
		return false, err
	}
	if r.resumed != nil {
		return !r.resumed[schema.IDKey(id)], nil
	}
	resumed := false
	err = r.eachResumed(id, func(string, string) { resumed = true })
	return !resumed, err
}

// Segment reports whether a segment must not be captured: the user removed its conversation
// and has not resumed it in this session since then, or has removed it again.
func (r *Removed) Segment(agent, nativeID string, s registry.Segment) (bool, error) {
	if s.Resumed {
		return r.Source(agent, nativeID, s.From)
	}
	return r.removed(s.ID)
}

// ReadResumed prepares for many removals, or queries about them. Otherwise each reads what
// the registry knows about every session. ReadResumed reads once which conversations were
// resumed after their removal. It is for commands that end soon: it does not see later
// changes.
func (r *Removed) ReadResumed() error {
	resumed := map[string]bool{}
	for _, agent := range r.agents {
		if err := r.registry.Sessions.Each(agent, func(_ string, s registry.Session) {
			for _, seg := range s.In(r.here.Same) {
				if seg.Resumed {
					resumed[schema.IDKey(seg.ID)] = true
				}
			}
		}); err != nil {
			return err
		}
	}
	r.resumed = resumed
	return nil
}

// eachResumed calls f for each session in which a conversation was resumed after its
// removal.
func (r *Removed) eachResumed(id string, f func(agent, nativeName string)) error {
	var errs []error
	for _, agent := range r.agents {
		errs = append(errs, r.registry.Sessions.Each(agent, func(name string, s registry.Session) {
			if slices.ContainsFunc(s.In(r.here.Same), func(seg registry.Segment) bool { return seg.Resumed && schema.SameConversation(seg.ID, id) }) {
				f(agent, name)
			}
		}))
	}
	return errors.Join(errs...)
}

// dropResumed also marks the sessions that resumed a conversation as removed.
func (r *Removed) dropResumed(id string) error {
	delete(r.resumed, schema.IDKey(id))
	var errs []error
	err := r.eachResumed(id, func(agent, name string) {
		errs = append(errs, r.registry.Sessions.Update(agent, name, func(s *registry.Session) {
			segments := s.In(r.here.Same)
			for i := range segments {
				segments[i].Resumed = segments[i].Resumed && !schema.SameConversation(segments[i].ID, id)
			}
		}))
	})
	return errors.Join(append(errs, err)...)
}

func (r *Removed) removed(id string) (bool, error) {
	if id == "" {
		return false, nil
	}
	if gone, err := r.removedByUser(id); gone || err != nil {
		return gone, err
	}
	names, err := r.store.FilesIn(Dir)
	return slices.ContainsFunc(names, func(name string) bool { return isOf(name, id) }), err
}

// removedByUser reports whether the user removed a conversation on this machine.
func (r *Removed) removedByUser(id string) (bool, error) {
	return r.registry.Removed.Has(schema.IDKey(id), func(p registry.Place) bool {
		r.here.KnowClones(context.Background())
		return r.here.Same(p)
	})
}

// Source reports whether a segment was removed, here or on another machine.
func (r *Removed) Source(agent, nativeID, from string) (bool, error) {
	records, err := r.files.all()
	if err != nil {
		return true, err
	}
	return r.source(records, schema.Source{Agent: agent, NativeID: nativeID, From: from})
}

func (r *Removed) source(records hashes, src schema.Source) (bool, error) {
	if records.has(src.Agent, src.NativeID, src.From) {
		return true, nil
	}
	list, err := r.removedOnMachine(src.Agent, src.NativeID)
	return err != nil || slices.ContainsFunc(list, func(s registry.Segment) bool { return s.From == src.From }), err
}

// Fork reports whether a session that begins with the line root is a fork of a session
// whose conversation was removed. places are the workspaces from which the user removed a
// conversation that begins with root.
func (r *Removed) Fork(agent, root string, places []registry.Place) bool {
	if len(places) > 0 {
		r.here.KnowClones(context.Background())
	}
	if slices.ContainsFunc(places, r.here.Same) {
		return true
	}
	for _, name := range r.store.ListFiles(oldDir + agent) {
		var old struct {
			Roots []string `json:"roots"`
		}
		b, err := r.store.ReadFile(path.Join(oldDir, agent, name))
		if err == nil && json.Unmarshal(b, &old) == nil && slices.Contains(old.Roots, root) {
			return true
		}
	}
	return false
}

// BringBack allows all of a native session to be captured again, into the conversations it
// is in. here lists those in this work tree. froms lists where its later segments may
// begin: on another machine only the transcript shows that.
func (r *Removed) BringBack(ctx context.Context, agent, nativeID string, froms []string, here []registry.Segment) error {
	s, err := r.registry.Sessions.Get(agent, nativeID)
	if err != nil {
		return err
	}
	r.here.KnowClones(ctx)
	segments := append(slices.Clone(here), s.In(r.here.Same)...)
	for _, gone := range s.RemovedIn(r.here.Same) {
		segments = append(segments, gone.Segment)
	}
	for _, seg := range segments {
		if err := errors.Join(r.registry.Removed.BringBack(schema.IDKey(seg.ID), r.here.Same), r.registry.UnfinishedRemovals(r.here.Workspace()).End(seg.ID)); err != nil {
			return err
		}
	}
	if len(s.Removed) > 0 {
		if err := r.registry.Sessions.Update(agent, nativeID, func(s *registry.Session) {
			back := s.In(r.here.Same) // its earlier conversations, whose folders a clone may still have
			for _, gone := range s.RemovedIn(r.here.Same) {
				if !slices.ContainsFunc(back, func(seg registry.Segment) bool { return seg.From == gone.From }) {
					back = append(slices.Clone(back), gone.Segment)
				}
			}
			if len(back) > 0 {
				s.Bind(r.here.Place(), r.here.Same, back)
			}
			s.Removed = slices.DeleteFunc(s.Removed, func(gone registry.Removal) bool { return r.here.Same(gone.Place) })
		}); err != nil {
			return err
		}
	}
	hashes := []string{hashOf(agent, nativeID, "")}
	for _, from := range froms {
		hashes = append(hashes, hashOf(agent, nativeID, from))
	}
	for _, seg := range segments {
		hashes = append(hashes, hashOf(agent, nativeID, seg.From))
	}
	for _, name := range r.store.ListFiles(Dir) {
		again := slices.ContainsFunc(segments, func(seg registry.Segment) bool { return isOf(name, seg.ID) })
		if err := r.files.withdraw(name, hashes, again); err != nil {
			return err
		}
	}
	return r.store.RemoveFile(oldRemovedName(agent, nativeID))
}

// Leftovers lists conversations that were removed in another clone or on another machine
// but still have folders in this work tree.
func (r *Removed) Leftovers() (list []store.Entry, err error) {
	all, err := r.store.Outlines()
	if err != nil {
		return nil, err
	}
	return r.LeftoversAmong(all...)
}

// Any reports whether anything was removed, from this workspace or on this machine. It
// costs far less than [Removed.LeftoversAmong].
func (r *Removed) Any() bool {
	return r.registry.Removed.Any() || len(r.store.ListFiles(Dir)) > 0
}

// LeftoversAmong returns those of the given conversations that Leftovers would list.
func (r *Removed) LeftoversAmong(entries ...store.Entry) (list []store.Entry, err error) {
	records, err := r.files.all()
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, name := range r.store.ListFiles(Dir) {
		if end := strings.LastIndexByte(name, '-'); end >= 0 {
			named[schema.IDKey(name[:end])] = true
		}
	}
	for _, e := range entries {
		gone, err := r.isLeftover(records, named, e)
		if err != nil {
			return nil, err
		}
		if gone && !e.Waiting {
			list = append(list, e)
		}
	}
	return list, nil
}

// isLeftover reports whether a conversation was removed, by its id or by all of its
// sources. named holds the ids that removal files are named after.
func (r *Removed) isLeftover(records hashes, named map[string]bool, e store.Entry) (bool, error) {
	if id := e.Session.ID; id != "" {
		gone := named[schema.IDKey(schema.PathElement(id))]
		if !gone {
			var err error
			if gone, err = r.removedByUser(id); err != nil {
				return false, err
			}
		}
		if gone { // unless a session has resumed it
			return r.Conversation(id)
		}
	}
	gone := len(e.Session.Sources) > 0
	for _, src := range e.Session.Sources {
		removed, err := r.source(records, src)
		if err != nil {
			return false, err
		}
		gone = gone && removed
	}
	return gone, nil
}
