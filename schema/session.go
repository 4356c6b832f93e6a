// Package schema holds the records that cortext stores and is the only code that knows
// their bytes. FORMAT.md beside it is the specification.
//
// # Compatibility
//
// Every version of cortext reads the files of earlier ones. A file of a later minor
// version is read and written with its unknown fields kept. A file of a later major
// version is rejected with a [VersionError].
package schema

import (
	"bytes"
	"cmp"
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

// A VersionError means that a later major version wrote the file.
type VersionError struct{ Have string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("format version %s is newer than this cortext, which reads up to %d.x: install a newer cortext", e.Have, major)
}

// Status is the state of a conversation.
type Status string

// The statuses. A conversation whose agent ended is paused; only the user can mark it
// completed.
const (
	Active    Status = "active"
	Paused    Status = "paused"
	Completed Status = "completed"
)

// Statuses returns the statuses in the order of a conversation's life.
func Statuses() []Status { return []Status{Active, Paused, Completed} }

// A Session is session.json: what is known about a conversation besides its messages
// (FORMAT.md, "session.json"). The fields are in file order, which is designed for
// merges: next to each member that can be set is its stamp, then a member that never
// changes; the members that change most come at the end, the id last.
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
	Description      string         `json:"description"` // the first user message, truncated
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
	Metadata         Raw            `json:"metadata"` // an object with any content
	MetadataSet      []ValueStamp   `json:"metadata_set"`
	Links            *Links         `json:"links"`

	Unknown []rawjson.Member

	LastActive   Time     `json:"last_active"`
	MessageCount int      `json:"message_count" codec:"keep"` // messages by id
	Tokens       int64    `json:"tokens"`                     // sum over messages and tools
	CountedBytes int64    `json:"counted_bytes"`              // length of messages.jsonl when the counters were taken
	Usage        *Usage   `json:"usage"`
	Sources      []Source `json:"sources"`
	ID           string   `json:"id" codec:"keep"`

	// Repair is set if a merge left the file in need of repair. The next write must then
	// replace the file even if nothing else changed.
	Repair *Repair
}

// AgentConfig is the setup that produced the conversation.
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

// Modes are shown but never restored automatically.
type Modes struct {
	Permission string `json:"permission"` // in the agent's words
	Plan       bool   `json:"plan"`

	Unknown []rawjson.Member
}

// A Source is a native session that contributed to the conversation.
type Source struct {
	Agent    string `json:"agent"`
	NativeID string `json:"native_id"`
	Version  string `json:"version"` // of the agent
	From     string `json:"from"`    // the prompt that its part begins with (FORMAT.md, "session.json"); absent: the session's beginning
	After    string `json:"after"`   // id of the message that the part's first message follows

	Unknown []rawjson.Member
}

// A Plan is the latest state of the agent's todo list.
type Plan struct {
	Steps    []Step `json:"steps"`
	Current  int    `json:"current"`  // index of the step in progress, or of the first open one
	Awaiting bool   `json:"awaiting"` // steps are open and the agent waits for the user

	Unknown []rawjson.Member
}

// A Step is one entry of a plan.
type Step struct {
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress or completed

	Unknown []rawjson.Member
}

// Git is the state of the work tree at the start.
type Git struct {
	Commit string `json:"commit"`
	Branch string `json:"branch"`

	Unknown []rawjson.Member
}

// Links connects conversations.
type Links struct {
	Parent     string   `json:"parent"`       // id of the conversation that this one is part of or was forked from
	ToolCallID string   `json:"tool_call_id"` // of a sub-agent: the parent's call that started it
	MessageID  string   `json:"message_id"`   // of a fork: the last message that it shares with the parent
	Related    []string `json:"related" codec:"set"`

	Unknown []rawjson.Member
}

// The limits of session.json. A file beyond them is rejected, so that reading one is
// cheap whoever wrote it.
const (
	MaxSessionBytes   = 4 << 20
	MaxSessionMembers = 10_000 // in one object or list
)

// ParseSession decodes session.json. It checks the version before anything else, so that
// it never reports a newer file as broken. It also reads a file in which a merge left
// doubled members or conflict markers, and sets Repair (FORMAT.md, "Merging").
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
	if duplicateName(members) != "" {
		s, err := mergeSides([]side{{members: members}})
		if err != nil {
			return nil, err
		}
		if mended, err := s.Marshal(); err != nil || !bytes.Equal(mended, b) { // not only members of a later release
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

// checkVersions checks each version among members. A later major version takes precedence
// over anything else that is wrong.
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

// duplicateName returns a name that more than one member has, or "" if there is none.
func duplicateName(members []rawjson.Member) string {
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
	n, err := strconv.ParseUint(have, 10, 31) // accepts no sign
	if _, minorErr := strconv.ParseUint(minor, 10, 31); err != nil || minorErr != nil || n < 1 {
		return fmt.Errorf("version %.40q is not of the form 1.1", v)
	}
	if n > major {
		return &VersionError{Have: v}
	}
	return nil
}

// minorOf returns the minor number of a version that has been checked.
func minorOf(version string) uint64 {
	_, minor, _ := strings.Cut(version, ".")
	n, _ := strconv.ParseUint(minor, 10, 31)
	return n
}

// Upgrade raises the version to the one that this package writes. A later minor version
// stays, since its members are kept.
func (s *Session) Upgrade() {
	if minorOf(s.Version) < minorOf(Version) {
		s.Version = Version
	}
}

func (s *Session) validate() error {
	if err := checkVersion(s.Version); err != nil {
		return err
	}
	if !slices.Contains(Statuses(), s.Status) {
		return fmt.Errorf("status %.40q is not active, paused or completed", s.Status)
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
	if n := max(len(s.Tags), len(s.TagsSet), len(s.NotesSet), len(s.MetadataSet), len(s.Sources)); n > MaxSessionMembers { // merged from several
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

// Marshal encodes s as session.json, one member per line. It returns an error if s is not
// a valid session.
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
	// A later release knows how to merge its own members, so all copies are kept.
	if name := duplicateName(members); name != "" && minorOf(s.Version) <= minorOf(Version) {
		return nil, fmt.Errorf("name %q appears twice", name)
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

// Untitled is the title of a conversation in which nobody has said what it is about.
const Untitled = "untitled"

// LastAgent returns the agent of the last session that went into the conversation.
func (s *Session) LastAgent() string {
	if n := len(s.Sources); n > 0 && s.Sources[n-1].Agent != "" {
		return s.Sources[n-1].Agent
	}
	return s.AgentConfig.Agent
}

// AgentOf returns the agent of the native session source. A message without a source,
// which the first version of the format allows, belongs to the agent that the
// conversation began in.
func (s *Session) AgentOf(source string) string {
	if source == "" {
		return s.AgentConfig.Agent
	}
	for _, src := range s.Sources {
		if src.NativeID == source {
			return src.Agent
		}
	}
	return ""
}

// DisplayTitle returns the title. For a session without one it is the folder's name
// without number or time, type and id: 001-brainstorm-api-design is "api design", and so
// is 1030-brainstorm-api-design-hv37 if the id ends in hv37. Without words for either, it
// is the type and the time in UTC: "brainstorm 2025-11-22 10:30".
func (s *Session) DisplayTitle() string {
	if strings.TrimSpace(s.Title) != "" && s.Title != Untitled {
		return s.Title
	}
	name := s.ConversationID
	if number, rest, ok := strings.Cut(name, "-"); ok && strings.Trim(number, "0123456789") == "" {
		name = strings.TrimPrefix(rest, s.ConversationType+"-")
		if len(s.ID) == idLen {
			name = strings.TrimSuffix(name, "-"+s.ID[idLen-4:])
		}
	}
	if name == "" || name == Untitled {
		name = cmp.Or(s.ConversationType, "conversation")
		if at := s.CreatedAt.Time(); !at.IsZero() {
			name += " " + at.UTC().Format("2006-01-02 15:04")
		}
		return name
	}
	return strings.ReplaceAll(name, "-", " ")
}
