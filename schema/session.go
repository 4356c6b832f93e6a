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
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"cortext/schema/rawjson"
)

// Version is the version of the format that this package writes.
const Version = "1.2"

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
// messages (FORMAT.md, "session.json"). The fields stand in the order of the file,
// which is made for merges: beside each member that can be set its stamp, then one
// that never changes; what changes most at the end; the id last.
type Session struct {
	Version          string         `json:"version"`
	Title            string         `json:"title"`
	TitleSet         *Stamp[string] `json:"title_set"`
	ConversationID   string         `json:"conversation_id"` // the folder's name
	Status           Status         `json:"status"`
	StatusSet        *Stamp[Status] `json:"status_set"`
	CreatedAt        Time           `json:"created_at"`
	ContextSummary   string         `json:"context_summary"`
	SummarySet       *Stamp[string] `json:"context_summary_set"`
	Description      string         `json:"description"` // the first user message, cut
	Plan             *Plan          `json:"plan"`
	PlanSet          *Stamp[*Plan]  `json:"plan_set"`
	AgentConfig      AgentConfig    `json:"agent_config"`
	Tags             []string       `json:"tags" codec:"set"`
	TagsSet          []TagStamp     `json:"tags_set"`
	ConversationType string         `json:"conversation_type"`
	TypeSet          *Stamp[string] `json:"conversation_type_set"`
	Git              *Git           `json:"git"`
	Archived         bool           `json:"archived"`
	ArchivedSet      *Stamp[bool]   `json:"archived_set"`
	WorkingDir       string         `json:"working_dir"` // relative to the workspace, with slashes
	Notes            string         `json:"notes"`
	NotesSet         []NoteStamp    `json:"notes_set"`
	Metadata         Raw            `json:"metadata"` // an object, free
	Links            *Links         `json:"links"`

	Unknown []rawjson.Member

	LastActive   Time     `json:"last_active"`
	MessageCount int      `json:"message_count" codec:"keep"` // messages by id
	Tokens       int64    `json:"tokens"`                     // sum over messages and tools
	CountedBytes int64    `json:"counted_bytes"`              // length of messages.jsonl that the counters were taken at
	Usage        *Usage   `json:"usage"`
	Sources      []Source `json:"sources"`
	ID           string   `json:"id" codec:"keep"`

	// Repair is set where the file was read as a merge left it. The next write must
	// replace the file even if nothing else changed.
	Repair *Repair
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
	Related    []string `json:"related" codec:"set"`

	Unknown []rawjson.Member
}

// The limits of session.json. A file beyond them is refused, so that reading one
// costs little whoever wrote it.
const (
	MaxSessionBytes   = 4 << 20
	MaxSessionMembers = 10_000 // in one object or list
)

// ParseSession decodes session.json. The version is judged before anything else, so
// that a newer file is never called broken. A file in which a merge left members
// twice or conflict markers is read too, and Repair is set (FORMAT.md, "Merging").
func ParseSession(b []byte) (*Session, error) {
	if len(b) > MaxSessionBytes {
		return nil, fmt.Errorf("the file has %d bytes, more than the limit of %d", len(b), MaxSessionBytes)
	}
	members, err := rawjson.StrictMembers(b, MaxSessionMembers)
	if err != nil {
		return parseBroken(b, err)
	}
	if err := checkVersions(members); err != nil {
		return nil, err
	}
	if standsTwice(members) != "" {
		s, err := mergeSides([]side{{members: members}})
		if err != nil {
			return nil, err
		}
		if mended, err := s.Marshal(); err != nil || !bytes.Equal(mended, b) { // not only a later release's members
			s.Repair = &Repair{Doubled: true, Conflict: -1}
		}
		return s, nil
	}
	s := new(Session)
	if err := decodeMembers(members, reflect.ValueOf(s).Elem(), exactName); err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	return s, nil
}

// checkVersions judges each version among members. A greater major version goes
// before whatever else is wrong.
func checkVersions(members []rawjson.Member) error {
	var wrong error
	found := false
	for _, m := range members {
		if m.Name != "version" {
			continue
		}
		found = true
		var v string
		if string(m.Value) != "null" {
			var err error
			if v, err = rawjson.Unquote(m.Value); err != nil {
				wrong = fmt.Errorf("field %q: %w", m.Name, err)
				continue
			}
		}
		err := checkVersion(v)
		if newer := (*VersionError)(nil); errors.As(err, &newer) {
			return err
		} else if err != nil {
			wrong = err
		}
	}
	if !found {
		return checkVersion("")
	}
	return wrong
}

// standsTwice returns a name that more than one member has, "" if none does.
func standsTwice(members []rawjson.Member) string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return names[i]
		}
	}
	return ""
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

// minorOf returns the minor number of a version that was checked.
func minorOf(version string) uint64 {
	_, minor, _ := strings.Cut(version, ".")
	n, _ := strconv.ParseUint(minor, 10, 31)
	return n
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
	for _, at := range s.stampTimes() {
		if at.Time().IsZero() {
			return fmt.Errorf("%.40q is not a time in RFC 3339", at)
		}
	}
	if n := max(len(s.Tags), len(s.TagsSet), len(s.NotesSet), len(s.Sources)); n > MaxSessionMembers { // merged from several
		return fmt.Errorf("more than %d members in one list", MaxSessionMembers)
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
	b := encodeLines(reflect.ValueOf(s).Elem())
	if len(b) > MaxSessionBytes {
		return nil, fmt.Errorf("session.json would have %d bytes, more than the limit of %d", len(b), MaxSessionBytes)
	}
	members, err := rawjson.StrictMembers(b, MaxSessionMembers)
	if err != nil {
		return nil, err
	}
	// A later release knows how to merge its own members: its copies are kept.
	if name := standsTwice(members); name != "" && minorOf(s.Version) <= minorOf(Version) {
		return nil, fmt.Errorf("name %q stands twice", name)
	}
	return b, nil
}

// AppendLine appends s to dst as one line without stamps, spaces or newline, for
// listings.
func (s *Session) AppendLine(dst []byte) []byte {
	plain := *s
	plain.clearStamps()
	return appendLine(dst, &plain)
}

// Clone returns a deep copy of s.
func (s *Session) Clone() *Session {
	return cloneValue(reflect.ValueOf(s)).Interface().(*Session)
}

func cloneValue(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		c.Set(reflect.New(v.Type().Elem()))
		c.Elem().Set(cloneValue(v.Elem()))
	case v.Kind() == reflect.Slice && !v.IsNil():
		c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			c.Index(i).Set(cloneValue(v.Index(i)))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			c.Field(i).Set(cloneValue(v.Field(i)))
		}
	}
	return c
}

// DisplayTitle is the title, or for a session without one the folder's name without
// number or time, type and id: 001-brainstorm-api-design is "api design", and so is
// 1030-brainstorm-api-design-hv37 if the id ends in hv37.
func (s *Session) DisplayTitle() string {
	if s.Title != "" {
		return s.Title
	}
	name := s.ConversationID
	if number, rest, ok := strings.Cut(name, "-"); ok && strings.Trim(number, "0123456789") == "" {
		name = strings.TrimPrefix(rest, s.ConversationType+"-")
		if len(s.ID) == idLen {
			name = strings.TrimSuffix(name, "-"+s.ID[idLen-4:])
		}
	}
	return strings.ReplaceAll(name, "-", " ")
}
