package workspace

import (
	"context"

	"cortext/schema"
	"cortext/store"
)

// identityOf returns the id and the sources of the conversation in a folder, from what the
// user's registry knows about native sessions whose messages are in its log.
func (w *Workspace) identityOf(folder string, nativeIDs []string) (id string, sources []schema.Source) {
	w.Here.KnowClones(context.Background())
	for _, agent := range w.Env.AgentNames() {
		for _, nativeID := range nativeIDs {
			known, err := w.Registry.Session(agent, nativeID)
			if err != nil {
				continue // the commands that capture the session report it
			}
			for _, seg := range known.In(w.Here.Same) {
				if seg.ID != "" && (seg.Path == folder || store.NamedAfter(folder, seg.ID)) && (id == "" || schema.SameConversation(id, seg.ID)) {
					id = seg.ID
					sources = append(sources, schema.Source{Agent: agent, NativeID: nativeID, From: seg.From, After: seg.After})
				}
			}
		}
	}
	return id, sources
}
