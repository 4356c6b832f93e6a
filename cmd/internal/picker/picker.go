// Package picker describes what the picker shows and what the user decides in it. Package
// screen below it draws the picker, with libraries that would slow down every start of a
// program that links them.
package picker

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"cortext/cmd/internal/listing"
)

// Rows is a snapshot of the conversations to choose from, most recently active first.
// [listing.Listing] implements it. It must be safe for concurrent use.
type Rows interface {
	Len() int
	Row(i int) listing.Row
	Select(f listing.Filter) []int
	ByID(id string) (int, bool)
}

// A Picker lets the user choose. It prepares the terminal while load runs. The error is that
// of load, or of ctx if it ended.
type Picker func(ctx context.Context, on Terminal, load Loader) (Choice, error)

// A Terminal is what the picker reads keys from and draws on.
type Terminal struct {
	In      io.Reader
	Out     io.Writer
	Environ []string // TERM, COLORTERM and NO_COLOR determine the colors
}

// A Loader reads what the picker shows. While that takes long, it calls progress with the
// number of conversations that it has read. It may still be running when the picker returns,
// if the user left the picker before.
type Loader func(ctx context.Context, progress func(done, of int)) (Options, error)

// Options configure the picker. It does not offer functions that are nil. All functions but
// Exists and ReadOnly run outside the drawing loop. When the picker returns, none of them is running
// except Preview, whose context has ended by then.
type Options struct {
	Now func() time.Time

	Rows   Rows
	Filter listing.Filter   // the conversations to list; the others are hidden
	Query  string           // the initial words
	Found  func(Rows) []int // the positions of the rows that Query selects, best first, even if Filter hides them; none: the picker filters by its words
	Agents []string         // agents to resume in
	Types  []string         // of a new conversation

	Prepare    func(ctx context.Context) error                                             // finds conversations that Rows lacks, for the next Reload
	Reload     func(ctx context.Context, shown []string) (Rows, error)                     // the current conversations, certainly those in the folders shown; nil if nothing has changed
	Everywhere func(ctx context.Context) (Rows, error)                                     // the conversations of all workspaces
	Preview    func(ctx context.Context, row listing.Row) (Preview, error)                 // what a conversation is about
	Search     func(ctx context.Context, words string, found func(Hit)) error              // searches the messages, best hits first
	Exists     func(row listing.Row) bool                                                  // whether a conversation still exists; must be quick
	Prompts    func(ctx context.Context, row listing.Row) ([]Prompt, error)                // the user's prompts in a conversation, oldest first, where a fork can begin
	Act        func(ctx context.Context, a Action, row listing.Row) (said string, e error) // runs one of Actions
	Actions    []Action
	Undo       func(ctx context.Context) (said string, err error) // undoes the last action not undone yet
	ReadOnly   func(row listing.Row) string                       // why a conversation cannot be changed, or ""; must be quick
}

// An Action is an additional command for a conversation, with its key.
type Action struct {
	Key  rune // a lower-case letter
	Name string
	Ask  string // a question to confirm first, if any

	Input string                       // prompt for a text that the action needs, if any
	Begin func(row listing.Row) string // initial text; nil: none
	Text  string                       // what the user typed, for [Options.Act]
}

// A Preview shows what a conversation is about, in addition to its row.
type Preview struct {
	Plan     []Step
	Exchange []Line   // the end of the conversation
	Files    []File   // files that the conversation touched, latest first
	Since    []string // what happened since the last message
	Branches int      // number of other branches with an answer
}

// A Step is a step of a plan.
type Step struct {
	Text string
	Done bool
}

// A Line is a message with its speaker.
type Line struct{ Who, Text string }

// A File is a file that a conversation touched; Mark is M, A or D.
type File struct{ Mark, Path string }

// A Prompt is a user prompt in a conversation.
type Prompt struct {
	Number int // number of the message
	Text   string
}

// A Hit is a conversation whose messages contain the searched words.
type Hit struct {
	ID       string
	Message  int      // number of the message
	Sentence string   // the sentence around the words
	Marks    [][2]int // byte ranges of the words in Sentence
	Count    int      // number of messages with the words
}

// ErrGone is returned by [Options.Preview] for a conversation that no longer exists.
var ErrGone = errors.New("this conversation no longer exists")

// A Choice is what the user decided.
type Choice struct {
	Kind  Kind
	Row   listing.Row // the conversation to resume
	Agent string      // agent to resume in; empty: the conversation's own
	Type  string      // of a new conversation
	Topic string      // of a new conversation
	At    int         // number of the message before which the fork ends; 0: copy all
}

// A Kind is what the user decided to do.
type Kind int

// The kinds of choices.
const (
	Left        Kind = iota // nothing
	Interrupted             // nothing: the user pressed Ctrl-C
	Resume
	New
	Fork
)

// The minimum size of the screen.
const (
	MinWidth  = 40
	MinHeight = 8
)

// Same reports whether two snapshots look the same on the screen.
func Same(a, b Rows) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		x, y := a.Row(i), b.Row(i)
		if !sameRow(&x, &y) {
			return false
		}
	}
	return true
}

func sameRow(a, b *listing.Row) bool {
	return a.ID == b.ID && a.Path == b.Path && a.Messages == b.Messages && a.LastActive.Equal(b.LastActive) &&
		a.Title == b.Title && a.Type == b.Type && a.Status == b.Status && a.Archived == b.Archived && a.Damaged == b.Damaged &&
		a.Agents == b.Agents && a.Model == b.Model && a.Summary == b.Summary && a.Description == b.Description && slices.Equal(a.Tags, b.Tags)
}
