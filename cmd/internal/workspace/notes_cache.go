package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cortext/resume/notes"
	"cortext/schema"
	"cortext/store"
)

// cachedNotes holds the cached notes on a conversation, which cover all turns but the
// last, since that may still grow. It may be deleted at any time.
type cachedNotes struct {
	Last  string           `json:"last"` // id of the last message covered
	Logs  store.Checkpoint `json:"logs"` // the logs it was made from
	State notes.Notes      `json:"state"`
}

func notesName(path string) string { return "state/" + schema.PathElement(path) + ".json" }

// Notes makes the notes on conversations, and caches them.
type Notes struct{ store *store.Store }

// Drop deletes the cached notes on a conversation, because they quote it.
func (n Notes) Drop(e store.Entry) error {
	var errs []error
	for _, name := range e.Folders() {
		errs = append(errs, n.store.RemoveCache(notesName(name)))
	}
	return errors.Join(errs...)
}

// PayloadDir is the folder for payloads that an agent is asked to read, relative to the
// workspace.
const PayloadDir = cacheDir + "resume/"

const cacheDir = ".workspace/local/cache/"

// PayloadFile names the file of a conversation's payload, relative to the workspace.
func PayloadFile(id string) string { return PayloadDir + schema.PathElement(id) + ".md" }

// DropRedacted drops what this machine keeps of a conversation and may quote what another clone
// redacted: cached notes from before that, the payload for an agent, and the backup of
// session.json.
func (w *Workspace) DropRedacted(path string) error {
	c, err := w.Conversation(path)
	if err != nil {
		return err
	}
	defer c.Close()
	id, err := c.ID()
	if err != nil {
		return err
	}
	payload := strings.TrimPrefix(PayloadFile(id), cacheDir)
	_, cached := w.Store.ReadCache(notesName(path))
	_, given := w.Store.ReadCache(payload)
	if !cached && !given && !w.Store.Backups().Has(path) {
		return nil
	}
	redacted := false
	for m, err := range store.Undamaged(c.Messages()) {
		if redacted = redacted || err == nil && len(m.Redacted) > 0; redacted {
			break
		}
	}
	for t, err := range store.Undamaged(c.Tools()) {
		if redacted = redacted || err == nil && len(t.Redacted) > 0; redacted {
			break
		}
	}
	if !redacted {
		return nil
	}
	if cached {
		_, err = w.Notes.Of(c, ReadNotes)
	}
	return errors.Join(err, w.Store.RemoveCache(payload), w.Store.Backups().Remove(path))
}

// NotesTokens is how much of the end of a conversation is read for notes if none are
// cached. A conversation captured turn by turn has notes from its beginning.
const NotesTokens = 1_600_000

// NotesUse says whether to cache notes.
type NotesUse int

// Only callers that write anyway cache notes: reading leaves nothing behind.
const (
	ReadNotes NotesUse = iota
	KeepNotes
)

// Of returns the notes on a conversation: the cached ones, extended by what is new. If
// caching them fails, the next reader only takes longer.
func (n Notes) Of(c *store.Conversation, use NotesUse) (*notes.Notes, error) {
	state, _, err := n.read(c, use)
	return state, err
}

// read is Of. It also returns the history that it read to make the notes, with shortened
// messages. After cached notes, that is only what is new.
func (n Notes) read(c *store.Conversation, use NotesUse) (state *notes.Notes, h schema.History, err error) {
	var kept cachedNotes
	b, ok := n.store.ReadCache(notesName(c.Path()))
	if !ok || json.Unmarshal(b, &kept) != nil || kept.State.Version != notes.Version || kept.Last == "" {
		kept = cachedNotes{}
	}
	logs, err := c.CheckpointNow() // before reading, so that the next read sees later appends
	if err != nil {
		return nil, h, err
	}
	if h, _, err = c.History(store.Limit{After: kept.Last, Tokens: NotesTokens}); err != nil {
		return nil, h, err
	}
	// Another branch, or too many new messages; or what the notes cover has changed.
	if kept.Last != "" && (len(h.Messages) > 0 && h.Messages[0].ParentID != kept.Last || revised(c, kept.Logs, h)) {
		kept = cachedNotes{}
		_ = n.store.RemoveCache(notesName(c.Path())) // it may quote what another clone redacted
		if h, _, err = c.History(store.Limit{Tokens: NotesTokens}); err != nil {
			return nil, h, err
		}
	}
	if kept.Last == "" {
		kept.State.Messages = h.Earlier
	}
	h.Messages = Shorten(h.Messages)
	done, rest := h, h
	turn := lastTurn(h.Messages)
	done.Messages, rest.Messages = h.Messages[:turn], h.Messages[turn:]
	kept.State.Add(done)
	if use == KeepNotes && (turn > 0 || kept.Last != "" && kept.Logs != logs) {
		if turn > 0 {
			kept.Last = done.Messages[turn-1].ID
		}
		kept.Logs = logs
		if b, err = json.Marshal(kept); err != nil {
			return nil, h, fmt.Errorf("the state of %q: %w", c.Path(), err)
		}
		_ = n.store.WriteCache(notesName(c.Path()), b)
	}
	kept.State.Add(rest)
	return &kept.State, h, nil
}

// OfBranch returns the notes on a branch other than the newest, by the id of its last
// message. They are not cached.
func (n Notes) OfBranch(c *store.Conversation, end string) (*notes.Notes, error) {
	h, _, err := c.History(store.Limit{End: end, Tokens: NotesTokens})
	if err != nil {
		return nil, err
	}
	state := notes.Notes{Messages: h.Earlier}
	h.Messages = Shorten(h.Messages)
	state.Add(h)
	return &state, nil
}

// lastTurn returns the index of the message that the last turn begins with.
func lastTurn(messages []schema.Message) int {
	for i := len(messages) - 1; i > 0; i-- {
		if messages[i].Role == schema.User {
			return i
		}
	}
	return 0
}

// revised reports whether the cached notes are out of date, because the logs got a line for
// a message that the notes cover, or for a call by such a message: notes process each
// message once. h holds the messages after the notes. It also returns true if the logs were
// replaced.
func revised(c *store.Conversation, since store.Checkpoint, h schema.History) bool {
	open, calls := map[string]bool{"": true}, map[string]bool{}
	for _, m := range h.Messages {
		open[m.ID] = true
		for _, call := range m.ToolCalls {
			calls[call.ID] = true
		}
	}
	again := false
	ok, err := c.Since(since, func(line []byte) {
		m, err := schema.ParseMessage(bytes.TrimSpace(line))
		again = again || err == nil && !open[m.ID]
	}, func(line []byte) {
		t, err := schema.ParseTool(bytes.TrimSpace(line))
		again = again || err == nil && !calls[t.ID]
	})
	return again || !ok || err != nil
}
