package export

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"cortext/cmd/internal/export/portable"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/store"
)

// ImportOptions control an import.
type ImportOptions struct {
	KeepIDs bool   // keep the conversation's id and times; otherwise it becomes a new conversation
	Type    string // type of a new conversation; default: the document's type, or chat
	Title   string // title of a new conversation; default: the document's title
}

// An Imported describes the result of an import.
type Imported struct {
	Entry     store.Entry
	Messages  int // messages in the document, each id once
	Tools     int
	Appended  int // lines added to messages.jsonl
	Subagents int
	Existed   bool // the workspace already had the conversation
	Edited    bool // the import changed the title, tags, notes or similar
	Warnings  []string
	Lacks     string // says what the format of the document does not carry
}

// An Importer imports documents into a workspace.
type Importer struct {
	w    *workspace.Workspace
	opts ImportOptions
	have map[string]store.Entry // conversations by the key of their ids; nil until needed
}

// NewImporter checks the options and returns an Importer.
func NewImporter(w *workspace.Workspace, o ImportOptions) (*Importer, error) {
	if o.Type != "" {
		if err := w.Prompts.Check(o.Type); err != nil {
			return nil, err
		}
	}
	if o.Title != "" {
		var err error
		if o.Title, err = workspace.CleanTitle(o.Title); err != nil {
			return nil, err
		}
	}
	return &Importer{w: w, opts: o}, nil
}

// Import imports a document completely or not at all. With KeepIDs, it adds missing records
// to a conversation that the workspace already has.
func (im *Importer) Import(ctx context.Context, c *portable.Conversation) (*Imported, error) {
	if len(c.Messages) == 0 {
		return nil, &portable.FormatError{Why: "holds no message"}
	}
	out := &Imported{Messages: countMessages(c.Messages), Subagents: len(c.Subagents)}
	out.Tools = count(c.Tools, func(t *schema.Tool) string { return t.ID })
	out.Lacks, out.Warnings = c.Lacks, append(out.Warnings, c.Warnings...)
	if im.opts.KeepIDs && (c.Session == nil || c.Session.ID == "") {
		out.Warnings = append(out.Warnings, "it has no ids to keep, so it becomes a new conversation")
	}
	for _, left := range c.LeftOut {
		out.Warnings = append(out.Warnings, "the export left out "+left)
	}
	made := creation{Importer: im, out: out, keepIDs: im.opts.KeepIDs && c.Session != nil && c.Session.ID != ""}
	if made.keepIDs {
		e, ok, err := im.existing(c.Session.ID)
		if err != nil {
			return nil, err
		}
		if ok {
			out.Existed = true
			return out, im.addTo(e, c, out)
		}
	}
	s, words := im.newSession(c), ""
	if made.keepIDs {
		s, words = c.Session.Clone(), portable.FolderWords(c.Session)
	} else if err := im.newID(s); err != nil {
		return nil, err
	}
	if words == "" {
		words = s.DisplayTitle()
	}
	if err := made.create(s, words, c); err != nil {
		return nil, err
	}
	if made.keepIDs {
		return out, im.bringBack(ctx, out.Entry)
	}
	return out, nil
}

// existing returns the conversation with the given id, if the workspace has it.
func (im *Importer) existing(id string) (store.Entry, bool, error) {
	if im.have == nil {
		all, err := im.w.Store.Outlines()
		if err != nil {
			return store.Entry{}, false, err
		}
		im.have = map[string]store.Entry{}
		for _, e := range all {
			im.have[schema.IDKey(e.Session.ID)] = e
		}
	}
	e, ok := im.have[schema.IDKey(id)]
	return e, ok, nil
}

// newSession returns the session of a new conversation with the content of a document. It
// names no native sessions: those belong to the exported conversation.
func (im *Importer) newSession(c *portable.Conversation) *schema.Session {
	now := schema.NewTime(im.w.Env.Now())
	old := c.Session
	if old == nil {
		old = &schema.Session{Title: c.Name}
	}
	s := old.Clone()
	*s = schema.Session{
		Version: schema.Version, Title: s.Title, Status: schema.Paused, CreatedAt: now, LastActive: now,
		ContextSummary: s.ContextSummary, Description: s.Description, Plan: s.Plan, AgentConfig: s.AgentConfig,
		Tags: s.Tags, ConversationType: store.Slug(s.ConversationType), Notes: s.Notes, Metadata: s.Metadata, Unknown: s.Unknown,
	}
	if c.Name != "" && c.Name != old.DisplayTitle() { // another program renamed it in the document
		s.Title = c.Name
	}
	if im.opts.Type != "" {
		s.ConversationType = im.opts.Type
	} else if old.ConversationType == "" || s.ConversationType == "" {
		s.ConversationType = "chat"
	}
	if im.opts.Title != "" {
		s.Title = im.opts.Title
	}
	if title, err := workspace.CleanTitle(s.Title); err == nil {
		s.Title = title
	} else {
		s.Title = notes.Title(workspace.Shorten(c.Messages[:min(len(c.Messages), 40)]))
	}
	return s
}

// newID gives a conversation a new id.
func (im *Importer) newID(s *schema.Session) error {
	var entropy [10]byte
	if _, err := io.ReadFull(im.w.Env.Entropy(), entropy[:]); err != nil {
		return err
	}
	s.ID = schema.NewID(s.CreatedAt.Time(), entropy)
	return nil
}

// A creation makes a conversation from a document.
type creation struct {
	*Importer
	out     *Imported
	keepIDs bool
}

// create creates the conversation of a session. Its folder is named after words.
func (c creation) create(s *schema.Session, words string, doc *portable.Conversation) error {
	typ := store.Slug(s.ConversationType)
	var text []byte
	if doc.Document != nil && doc.Session != nil && doc.Document.Name == doc.Session.ConversationType+".md" {
		text = []byte(doc.Document.Text)
	}
	if text == nil && !c.keepIDs {
		text = []byte(workspace.DocumentOf(s))
	}
	if err := c.attachments(doc, s.ID, c.out); err != nil {
		return err
	}
	staged, err := c.w.Store.Stage(typ, words, s, text)
	if err != nil {
		return err
	}
	defer staged.Close()
	if err := c.fill(staged, doc); err != nil {
		staged.Discard()
		return err
	}
	if err := c.w.Publish(staged); errors.Is(err, store.ErrExist) {
		return fmt.Errorf("%s already exists, or is outside the sparse checkout", staged.Path())
	} else if err != nil {
		return err
	}
	if c.out.Entry, err = c.w.Entry(staged.Path()); err == nil && c.have != nil {
		c.have[schema.IDKey(s.ID)] = c.out.Entry
	}
	return err
}

// fill writes the records of a document into a staged conversation.
func (c creation) fill(staged *store.Conversation, doc *portable.Conversation) error {
	tx, err := staged.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	s, _, err := tx.Session()
	if err != nil {
		return err
	}
	switch described := s.ContextSummary != "" && s.Description != ""; {
	case c.keepIDs:
		err = c.copy(tx, doc)
	case described: // the document has what a pass over all messages would derive
		if err = appendNew(tx, doc); err == nil {
			err = tx.Recount()
		}
	default:
		was := s.Clone()
		if err = appendNew(tx, doc); err == nil {
			err = c.w.FinishIn(tx, staged, workspace.Finishing{Save: true, Describe: func(s *schema.Session) {
				s.ContextSummary = cmp.Or(was.ContextSummary, s.ContextSummary)
				if s.Plan == nil {
					s.Plan = was.Plan
				}
			}})
		}
	}
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	c.out.Appended = tx.Result().Appended
	if redacted := tx.Result().Redacted; len(redacted) > 0 {
		c.out.Warnings = append(c.out.Warnings, fmt.Sprintf("secrets replaced: %d", redacted.Sum()))
	}
	return c.fillRest(staged, doc)
}

// flushBytes is the amount that is buffered before a write.
const flushBytes = 8 << 20

// copy writes records as they were exported. It keeps the counters, which were exported
// with the lines.
func (im *Importer) copy(tx *store.Tx, doc *portable.Conversation) error {
	if err := appendAll(tx, doc, tx.AppendCopies); err != nil {
		return err
	}
	if err := tx.Recount(); err != nil {
		return err
	}
	s, _, err := tx.Session()
	if err == nil && len(tx.Result().Redacted) == 0 && doc.Session != nil {
		s.MessageCount, s.Tokens, s.LastActive = doc.Session.MessageCount, doc.Session.Tokens, doc.Session.LastActive
		s.Usage = doc.Session.Clone().Usage
	}
	return err
}

// appendAll calls add with each record, and writes whenever flushBytes are buffered.
func appendAll(tx *store.Tx, doc *portable.Conversation, add func(schema.Batch) error) error {
	write := func(b schema.Batch) error {
		if err := add(b); err != nil || tx.Size() < flushBytes {
			return err
		}
		return tx.Flush()
	}
	for i := range doc.Tools {
		if err := write(schema.Batch{Tools: doc.Tools[i : i+1]}); err != nil {
			return err
		}
	}
	for i := range doc.Messages {
		if err := write(schema.Batch{Messages: doc.Messages[i : i+1]}); err != nil {
			return err
		}
	}
	return nil
}

// appendNew writes the records to a new conversation, which has no native sessions.
func appendNew(tx *store.Tx, doc *portable.Conversation) error {
	return appendAll(tx, doc, func(b schema.Batch) error {
		b.Messages = slices.Clone(b.Messages)
		for i := range b.Messages {
			b.Messages[i].Source = ""
		}
		return tx.Append(b)
	})
}

// fillRest writes the summaries, and the conversations of the sub-agents.
func (c creation) fillRest(of *store.Conversation, doc *portable.Conversation) error {
	for _, sum := range doc.Summaries {
		if err := of.WriteSummary(sum); err != nil {
			return err
		}
	}
	parent, err := of.ID()
	if err != nil {
		return err
	}
	for i := range doc.Subagents {
		sub := &doc.Subagents[i]
		conv, err := of.Subagent(sub.NativeID)
		if err != nil {
			return err
		}
		if err := errors.Join(c.subagent(conv, &sub.Conversation, parent), conv.Close()); err != nil {
			return fmt.Errorf("sub-agent %q: %w", sub.NativeID, err)
		}
	}
	return nil
}

func (c creation) subagent(conv *store.Conversation, doc *portable.Conversation, parent string) error {
	tx, err := conv.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	s, _, err := tx.Session()
	if err != nil {
		return err
	}
	switch {
	case doc.Session == nil:
		return errors.New("it has no record")
	case c.keepIDs:
		folder := s.ConversationID
		*s = *doc.Session.Clone()
		s.ConversationID = folder
		err = c.copy(tx, doc)
	default:
		*s = *doc.Session.Clone()
		s.Sources, s.CountedBytes = nil, 0
		if err = c.newID(s); err != nil {
			return err
		}
		if s.Links == nil {
			s.Links = new(schema.Links)
		}
		s.Links.Parent = parent
		if err = appendNew(tx, doc); err == nil {
			err = tx.Recount()
		}
	}
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return c.fillRest(conv, doc)
}

// attachments stores the content of attachments. Binary content must match its hash. Text
// may not match it, because it may have been redacted.
func (im *Importer) attachments(doc *portable.Conversation, id string, out *Imported) error {
	var blobs []inject.Blob
	for _, a := range doc.Attachments {
		sum, err := hex.DecodeString(a.SHA256)
		have := sha256.Sum256(a.Data)
		if err != nil || len(sum) != len(have) || hex.EncodeToString(have[:]) != a.SHA256 && !utf8.Valid(a.Data) {
			out.Warnings = append(out.Warnings, fmt.Sprintf("an attachment is left out: its content is not that of %.16q", a.SHA256))
			continue
		}
		blobs = append(blobs, inject.Blob{SHA256: a.SHA256, Data: a.Data})
	}
	for i := range doc.Subagents {
		if err := im.attachments(&doc.Subagents[i].Conversation, id, out); err != nil {
			return err
		}
	}
	return im.w.Attachments.For([]string{id}).Keep(blobs)
}

// addTo adds the records of a document that its conversation lacks.
func (im *Importer) addTo(e store.Entry, doc *portable.Conversation, out *Imported) error {
	c, err := im.w.Conversation(e.Path)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := im.attachments(doc, e.Session.ID, out); err != nil {
		return err
	}
	tx, err := c.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err = appendAll(tx, doc, tx.Append); err == nil {
		err = tx.Flush()
	}
	if err != nil {
		return err
	}
	edited, err := merged(tx, doc.Session)
	if err != nil {
		return err
	}
	r := tx.Result()
	if out.Appended = r.Appended; r.Appended+r.Tools > 0 {
		err = im.w.FinishIn(tx, c, workspace.Finishing{Recount: true})
	}
	if err == nil && (edited || r.Appended+r.Tools > 0) {
		err = tx.Commit()
	}
	tx.Rollback()
	if err != nil {
		return err
	}
	out.Edited = edited
	out.Entry, err = im.w.Entry(e.Path)
	return err
}

// merged merges titles, tags, notes and the like from another copy of a conversation: the
// later change wins. It reports whether that changed anything.
func merged(tx *store.Tx, other *schema.Session) (bool, error) {
	s, _, err := tx.Session()
	if err != nil {
		return false, err
	}
	was := s.Clone()
	both, err := schema.MergeSessions(s, other)
	if err != nil {
		return false, err
	}
	both.ConversationID, both.LastActive = was.ConversationID, was.LastActive
	both.MessageCount, both.Tokens, both.CountedBytes, both.Usage = was.MessageCount, was.Tokens, was.CountedBytes, was.Usage
	before, err := was.Marshal()
	if err != nil {
		return false, err
	}
	after, err := both.Marshal()
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	*s = *both
	return true, nil
}

// bringBack undoes the removal of a conversation that the user imports again.
func (im *Importer) bringBack(ctx context.Context, e store.Entry) error {
	if !im.w.Removed.Any() {
		return nil
	}
	for _, src := range e.Session.Sources {
		here := []registry.Segment{{Path: e.Path, ID: e.Session.ID, From: src.From}}
		if err := im.w.Removed.BringBack(ctx, src.Agent, src.NativeID, []string{src.From}, here); err != nil {
			return err
		}
	}
	return nil
}
