// Package inject defines what cortext knows about agents in general: how to find,
// read and follow native transcripts, what an agent's hooks report and, in the
// adapters below it, how an agent resumes a conversation.
package inject

import (
	"context"
	"errors"
	"io"
	"time"

	"cortext/schema"
)

// An Agent is one agent that cortext works with. An adapter fills it in; main lists
// the agents.
type Agent struct {
	Name string // "claude"; stored in session.json

	// Detect reports whether the file is a transcript of the agent. It looks at the
	// content, since names and extensions mislead.
	Detect func(f io.Reader) bool

	// Transcripts lists the transcripts in a file that Detect accepts, for agents
	// with several in one file. nil: the file is one transcript.
	Transcripts func(file string) ([]string, error)

	// Stat returns a value that changes whenever the transcript does, such as the
	// length of a file. The error is [fs.ErrNotExist] if the transcript is gone.
	Stat func(path string) (int64, error)

	// Open makes the first pass over a transcript. The caller must close it.
	Open func(path string, o Options) (*Transcript, error)

	// Subagents lists the sub-agent transcripts that belong to the transcript at
	// path.
	Subagents func(path string) ([]Subagent, error)

	// Sessions lists the agent's sessions on this machine, except those of
	// sub-agents. Without a store, the list is empty. It omits what cannot be read,
	// and the error names that.
	Sessions func(m Machine) ([]SessionRef, error)

	// Stores lists the folders that change when a session does.
	Stores func(m Machine) []Store

	// Locate returns where the agent keeps the transcript of a session on this
	// machine; ok is false if it has none. The error names what could not be read,
	// which may include the transcript.
	Locate func(m Machine, nativeID string) (path string, ok bool, err error)

	// Session returns the id of the session that called our command, or empty if this
	// agent did not call it.
	Session func(m Machine) string

	// Running lists the sessions that the agent's programs report as open on this
	// machine. A killed one may still be listed. nil: they do not report it.
	Running func(m Machine) []Running

	// Hook reads the agent's input for a hook from standard input.
	Hook func(m Machine, event string, input []byte) (Event, error)

	// Reply formats text as a hook's answer, so that it appears verbatim next to the
	// prompt.
	Reply func(event, text string) []byte

	// ReplyNote tells the model what the agent alters in a reply; empty: nothing.
	ReplyNote string

	// ReplyLimit is how many bytes of text are certain to arrive whole through Reply.
	ReplyLimit int

	// Install returns the files of the agent's slash commands and hooks in a project,
	// each with the action to take. read returns a file's current text. Install
	// changes nothing.
	Install func(o InstallOptions, read func(path string) (text string, ok bool, err error)) ([]Change, error)

	// Model returns the name of the model that the agent would use for a launch with
	// the Dir, Root and Args of r: from the arguments, else the environment or
	// settings. Empty, or nil: they name none.
	Model func(m Machine, r Request) string

	// Window returns a model's context window, in tokens, as configured in the
	// agent's files on this machine; 0, or nil: not configured.
	Window func(m Machine, r Request, model string) int

	// Ready returns the absolute path of the agent's program if nothing prevents
	// using it in r.Dir. The error is a [PreflightError] if the user has to do something
	// first.
	Ready func(m Machine, r Request) (program string, err error)

	// Launch plans the start of the agent on a payload. It changes nothing. The error
	// is a [PreflightError] if the user has to do something first.
	Launch func(m Machine, r Request) (*Launch, error)

	// Launched finds the session of a launch whose id was not known in advance: the
	// session that begins with the payload. nil: the id is always known.
	Launched func(m Machine, r Request) (nativeID string, ok bool)

	// Cleanup cleans up after a launch, when the program has ended. It removes the
	// session that the launch put among the agent's own; if something was said in it,
	// only our leftovers that would do harm. The agent's hook also calls it for a
	// resumed session. nil: a launch leaves nothing.
	Cleanup func(ctx context.Context, m Machine, nativeID string, said bool) error

	// Remove is for an agent that only its own program can remove such a session
	// from, which takes seconds. It leaves a session in which something was said.
	// nil: Cleanup does it.
	Remove func(ctx context.Context, m Machine, nativeID string) error
}

// A Machine is the environment that an adapter runs in.
type Machine struct {
	Home   string // the user's home folder
	Getenv func(string) string

	// Head returns the result of read for the beginning of a file, and may cache it
	// while the file stays the same. nil: always call read.
	Head func(file string, read func() (string, error)) (string, error)
}

// ReadHead calls Head if set, else read.
func (m Machine) ReadHead(file string, read func() (string, error)) (string, error) {
	if m.Head == nil {
		return read()
	}
	return m.Head(file, read)
}

// Options control how a transcript is read.
type Options struct {
	Progress func(int64) // called with the bytes read so far; may be nil

	// Head limits the bytes read, if only the Roots are needed; 0: all.
	Head int64

	// From is where an earlier reading ended; Open reads only what follows it. The
	// zero value is the beginning. The error is [ErrCursor] if the file is not the
	// same any more, or if new lines depend on more than the cursor knows. The caller
	// must then read from the beginning.
	From Cursor

	// Continues means that the session continues a captured one: its summary of
	// earlier messages is not one of its own.
	Continues bool

	// Strip removes a payload of cortext from a user's text and returns the rest; ok
	// is false if there is none. It may be nil.
	Strip func(text string) (rest string, ok bool)
}

// ErrCursor means that a transcript cannot be read on from a cursor.
var ErrCursor = errors.New("the transcript does not continue where it was left")

// A Cursor is a position in a transcript where reading can continue.
type Cursor struct {
	Offset  int64    `json:"offset"`  // nothing before it needs to be read again; 0: nothing was read
	Size    int64    `json:"size"`    // the result of Stat at the time
	Head    string   `json:"head"`    // a hash of the first bytes
	Tail    string   `json:"tail"`    // a hash of the last bytes before Offset
	Message string   `json:"message"` // the first message that will be read again
	Anchors []Anchor `json:"anchors"` // lines shortly before Offset that may be parents of later ones
}

// An Anchor is a line that was read, with its message.
type Anchor struct {
	Line    string `json:"line"`
	Message string `json:"message,omitempty"`
	Ours    bool   `json:"ours,omitempty"` // it holds text of cortext
}

// A Subagent is a transcript file of a sub-agent.
type Subagent struct {
	NativeID   string
	Path       string
	ToolCallID string // the parent's call that started it, if the agent recorded it
}

// A Transcript is a native session: its properties, and its messages in batches. Read
// from a cursor, it has only what is new.
type Transcript struct {
	Agent    string
	NativeID string
	Version  string   // of the agent
	Parent   string   // for a sub-agent's own file: native id of the session that started it
	Roots    []string // ids of the lines without a parent; a fork of the session begins with one of them

	First, Last time.Time        // of its messages; zero if none has a time
	Title       string           // the user's name for the session in the agent; may be empty
	Command     string           // its first /workspace.<type> command; may be empty
	Arguments   string           // of Command, as typed
	Model       string           // the last one that answered
	Provider    *schema.Provider // of Model; nil if the transcript does not name it
	Tools       []string         // names of the tools used, in order of first use
	Permission  string           // the last permission mode
	WorkingDir  string           // absolute, of the machine it was recorded on
	Branch      string           // git branch at the start
	Messages    int              // in the main conversation, by id

	// LastReply is the text of the model's last message.
	LastReply string

	// Commands are the prompts that are /workspace commands, in order.
	Commands []Command

	// Calls maps a sub-agent's native id to the call that started it.
	Calls map[string]string

	// Warnings describe damage and unknown kinds of records, each once.
	Warnings []string

	// Unread are the Warnings about what could not be read, except a line cut off at
	// the end: that is Torn. The agent may still be writing that line (Node writes a
	// long one in pieces of 512 KB), so it is not a record yet.
	Unread []string
	Torn   string

	// Next is where the next reading can continue.
	Next Cursor

	// Each emits the conversation in order, in batches of bounded size. sub is the
	// native id of a batch's sub-agent, empty for the conversation itself. Each may
	// be called again.
	Each func(emit func(sub string, b Batch) error) error

	// Release closes what Each reads from; it may be nil.
	Release func() error
}

// Close releases the transcript.
func (t *Transcript) Close() error {
	if t.Release == nil {
		return nil
	}
	return t.Release()
}

// A SessionRef names a session in an agent's own store.
type SessionRef struct {
	NativeID string
	Path     string    // as passed to Open
	Dir      string    // absolute folder of the session; empty if the agent does not record it
	Root     string    // first commit of its git repository, if the agent records it
	Updated  time.Time // when it was last written
}

// A Running is a session that a program has open.
type Running struct {
	NativeID string
	PID      int
	Since    time.Time
}

// A Store is a folder with transcripts in it or in folders below it, down to a number
// of levels. It may not exist yet.
type Store struct {
	Dir   string // absolute
	Depth int
}

// A Batch is a part of a conversation, with the bytes of its attachments.
type Batch struct {
	schema.Batch
	Blobs []Blob
}

// A Blob is the content of an attachment; the message refers to it by SHA256.
type Blob struct {
	SHA256 string // in hex
	Data   []byte
}

// InstallOptions select what to put into a project for an agent.
type InstallOptions struct {
	Types     []Type
	AfterTool bool // call cortext after each tool call, too
	Plugin    bool // with a plugin, for an agent that has hooks only that way
	User      bool // also files in the user's home, with paths that begin with "~/"
}

// A Type is a type of conversation with its prompt, including frontmatter.
type Type struct{ Name, Source string }

// A Change is a file that cortext puts into a project for an agent.
type Change struct {
	Path   string // relative to the project, with slashes; with "~/" relative to the user's home
	Text   string // the wanted text
	Action Action
	Notes  []string // what changes in it, for display
}

// An Action is what to do with a file.
type Action string

// The actions.
const (
	Create Action = "create"
	Update Action = "update" // cortext wrote it and has a newer text
	Same   Action = "same"   // nothing to do
	Keep   Action = "keep"   // the user wrote or edited it: do not touch it
	Remove Action = "remove" // cortext wrote it and no longer needs it
)
