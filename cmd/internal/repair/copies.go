package repair

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"cortext/cmd/internal/fork"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
	"cortext/schema"
	"cortext/store"
)

// maxHistory limits the bytes of git's history that are read for one conversation.
const maxHistory = 1 << 30

// copies collects the records of a conversation that other places have: backups, the
// agents' transcripts, and git.
func (r *Repairer) copies(ctx context.Context, e store.Entry, c *store.Conversation) (*store.Copies, error) {
	all := r.ws.Store.Kept().Copies(c)
	natives, err := r.natives(ctx, e, c)
	if err != nil {
		return nil, err
	}
	recorded, whole, err := r.capture.Recorded(ctx, e, natives)
	if err != nil && ctx.Err() != nil {
		return nil, err
	} // an unreadable transcript is not fatal: other places may have its records
	all.Whole = whole
	for _, rec := range recorded {
		from := "the transcript of " + rec.Agent
		all.Add("", copyOf(from, nil, rec.Batch))
		for id, sub := range rec.Subagents {
			if sub.Session != nil {
				sub.Session.Links.Parent = e.Session.ID
			}
			all.Add(schema.PathElement(id), copyOf(from, sub.Session, sub.Batch))
		}
	}
	if err := r.fromGit(ctx, e, &all); err != nil {
		return nil, err
	}
	return &all, r.fromOriginal(e, c, &all)
}

// fromOriginal adds what a fork lacks of the records that it shares with the conversation it was
// forked from.
func (r *Repairer) fromOriginal(e store.Entry, c *store.Conversation, all *store.Copies) error {
	shared, _, err := fork.Shared(r.ws.Conversations, e.Session)
	if err != nil || len(shared.Messages) == 0 {
		return err
	}
	has := map[string]bool{}
	for m, err := range c.Messages() {
		has[m.ID] = has[m.ID] || err == nil
	}
	shared.Messages = slices.DeleteFunc(shared.Messages, func(m schema.Message) bool { return has[m.ID] })
	clear(has)
	for t, err := range c.Tools() {
		has[t.ID] = has[t.ID] || err == nil
	}
	shared.Tools = slices.DeleteFunc(shared.Tools, func(t schema.Tool) bool { return has[t.ID] })
	all.Add("", copyOf("the conversation it was forked from", nil, shared))
	return nil
}

// copyOf encodes records as lines of the logs.
func copyOf(from string, s *schema.Session, b schema.Batch) store.Copy {
	out := store.Copy{From: from, Session: s}
	for i := range b.Messages {
		out.Messages = schema.AppendMessage(out.Messages, &b.Messages[i])
	}
	for i := range b.Tools {
		out.Tools = schema.AppendTool(out.Tools, &b.Tools[i])
	}
	return out
}

// natives returns the native sessions with messages in the log. If session.json does not
// name them, it asks the user's registry.
func (r *Repairer) natives(ctx context.Context, e store.Entry, c *store.Conversation) (ids []string, err error) {
	for m, err := range c.Messages() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // skip what cannot be read
		}
		if m.Source != "" && !slices.Contains(ids, m.Source) {
			ids = append(ids, m.Source)
		}
	}
	if len(e.Session.Sources) > 0 && len(e.Damage) == 0 {
		return ids, nil
	}
	for _, agent := range r.ws.Env.AgentNames() {
		err := r.ws.Registry.Sessions.Each(agent, func(name string, s registry.Session) {
			of := func(seg registry.Segment) bool { return seg.Path == e.Path }
			if slices.ContainsFunc(s.In(r.ws.Here.Same), of) && !slices.Contains(ids, name) {
				ids = append(ids, name)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// fromGit adds the versions that git has on this machine: in the index, and in every commit
// of a branch, a stash or the reflog.
func (r *Repairer) fromGit(ctx context.Context, e store.Entry, all *store.Copies) error {
	root := r.ws.Store.Root()
	if git.Dir(root) == "" {
		return nil
	}
	v := versions{all: all, session: map[string]bool{}}
	for _, folder := range e.Folders() {
		err := git.IndexFiles(ctx, root, folder, maxHistory, func(f git.File) error {
			v.add(folder, f, "the index of git")
			return nil
		})
		if err == nil || ignorable(err) {
			err = git.History(ctx, root, folder, maxHistory, func(f git.File, commit string) error {
				v.add(folder, f, "commit "+commit)
				return nil
			})
		}
		if err != nil && !ignorable(err) {
			return err
		}
	}
	return nil
}

// ignorable reports whether an error only means that git lacks some versions.
func ignorable(err error) bool {
	return git.IsAbsent(err) || errors.Is(err, git.ErrLimit) || errors.As(err, new(*git.NotFetchedError))
}

// versions collects the versions of a conversation's files.
type versions struct {
	all     *store.Copies
	seen    []git.File
	session map[string]bool // sub-agents ("" for the conversation itself) whose session.json was found
}

// add adds a version of a file. It skips a log that another version continues.
func (v *versions) add(folder string, f git.File, from string) {
	rest, ok := strings.CutPrefix(f.Path, folder+"/.session/")
	if !ok {
		return
	}
	sub := ""
	if parts := strings.Split(rest, "/"); len(parts) == 3 && parts[0] == "subagents" {
		sub = parts[1]
	} else if len(parts) > 1 {
		return
	}
	out := store.Copy{From: from}
	switch path.Base(rest) {
	case "session.json":
		s, err := schema.ParseSession(f.Content)
		if err != nil || v.session[sub] {
			return
		}
		v.session[sub] = true
		out.Session = s
	default:
		if !out.SetLog(path.Base(rest), f.Content) {
			return
		}
	}
	if out.Session == nil {
		if slices.ContainsFunc(v.seen, func(have git.File) bool { return have.Path == f.Path && bytes.HasPrefix(have.Content, f.Content) }) {
			return
		}
		v.seen = append(v.seen, f)
	}
	v.all.Add(sub, out)
}
