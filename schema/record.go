package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"cortext/schema/rawjson"
)

// A Time is a moment as spelled in the file, in RFC 3339. Ours are UTC with milliseconds
// ([NewTime]); those of other programs keep their spelling.
type Time string

const timeLayout = "2006-01-02T15:04:05.000Z"

// NewTime spells t in the form of the format. The zero time, and a time that the form cannot
// spell because its year does not have four digits, become the empty Time.
func NewTime(t time.Time) Time {
	if t = t.UTC(); t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return ""
	}
	return Time(t.Format(timeLayout))
}

// Time returns the moment, or the zero time if t is empty or unreadable, or if [NewTime] cannot
// format it.
func (t Time) Time() time.Time {
	v, err := time.Parse(time.RFC3339Nano, string(t))
	if v = v.UTC(); err != nil || v.Year() < 0 || v.Year() > 9999 {
		return time.Time{}
	}
	return v
}

// Role is the speaker of a message.
type Role string

// The roles. A system message is an event that the model saw but nobody typed: the output
// of a local command, a notification, an interruption.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	System    Role = "system"
)

// A Message is a line of messages.jsonl (FORMAT.md, "messages.jsonl").
type Message struct {
	ID           string       `json:"id"`
	ParentID     string       `json:"parent_id"`
	Timestamp    Time         `json:"timestamp"`
	Role         Role         `json:"role"`
	Content      string       `json:"content"`     // the text blocks, joined by a blank line
	Blocks       []Block      `json:"blocks"`      // only if there is more than one
	ToolCalls    []ToolCall   `json:"tool_calls"`  // the calls themselves are in tools.jsonl
	Attachments  []Attachment `json:"attachments"` // references
	Tokens       int          `json:"tokens"`      // o200k_base, of Content
	Reasoning    string       `json:"reasoning"`
	Model        string       `json:"model"`
	FinishReason string       `json:"finish_reason"` // in the agent's words; "interrupted" if the user stopped it
	DurationMS   int64        `json:"duration_ms"`
	Usage        *Usage       `json:"usage"`
	Source       string       `json:"source"` // native id of the session it was captured from
	Rev          int          `json:"rev"`    // of two lines with the same id, the one with the greater rev wins
	Sealed       string       `json:"sealed"` // reserved: the encrypted rest of the line

	// Redacted names the redactions that replaced text in the record after it was stored;
	// see [Message.Precedence].
	Redacted []string `json:"redacted" codec:"set"`

	Unknown []rawjson.Member

	// Number is the message's place in the conversation, from 1, if it was read as part
	// of a [History]. It is not stored.
	Number int

	// Branch is the number of the message's branch if the [History] that it was read as part
	// of has several branches, and more than one of them goes on there. It is not stored.
	Branch int
}

// Ending says why an answer breaks off or has no text, such as "interrupted". It is "" for
// any other message.
func (m *Message) Ending() string {
	empty := m.Role == Assistant && m.Content == "" && len(m.ToolCalls) == 0 && len(m.Attachments) == 0
	switch {
	case m.FinishReason == "interrupted":
		return "interrupted"
	case !empty:
		return ""
	case m.FinishReason != "":
		return "no text: " + m.FinishReason
	}
	return "no text"
}

// The types of blocks.
const (
	TextBlock       = "text"
	ToolCallBlock   = "tool_call"
	AttachmentBlock = "attachment"
)

// A Block gives the position of one part of a message.
type Block struct {
	Type  string `json:"type"`
	Bytes int    `json:"bytes"` // of a text: its length in Content, in bytes of UTF-8
	ID    string `json:"id"`    // of a tool call
	Index int    `json:"index"` // of an attachment: its place in Attachments

	Unknown []rawjson.Member
}

// A ToolCall names a call that the message made.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`

	Unknown []rawjson.Member
}

// An Attachment refers to bytes outside the log.
type Attachment struct {
	MediaType string `json:"media_type"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"` // of the decoded bytes, in hex
	Name      string `json:"name"`

	Unknown []rawjson.Member
}

// SyntheticModel is the model of answers that Claude Code itself wrote, such as an error.
const SyntheticModel = "<synthetic>"

// Usage counts tokens as the agent reported them.
type Usage struct {
	PromptTokens     int64 `json:"prompt_tokens"` // everything that the model read, cached or not
	CompletionTokens int64 `json:"completion_tokens"`
	CachedTokens     int64 `json:"cached_tokens"` // the part of PromptTokens read from a cache

	Unknown []rawjson.Member
}

// A Tool is a line of tools.jsonl: one call with its input and, once there is one, its
// outcome (FORMAT.md, "tools.jsonl").
type Tool struct {
	ID          string       `json:"id"` // the call's
	MessageID   string       `json:"message_id"`
	Name        string       `json:"name"`
	Input       Raw          `json:"input"`
	Output      string       `json:"output"`
	Success     *bool        `json:"success"` // absent while the call has no outcome
	Error       string       `json:"error"`   // the first line of a failure
	ExitCode    *int         `json:"exit_code"`
	Attachments []Attachment `json:"attachments"`
	Tokens      int          `json:"tokens"` // o200k_base, of Input and Output
	DurationMS  int64        `json:"duration_ms"`
	Timestamp   Time         `json:"timestamp"`
	Rev         int          `json:"rev"`
	Sealed      string       `json:"sealed"`
	Redacted    []string     `json:"redacted" codec:"set"` // as in [Message]

	Unknown []rawjson.Member
}

// Failed reports whether the call failed. A command whose exit code is not 0 failed even if
// the agent reports success, as Gemini CLI does.
func (t *Tool) Failed() bool {
	return t.Success != nil && !*t.Success || t.ExitCode != nil && *t.ExitCode != 0
}

// ParseMessage decodes a line of messages.jsonl, without its newline.
func ParseMessage(line []byte) (Message, error) {
	var m Message
	if err := decode(line, &m, anyName); err != nil {
		return Message{}, err
	}
	if !slices.Contains([]Role{User, Assistant, System}, m.Role) && m.Sealed == "" {
		return Message{}, fmt.Errorf("role %.40q is not user, assistant or system", m.Role)
	}
	if err := checkRev(m.Rev); err != nil {
		return Message{}, err
	}
	return m, nil
}

// ParseTool decodes a line of tools.jsonl, without its newline.
func ParseTool(line []byte) (Tool, error) {
	var t Tool
	if err := decode(line, &t, anyName); err != nil {
		return Tool{}, err
	}
	if t.ID == "" {
		return Tool{}, fmt.Errorf("a tool line has no id")
	}
	if err := checkRev(t.Rev); err != nil {
		return Tool{}, err
	}
	return t, nil
}

// MaxRev is the greatest rev of a record (FORMAT.md, section 11). Of two lines that have
// it, the longer one counts.
const MaxRev = 1<<30 - 1

// Precedence orders the lines of one message: the line with the most redactions counts,
// then the one with the greatest rev. So a line that a clone wrote without knowing of a
// redaction does not bring the text back.
func (m *Message) Precedence() int64 { return precedence(m.Redacted, m.Rev) }

// Precedence orders the lines of one call; see [Message.Precedence].
func (t *Tool) Precedence() int64 { return precedence(t.Redacted, t.Rev) }

func precedence(redacted []string, rev int) int64 { return int64(len(redacted))<<31 | int64(rev) }

func checkRev(rev int) error {
	if rev < 0 || rev > MaxRev {
		return fmt.Errorf("rev %d is not between 0 and %d", rev, MaxRev)
	}
	return nil
}

// AppendMessage appends m to dst as one line with its newline.
func AppendMessage(dst []byte, m *Message) []byte {
	return append(appendLine(dst, m), '\n')
}

// AppendTool appends t to dst as one line with its newline.
func AppendTool(dst []byte, t *Tool) []byte {
	return append(appendLine(dst, t), '\n')
}

// A Batch is what one capture adds to a conversation. The calls are written before the
// messages that refer to them.
type Batch struct {
	Messages []Message
	Tools    []Tool
}

// escapes matches sequences that a terminal obeys: control sequences, such as colors;
// strings, such as window titles and links, which end within their line; and single
// escapes. The end of a sequence may be cut off.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)`)
})

// WithoutEscapes returns s without terminal escape sequences.
func WithoutEscapes(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	return escapes().ReplaceAllString(s, "")
}
