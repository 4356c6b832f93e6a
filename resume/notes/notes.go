// Package notes derives notes on a conversation from its messages and tool calls,
// without a model: a title, a description, the current plan, what the user decided,
// which files changed, what failed, and where the work stopped.
package notes

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/clip"
)

// Version is the version of the [Notes] that this build makes. Stored notes of another
// version are rebuilt.
const Version = 8

// Limits on each list in notes; the oldest entries are dropped.
const (
	maxFiles     = 200
	maxCommands  = 100
	maxErrors    = 40
	maxDecisions = 20
	maxSeen      = 200
)

// maxText is the longest text in notes, in bytes.
const maxText = 300

// A Note is one line about something that was said or happened.
type Note struct {
	Text    string `json:"text"`
	Key     string `json:"key,omitempty"`   // for an error: what has to succeed to resolve it; for a decision: its subject
	Since   int    `json:"since,omitempty"` // for an error: how many commands succeeded since
	Message string `json:"message,omitempty"`
	Number  int    `json:"n,omitempty"` // number of its message
}

// A File is a file that the agent changed, under the path that it wrote.
type File struct {
	Path    string `json:"path"`
	Action  string `json:"action"`
	Message string `json:"message,omitempty"`
	Number  int    `json:"n"` // number of the last message that touched it
	Times   int    `json:"times"`
}

// Shortened reports whether the path differs from the one written: it was too long or
// not valid text.
func (f File) Shortened() bool {
	return strings.HasSuffix(f.Path, cutMark) || strings.ContainsRune(f.Path, utf8.RuneError)
}

// The actions of a file. A file that is created and then modified stays created; one
// that is modified and then overwritten stays modified.
const (
	Created  = "created"
	Modified = "modified"
	Deleted  = "deleted"
)

// A Command is a shell command that did more than look, or a command of the last turn
// that failed to look. Repeated runs of the same line, or of the same program on the
// same file, count once: the last.
type Command struct {
	Line     string `json:"line"`
	ReadOnly bool   `json:"looks,omitempty"`
	Outcome  string `json:"outcome"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Message  string `json:"message,omitempty"`
	Number   int    `json:"n"`
}

// The outcomes of a call.
const (
	OK       = "ok"
	Failed   = "failed"
	NoResult = "no result" // it was cut short, or runs in the background
	Refused  = "refused"   // by the user
)

// Notes holds what a person would need to continue a conversation. The zero value
// is for an empty conversation.
//
// Notes are stored as JSON and extended by new messages. They depend only on the
// messages, not on how these were divided among calls of [Notes.Add].
type Notes struct {
	Version   int          `json:"version"`  // [Version] of the build that made it
	Messages  int          `json:"messages"` // number of the last message in it
	Topic     Note         `json:"topic"`    // the user's first request
	Files     files        `json:"files,omitempty"`
	Commands  []Command    `json:"commands,omitempty"`
	Errors    []Note       `json:"errors,omitempty"`    // unresolved failures of the last two turns
	Decisions []Note       `json:"decisions,omitempty"` // by the user, in the user's words
	Plan      *schema.Plan `json:"plan,omitempty"`
	LastUser  Note         `json:"last_user"` // the last user message that is not a goodbye
	Turn      turn         `json:"fold"`      // where Add continues; not for readers
}

// Add adds the next whole turns of the conversation to the notes. A call counts with
// its outcome in h.Tools and is not read again.
//
// Add changes the slices of n in place, so a caller who needs the old notes must copy
// them through JSON.
func (n *Notes) Add(h schema.History) {
	n.Version = Version
	a := adder{Notes: n, tools: h.Tools}
	for i := range h.Messages {
		a.add(&h.Messages[i])
	}
	a.readAnswer()
	n.Plan = n.Turn.Todos.plan()
}

// An adder adds messages to notes, one after the other.
type adder struct {
	*Notes
	tools   map[string]schema.Tool // by id: the calls of all messages
	message *schema.Message        // being added
	answer  string                 // the agent's last text, not read yet
}

func (a *adder) add(m *schema.Message) {
	a.message = m
	a.Messages = max(a.Messages+1, m.Number)
	switch m.Role {
	case schema.User:
		a.addPrompt()
	case schema.Assistant:
		a.addReply()
	case schema.System:
		a.addEvent()
	}
}

// note returns a note about the message.
func (a *adder) note(text string) Note {
	return Note{Text: limit(text), Message: shortID(a.message), Number: a.Messages}
}

// lastOf returns the last n of list.
func lastOf[T any](list []T, n int) []T {
	if len(list) > n {
		list = slices.Delete(list, 0, len(list)-n)
	}
	return list
}

// shortID returns the id of m, cut to a size that fits in notes.
func shortID(m *schema.Message) string { return safePath(m.ID) }

// cutMark shows where text was cut.
const cutMark = "…"

// limit cuts a line to maxText bytes.
func limit(s string) string { return limitTo(s, maxText) }

// limitTo cuts a line to n bytes.
func limitTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.TrimRightFunc(strings.ToValidUTF8(s[:n-len(cutMark)], ""), unicode.IsSpace) + cutMark
}

// limitMiddle cuts a line to maxText bytes but keeps its end, where a command names
// the file it writes to.
func limitMiddle(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := strings.ToValidUTF8(s[len(s)-maxText/3:], "")
	return limitTo(s, maxText-len(end)) + end
}

// endBytes is how much of the beginning and end of a text is read. The rest of a
// pasted 100 MB log adds nothing.
const endBytes = 32 << 10

// headAndTail returns s without the middle of a long text.
func headAndTail(s string) string { return clip.Ends(s, endBytes) }
