// Package digest makes a person's notes about a conversation from its messages
// and tool calls, without a model: a title, a description, where things
// stopped, the plan as it stands, and the state that one needs to go on.
package digest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
)

// StateVersion is the version of the [State] that this build makes: a state that
// was kept under another is made anew.
const StateVersion = 7

// The most of each kind that a state holds; what falls out is the oldest.
const (
	maxFiles     = 200
	maxCommands  = 100
	maxErrors    = 40
	maxDecisions = 20
	maxSeen      = 200
)

// maxText is the most bytes of a text in a state.
const maxText = 300

// A Note is something that was said or that happened, on one line.
type Note struct {
	Text    string `json:"text"`
	Key     string `json:"key,omitempty"`   // of an error: what has to succeed to settle it; of a decision: what it decides
	Since   int    `json:"since,omitempty"` // of an error: the commands that have succeeded since
	Message string `json:"message,omitempty"`
	N       int    `json:"n,omitempty"` // the number of that message
}

// A File is a file that the agent changed, by the path that it wrote.
type File struct {
	Path    string `json:"path"`
	Action  string `json:"action"`
	Message string `json:"message,omitempty"`
	N       int    `json:"n"` // of the message that touched it last
	Times   int    `json:"times"`
}

// Shortened reports whether the path is not as it was written: it was too long, or held what
// is no text.
func (f File) Shortened() bool {
	return strings.HasSuffix(f.Path, cutMark) || strings.ContainsRune(f.Path, utf8.RuneError)
}

// The actions of a file: one that was created and then modified is created, one
// that was modified and then written anew is modified.
const (
	Created  = "created"
	Modified = "modified"
	Deleted  = "deleted"
)

// A Command is a shell command that did more than look, or one of the last turn
// that could not look. Of runs of the same line, or of the same program on the same
// file, the last counts.
type Command struct {
	Line     string `json:"line"`
	Looks    bool   `json:"looks,omitempty"`
	Outcome  string `json:"outcome"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Message  string `json:"message,omitempty"`
	N        int    `json:"n"`
}

// The outcomes of a command.
const (
	OK       = "ok"
	Failed   = "failed"
	NoResult = "no result" // it was cut short, or runs in the background
	Refused  = "refused"   // by the user
)

// A State is what a person would note of a conversation to go on with it. The
// zero State is that of a conversation in which nothing was said.
//
// It is kept as JSON and extended by what is new. It depends on the messages
// only, not on how many of them one Add was given.
type State struct {
	Version   int          `json:"version"`  // [StateVersion] of the build that made it
	Messages  int          `json:"messages"` // the number of the last one that is in it
	Topic     Note         `json:"topic"`    // what the user asked for first
	Files     []File       `json:"files,omitempty"`
	Commands  []Command    `json:"commands,omitempty"`
	Errors    []Note       `json:"errors,omitempty"`    // failures of the last two turns that nothing settled
	Decisions []Note       `json:"decisions,omitempty"` // of the user, in the user's words
	Plan      *schema.Plan `json:"plan,omitempty"`
	LastUser  Note         `json:"last_user"` // the last message of the user that takes no leave
	Fold      fold         `json:"fold"`      // what Add goes on from; of no use to a reader

	unread string // what the agent said last, until Add is done
}

// Add takes the next whole turns of the conversation into the state: a call
// counts with the outcome that it has in h.Tools, and is not looked at again.
//
// Add changes what the slices of s hold, so a copy that is to stay as it is has
// to be made through JSON.
func (s *State) Add(h schema.History) {
	s.Version = StateVersion
	for i := range h.Messages {
		m := &h.Messages[i]
		s.Messages = max(s.Messages+1, m.Number)
		switch m.Role {
		case schema.User:
			s.prompted(m)
		case schema.Assistant:
			s.replied(m, h.Tools)
		case schema.System:
			s.happened(m)
		}
	}
	s.readLast()
	s.Plan = s.Fold.Todos.plan()
}

// note is a note of the message m, which was added last.
func (s *State) note(text string, m *schema.Message) Note {
	return Note{Text: limit(text), Message: identity(m), N: s.Messages}
}

// bounded returns the last n of list.
func bounded[T any](list []T, n int) []T {
	if len(list) > n {
		list = slices.Delete(list, 0, len(list)-n)
	}
	return list
}

// identity is the id of m, cut to what a state may hold.
func identity(m *schema.Message) string { return path(m.ID) }

// cutMark stands where a text was cut.
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

// limitMiddle cuts a line to maxText bytes and keeps its end: a command tells there
// what it writes to.
func limitMiddle(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := strings.ToValidUTF8(s[len(s)-maxText/3:], "")
	return limitTo(s, maxText-len(end)) + end
}

// endBytes is how much of the beginning and of the end of a text is looked at: a
// pasted log of 100 MB says no more.
const endBytes = 32 << 10

// ends returns s without its middle, if it is long.
func ends(s string) string {
	if len(s) <= 2*endBytes {
		return s
	}
	return strings.ToValidUTF8(s[:endBytes], "") + "\n…\n" + strings.ToValidUTF8(s[len(s)-endBytes:], "")
}
