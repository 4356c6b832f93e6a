// Package inject defines what cortext knows about agents in general: how to find,
// read and follow native transcripts, what an agent's hooks report and, in the
// adapters below it, how an agent resumes a conversation.
package inject

import (
	"context"
	"errors"
	"io"
	"time"
)

// An Agent is an agent whose transcripts cortext reads. An adapter says what else it
// can do by implementing more of the interfaces below; callers find out with a type
// assertion.
type Agent interface {
	// Name returns the name that session.json has for the agent, such as "claude".
	Name() string

	// Detect reports whether the file is a transcript of the agent. It looks at the
	// content, since names and extensions mislead.
	Detect(f io.Reader) bool

	// Stat returns a value that changes whenever the transcript does, such as the
	// length of a file. The error is [fs.ErrNotExist] if the transcript is gone.
	Stat(path string) (int64, error)

	// Open makes the first pass over a transcript. The caller must close it.
	Open(path string, o Options) (*Transcript, error)

	// Subagents lists the sub-agent transcripts that belong to the transcript at
	// path.
	Subagents(path string) ([]Subagent, error)

	// Sessions lists the agent's sessions on this machine, except those of sub-agents.
	// If the agent has no store here, the list is empty. It omits what cannot be read,
	// and the error names what it omits.
	Sessions(m Machine) ([]SessionRef, error)

	// Stores lists the folders to watch for changed sessions.
	Stores(m Machine) []Store

	// Locate returns where the agent keeps the transcript of a session on this
	// machine; ok is false if it has none. The error names what could not be read,
	// which may include the transcript.
	Locate(m Machine, nativeID string) (path string, ok bool, err error)

	// Session returns the id of the session that called our command, or "" if this
	// agent did not call it.
	Session(m Machine) string
}

// A Bundler keeps several transcripts in one file.
type Bundler interface {
	// Transcripts lists the transcripts in a file that Detect accepts.
	Transcripts(file string) ([]string, error)
}

// Hooks is implemented by adapters of agents that call hooks.
type Hooks interface {
	// Hook reads the agent's input for a hook from standard input.
	Hook(m Machine, event string, input []byte) (Event, error)

	// Reply formats text as a hook's answer, so that it appears verbatim next to the
	// prompt.
	Reply(event, text string) []byte

	// ReplyLimits returns the limits on such a text.
	ReplyLimits() ReplyLimits
}

// ReplyLimits describes how a text passed to Reply reaches the model.
type ReplyLimits struct {
	Bytes int    // a text of at most this length arrives whole
	Note  string // tells the model what the agent alters in the text; empty if nothing
}

// An Installer generates an agent's slash commands and hooks for a project.
type Installer interface {
	// Install returns the files with the agent's slash commands and hooks, each with
	// the action to take. It changes nothing.
	Install(o InstallOptions, read ReadFile) ([]Change, error)
}

// A Launcher can start its agent on a payload.
type Launcher interface {
	// Model returns the model that a launch with the Dir, Root and Args of r would use,
	// according to the arguments, the environment or the settings, or "" if none of
	// them names one.
	Model(m Machine, r Request) string

	// Ready returns the absolute path of the agent's program if nothing prevents
	// using it in r.Dir. The error is a [PreflightError] if the user has to do
	// something first.
	Ready(m Machine, r Request) (program string, err error)

	// Launch plans the start of the agent on a payload. It changes nothing. The error
	// is a [PreflightError] if the user has to do something first.
	Launch(m Machine, r Request) (*Launch, error)
}

// A WindowConfigurer is an agent whose user can configure the context windows of models.
type WindowConfigurer interface {
	// Window returns a model's context window, in tokens, as configured in the
	// agent's files on this machine, or 0 if it is not configured.
	Window(m Machine, r Request, model string) int
}

// A LaunchFinder finds the session of a launch, for an agent that chooses the id itself.
type LaunchFinder interface {
	// Launched finds the session of a launch: the one that begins with the payload.
	Launched(m Machine, r Request) (nativeID string, ok bool)
}

// A Cleaner removes what a launch leaves behind.
type Cleaner interface {
	// Cleanup removes leftovers of ours that would harm a session that is in use. It runs
	// once the program of a launch has ended, and in the agent's hook for a resumed session.
	Cleanup(ctx context.Context, m Machine, nativeID string) error

	// Discard removes the session that a launch created, if it was not used, and leftovers.
	// It runs once the program has ended.
	Discard(ctx context.Context, m Machine, nativeID string) error
}

// A Remover removes a session by running the agent's program, which takes seconds.
type Remover interface {
	// Remove removes the session of a launch unless something was said in it.
	Remove(ctx context.Context, m Machine, nativeID string) error
}

// A RunningLister reports which sessions are open.
type RunningLister interface {
	// Running lists the sessions that the agent's programs report as open on this
	// machine. It may still list the session of a program that was killed.
	Running(m Machine) []Running
}

// A StatusLiner is an agent that shows a line of the user's choice below its prompt.
type StatusLiner interface {
	// Status reads the agent's input for the line from standard input.
	Status(m Machine, input []byte) (Status, error)

	// UserStatusLine returns the shell command that makes the line according to the
	// user's own settings, or "".
	UserStatusLine(m Machine) string
}

// A Status is what an agent reports for its status line.
type Status struct {
	NativeID   string
	Transcript string
	Dir        string // of the project, absolute
	Used       int    // tokens in the context window; 0 if unknown
	Window     int    // its size in tokens; 0 if unknown
}

// ReadFile returns the text of a file in a project; ok is false if the file does not
// exist.
type ReadFile func(path string) (text string, ok bool, err error)

// A Machine is the environment that an adapter runs in.
type Machine struct {
	Home   string // the user's home folder
	Getenv func(string) string

	// Head returns the result of read, which looks at the beginning of file. It may
	// cache the result until the file changes. If Head is nil, [Machine.ReadHead]
	// always calls read.
	Head func(file string, read func() (string, error)) (string, error)
}

// ReadHead calls Head if set, else read.
func (m Machine) ReadHead(file string, read func() (string, error)) (string, error) {
	if m.Head == nil {
		return read()
	}
	return m.Head(file, read)
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

// A Store is a folder with transcripts in it or in the folders below it, down to Depth
// levels. It may not exist yet.
type Store struct {
	Dir   string // absolute
	Depth int
}

// InstallOptions select what to put into a project for an agent.
type InstallOptions struct {
	Types     []Type
	AfterTool bool // also call cortext after each tool call
	Plugin    bool // install a plugin, for an agent that has no other hooks
	Status    bool // show a status line, for an agent that has one
	User      bool // also install files in the user's home; their paths begin with "~/"
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

// The possible actions.
const (
	Create Action = "create"
	Update Action = "update" // cortext wrote it and has a newer text
	Same   Action = "same"   // nothing to do
	Keep   Action = "keep"   // the user wrote or edited it: do not touch it
	Remove Action = "remove" // cortext wrote it and no longer needs it
)

// An Elsewhere is an agent that this program only knows by name, since its adapter is
// in another program. It has no sessions.
type Elsewhere string

var errElsewhere = errors.New("this program cannot read transcripts of the agent")

func (e Elsewhere) Name() string                                           { return string(e) }
func (Elsewhere) Detect(io.Reader) bool                                    { return false }
func (Elsewhere) Stat(string) (int64, error)                               { return 0, errElsewhere }
func (Elsewhere) Open(string, Options) (*Transcript, error)                { return nil, errElsewhere }
func (Elsewhere) Subagents(string) ([]Subagent, error)                     { return nil, errElsewhere }
func (Elsewhere) Sessions(Machine) ([]SessionRef, error)                   { return nil, nil }
func (Elsewhere) Stores(Machine) []Store                                   { return nil }
func (Elsewhere) Locate(Machine, string) (path string, ok bool, err error) { return "", false, nil }
func (Elsewhere) Session(Machine) string                                   { return "" }
