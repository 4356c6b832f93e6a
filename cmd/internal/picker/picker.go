// Package picker lets the user find and choose a conversation on a full screen.
//
// [Run] draws a list that is filtered while the user types, with a preview of the chosen
// conversation. It returns what the user decided after the terminal is as it was before.
// It launches nothing, changes nothing and prints nothing but its screen.
package picker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"cortext/cmd/internal/listing"
)

// Rows are the conversations to choose from, most recently active first, at one moment.
// [listing.Listing] implements it. Several goroutines use it at a time.
type Rows interface {
	Len() int
	Row(i int) listing.Row
	Select(f listing.Filter) []int
	ByID(id string) (int, bool)
}

// Options say what the picker shows and what it offers. A function that is nil is not
// offered. Functions run outside of the loop that draws, except Exists, and none runs any
// more after [Run] returned, except Preview, whose context has ended then.
type Options struct {
	In      io.Reader
	Out     io.Writer
	Environ []string // TERM, COLORTERM and NO_COLOR say which colors there are
	Now     func() time.Time

	Rows   Rows
	Filter listing.Filter // what is listed; the rest counts as hidden
	Query  string         // the words typed so far
	Agents []string       // that a conversation can be resumed in
	Types  []string       // of a new conversation

	Prepare    func(ctx context.Context) error                                             // finds conversations that Rows does not have yet, for a Reload
	Reload     func(ctx context.Context) (Rows, error)                                     // the conversations now, or nil if nothing has changed
	Everywhere func(ctx context.Context) (Rows, error)                                     // the conversations of all workspaces
	Preview    func(ctx context.Context, row listing.Row) (Preview, error)                 // what a conversation is about
	Search     func(ctx context.Context, words string, found func(Hit)) error              // finds words in what was said, best first
	Exists     func(row listing.Row) bool                                                  // whether a conversation is still there; it must be quick
	Prompts    func(ctx context.Context, row listing.Row) ([]Prompt, error)                // what the user asked in a conversation, oldest first: a fork can begin there
	Act        func(ctx context.Context, a Action, row listing.Row) (said string, e error) // carries out one of Actions
	Actions    []Action
	Undo       func(ctx context.Context) (said string, err error) // undoes the last action that was not undone yet
	ReadOnly   string                                             // why no action can be carried out, if so
}

// An Action is something else to do with a conversation, on a key.
type Action struct {
	Key  rune // a lower-case letter
	Name string
	Ask  string // a question to confirm first, if any

	Input string                       // asks for a text that the action needs, if any
	Begin func(row listing.Row) string // the text to begin with; nil: none
	Text  string                       // what the user typed; for [Options.Act]
}

// A Preview tells the user what a conversation is about, besides what its row says.
type Preview struct {
	Plan     []Step
	Exchange []Line   // the end of the conversation
	Files    []File   // that the conversation touched, the last ones first
	Since    []string // what happened since
	Branches int      // other branches in which there was an answer
}

// A Step is a step of a plan.
type Step struct {
	Text string
	Done bool
}

// A Line is what was said at one time, and who said it.
type Line struct{ Who, Text string }

// A File is a file that a conversation touched; Mark is M, A or D.
type File struct{ Mark, Path string }

// A Prompt is what the user asked at one point of a conversation.
type Prompt struct {
	Number int // of the message
	Text   string
}

// A Hit is a conversation in which searched words were said.
type Hit struct {
	ID       string
	Message  int      // number of the message
	Sentence string   // around the words
	Marks    [][2]int // the words in Sentence, as ranges of bytes
	Count    int      // messages with the words
}

// ErrGone is returned by [Options.Preview] for a conversation that no longer exists.
var ErrGone = errors.New("this conversation no longer exists")

// A Choice is what the user decided.
type Choice struct {
	Kind  Kind
	Row   listing.Row // the conversation to resume
	Agent string      // to resume in; empty: the conversation's own
	Type  string      // of a new conversation
	Topic string      // of a new conversation
	At    int         // the number of the message that a fork ends before; 0: it has all messages
}

// A Kind says what to do next.
type Kind int

// The kinds of choices.
const (
	Left        Kind = iota // nothing
	Interrupted             // nothing: the user pressed Ctrl-C
	Resume
	New
	Fork
)

// The smallest screen that the picker can draw on.
const (
	MinWidth  = 40
	MinHeight = 8
)

// framesPerSecond halves the time from a key to the screen, compared with the default.
const framesPerSecond = 120

// Run lets the user choose. The error is that of ctx if it ended.
func Run(ctx context.Context, o Options) (Choice, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, o)
	if f, ok := o.Out.(*os.File); ok { // so that the first frame is complete
		if width, height, err := term.GetSize(int(f.Fd())); err == nil {
			m.width, m.height = width, height
		}
	}
	var wheel flood
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ),
		tea.WithColorProfile(colorprofile.Env(o.Environ)), tea.WithFPS(framesPerSecond), tea.WithFilter(wheel.fold), tea.WithoutSignalHandler()).Run()
	ended := ctx.Err()
	cancel()
	m.work.wait()
	switch {
	case ended != nil:
		return Choice{}, ended
	case err != nil:
		return Choice{}, fmt.Errorf("the picker failed: %w", err)
	}
	return m.choice, nil
}
