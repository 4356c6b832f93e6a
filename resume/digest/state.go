package digest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
)

// StateVersion is the version of the [State] that this build makes: a state that
// was kept under another is made anew.
const StateVersion = 3

// The most of each kind that a state holds; what falls out is the oldest.
const (
	maxFiles     = 200
	maxCommands  = 100
	maxErrors    = 40
	maxDecisions = 80
	maxQuestions = 20
	maxSeen      = 200
)

// maxText is the most bytes of a text in a state.
const maxText = 300

// A Note is something that was said or that happened, on one line.
type Note struct {
	Text    string      `json:"text"`
	By      schema.Role `json:"by,omitempty"`    // of a decision: who said it
	Key     string      `json:"key,omitempty"`   // of an error: what has to succeed to settle it
	Later   bool        `json:"later,omitempty"` // of an error: its program has succeeded since, at something else
	Message string      `json:"message,omitempty"`
	N       int         `json:"n,omitempty"` // of the message in the conversation, from 1
}

// A File is a file that the agent changed, by the path that it wrote.
type File struct {
	Path    string `json:"path"`
	Action  string `json:"action"`
	Message string `json:"message,omitempty"`
	N       int    `json:"n"` // of the message that touched it last
	Times   int    `json:"times"`
}

// The actions of a file: one that was created and then modified is created, one
// that was modified and then written anew is modified.
const (
	Created  = "created"
	Modified = "modified"
	Deleted  = "deleted"
)

// A Command is a shell command that did more than look, or one of the last turn
// that could not look. Of runs of the same line the last counts.
type Command struct {
	Line     string `json:"line"`
	Looks    bool   `json:"looks,omitempty"`
	Outcome  string `json:"outcome"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Message  string `json:"message,omitempty"`
	N        int    `json:"n"`
}

// The outcomes of a command.
const (
	OK       = "ok"
	Failed   = "failed"
	NoResult = "no result" // it was cut short, or runs in the background
	Refused  = "refused"   // by the user
)

// A State is what a person would note of a conversation to go on with it. The
// zero State is that of a conversation in which nothing was said.
//
// It is kept as JSON and extended by what is new. It depends on the messages
// only, not on how many of them one Add was given.
type State struct {
	Version   int          `json:"version"`  // [StateVersion] of the build that made it
	Messages  int          `json:"messages"` // that are in it
	Task      Note         `json:"task"`     // what the user asked for first
	Request   Note         `json:"request"`  // what the user asked for last; up to [MaxRequest] bytes
	Files     []File       `json:"files,omitempty"`
	Commands  []Command    `json:"commands,omitempty"`
	Errors    []Note       `json:"errors,omitempty"`    // failures that no later success settled
	Decisions []Note       `json:"decisions,omitempty"` // also what the user forbade and demanded
	Questions []Note       `json:"questions,omitempty"` // that wait for the user
	Plan      *schema.Plan `json:"plan,omitempty"`
	LastUser  Note         `json:"last_user"`        // the last message of the user that takes no leave; it may ask for nothing ("yes")
	Status    string       `json:"status,omitempty"` // where the work stands; "" if nothing was said
	Fold      fold         `json:"fold"`             // what Add goes on from; of no use to a reader
}

// fold is what the next message may refer to.
type fold struct {
	Turns     int      `json:"turns,omitempty"` // that do not only take leave
	Last      turn     `json:"last"`            // the last of them
	Before    turn     `json:"before"`
	Asked     int      `json:"asked,omitempty"`      // the message in which the user asked for something else than before
	Vague     bool     `json:"vague,omitempty"`      // the task is one word, or what a template says
	Closed    bool     `json:"closed,omitempty"`     // the user has taken leave since
	Noticed   bool     `json:"noticed,omitempty"`    // the agent was told of work in the background
	Decided   string   `json:"decided,omitempty"`    // the last decision in a few words
	DecidedIn int      `json:"decided_in,omitempty"` // its turn
	Carried   []Note   `json:"carried,omitempty"`    // questions of earlier turns that are still open
	Todos     todoList `json:"todos,omitempty"`
	Seen      []string `json:"seen,omitempty"` // files that were read, the latest last
}

// Add takes the next whole turns of the conversation into the state: a call
// counts with the outcome that it has in h.Tools, and is not looked at again.
//
// Add changes what the slices of s hold, so a copy that is to stay as it is has
// to be made through JSON.
func (s *State) Add(h schema.History) {
	s.Version = StateVersion
	for i := range h.Messages {
		m := &h.Messages[i]
		s.Messages++
		switch m.Role {
		case schema.User:
			s.prompted(m)
		case schema.Assistant:
			s.replied(m, h.Tools)
		case schema.System:
			s.happened(m)
		}
	}
	s.Questions = s.waiting()
	s.Plan = s.Fold.Todos.plan()
	s.normal()
	s.Status = limit(standing(s.Fold.Last, s.Fold.Before, maxSummary))
}

// Summary says in at most 300 runes on one line where the conversation stopped:
// the last decision, the question that waits for the user, the last state of the
// work, as far as there are such; "" where nothing was said.
func (s *State) Summary() string {
	f := &s.Fold
	var parts []string
	if f.Decided != "" && f.Turns-f.DecidedIn < maxTurns {
		parts = append(parts, "Decided: "+f.Decided)
	}
	if q := openQuestion(f.Last); q != "" {
		parts = append(parts, "Open: "+cut(q, maxOpen))
	}
	room := maxSummary
	for i, p := range parts {
		if !strings.HasSuffix(p, "?") && !strings.HasSuffix(p, "…") {
			parts[i] = p + "."
		}
		room -= utf8.RuneCountInString(parts[i]) + 1
	}
	if s := standing(f.Last, f.Before, room); s != "" {
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

// note is a note of the message m, which was added last.
func (s *State) note(text string, m *schema.Message) Note {
	return Note{Text: limit(text), Message: identity(m), N: s.Messages}
}

// decide notes what was decided; what was decided before in the same words is
// moved to the end.
func (s *State) decide(text string, by schema.Role, m *schema.Message) {
	n := s.note(text, m)
	if n.Text == "" {
		return
	}
	n.By = by
	s.Decisions = slices.DeleteFunc(s.Decisions, func(d Note) bool { return d.Text == n.Text && d.By == by })
	s.Decisions = append(s.Decisions, n)
	if len(s.Decisions) > maxDecisions {
		out := max(0, slices.IndexFunc(s.Decisions, func(d Note) bool { return d.By == schema.Assistant }))
		s.Decisions = slices.Delete(s.Decisions, out, out+1)
	}
}

// bounded returns the last n of list.
func bounded[T any](list []T, n int) []T {
	if len(list) > n {
		list = slices.Delete(list, 0, len(list)-n)
	}
	return list
}

// identity is the id of m, cut to what a state may hold.
func identity(m *schema.Message) string { return path(m.ID) }

// limit cuts a line to maxText bytes.
func limit(s string) string { return limitTo(s, maxText) }

// limitTo cuts a line to n bytes.
func limitTo(s string, n int) string {
	const mark = "…"
	if len(s) <= n {
		return s
	}
	end := n - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimRightFunc(s[:end], unicode.IsSpace) + mark
}

// limitMiddle cuts a line to maxText bytes and keeps its end: a command tells there
// what it writes to.
func limitMiddle(s string) string {
	if len(s) <= maxText {
		return s
	}
	start := len(s) - maxText/3
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return limitTo(s, maxText-(len(s)-start)) + s[start:]
}

// endBytes is how much of the beginning and of the end of a text is looked at: a
// pasted log of 100 MB says no more.
const endBytes = 32 << 10

// ends returns s without its middle, if it is long.
func ends(s string) string {
	if len(s) <= 2*endBytes {
		return s
	}
	return strings.ToValidUTF8(s[:endBytes], "") + "\n…\n" + strings.ToValidUTF8(s[len(s)-endBytes:], "")
}

// brief is a prompt on one line: all of it if it is short, else its first
// sentences.
func brief(prompt string) string {
	whole := oneLine(dropBlocks(prompt))
	if len(whole) <= maxText {
		return whole
	}
	said := ""
	for _, u := range sentences(prompt) {
		if next := strings.TrimSpace(said + " " + u.text); len(next) <= maxText || said == "" {
			said = next
			continue
		}
		break
	}
	if said == "" {
		return limit(whole)
	}
	return limit(said)
}

// normal makes lists that are empty none, as they are when read from JSON.
func (s *State) normal() {
	none(&s.Files)
	none(&s.Commands)
	none(&s.Errors)
	none(&s.Decisions)
	none(&s.Questions)
	none(&s.Fold.Carried)
	none(&s.Fold.Seen)
	none((*[]todo)(&s.Fold.Todos))
	none(&s.Fold.Last.Asked)
}

func none[T any](list *[]T) {
	if len(*list) == 0 {
		*list = nil
	}
}
