package capture

import (
	"context"
	"path"
	"path/filepath"
	"slices"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// elsewhere reports whether a session has conversations, but none in this work tree.
func (c *Capture) elsewhere(b *Binding) bool {
	for i := range b.Segments {
		if b.Segments[i].Removed {
			continue
		}
		conv, err := c.findFolder(&b.Segments[i])
		if err != nil || conv != nil {
			if conv != nil {
				_ = conv.Close()
			}
			return false
		}
	}
	return b.Captured()
}

// ownsSession reports whether a session was held in this work tree.
func (c *Capture) ownsSession(n inject.SessionRef) bool {
	within := func(dir string) bool {
		rel, err := filepath.Rel(c.ws.Here.Workspace(), dir)
		return err == nil && filepath.IsLocal(rel)
	}
	return n.Dir == "" || within(n.Dir) || within(registry.RealDir(n.Dir))
}

// inGit returns the segment that a branch which is not checked out records for a session,
// so that the session is not captured into a second conversation.
func (c *Capture) inGit(agent, nativeID string) (Segment, bool) {
	if c.scan == nil || c.scan.inGit == nil {
		return Segment{}, false
	}
	e, ok := c.scan.inGit()[agent+"\n"+nativeID]
	if !ok {
		return Segment{}, false
	}
	for _, src := range e.session.Sources {
		if src.Agent == agent && src.NativeID == nativeID {
			return Segment{Segment: registry.Segment{Path: e.path, ID: e.session.ID, From: src.From, After: src.After}}, true
		}
	}
	return Segment{}, false
}

// An inBranch is a conversation as recorded on a branch.
type inBranch struct {
	path    string
	session *schema.Session
}

// sourcesInGit finds the conversations of all branches by their sources. Whatever cannot
// be read in time is left out.
func (c *Capture) sourcesInGit(ctx context.Context) map[string]inBranch {
	found := map[string]inBranch{}
	_ = git.Versions(ctx, c.ws.Store.Root(), "conversations", ".session/session.json", func(v git.Version) error {
		s, err := schema.ParseSession(v.Content)
		if err != nil {
			return nil // another version may be undamaged
		}
		for _, src := range s.Sources {
			key := src.Agent + "\n" + src.NativeID
			if _, ok := found[key]; !ok {
				found[key] = inBranch{path.Dir(path.Dir(v.Path)), s}
			}
		}
		return nil
	})
	return found
}

// identify restores the identity of a conversation whose session.json is gone from the
// binding, and the source if git reverted it.
func (c *Capture) identify(tx *store.Tx, agent, nativeID string, seg Segment) error {
	if seg.ID == "" {
		return nil
	}
	s, _, err := tx.Session()
	if err != nil {
		return err
	}
	if tx.Written() {
		addSource(s, agent, nativeID, seg)
		return nil
	}
	if e, ok := c.branchOf(seg.ID); ok {
		*s = *e
		s.CountedBytes = 0
	}
	s.ID = seg.ID
	addSource(s, agent, nativeID, seg)
	if s.AgentConfig.Agent == "" {
		s.AgentConfig.Agent = agent
	}
	if s.AgentConfig.SystemPromptHash == "" && s.AgentConfig.Command != "" {
		return c.ws.Prompts.Describe(s, s.AgentConfig.Command, s.AgentConfig.Arguments)
	}
	return nil
}

// addSource records in s that a session goes into the conversation.
func addSource(s *schema.Session, agent, nativeID string, seg Segment) {
	if !slices.ContainsFunc(s.Sources, func(src schema.Source) bool { return src.NativeID == nativeID && src.From == seg.From }) {
		s.Sources = append(s.Sources, schema.Source{Agent: agent, NativeID: nativeID, From: seg.From, After: seg.After})
	}
}

// branchOf returns the session.json of a conversation from a branch.
func (c *Capture) branchOf(id string) (*schema.Session, bool) {
	if c.scan == nil || c.scan.inGit == nil {
		return nil, false
	}
	for _, e := range c.scan.inGit() {
		if schema.SameConversation(e.session.ID, id) {
			s := *e.session
			return &s, true
		}
	}
	return nil, false
}
