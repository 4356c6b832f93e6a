// Package schema holds the records that cortext stores and is the only code
// that knows their bytes; FORMAT.md beside it is the specification.
//
// # Compatibility
//
// Every version of cortext reads what an earlier one wrote. A file of a later
// minor version is read and written with its unknown fields kept; one of a
// later major version is refused as a [VersionError].
package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"cortext/schema/rawjson"
)

// Version is the version of the format that this package writes.
const Version = "1.1"

const major = 1

// A VersionError says that a file was written by a later major version.
type VersionError struct{ Have string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("format version %s is newer than this cortext, which reads up to %d.x: install a newer cortext", e.Have, major)
}

// Status says how a conversation stands.
type Status string

// The statuses. A conversation whose agent ended is paused; only a person's
// word completes it.
const (
	Active    Status = "active"
	Paused    Status = "paused"
	Completed Status = "completed"
)

// Statuses returns the statuses in the order of a conversation's life.
func Statuses() []Status { return []Status{Active, Paused, Completed} }

// A Session is session.json: what is known about a conversation beside its
// messages (FORMAT.md, "session.json").
type Session struct {
	Version          string      `json:"version"`
	ID               string      `json:"id"`
	ConversationID   string      `json:"conversation_id"` // the folder's name
	ConversationType string      `json:"conversation_type"`
	Title            string      `json:"title"`
	Description      string      `json:"description"` // the first user message, cut
	Status           Status      `json:"status"`
	Archived         bool        `json:"archived"`
	CreatedAt        Time        `json:"created_at"`
	LastActive       Time        `json:"last_active"`
	MessageCount     int         `json:"message_count" codec:"keep"` // messages by id
	Tokens           int64       `json:"tokens"`                     // sum over messages and tools
	CountedBytes     int64       `json:"counted_bytes"`              // length of messages.jsonl that the counters were taken at
	AgentConfig      AgentConfig `json:"agent_config"`
	ContextSummary   string      `json:"context_summary"`
	Sources          []Source    `json:"sources"`
	WorkingDir       string      `json:"working_dir"` // relative to the workspace, with slashes
	Plan             *Plan       `json:"plan"`
	Usage            *Usage      `json:"usage"`
	Tags             []string    `json:"tags"`
	Notes            string      `json:"notes"`
	Metadata         Raw         `json:"metadata"` // an object, free
	Git              *Git        `json:"git"`
	Links            *Links      `json:"links"`

	Unknown []rawjson.Member
}

// AgentConfig is what made the conversation possible.
type AgentConfig struct {
	Agent            string    `json:"agent"`
	Command          string    `json:"command"`
	Arguments        string    `json:"arguments"` // as typed
	SystemPromptHash string    `json:"system_prompt_hash"`
	Model            string    `json:"model"`
	Provider         *Provider `json:"provider"`
	Modes            *Modes    `json:"modes"`
	Tools            []string  `json:"tools"`

	Unknown []rawjson.Member
}

// Provider is where the model runs.
type Provider struct {
	Type          string `json:"type"`
	Model         string `json:"model"`
	ContextWindow int    `json:"context_window"` // tokens
	BaseURL       string `json:"base_url"`       // without credentials

	Unknown []rawjson.Member
}

// Modes are shown and never switched back on by themselves.
type Modes struct {
	Permission string `json:"permission"` // the agent's word
	Plan       bool   `json:"plan"`

	Unknown []rawjson.Member
}

// A Source is a native session that went into the conversation.
type Source struct {
	Agent    string `json:"agent"`
	NativeID string `json:"native_id"`
	Version  string `json:"version"` // of the agent
	From     string `json:"from"`    // the agent's id of the prompt that its part here begins with; absent: its beginning
	After    string `json:"after"`   // id of the message that its first one here follows

	Unknown []rawjson.Member
}

// A Plan is the agent's todo list as it stood last.
type Plan struct {
	Steps    []Step `json:"steps"`
	Current  int    `json:"current"`  // index of the step in progress, or of the first that is open
	Awaiting bool   `json:"awaiting"` // steps are open and the agent waits for the user

	Unknown []rawjson.Member
}

// A Step is one entry of a plan.
type Step struct {
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress or completed

	Unknown []rawjson.Member
}

// Git is where the work tree stood at the start.
type Git struct {
	Commit string `json:"commit"`
	Branch string `json:"branch"`

	Unknown []rawjson.Member
}

// Links ties conversations to each other.
type Links struct {
	Parent     string   `json:"parent"`       // id of the conversation this one is part of
	ToolCallID string   `json:"tool_call_id"` // the parent's call that started it
	Related    []string `json:"related"`

	Unknown []rawjson.Member
}

// ParseSession decodes session.json. The version is judged before anything
// else, so that a newer file is never called broken.
func ParseSession(b []byte) (*Session, error) {
	s := new(Session)
	if err := decodeFile(b, s); err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	return s, nil
}

// decodeFile fills the struct v from a file that is one object with a version, which
// is judged first; names, texts and their spelling must be what the format says.
func decodeFile(b []byte, v any) error {
	var head struct {
		Version string `json:"version"`
	}
	if err := decode(b, &head); err != nil {
		return err
	}
	if err := checkVersion(head.Version); err != nil {
		return err
	}
	if err := rawjson.Strict(b); err != nil {
		return err
	}
	if err := exactNames(b, reflect.TypeOf(v).Elem()); err != nil {
		return err
	}
	return decode(b, v)
}

func checkVersion(v string) error {
	have, minor, _ := strings.Cut(v, ".")
	n, err := strconv.ParseUint(have, 10, 31) // takes no sign
	if _, minorErr := strconv.ParseUint(minor, 10, 31); err != nil || minorErr != nil || n < 1 {
		return fmt.Errorf("version %.40q is not of the form 1.1", v)
	}
	if n > major {
		return &VersionError{Have: v}
	}
	return nil
}

// exactNames refuses a member whose name differs from a known one in case only:
// a reader that ignores case would take it for the known one.
func exactNames(b []byte, t reflect.Type) error {
	members, err := rawjson.Members(b)
	if err != nil {
		return err
	}
	info := infoOf(t)
	for _, m := range members {
		if at, ok := info.byName[m.Name]; ok {
			ft := t.Field(info.fields[at].at).Type
			values := [][]byte{m.Value}
			if ft.Kind() == reflect.Pointer {
				ft = ft.Elem()
			} else if ft.Kind() == reflect.Slice && ft.Elem().Kind() == reflect.Struct && string(m.Value) != "null" {
				ft = ft.Elem()
				if values, err = rawjson.Array(m.Value); err != nil {
					return fmt.Errorf("field %q: %w", m.Name, err)
				}
			}
			if ft.Kind() == reflect.Struct && string(m.Value) != "null" {
				for _, v := range values {
					if err := exactNames(v, ft); err != nil {
						return err
					}
				}
			}
			continue
		}
		for _, f := range info.fields {
			if strings.EqualFold(f.name, m.Name) {
				return fmt.Errorf("name %q must be spelled %q", m.Name, f.name)
			}
		}
	}
	return nil
}

func (s *Session) validate() error {
	if err := checkVersion(s.Version); err != nil {
		return err
	}
	if !slices.Contains(Statuses(), s.Status) {
		return fmt.Errorf("status %.40q is none of active, paused, completed", s.Status)
	}
	for _, t := range []Time{s.CreatedAt, s.LastActive} {
		if t != "" && t.Time().IsZero() {
			return fmt.Errorf("%.40q is not a time in RFC 3339", t)
		}
	}
	if s.MessageCount < 0 || s.Tokens < 0 || s.CountedBytes < 0 {
		return fmt.Errorf("a counter is negative")
	}
	if len(s.Metadata) > 0 {
		if _, err := rawjson.Object(s.Metadata); err != nil {
			return fmt.Errorf("metadata: %w", err)
		}
	}
	return nil
}

// Marshal spells s as session.json, one member a line, or says why s is not a
// valid session.
func (s *Session) Marshal() ([]byte, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	b := append(encodeStruct(nil, reflect.ValueOf(s).Elem(), layout{indent: "  "}), '\n')
	if err := rawjson.Strict(b); err != nil {
		return nil, err
	}
	return b, nil
}

// AppendLine appends s to dst as one line without spaces or newline, for
// listings.
func (s *Session) AppendLine(dst []byte) []byte {
	return appendLine(dst, s)
}

// DisplayTitle is the title, or for a session without one (version 1.0) the
// folder's name without number and type: 001-brainstorm-api-design is
// "api design".
func (s *Session) DisplayTitle() string {
	if s.Title != "" {
		return s.Title
	}
	name := s.ConversationID
	if number, rest, ok := strings.Cut(name, "-"); ok && strings.Trim(number, "0123456789") == "" {
		name = strings.TrimPrefix(rest, s.ConversationType+"-")
	}
	return strings.ReplaceAll(name, "-", " ")
}
