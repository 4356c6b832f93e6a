package fork

import (
	"bytes"
	"fmt"
	"slices"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// An Unlinked is a conversation that does not name one of its forks: the fork was killed
// before it wrote the link, or a clone or a branch has only the fork's side of it.
type Unlinked struct{ Old, Fork store.Entry }

func (u Unlinked) String() string {
	return fmt.Sprintf("%s does not name its fork %s", u.Old.Path, u.Fork.Path)
}

// FindUnlinked returns each conversation in a list that does not name one of its forks in that
// list.
func FindUnlinked(all []store.Entry) (list []Unlinked) {
	entries := byID(all)
	for _, e := range all {
		old, ok := parent(entries, e)
		if ok && (old.Session.Links == nil || !slices.Contains(old.Session.Links.Related, e.Session.ID)) {
			list = append(list, Unlinked{old, e})
		}
	}
	return list
}

// byID returns the conversations in a list that have an id. A damaged one may have links that could
// not be read.
func byID(all []store.Entry) map[string]store.Entry {
	entries := map[string]store.Entry{}
	for _, e := range all {
		if e.Session.ID != "" && len(e.Damage) == 0 {
			entries[e.Session.ID] = e
		}
	}
	return entries
}

// parent returns the conversation that e was forked from, if it is there.
func parent(entries map[string]store.Entry, e store.Entry) (old store.Entry, ok bool) {
	if l := e.Session.Links; l != nil && e.Session.ID != "" {
		old, ok = entries[l.Parent]
	}
	return old, ok
}

// Link adds a fork to the conversation it was forked from, along with any other fork that
// lacks its link.
func Link(in *workspace.Workspace, old store.Entry, id string) error {
	all, err := in.Store.Outlines()
	if err != nil {
		return err
	}
	ids := []string{id}
	for _, u := range FindUnlinked(all) {
		if u.Old.Session.ID == old.Session.ID {
			ids = append(ids, u.Fork.Session.ID)
		}
	}
	_, err = in.Edit(old, func(s *schema.Session) error {
		if s.Links == nil {
			s.Links = new(schema.Links)
		}
		s.Links.Related = append(s.Links.Related, ids...)
		slices.Sort(s.Links.Related)
		s.Links.Related = slices.Compact(s.Links.Related)
		return nil
	})
	return err
}

// Shared returns the links of a conversation, and copies of what it shares as a fork with the
// conversation that they name: the messages up to the point of the fork, and their calls. If
// that conversation lacks the point or is not in the workspace, the copies are from another
// one that has it: the one that captured it, or one that has a copy. It copies nothing if
// none has it.
func Shared(in workspace.Conversations, s *schema.Session) (shared schema.Batch, l *schema.Links, err error) {
	l, err = origin(in, s)
	if err != nil || l == nil || l.Parent == "" || l.MessageID == "" {
		return shared, l, err
	}
	e, path, err := pathToPoint(in, s.ID, l)
	if err != nil || len(path) == 0 {
		return shared, l, err
	}
	old, err := in.Open(e)
	if err != nil {
		return shared, l, err
	}
	defer old.Close()
	add := func(b schema.Batch) error {
		shared.Messages, shared.Tools = append(shared.Messages, b.Messages...), append(shared.Tools, b.Tools...)
		return nil
	}
	err = newCopies(path, add, new(Forked)).from(old)
	return shared, l, err
}

// pathToPoint returns the messages up to the point where a fork with the given id begins, and
// the conversation that has them; nothing if none has. Any has the same messages up to there.
func pathToPoint(in workspace.Conversations, id string, l *schema.Links) (e store.Entry, path []schema.Message, err error) {
	e, known, err := in.ByConversation(l.Parent)
	if err == nil && known {
		path, err = history.PathTo(in, e, l.MessageID)
	}
	if err != nil || len(path) > 0 {
		return e, path, err
	}
	// Its own parent has the point if it was a fork that said nothing, which no transcript restores.
	captured, copied, err := having(in, l.MessageID, id)
	if err != nil || len(captured)+len(copied) == 0 {
		return e, nil, err
	}
	e = append(captured, copied...)[0]
	path, err = history.PathTo(in, e, l.MessageID)
	return e, path, err
}

// origin returns the links of a conversation. If they were lost with its session.json, and its
// sessions all continued something, it looks for the conversation it was forked from: the only
// other one that captured a message which one of them follows.
func origin(in workspace.Conversations, s *schema.Session) (*schema.Links, error) {
	if s.Links != nil && s.Links.Parent != "" || slices.ContainsFunc(s.Sources, func(src schema.Source) bool { return src.After == "" }) {
		return s.Links, nil
	}
	for _, src := range s.Sources {
		captured, _, err := having(in, src.After, s.ID)
		if err != nil {
			return s.Links, err
		} else if len(captured) != 1 {
			continue
		}
		l := &schema.Links{Parent: captured[0].Session.ID, MessageID: src.After}
		if s.Links != nil {
			l.Related = s.Links.Related
		}
		return l, nil
	}
	return s.Links, nil
}

// having returns the conversations that have a message, not counting the one with the id except:
// those that captured it from its agent, and those that have a copy, which has no source.
func having(in workspace.Conversations, message, except string) (captured, copied []store.Entry, err error) {
	all, err := in.Store.Outlines()
	if err != nil {
		return nil, nil, err
	}
	for _, e := range all {
		if schema.SameConversation(e.Session.ID, except) {
			continue
		}
		found, source, err := find(in, e, message)
		if err != nil {
			return nil, nil, err
		} else if source {
			captured = append(captured, e)
		} else if found {
			copied = append(copied, e)
		}
	}
	return captured, copied, nil
}

// find reports whether a conversation has a message, and whether it has one with a source.
func find(in workspace.Conversations, e store.Entry, message string) (found, source bool, err error) {
	c, err := in.Open(e)
	if err != nil {
		return false, false, nil // another one may have it
	}
	defer c.Close()
	for line, err := range store.Undamaged(c.MessageLines()) {
		if err != nil {
			return found, false, err
		}
		if !bytes.Contains(line.Text, []byte(message)) {
			continue
		}
		if m, err := schema.ParseMessage(line.Text); err == nil && m.ID == message {
			if found = true; m.Source != "" {
				return true, true, nil
			}
		}
	}
	return found, false, nil
}
