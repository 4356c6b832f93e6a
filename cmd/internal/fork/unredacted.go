package fork

import (
	"fmt"

	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// An Unredacted is a fork that still contains text that was redacted in the conversation it
// was forked from, because another clone made the fork at the same time, or because the
// fork was left out.
type Unredacted struct{ Old, Fork store.Entry }

func (u Unredacted) String() string {
	return fmt.Sprintf("%s contains text that was redacted in %s, which it was forked from", u.Fork.Path, u.Old.Path)
}

// FindUnredacted returns the forks in a list that contain what was redacted in conversations of the
// list that they come from. It does not read forks of conversations in which nothing was redacted.
func FindUnredacted(in *workspace.Workspace, all []store.Entry) (list []Unredacted, err error) {
	entries, known := byID(all), map[string]redacted{}
	for _, e := range all {
		seen := map[string]bool{e.Session.ID: true}
		for old, ok := parent(entries, e); ok && !seen[old.Session.ID]; old, ok = parent(entries, old) {
			seen[old.Session.ID] = true
			is, read := known[old.Session.ID]
			if !read {
				if is, err = redactedIn(in, old); err != nil {
					return list, err
				}
				known[old.Session.ID] = is
			}
			has, err := is.remainsIn(in, e)
			if err != nil {
				return list, err
			}
			if has {
				list = append(list, Unredacted{old, e})
				break
			}
		}
	}
	return list, nil
}

// redacted holds the records of a conversation that were redacted, by id.
type redacted struct {
	messages map[string]schema.Message
	calls    map[string]schema.Tool
}

func redactedIn(in *workspace.Workspace, e store.Entry) (is redacted, err error) {
	c, err := in.Open(e)
	if err != nil {
		return is, err
	}
	defer c.Close()
	is.messages, is.calls, err = c.Settled().Redacted()
	return is, err
}

// remainsIn reports whether a fork contains what is redacted. A later version of a record than
// the one copied says nothing about that.
func (r redacted) remainsIn(in *workspace.Workspace, e store.Entry) (bool, error) {
	if len(r.messages)+len(r.calls) == 0 {
		return false, nil
	}
	c, err := in.Open(e)
	if err != nil {
		return false, err
	}
	defer c.Close()
	for m, err := range c.Settled().Messages() {
		if old, is := r.messages[m.ID]; err == nil && is && schema.HasRedacted(textOf(m), textOf(old)) {
			return true, nil
		}
	}
	for t, err := range c.Settled().Tools() {
		old, is := r.calls[t.ID]
		if err == nil && is && schema.HasRedacted(textOfCall(t), textOfCall(old)) {
			return true, nil
		}
	}
	return false, nil // what cannot be read is damage, which a check reports
}

// textOf returns what a copy of a message has in common with it.
func textOf(m schema.Message) string {
	m.ParentID, m.Source, m.Blocks, m.Tokens, m.Usage, m.Rev, m.Redacted = "", "", nil, 0, nil, 0, nil
	return string(schema.AppendMessage(nil, &m))
}

func textOfCall(t schema.Tool) string {
	t.Tokens, t.Rev, t.Redacted = 0, 0, nil
	return string(schema.AppendTool(nil, &t))
}
