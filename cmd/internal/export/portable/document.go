// Package portable reads and writes the documents that carry conversations between
// workspaces, and to and from other programs. It does not access a workspace.
// Documents come in two forms with the same content. JSON is one object with the members
// that other programs know (name, provider, modes, messages, longTermSummary and metrics)
// and more members that preserve everything else. JSON Lines has a line for each record, as
// in the log. exportedAt is the time of the conversation's last activity, so that the same
// content always gives the same bytes.
package portable

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	"cortext/schema"
	"cortext/store"
)

// Version is the document version that this package writes. It reads every version with the
// same major number.
const Version = "1.0"

// A Conversation is the content of a document.
type Conversation struct {
	Session  *schema.Session  // nil if another program wrote the document; then it has only a name and messages
	Name     string           // the title in the document; another program may have changed it there alone
	Messages []schema.Message // the lines of messages.jsonl in order, including superseded revisions
	Tools    []schema.Tool    // the lines of tools.jsonl in order
	Lines    *Lines           // instead of Messages and Tools, for WriteLines only

	Summaries   []*schema.Summary
	Document    *Document
	Attachments []Attachment
	Subagents   []Subagent
	LeftOut     []string // what the export left out on request

	// Documents in the formats for readers, which other packages read, have less.
	Lacks    string   // says what the format does not carry
	Warnings []string // say what is wrong with this one
}

// Lines are the lines of a conversation's logs in order, as the store writes them, without
// their newlines.
type Lines struct{ Messages, Tools [][]byte }

// A Document is a conversation's document for people.
type Document struct {
	Name string // file name in the conversation's folder
	Text string
}

// An Attachment is the content of an attachment to a message or a call.
type Attachment struct {
	SHA256 string // hash of the original content, in hex; the stored content may be redacted
	Data   []byte
}

// A Subagent is the conversation of a sub-agent, which has no Document.
type Subagent struct {
	NativeID string // names its folder
	Conversation
}

// A FormatError says why a text is not a document, or not a readable one.
type FormatError struct {
	Foreign bool // not a document of this kind at all
	Why     string
}

func (e *FormatError) Error() string { return e.Why }

func damaged(format string, args ...any) error {
	return &FormatError{Why: "is damaged: " + fmt.Sprintf(format, args...)}
}

// checkVersion returns an error unless this package can read documents of a version.
func checkVersion(have string) error {
	major, _, _ := strings.Cut(have, ".")
	if major != "1" {
		return &FormatError{Why: fmt.Sprintf("is an export of version %.20q, and this cortext reads version %s: install a later one", have, Version)}
	}
	return nil
}

// Title returns the title of the conversation.
func (c *Conversation) Title() string {
	if c.Session == nil {
		return c.Name
	}
	return c.Session.DisplayTitle()
}

// At returns when the conversation was last active, or the zero time if nothing has a time.
func (c *Conversation) At() time.Time {
	if c.Session != nil && c.Session.LastActive != "" {
		return c.Session.LastActive.Time()
	}
	var last time.Time
	for i := range c.Messages {
		if at := c.Messages[i].Timestamp.Time(); at.After(last) {
			last = at
		}
	}
	return last
}

// FileName returns the file name for a conversation: session-{name}-{date} plus the suffix
// of the format.
func FileName(title string, at time.Time, suffix string) string {
	date := "undated"
	if !at.IsZero() {
		date = at.UTC().Format(time.DateOnly)
	}
	return fmt.Sprintf("session-%s-%s.%s", cmp.Or(store.Slug(title), schema.Untitled), date, suffix)
}

// settled returns the session as it appears in documents: the same for every copy of the
// conversation, wherever its folder is and however long its lines are.
func settled(s *schema.Session) *schema.Session {
	s = s.Clone()
	s.Upgrade()
	if s.Title == "" {
		s.Title = s.DisplayTitle()
	}
	s.CountedBytes, s.Repair = 0, nil
	if FolderWords(s) == "" {
		s.ConversationID = "" // in an older form: a copy gets a folder name of the current form
	}
	return s
}

// FolderWords returns the words in the name of a conversation's folder, or "" if the name
// does not have the form of [store.FolderName].
func FolderWords(s *schema.Session) string {
	name := s.ConversationID
	prefix := s.CreatedAt.Time().UTC().Format("1504") + "-" + s.ConversationType + "-"
	end := strings.LastIndexByte(name, '-')
	if !strings.HasPrefix(name, prefix) || end <= len(prefix) {
		return ""
	}
	words := name[len(prefix):end]
	if path.Base(store.FolderName(s, s.ConversationType, words)) != name {
		return ""
	}
	return words
}
