package digest

import (
	"slices"
	"strings"

	"cortext/schema"
)

// A turn is what the user asked and what the agent made of it.
type turn struct {
	Prompt      string   `json:"prompt,omitempty"`   // as typed; "" where the conversation begins with the agent
	Goal        string   `json:"goal,omitempty"`     // what the prompt, "go on", goes on with
	Answered    bool     `json:"answered,omitempty"` // the agent said or did something
	Text        string   `json:"text,omitempty"`     // what it said last of its work
	Aside       string   `json:"aside,omitempty"`    // what it said since of something that ended in the background
	Note        string   `json:"note,omitempty"`     // the last of that which closed the matter
	MidWork     bool     `json:"mid_work,omitempty"` // the work goes on after Text
	Silent      bool     `json:"silent,omitempty"`   // the last reply had no words
	Calls       bool     `json:"calls,omitempty"`    // the last reply went on to call tools
	Asked       []string `json:"asked,omitempty"`    // by its calls, and not answered
	Message     string   `json:"message,omitempty"`  // of the last reply
	N           int      `json:"n,omitempty"`
	Interrupted bool     `json:"interrupted,omitempty"`
	Failure     string   `json:"failure,omitempty"` // the error that ended it, on one line
}

// asks is what a turn is about, on one line.
func (t *turn) asks() string {
	if t.Goal != "" {
		return gist(t.Goal)
	}
	return gist(t.Prompt)
}

// spoken is the last that the agent said.
func (t *turn) spoken() string {
	if t.Aside != "" {
		return t.Aside
	}
	return t.Text
}

// final is the text of the last reply.
func (t *turn) final() string {
	if t.Silent {
		return ""
	}
	return t.spoken()
}

// A reply is a message of the agent.
type reply struct {
	text    string
	midWork bool // calls follow the text
	aside   bool // it only takes note of something that ended in the background
}

// hear adds the next reply to a turn.
func (t *turn) hear(r reply) {
	t.Answered, t.Failure, t.Interrupted = true, "", false
	t.Silent, t.Calls, t.Asked = r.text == "", r.midWork, nil
	if r.aside && t.Text != "" && !t.MidWork {
		if r.text != "" {
			t.Aside = r.text
		}
		if !r.midWork {
			t.Note = r.text
		}
		return
	}
	if r.text != "" {
		t.Text, t.Aside, t.Note = r.text, "", ""
	}
	t.MidWork = r.midWork || r.text == ""
}

// happened takes in a system message. It is no speech, but it may tell of an
// interruption.
func (s *State) happened(m *schema.Message) {
	text := strings.TrimSpace(ends(m.Content))
	s.interrupt(interruption(text))
	s.Fold.Noticed = strings.HasPrefix(text, "<task-notification>")
}

func (s *State) interrupt(yes bool) {
	if yes && !s.Fold.Closed {
		s.Fold.Last.Interrupted = true
	}
}

// prompted takes in a message of the user. One that only takes leave, or steers
// the program, begins no turn, and what the agent says after it does not count.
func (s *State) prompted(m *schema.Message) {
	f := &s.Fold
	text := strings.ToValidUTF8(strings.TrimSpace(ends(m.Content)), "\uFFFD")
	if interruption(text) {
		s.interrupt(true)
		return
	}
	if text == "" {
		return
	}
	if shellLine(text) {
		s.withdrawn(text[1:])
		return
	}
	name, arguments := slash(text)
	if f.Closed = name != "" && idle(name) || name == "" && farewell(bare(text)); f.Closed {
		return
	}
	if oneLine(dropBlocks(text)) == "" {
		return // what a program tells the agent of its own accord
	}
	if units := sentences(text); len(units) > 0 && !slices.ContainsFunc(units, func(u sentence) bool { return !u.question() }) {
		f.Carried = s.waiting() // the user asks back
	} else {
		f.Carried = nil
	}
	f.Turns++
	f.Before = turn{Answered: f.Last.Answered, Text: f.Last.spoken(), Silent: f.Last.Silent}
	f.Last = turn{Prompt: text}
	s.Commands = slices.DeleteFunc(s.Commands, func(c Command) bool { return c.Looks })

	s.LastUser = s.note(brief(text), m)
	said, filled := text, false
	if name != "" {
		said = unquoted(arguments)
	} else {
		said, filled = typed(text)
	}
	s.tasked(text, said, m)
	if name == "" && goesOn(text) {
		f.Last.Goal = s.Request.Text
	} else {
		s.movedOn()
		s.withdrawn(said)
	}
	s.requested(said, m)
	if said != text || !filled {
		s.demanded(said, name != "" || filled, m)
	}
}

// demanded notes what a prompt decides, forbids and demands. The arguments of a
// command are no decision, but they may forbid.
func (s *State) demanded(said string, command bool, m *schema.Message) {
	units := sentences(said)
	last := ""
	if !command {
		if d := agreed(said, s.Fold.Before); d != "" {
			s.decide(d, schema.User, m)
			last = d
		}
	}
	var ruled []string
	if !command {
		for _, r := range rulings(units, userCues()) {
			ruled = append(ruled, r.sentence)
			last = r.decision
		}
	}
	noted := 0
	if corrects(units) {
		s.decide(brief(said), schema.User, m)
		units = nil
	}
	for _, u := range units {
		if noted < maxDemands && (slices.Contains(ruled, u.text) || demand(u)) {
			s.decide(u.text, schema.User, m)
			noted++
		}
	}
	s.decided(last)
}

// maxDemands is how many sentences of one message are noted as decisions: more
// are a document.
const maxDemands = 12

// decided notes the last decision in a few words.
func (s *State) decided(d string) {
	if d != "" {
		s.Fold.Decided, s.Fold.DecidedIn = cut(d, maxDecision), s.Fold.Turns
	}
}

// replied takes in a message of the agent and the calls that it made.
func (s *State) replied(m *schema.Message, tools map[string]schema.Tool) {
	f := &s.Fold
	text := strings.ToValidUTF8(strings.TrimSpace(ends(m.Content)), "\uFFFD")
	if synthetic(text) {
		text = ""
	}
	failure := ""
	if failed(text) {
		failure, text = plain(text).text, ""
	}
	r := reply{text: text, midWork: len(m.ToolCalls) > 0 && !endsInText(m), aside: f.Noticed && !slices.ContainsFunc(m.ToolCalls, works)}
	if failure != "" && !f.Closed {
		f.Last.Failure = failure
	}
	if text != "" || len(m.ToolCalls) > 0 {
		f.Noticed = r.aside && r.midWork
		if !f.Closed {
			f.Last.hear(r)
			f.Last.Message, f.Last.N = identity(m), s.Messages
			s.settled(text, r.midWork, m)
		}
	}
	s.interrupt(m.FinishReason == "interrupted")
	for _, c := range m.ToolCalls {
		if t, ok := tools[c.ID]; ok {
			s.called(t, m)
		}
	}
}

// settled notes what a reply says was decided.
func (s *State) settled(text string, midWork bool, m *schema.Message) {
	if !mayRule(text) {
		return
	}
	all := rulings(sentences(text), replyCues(midWork))
	for _, r := range bounded(all, maxDemands) {
		s.decide(r.sentence, schema.Assistant, m)
		s.decided(r.decision)
	}
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

func interruption(text string) bool {
	return strings.HasPrefix(text, "[Request interrupted by user") || text == "Request cancelled." || text == "Operation cancelled by user"
}

// synthetic reports whether an agent's program, not the model, wrote text.
func synthetic(text string) bool {
	switch text {
	case "No response requested.", "(no content)", "[No response requested]":
		return true
	}
	return false
}

// failed reports whether text is the agent's program telling of an error of the
// service.
func failed(text string) bool {
	for _, p := range []string{"API Error", "Prompt is too long", "Credit balance is too low", "Invalid API key", "Claude AI usage limit reached",
		"You've hit your limit", "You've reached your usage limit", "Claude usage limit reached"} {
		if strings.HasPrefix(text, p) {
			return len(text) < 2000
		}
	}
	return false
}
