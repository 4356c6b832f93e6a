// Package inject is what cortext knows of agents in general: how a native
// transcript is found out, read and, in the adapters below it, what an agent
// needs to take a conversation up again.
package inject

import (
	"io"
	"time"

	"cortext/schema"
)

// A Format is one agent's way to write transcripts.
type Format struct {
	Agent string // "claude"; stored in session.json

	// Detect reports whether the file is a transcript of the agent. What a file
	// is, its content says: names and endings mislead.
	Detect func(f io.Reader) bool

	// Open reads a transcript once to learn its shape. name is the file's base
	// name. progress, if any, is called with the bytes read so far.
	Open func(f io.ReaderAt, size int64, name string, progress func(int64)) (*Transcript, error)

	// Subagents lists the transcripts of sub-agents that belong to the
	// transcript at path.
	Subagents func(path string) ([]Subagent, error)
}

// A Subagent is a transcript file of a sub-agent.
type Subagent struct {
	NativeID   string
	Path       string
	ToolCallID string // the parent's call that started it, if the agent wrote it down
}

// A Transcript is a native session: what is known about it as a whole, and its
// messages in batches.
type Transcript struct {
	Agent    string
	NativeID string
	Version  string // of the agent
	Parent   string // native id of the session that started this one, for a sub-agent's own file

	First, Last time.Time // of its messages; zero if none has a time
	Title       string    // what the user named the session in the agent; may be empty
	Command     string    // its first /workspace.<type> command, may be empty
	Arguments   string    // of Command, as typed
	Model       string    // the last one that answered
	Tools       []string  // names of the tools used, in the order of their first use
	Permission  string    // the last permission mode
	WorkingDir  string    // absolute, of the machine it was recorded on
	Branch      string    // of git, at the start
	Messages    int       // in the main conversation, by id

	// Calls maps the native id of a sub-agent to the call that started it.
	Calls map[string]string

	// Warnings name damage and unknown kinds of records, each once.
	Warnings []string

	// Each gives the conversation in its order, in batches of bounded size; sub
	// is the native id of the sub-agent that a batch belongs to, empty for the
	// conversation itself. It may be called again.
	Each func(emit func(sub string, b Batch) error) error
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
