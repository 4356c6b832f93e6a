// Package inject is what cortext knows of agents in general: how a native
// transcript is found, read and followed, what an agent's hooks tell, and, in the
// adapters below it, how an agent takes a conversation up again.
package inject

import (
	"context"
	"errors"
	"io"
	"time"

	"cortext/schema"
)

// An Agent is one agent that cortext works with. An adapter fills it in; main
// says which there are.
type Agent struct {
	Name string // "claude"; stored in session.json

	// Detect reports whether the file is a transcript of the agent. What a file
	// is, its content says: names and endings mislead.
	Detect func(f io.Reader) bool

	// Transcripts lists the transcripts in a file that Detect knows, where one
	// file may hold many; nil: the file is one.
	Transcripts func(file string) ([]string, error)

	// Stat tells one state of a transcript from another: the length of a file, or
	// whatever is sure to change with it. The error is [fs.ErrNotExist] where it is
	// gone.
	Stat func(path string) (int64, error)

	// Open reads a transcript once to learn its shape. It must be closed.
	Open func(path string, o Options) (*Transcript, error)

	// Subagents lists the transcripts of sub-agents that belong to the
	// transcript at path.
	Subagents func(path string) ([]Subagent, error)

	// Sessions lists the sessions that the agent keeps on this machine, but for
	// those of sub-agents. No store is an empty list; what could not be read is
	// left out, and the error names it.
	Sessions func(m Machine) ([]Native, error)

	// Stores lists the folders in which something changes when a session does.
	Stores func(m Machine) []Store

	// Locate returns where the agent keeps the transcript of a session on this
	// machine; ok is false where it has none. The error names what could not be
	// read, so that the transcript may be there.
	Locate func(m Machine, nativeID string) (path string, ok bool, err error)

	// Session returns the id of the session that a command of ours was called
	// from, empty if it was not called by this agent.
	Session func(m Machine) string

	// Running lists the sessions that programs of the agent have open on this machine, as
	// they say themselves. One that was killed may still be listed. nil: they do not say.
	Running func(m Machine) []Running

	// Hook reads what the agent gives a hook on standard input.
	Hook func(m Machine, event string, input []byte) (Event, error)

	// Reply spells text as what a hook answers, so that it stands beside the
	// prompt as it is.
	Reply func(event, text string) []byte

	// ReplyNote tells the model what the agent alters in a reply; empty: nothing.
	ReplyNote string

	// ReplyLimit is how many bytes of text surely arrive whole by Reply.
	ReplyLimit int

	// Install returns the files of the agent's slash commands and hooks in a
	// project, each with what is to be done; read returns a file as it is. It
	// changes nothing.
	Install func(o InstallOptions, read func(path string) (text string, ok bool, err error)) ([]Change, error)

	// Model is the name of the model that the agent would use for a launch, of
	// which only Dir, Root and Args count: the one its arguments name, else its
	// environment or settings. Empty, or nil: they name none.
	Model func(m Machine, r Request) string

	// Window is the context window, in tokens, that the agent's files on this
	// machine give a model; 0, or nil: they do not say.
	Window func(m Machine, r Request, model string) int

	// Ready returns the agent's program, by its absolute path, if nothing stands in the
	// way of using it in r.Dir. The error is a [HurdleError] where the user has to do
	// something first.
	Ready func(m Machine, r Request) (program string, err error)

	// Launch plans how the agent is started on a payload. It changes nothing.
	// The error is a [HurdleError] where the user has to do something first.
	Launch func(m Machine, r Request) (*Launch, error)

	// Launched finds the session that a launch began, where its id was not known
	// before: the one that begins with the payload. nil: it is always known.
	Launched func(m Machine, r Request) (nativeID string, ok bool)

	// Discard tidies up after a launch, when the program has ended: it removes the
	// session that the launch had put among the agent's own, or of one in which
	// something was said only what would harm it. It is called so also when a session
	// is taken up again, by the agent's hook. nil: a launch leaves nothing.
	Discard func(ctx context.Context, m Machine, nativeID string, said bool) error

	// Remove is for an agent whose program alone can remove such a session, which takes
	// it seconds. It leaves a session in which something was said. nil: Discard does it.
	Remove func(ctx context.Context, m Machine, nativeID string) error
}

// A Machine is what an adapter needs to know of the machine that it runs on.
type Machine struct {
	Home   string // the user's home folder
	Getenv func(string) string

	// Head returns what read finds at the beginning of a file, and need not call it
	// while the file stays as it is; nil: it is always called.
	Head func(file string, read func() (string, error)) (string, error)
}

// ReadHead is Head, if there is one, else read.
func (m Machine) ReadHead(file string, read func() (string, error)) (string, error) {
	if m.Head == nil {
		return read()
	}
	return m.Head(file, read)
}

// Options say how a transcript is read.
type Options struct {
	Progress func(int64) // called with the bytes read so far; may be nil

	// Head bounds the bytes that are looked at, for the Roots alone; 0: all.
	Head int64

	// From is where an earlier reading ended; only what is behind it is read.
	// The zero value is the beginning. The error is [ErrCursor] if the file is
	// not what it was, or what is new hangs on more than the cursor knows: it
	// must be read from the beginning then.
	From Cursor

	// Continues says that the session goes on from one that was captured: a summary
	// of what was before it is none of its messages.
	Continues bool

	// Strip returns what is left of a user's text without a payload that cortext
	// itself had put there; ok is false where there is none. It may be nil.
	Strip func(text string) (rest string, ok bool)
}

// ErrCursor says that a transcript cannot be read on from a cursor.
var ErrCursor = errors.New("the transcript does not continue where it was left")

// A Cursor is a place in a transcript that reading can go on from.
type Cursor struct {
	Offset  int64    `json:"offset"`  // what is before it needs not be read again; 0: nothing was read
	Size    int64    `json:"size"`    // what Stat told when it was read
	Head    string   `json:"head"`    // a hash of the first bytes
	Tail    string   `json:"tail"`    // a hash of the last bytes before Offset
	Message string   `json:"message"` // the first that will be read again
	Anchors []Anchor `json:"anchors"` // lines shortly before Offset that later ones may hang on
}

// An Anchor is a line that was read, with the message that it belongs to.
type Anchor struct {
	Line    string `json:"line"`
	Message string `json:"message,omitempty"`
	Ours    bool   `json:"ours,omitempty"` // it holds what cortext itself said
}

// A Subagent is a transcript file of a sub-agent.
type Subagent struct {
	NativeID   string
	Path       string
	ToolCallID string // the parent's call that started it, if the agent wrote it down
}

// A Transcript is a native session: what is known about it as a whole, and its
// messages in batches. Read on from a cursor, it is what is new.
type Transcript struct {
	Agent    string
	NativeID string
	Version  string   // of the agent
	Parent   string   // native id of the session that started this one, for a sub-agent's own file
	Roots    []string // ids of the lines that hang on no other; a fork of the session begins with one of them

	First, Last time.Time        // of its messages; zero if none has a time
	Title       string           // what the user named the session in the agent; may be empty
	Command     string           // its first /workspace.<type> command, may be empty
	Arguments   string           // of Command, as typed
	Model       string           // the last one that answered
	Provider    *schema.Provider // of Model; nil where the transcript does not name it
	Tools       []string         // names of the tools used, in the order of their first use
	Permission  string           // the last permission mode
	WorkingDir  string           // absolute, of the machine it was recorded on
	Branch      string           // of git, at the start
	Messages    int              // in the main conversation, by id

	// Said is the text of its last message from the model.
	Said string

	// Commands are the prompts that are /workspace commands, in their order.
	Commands []Command

	// Calls maps the native id of a sub-agent to the call that started it.
	Calls map[string]string

	// Warnings name damage and unknown kinds of records, each once.
	Warnings []string

	// Unread are those of the Warnings that name what could not be read, but for
	// a line cut off at the end: that is Torn. The agent may still be writing it
	// (Node writes a long one in pieces of 512 KB), and it is no record yet.
	Unread []string
	Torn   string

	// Next is where the next reading can go on.
	Next Cursor

	// Each gives the conversation in its order, in batches of bounded size; sub
	// is the native id of the sub-agent that a batch belongs to, empty for the
	// conversation itself. It may be called again.
	Each func(emit func(sub string, b Batch) error) error

	// Release closes what Each reads from; it may be nil.
	Release func() error
}

// Close ends the use of the transcript.
func (t *Transcript) Close() error {
	if t.Release == nil {
		return nil
	}
	return t.Release()
}

// A Native is a session as an agent keeps it.
type Native struct {
	NativeID string
	Path     string    // as Open takes it
	Dir      string    // absolute: where it was held; empty if the agent does not tell
	Root     string    // the commit that its git repository began with, if the agent tells
	Updated  time.Time // when it was written last
}

// A Running is a session that a program has open.
type Running struct {
	NativeID string
	PID      int
	Since    time.Time
}

// A Store is a folder with transcripts in it, or so many levels below it. It need
// not be there yet.
type Store struct {
	Dir   string // absolute
	Depth int
}

// A Batch is a part of a conversation with the bytes of its attachments.
type Batch struct {
	schema.Batch
	Blobs []Blob
}

// A Blob is the content of an attachment; the message refers to it by SHA256.
type Blob struct {
	SHA256 string // in hex
	Data   []byte
}

// InstallOptions say what is put into a project for an agent.
type InstallOptions struct {
	Types     []Type
	AfterTool bool // the agent calls cortext after each tool call, too
	Plugin    bool // with a plugin, where the agent has hooks only so
	User      bool // also what has to stand in the user's home, with paths that begin with "~/"
}

// A Type is a type of conversation with the text of its prompt, frontmatter
// included.
type Type struct{ Name, Source string }

// A Change is a file that cortext puts into a project for an agent.
type Change struct {
	Path   string // relative to the project, with slashes; with "~/" to the user's home
	Text   string // as it is to be
	Action Action
	Notes  []string // what changes in it, for people
}

// An Action is what is to be done with a file.
type Action string

// The actions.
const (
	Create Action = "create"
	Update Action = "update" // cortext wrote it and has a newer text
	Same   Action = "same"   // nothing to do
	Keep   Action = "keep"   // the user wrote or edited it: it stays
	Remove Action = "remove" // cortext wrote it and needs it no more
)
