package workspace

import (
	"context"
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
		if err := tx.Recover(recorded); err != nil {
			return err
		}
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

// MadeUp reports whether id, found in the session.json of a folder, is a substitute. It
// is if the folder is named after the conversation with the id known: a command then
// recreated a lost session.json without knowing that id.
func MadeUp(folder, id, known string) bool {
	return id != known && store.NamedAfter(folder, known) && !store.NamedAfter(folder, id)
}

// identities finds the conversations of native sessions in the user's registry.
type identities struct {
	registry registry.Registry
	here     *registry.Here
	agents   []string
}

// of returns the id and the sources of the conversation in a folder whose log has messages
// of some native sessions, or nothing. It leaves out the parts of the registry that it
// cannot read: the commands that capture the session report them.
func (i identities) of(folder string, nativeIDs []string) (id string, sources []schema.Source) {
	i.here.KnowClones(context.Background())
	for _, agent := range i.agents {
		for _, nativeID := range nativeIDs {
			known, err := i.registry.Sessions.Get(agent, nativeID)
			if err != nil {
				continue
			}
			for _, seg := range known.In(i.here.Same) {
				if seg.ID != "" && (seg.Path == folder || store.NamedAfter(folder, seg.ID)) && (id == "" || schema.SameConversation(id, seg.ID)) {
					id = seg.ID
					sources = append(sources, schema.Source{Agent: agent, NativeID: nativeID, From: seg.From, After: seg.After})
				}
			}
		}
	}
	return id, sources
}

// sessionsIn returns the native sessions that have messages in a conversation's log,
// sorted.
func sessionsIn(c *store.Conversation) ([]string, error) {
	natives := map[string]bool{}
	for m, err := range store.Undamaged(c.Messages()) {
		if err != nil {
			return nil, err
		}
		if m.Source != "" {
			natives[m.Source] = true
		}
	}
	return slices.Sorted(maps.Keys(natives)), nil
}
