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

// A conversation whose session.json is gone gets its id and its sources back from what is
// known about the native sessions in its log: from the segment that a capture writes, or
// from the user's registry.

// AddSource records in s that a segment of a native session is in the conversation.
func AddSource(s *schema.Session, src schema.Source) {
	if !slices.ContainsFunc(s.Sources, func(have schema.Source) bool {
		return have.Agent == src.Agent && have.NativeID == src.NativeID && have.From == src.From
	}) {
		s.Sources = append(s.Sources, src)
	}
}

// identifyAs gives s the id that a segment of a native session names, and the session as a
// source.
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

// identifyByRegistry restores the identity of a conversation from what the user's registry
// knows about its folder.
func (w *Workspace) identifyByRegistry(s *schema.Session, c *store.Conversation) error {
	natives := map[string]bool{}
	for m, err := range c.Messages() {
		var damage *store.Damage
		if err != nil && !errors.As(err, &damage) {
			return err
		}
		natives[m.Source] = err == nil && m.Source != ""
	}
	w.Here.KnowClones(context.Background())
	for _, agent := range w.Env.Agents {
		for _, nativeID := range slices.Sorted(maps.Keys(natives)) {
			if !natives[nativeID] {
				continue
			}
			known, err := w.Registry.Session(agent.Name, nativeID)
			if err != nil {
				return err
			}
			for _, seg := range known.In(w.Here.Same) {
				if seg.Path == c.Path() && seg.ID != "" {
					identifyAs(s, agent.Name, nativeID, seg)
				}
			}
		}
	}
	return nil
}
