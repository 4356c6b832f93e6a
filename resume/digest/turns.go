package digest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"cortext/schema"
)

// fold is what the next message may refer to. Its texts are of the last turn that does
// more than take leave.
type fold struct {
	Answered    bool     `json:"answered,omitempty"`    // the agent said or did something
	Said        string   `json:"said,omitempty"`        // what its last answer begins with
	Question    string   `json:"question,omitempty"`    // that it ends with
	Ending      string   `json:"ending,omitempty"`      // and what there is to choose, with that
	Working     bool     `json:"working,omitempty"`     // the work went on after it
	Unanswered  string   `json:"unanswered,omitempty"`  // the first question of the last calls
	Interrupted bool     `json:"interrupted,omitempty"` // the turn
	Failure     string   `json:"failure,omitempty"`     // the error of the service that ended it
	Topic       string   `json:"topic,omitempty"`       // that the user began with, in a sentence
	Closed      bool     `json:"closed,omitempty"`      // the user has taken leave since
	Noticed     bool     `json:"noticed,omitempty"`     // the agent learned of work in the background
	Todos       todoList `json:"todos,omitempty"`
	Seen        []string `json:"seen,omitempty"` // files that were read, the latest last
}

// happened takes in a system message. It is no speech, but it may tell of an
// interruption.
func (s *State) happened(m *schema.Message) {
	text := strings.TrimSpace(ends(m.Content))
	s.interrupt(matches("interruptions", text))
	s.Fold.Noticed = strings.HasPrefix(text, "<task-notification>") && !strings.Contains(text, "<result>") // of another agent
}

func (s *State) interrupt(yes bool) {
	if yes && !s.Fold.Closed {
		s.Fold.Interrupted = true
	}
}

// prompted takes in a message of the user. One that only takes leave, or steers
// the program, begins no turn, and what the agent says after it does not count.
func (s *State) prompted(m *schema.Message) {
	f := &s.Fold
	text := strings.ToValidUTF8(strings.TrimSpace(ends(m.Content)), "\uFFFD")
	if matches("interruptions", text) {
		s.interrupt(true)
		return
	}
	if text == "" || shellLine(text) {
		return
	}
	name, arguments := slash(text)
	if f.Closed = name != "" && idle(name) || name == "" && farewell(bare(text)); f.Closed {
		return
	}
	if oneLine(dropBlocks(text)) == "" {
		return // what a program tells the agent of its own accord
	}
	said := text
	if name == "" {
		s.ruled(text, m)
	} else {
		said = unquoted(arguments)
	}
	s.Errors = slices.DeleteFunc(s.Errors, func(e Note) bool { return e.N < s.LastUser.N || !strings.HasPrefix(e.Key, commandKey) })
	s.Commands = slices.DeleteFunc(s.Commands, func(c Command) bool { return c.Looks })
	s.unread = ""
	*f = fold{Topic: f.Topic, Todos: f.Todos, Seen: f.Seen}

	s.LastUser = s.note(asks(text), m)
	if (s.Topic.N == 0 || oneWord(s.Topic.Text) && !oneWord(said)) && !saysNothing(said) {
		s.Topic, f.Topic = s.note(asks(said), m), limit(cmp.Or(topicOf(said), asks(said)))
	}
}

// asks is what a prompt asks for on one line: all of it if it is short, else its first
// sentences.
func asks(prompt string) string {
	whole := oneLine(dropBlocks(prompt))
	if len(whole) <= maxText {
		return whole
	}
	said := ""
	for _, u := range sentences(prompt) {
		next := strings.TrimSpace(said + " " + u.text)
		if len(next) > maxText && said != "" {
			break
		}
		said = next
	}
	return limit(cmp.Or(said, whole))
}

// oneWord reports whether a prompt is a word alone: "push", "verify".
func oneWord(text string) bool {
	return !strings.ContainsFunc(strings.TrimSpace(text), func(r rune) bool { return unicode.IsSpace(r) || r >= 0x2e80 })
}

// replied takes in a message of the agent and the calls that it made.
func (s *State) replied(m *schema.Message, tools map[string]schema.Tool) {
	f := &s.Fold
	text := strings.ToValidUTF8(strings.TrimSpace(ends(m.Content)), "\uFFFD")
	failure := ""
	switch {
	case matches("synthetic", text): // by the agent's program
		text = ""
	case len(text) < 2000 && matches("service errors", text):
		failure, text = limit(plain(text)), ""
	}
	working := len(m.ToolCalls) > 0 && !endsInText(m)
	if f.Noticed {
		s.readLast()
	}
	aside := f.Noticed && f.Said != "" && !f.Working && !slices.ContainsFunc(m.ToolCalls, works)
	switch {
	case f.Closed:
	case text != "" || len(m.ToolCalls) > 0:
		f.Answered, f.Failure, f.Interrupted, f.Unanswered = true, "", false, ""
		f.Noticed = aside && working
		if !aside { // without a word it goes on working on what it said last
			f.Working, f.Ending, f.Question = working || text == "", "", ""
			s.unread = cmp.Or(text, s.unread)
		}
	case failure != "":
		f.Failure = failure
	}
	s.interrupt(m.FinishReason == "interrupted")
	for _, c := range m.ToolCalls {
		if t, ok := tools[c.ID]; ok {
			s.called(t, m)
		}
	}
}

// readLast reads what was heard last. Most of what an agent says is never read: what it says
// next takes its place.
func (s *State) readLast() {
	if s.unread == "" {
		return
	}
	f, all := &s.Fold, sentences(s.unread)
	f.Said = beginning(all)
	if !f.Working {
		if f.Question = lastQuestion(all); f.Question != "" {
			f.Ending = choices(s.unread[max(len(s.unread)-maxEnding, 0):]) + f.Question
		}
	}
	s.unread = ""
}

// maxEnding is how many bytes at the end of an answer may list what there is to choose.
const maxEnding = 600

// choices are the lines of lists in a text.
func choices(text string) (list string) {
	for l := range strings.Lines(strings.ToValidUTF8(text, "")) {
		if _, ok := listItem(strings.TrimSpace(l)); ok {
			list += strings.TrimSpace(l) + "\n"
		}
	}
	return list
}

// beginning is the first of some sentences that says something: no heading, no
// exclamation, nothing that only announces what follows. One that opens the answer counts
// although it introduces more.
func beginning(all []sentence) string {
	const least = 25 // bytes
	opens := true    // no heading or list stands before it
	for _, fits := range []func(sentence) bool{
		func(u sentence) bool {
			opens = opens && !u.heading && !u.item
			return !u.heading && !u.item && !u.question && len(u.text) >= least && (!u.unclosed || opens && !matches("lead-ins", u.text))
		},
		func(u sentence) bool { return !u.question && len(u.text) >= least },
		func(u sentence) bool { return !u.question },
	} {
		if i := slices.IndexFunc(all, fits); i >= 0 {
			return limit(strings.TrimRight(all[i].text, ":："))
		}
	}
	return ""
}

// lastQuestion is the question that an answer ends with, with at most one sentence or
// the list of what there is to choose behind it; "" if there is none.
func lastQuestion(all []sentence) string {
	after := 0
	for _, u := range slices.Backward(all) {
		switch {
		case u.question && !u.heading:
			if has("offers", strings.ToLower(u.text)) {
				return ""
			}
			return limit(u.text)
		case !u.item:
			if after++; after > 1 {
				return ""
			}
		}
	}
	return ""
}

// works reports whether a call does more than read what ran in the background.
func works(c schema.ToolCall) bool {
	return c.Name != "Read" && c.Name != "TaskOutput" && c.Name != "BashOutput"
}

// shellLine reports whether a prompt was for the shell, not for the agent: "!ls".
func shellLine(text string) bool {
	return len(text) > 1 && text[0] == '!' && (text[1] >= 'a' && text[1] <= 'z' || strings.IndexByte("./~$", text[1]) >= 0) && !strings.Contains(text, "\n")
}

func endsInText(m *schema.Message) bool {
	return len(m.Blocks) > 0 && m.Blocks[len(m.Blocks)-1].Type == schema.TextBlock
}
