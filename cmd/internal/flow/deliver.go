package flow

import (
	"path"

	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// keep puts the bytes of attachments where git does not see them.
func (w *Workspace) keep(blobs []inject.Blob) error {
	for _, b := range blobs {
		name := path.Join(".workspace/local/kept/attachments", b.SHA256[:2], b.SHA256)
		if ok, err := w.Store.Exists(name); err != nil || ok {
			if err != nil {
				return err
			}
			continue
		}
		if err := w.Store.WriteFile(name, b.Data); err != nil {
			return err
		}
	}
	return nil
}

// subagent appends to the conversation of a sub-agent and ties it to its parent's
// the first time.
func (w *Workspace) subagent(c *store.Conversation, t *inject.Transcript, nativeID, call string, add func(*store.Conversation) error) error {
	sc, err := c.Subagent(nativeID)
	if err != nil {
		return err
	}
	defer sc.Close()
	if err := add(sc); err != nil {
		return err
	}
	have, _, err := sc.Session()
	if err != nil || len(have.Sources) > 0 {
		return err
	}
	parent, _, err := c.Session()
	if err != nil {
		return err
	}
	return sc.Edit(func(s *schema.Session) error {
		s.Sources = []schema.Source{{Agent: t.Agent, NativeID: nativeID, Version: t.Version}}
		s.ID = schema.DerivedID(t.Agent, nativeID, s.CreatedAt.Time())
		s.ConversationType, s.Status = "subagent", schema.Completed
		s.AgentConfig.Agent = t.Agent
		s.Links = &schema.Links{Parent: parent.ID, ToolCallID: call}
		return nil
	})
}
