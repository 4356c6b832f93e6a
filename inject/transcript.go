package inject

import (
	"errors"
	"slices"
	"strings"
	"time"

	"cortext/schema"
)

// Options control how a transcript is read.
type Options struct {
	Progress func(int64) // called with the bytes read so far; may be nil

	// Head limits the bytes read, for a caller that only needs the Roots; 0 means all.
	Head int64

	// From is where an earlier reading ended; Open reads only what follows it. The zero
	// value is the beginning. The error is [ErrCursor] if the file changed before the
	// cursor, or if new lines depend on more than the cursor records. The caller must
	// then read from the beginning.
	From Cursor

	// Continues says that the session continues a captured one, so its summary of
	// earlier messages is not captured.
	Continues bool

	// Strip removes a payload of cortext from a user's text and returns the rest; ok
	// is false if there is none. It may be nil.
	Strip func(text string) (rest string, ok bool)
}

// Stripped returns a user's text without a payload of cortext; ok is false if there is
// none.
func (o Options) Stripped(text string) (rest string, ok bool) {
	if o.Strip != nil {
		if rest, ok := o.Strip(text); ok {
			return rest, true
		}
	}
	return text, false
}

// IsPayload reports whether a text is nothing but a payload of cortext.
func (o Options) IsPayload(text string) bool {
	rest, ok := o.Stripped(text)
	return ok && strings.TrimSpace(rest) == ""
}

// ErrCursor means that reading cannot continue at a cursor.
var ErrCursor = errors.New("the transcript does not continue where it was left")

// A Cursor is a position in a transcript where reading can continue.
type Cursor struct {
	Offset  int64    `json:"offset"`  // nothing before it needs to be read again; 0 if nothing was read
	Size    int64    `json:"size"`    // the result of Stat at the time
	Head    string   `json:"head"`    // a hash of the first bytes
	Tail    string   `json:"tail"`    // a hash of the last bytes before Offset
	Message string   `json:"message"` // the first message that will be read again
	Anchors []Anchor `json:"anchors"` // lines shortly before Offset that may be parents of later ones

	// Calls are the ids of calls before Offset that a server may issue again; nil if they are
	// not known, as in a cursor of an earlier version.
	Calls []string `json:"calls"`
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

// A Transcript is a native session: its properties, and its messages in batches. If it
// was read from a cursor, it contains only what is new.
type Transcript struct {
	Agent    string
	NativeID string
	Version  string   // of the agent
	Parent   string   // for a sub-agent's own file: the native id of the session that started it
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

	// Unread has the Warnings about what could not be read. A line cut off at the end
	// is in Torn instead: the agent may still be writing it (Node writes a long line in
	// pieces of 512 KB), so it is not a record yet.
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

// maxRoots limits how many lines without a parent are kept: the first, and one for each
// compaction and each rewind to the beginning.
const maxRoots = 100

// AddRoot adds a line without a parent.
func (t *Transcript) AddRoot(id string) {
	if len(t.Roots) < maxRoots {
		t.Roots = append(t.Roots, id)
	}
}

// AddTime extends the range from First to Last to include a message's time. A zero time
// has no effect.
func (t *Transcript) AddTime(at time.Time) {
	if at.IsZero() {
		return
	}
	if t.First.IsZero() || at.Before(t.First) {
		t.First = at
	}
	if at.After(t.Last) {
		t.Last = at
	}
}

// AddTool adds the name of a tool that was used.
func (t *Transcript) AddTool(name string) {
	if name != "" && !slices.Contains(t.Tools, name) {
		t.Tools = append(t.Tools, name)
	}
}

// Close releases the transcript.
func (t *Transcript) Close() error {
	if t.Release == nil {
		return nil
	}
	return t.Release()
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
