package workspace

import (
	"context"
	"errors"
	"maps"
	"slices"

	"cortext/cmd/internal/registry"
	"cortext/schema"
	"cortext/store"
)

// If the session.json of a conversation is gone, its id and sources are restored from the
// native sessions in its log: from the segment that a capture writes, or from the user's
// registry.

// AddSource records in s that a segment of a native session is in the conversation.
func AddSource(s *schema.Session, src schema.Source) {
	if !slices.ContainsFunc(s.Sources, func(have schema.Source) bool {
		return have.Agent == src.Agent && have.NativeID == src.NativeID && have.From == src.From
	}) {
		s.Sources = append(s.Sources, src)
	}
}

// identifyAs gives s the id that a segment of a native session names, and adds the session
// as a source.
func identifyAs(s *schema.Session, agent, nativeID string, seg registry.Segment) {
	s.ID = seg.ID
	AddSource(s, schema.Source{Agent: agent, NativeID: nativeID, From: seg.From, After: seg.After})
}

// Identify restores the identity of a conversation from a segment of one of its native
// sessions, and the source if git reverted it. recorded is the session.json that a branch
// has of the conversation; nil: none is known.
func (w *Workspace) Identify(tx *store.Tx, agent, nativeID string, seg registry.Segment, recorded *schema.Session) error {
	if seg.ID == "" {
		return nil
	}
	s, _, err := tx.Session()
	if err != nil {
		return err
	}
	if tx.Written() {
		if MadeUp(seg.Path, s.ID, seg.ID) {
			s.ID = seg.ID
		}
		AddSource(s, schema.Source{Agent: agent, NativeID: nativeID, From: seg.From, After: seg.After})
		return nil
	}
	if recorded != nil {
		*s = *recorded
		s.CountedBytes = 0
	}
	identifyAs(s, agent, nativeID, seg)
	if s.AgentConfig.Agent == "" {
		s.AgentConfig.Agent = agent
	}
	if s.AgentConfig.SystemPromptHash == "" && s.AgentConfig.Command != "" {
		return w.Prompts.Describe(s, s.AgentConfig.Command, s.AgentConfig.Arguments)
	}
	return nil
}

// MadeUp reports whether id, found in the session.json of a folder, is a substitute. The
// folder is then named after the conversation with the id known: a command rewrote a lost
// session.json without knowing that id.
func MadeUp(folder, id, known string) bool {
	return id != known && store.NamedAfter(folder, known) && !store.NamedAfter(folder, id)
}

// identifyByRegistry restores the identity of a conversation from what the user's registry
// knows about its folder.
func (w *Workspace) identifyByRegistry(s *schema.Session, c *store.Conversation) error {
	natives := map[string]bool{}
	for m, err := range c.Messages() {
		var damage *store.Damage
		if err != nil && !errors.As(err, &damage) {
			return err
		}
		if err == nil && m.Source != "" {
			natives[m.Source] = true
		}
	}
	return w.registered(slices.Sorted(maps.Keys(natives)), func(agent, nativeID string, seg registry.Segment) {
		if seg.Path == c.Path() {
			identifyAs(s, agent, nativeID, seg)
		}
	})
}

// identityOf returns the id and the sources of the conversation in a folder, from what the
// user's registry knows about native sessions whose messages are in its log. It skips
// unreadable parts of the registry; the commands that capture the session report them.
func (w *Workspace) identityOf(folder string, nativeIDs []string) (id string, sources []schema.Source) {
	_ = w.registered(nativeIDs, func(agent, nativeID string, seg registry.Segment) {
		if (seg.Path == folder || store.NamedAfter(folder, seg.ID)) && (id == "" || schema.SameConversation(id, seg.ID)) {
			id = seg.ID
			sources = append(sources, schema.Source{Agent: agent, NativeID: nativeID, From: seg.From, After: seg.After})
		}
	})
	return id, sources
}

// registered calls f with the segments of native sessions in this workspace that the
// user's registry has with a conversation's id.
func (w *Workspace) registered(nativeIDs []string, f func(agent, nativeID string, seg registry.Segment)) error {
	w.Here.KnowClones(context.Background())
	var errs []error
	for _, agent := range w.Env.AgentNames() {
		for _, nativeID := range nativeIDs {
			known, err := w.Registry.Session(agent, nativeID)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			for _, seg := range known.In(w.Here.Same) {
				if seg.ID != "" {
					f(agent, nativeID, seg)
				}
			}
		}
	}
	return errors.Join(errs...)
}
