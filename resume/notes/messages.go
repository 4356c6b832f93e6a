package notes

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"cortext/schema"
)

// turn is what the next message may refer to. Its texts come from the last turn that
// does more than say goodbye.
type turn struct {
	Answered     bool     `json:"answered,omitempty"`    // the agent said or did something
	Answer       string   `json:"said,omitempty"`        // beginning of its last answer
	Question     string   `json:"question,omitempty"`    // at the end of that answer
	Choices      string   `json:"ending,omitempty"`      // the question with the choices
	Working      bool     `json:"working,omitempty"`     // work continued after it
	ToolQuestion string   `json:"unanswered,omitempty"`  // first question of the last calls
	Interrupted  bool     `json:"interrupted,omitempty"` // the turn
	Failure      string   `json:"failure,omitempty"`     // the service error that ended it
	Topic        string   `json:"topic,omitempty"`       // the user's first sentence in the turn
	Farewell     bool     `json:"closed,omitempty"`      // the user said goodbye since
	Notified     bool     `json:"noticed,omitempty"`     // the agent was notified of background work
	Todos        todoList `json:"todos,omitempty"`
	Seen         []string `json:"seen,omitempty"` // files that were read, newest last
}

// addEvent records a system message. It is not speech, but it may report an
// interruption.
func (a *adder) addEvent() {
	text := strings.TrimSpace(headAndTail(a.message.Content))
	if matches("interruptions", text) {
		a.interrupt()
	}
	a.Turn.Notified = strings.HasPrefix(text, "<task-notification>") && !strings.Contains(text, "<result>") // from another agent
}

// interrupt records an interruption of the turn.
func (a *adder) interrupt() {
	if !a.Turn.Farewell {
		a.Turn.Interrupted = true
	}
}

// addPrompt records a user message. A message that only says goodbye or controls the
// program begins no turn, and the agent's reply to it does not count.
func (a *adder) addPrompt() {
	t := &a.Turn
	text := strings.ToValidUTF8(strings.TrimSpace(headAndTail(a.message.Content)), "\uFFFD")
	if matches("interruptions", text) {
		a.interrupt()
		return
	}
	if text == "" || isShellLine(text) {
		return
	}
	name, arguments := slashCommand(text)
	if t.Farewell = name != "" && doesNoWork(name) || name == "" && isFarewell(shortPrompt(text)); t.Farewell {
		return
	}
	if oneLine(dropBlocks(text)) == "" {
		return // sent to the agent by a program on its own
	}
	request := text
	if name == "" {
		a.addDecisions(text)
	} else {
		request = unquoted(arguments)
	}
	a.Errors = slices.DeleteFunc(a.Errors, func(e Note) bool { return e.Number < a.LastUser.Number || !strings.HasPrefix(e.Key, commandKey) })
	a.Commands = slices.DeleteFunc(a.Commands, func(c Command) bool { return c.ReadOnly })
	a.answer = ""
	*t = turn{Topic: t.Topic, Todos: t.Todos, Seen: t.Seen}

	a.LastUser = a.note(requestIn(text))
	if (a.Topic.Number == 0 || isOneWord(a.Topic.Text) && !isOneWord(request)) && !isSmallTalk(request) {
		a.Topic, t.Topic = a.note(requestIn(request)), limit(cmp.Or(topicOf(request), requestIn(request)))
	}
}

// requestIn returns a prompt's request on one line: all of a short prompt, else its
// first sentences.
func requestIn(prompt string) string {
	whole := oneLine(dropBlocks(prompt))
	if len(whole) <= maxText {
		return whole
	}
	request := ""
	for _, u := range sentences(prompt) {
		next := strings.TrimSpace(request + " " + u.text)
		if len(next) > maxText && request != "" {
			break
		}
		request = next
	}
	return limit(cmp.Or(request, whole))
}

// isOneWord reports whether a prompt is a single word: "push", "verify".
func isOneWord(text string) bool {
	return !strings.ContainsFunc(strings.TrimSpace(text), func(r rune) bool { return unicode.IsSpace(r) || r >= 0x2e80 })
}

// addReply records a message of the agent and its calls.
func (a *adder) addReply() {
	t, m := &a.Turn, a.message
	text := strings.ToValidUTF8(strings.TrimSpace(headAndTail(m.Content)), "\uFFFD")
	failure := ""
	switch {
	case matches("synthetic", text): // by the agent's program
		text = ""
	case len(text) < 2000 && matches("service errors", text):
		failure, text = limit(stripMarkup(text)), ""
	}
	working := len(m.ToolCalls) > 0 && !endsInText(m)
	if t.Notified {
		a.readAnswer()
	}
	background := t.Notified && t.Answer != "" && !t.Working && !slices.ContainsFunc(m.ToolCalls, doesWork)
	switch {
	case t.Farewell:
	case text != "" || len(m.ToolCalls) > 0:
		t.Answered, t.Failure, t.Interrupted, t.ToolQuestion = true, "", false, ""
		t.Notified = background && working
		if !background { // without text, it continues the work it last described
			t.Working, t.Choices, t.Question = working || text == "", "", ""
			a.answer = cmp.Or(text, a.answer)
		}
	case failure != "":
		t.Failure = failure
	}
	if m.FinishReason == "interrupted" {
		a.interrupt()
	}
	for _, c := range m.ToolCalls {
		if tool, ok := a.tools[c.ID]; ok {
			a.addCall(tool)
		}
	}
}

// readAnswer reads the agent's last text. Most texts are never read, since a later one
// replaces them.
func (a *adder) readAnswer() {
	if a.answer == "" {
		return
	}
	t, all := &a.Turn, sentences(a.answer)
	t.Answer = firstStatement(all)
	if !t.Working {
		if t.Question = lastQuestion(all); t.Question != "" {
			t.Choices = choices(a.answer[max(len(a.answer)-choicesBytes, 0):]) + t.Question
		}
	}
	a.answer = ""
}

// choicesBytes is how many bytes at the end of an answer may list the choices.
const choicesBytes = 600

// choices returns the list lines of a text.
func choices(text string) (list string) {
	for l := range strings.Lines(strings.ToValidUTF8(text, "")) {
		if _, ok := listItem(strings.TrimSpace(l)); ok {
			list += strings.TrimSpace(l) + "\n"
		}
	}
	return list
}

// firstStatement returns the first meaningful sentence: not a heading, an exclamation
// or a mere announcement. The opening sentence of an answer counts even if it
// introduces a list.
func firstStatement(all []sentence) string {
	const least = 25 // bytes
	opens := true    // no heading or list precedes it
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

// lastQuestion returns the question at the end of an answer, followed by at most one
// sentence or the list of choices, or "" if there is none.
func lastQuestion(all []sentence) string {
	after := 0
	for _, u := range slices.Backward(all) {
		switch {
		case u.question && !u.heading:
			if containsEntry("offers", strings.ToLower(u.text)) {
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

// doesWork reports whether a call does more than read the output of background work.
func doesWork(c schema.ToolCall) bool {
	return c.Name != "Read" && c.Name != "TaskOutput" && c.Name != "BashOutput"
}

// isShellLine reports whether a prompt was for the shell rather than the agent: "!ls".
func isShellLine(text string) bool {
	return len(text) > 1 && text[0] == '!' && (text[1] >= 'a' && text[1] <= 'z' || strings.IndexByte("./~$", text[1]) >= 0) && !strings.Contains(text, "\n")
}

func endsInText(m *schema.Message) bool {
	return len(m.Blocks) > 0 && m.Blocks[len(m.Blocks)-1].Type == schema.TextBlock
}
