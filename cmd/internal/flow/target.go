package flow

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/inject"
	"cortext/resume/digest"
	"cortext/schema"
	"cortext/store"
)

// Which conversations a transcript that is imported goes into.

// target returns the conversation that a transcript goes into, the last one if it
// goes through several: those that its session is a source of, else a new one.
func (im *Importer) target(t *inject.Transcript, parts []part) (c *store.Conversation, all []part, created bool, err error) {
	if len(parts) > 0 {
		c, err = im.w.Store.Conversation(parts[len(parts)-1].Path)
		return c, parts, false, err
	}
	if above := im.native[t.Agent+"\n"+t.Parent]; len(above) > 0 && t.Parent != "" {
		parent, err := im.w.Store.Conversation(above[0].Path)
		if err != nil {
			return nil, nil, false, err
		}
		defer parent.Close()
		c, err = parent.Subagent(t.NativeID)
		return c, nil, false, err
	}
	if c, created, err = im.create(t); err != nil {
		return nil, nil, false, err
	}
	return c, []part{{Path: c.Path()}}, created, nil
}

// create makes the conversation of a transcript; created is false if another
// process was faster.
func (im *Importer) create(t *inject.Transcript) (c *store.Conversation, created bool, err error) {
	s, doc, err := im.session(t)
	if err != nil {
		return nil, false, err
	}
	day := s.CreatedAt.Time().Format(time.DateOnly)
	for _, e := range im.closed {
		if strings.Contains(e.Path, "/"+day+"/") && strings.HasSuffix(e.Path, "-"+s.ConversationType+"-"+store.Slug(s.Title)) {
			// It may be this very conversation: a second one would be worse than none.
			return nil, false, fmt.Errorf("it may belong to a conversation that cannot be read: %w", &e.Damage[0])
		}
	}
	c, err = im.w.Store.Create(day, s.ConversationType, s.Title, s, doc)
	if errors.Is(err, store.ErrExist) {
		return c, false, nil
	}
	return c, err == nil, err
}

// headMessages is how many messages are read for a title and a description.
const headMessages = 40

var errEnough = errors.New("enough")

// session makes the metadata of a new conversation from its transcript. Nothing
// in it depends on the clone or the time of the import, so that two clones that
// import the same file make the same bytes.
func (im *Importer) session(t *inject.Transcript) (*schema.Session, []byte, error) {
	var head []schema.Message
	err := t.Each(func(sub string, b inject.Batch) error {
		if sub == "" {
			head = append(head, brief(b.Messages)...)
		}
		if len(head) >= headMessages {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, nil, err
	}
	typ := im.opts.Type
	if typ == "" {
		typ = strings.TrimPrefix(t.Command, "/workspace.")
		if !validType(typ) {
			typ = "chat"
		}
	}
	title := im.opts.Title
	if title == "" {
		title = t.Title
	}
	if title == "" {
		title = digest.Title(head)
	}
	s := &schema.Session{
		Version:          schema.Version,
		ID:               schema.DerivedID(t.Agent, t.NativeID, t.First),
		ConversationType: typ,
		Title:            title,
		Description:      digest.Description(head),
		Status:           schema.Paused, // its agent's end; only a person completes it
		CreatedAt:        schema.NewTime(t.First),
		LastActive:       schema.NewTime(t.Last),
		Sources:          []schema.Source{{Agent: t.Agent, NativeID: t.NativeID, Version: t.Version}},
	}
	if t.First.IsZero() { // no message has a time
		s.CreatedAt = schema.NewTime(time.Unix(0, 0))
	}
	if t.Branch != "" {
		s.Git = &schema.Git{Branch: t.Branch}
	}
	if rel, ok := im.w.relative(t.WorkingDir); ok && t.WorkingDir != "" && rel != "." {
		s.WorkingDir = rel
	}
	s.AgentConfig.Agent = t.Agent
	s.AgentConfig.Model = t.Model
	s.AgentConfig.Tools = t.Tools
	if t.Permission != "" {
		s.AgentConfig.Modes = &schema.Modes{Permission: t.Permission, Plan: t.Permission == "plan"}
	}
	command, arguments := t.Command, t.Arguments
	if command == "" || im.opts.Type != "" {
		command = "/workspace." + typ
	}
	if err := im.w.describeCommand(s, command, arguments); err != nil {
		return nil, nil, err
	}
	doc := document(typ, title, s.CreatedAt.Time())
	return s, doc, nil
}

// remember notes how far the transcript was read: a hook of the same session goes
// on from there.
func (im *Importer) remember(tr *inject.Transcript, file string, r *route) {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	t, ok := im.w.readTie(tr.Agent, tr.NativeID)
	if !ok {
		t = &tie{}
	}
	t.Transcript = file
	t.took(tr, r)
	t.Subagents = r.subagents
	im.w.writeTie(tr.Agent, tr.NativeID, t)
	im.seen = im.w.conversationsSeen()
}

// parts are the conversations that a session goes into, as they are now that no
// other process deals with it. Those that were removed come back: the user has named
// the transcript.
func (im *Importer) parts(t *inject.Transcript) ([]part, error) {
	removed := im.w.removedParts(t.Agent, t.NativeID)
	if err := im.w.bringBack(t.Agent, t.NativeID); err != nil {
		return nil, err
	}
	key := t.Agent + "\n" + t.NativeID
	parts := im.native[key]
	if known, ok := im.w.readTie(t.Agent, t.NativeID); ok && known.complete() {
		parts = known.Parts
	} else if len(removed) > 0 || im.seen != im.w.conversationsSeen() {
		all, err := im.w.entries()
		if err != nil {
			return nil, err
		}
		parts = im.w.partsOf(all, t.Agent, t.NativeID)
	}
	begins := func(p part) bool { return p.From == "" }
	if slices.ContainsFunc(removed, begins) && len(parts) > 0 && !slices.ContainsFunc(parts, begins) {
		c, _, err := im.create(t)
		if err != nil {
			return nil, err
		}
		parts = append([]part{{Path: c.Path()}}, parts...)
		return parts, errors.Join(im.describe(c, t, true, nil), c.Close())
	}
	return parts, nil
}
