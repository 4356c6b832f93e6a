package resume

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/prompt"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

// A head is the part of a payload before the history: the command's text and the
// block. Its fields are formatted as they appear.
type head struct {
	command   string // with its arguments filled in; "" without a command
	reference string // if not "": replaces command, followed by args
	args      string
	typ       string
	title     string
	ago       string
	messages  int
	summary   string
	task      string // the user's first request; shown if there is no history
	last      string // the user's last message; likewise
	plan      plan
	since     string // changes since the last message, as part of the block
	detail    detail
	cut       []LeftOut // what was removed to shorten the head
	show      string    // the command line that shows the conversation
}

// longestField is the longest session field, in bytes, in the head. Longer fields are
// cut whatever the budget.
const longestField = 16 << 10

// newHead renders the head of s in full.
func newHead(s *schema.Session, h schema.History, o Options) head {
	hd := head{
		ago:      Ago(o.Now, lastActive(s, h.Messages)),
		messages: s.MessageCount,
		show:     commandLine(s, "show", ""),
	}
	field := func(text, what string) string {
		if len(text) > longestField {
			hd.cut = append(hd.cut, LeftOut{What: what, Tokens: estimate(text) - longestField/4, Show: hd.show})
		}
		return oneLine(cutField(text))
	}
	hd.typ = cmp.Or(field(s.ConversationType, theType), "chat")
	hd.title = cmp.Or(field(s.DisplayTitle(), theTitle), "untitled")
	hd.summary = field(s.ContextSummary, theSummary)
	hd.plan = newPlan(s.Plan)
	if text := prompt.Fill(o.Command.Body, arguments(s)); o.Command.Body != "" && strings.TrimSpace(text) != "" {
		hd.command = paragraph(text)
	}
	return hd
}

// cutField cuts a text to longestField.
func cutField(text string) string {
	if len(text) <= longestField {
		return text
	}
	return before(text, longestField) + "…"
}

// addRequests fills the head for a payload without history: the first request and the
// last words of the user, as far as the state or the messages have them.
func (hd *head) addRequests(st *notes.Notes, messages []schema.Message) {
	if st != nil {
		hd.task, hd.last = oneLine(cutField(st.Topic.Text)), oneLine(cutField(st.LastUser.Text))
	}
	for i := len(messages) - 1; i >= 0 && hd.last == ""; i-- {
		if m := &messages[i]; m.Role == schema.User && m.Sealed == "" {
			hd.last = oneLine(cutField(m.Content))
		}
	}
	if strings.Contains(hd.summary, hd.task) || hd.task == hd.last {
		hd.task = ""
	}
}

// arguments returns the arguments of the session's command. They are data outside the
// fence, so block markers in them are defused.
func arguments(s *schema.Session) string {
	return defuse(rawjson.Text(s.AgentConfig.Arguments))
}

// paragraph returns text as one paragraph of the payload: without surrounding empty lines
// and followed by one, which keeps its tokens apart from those of the block.
func paragraph(text string) string {
	return strings.TrimRight(strings.TrimLeft(rawjson.Text(text), "\n"), " \t\r\n") + "\n\n"
}

// commandText renders the command, or the reference that replaces it, as a paragraph.
func (hd *head) commandText() string {
	switch {
	case hd.reference == "":
		return hd.command
	case hd.args == "":
		return paragraph(hd.reference)
	}
	return paragraph(hd.reference + "\n\nARGUMENTS: " + hd.args)
}

// blockOpen and blockClose are the first and last lines of the block. [CutPayload]
// recognizes payloads by them, including those already in transcripts.
const (
	blockOpen  = "[RESUMED CONVERSATION]\nYou are continuing a previous conversation.\n\n"
	blockClose = "\n[END RESUMED CONTEXT]\n"
)

// text renders the head; left is what the history omits.
func (hd *head) text(left []LeftOut) string {
	summary := hd.summary
	if summary == "" {
		summary = "none yet"
	}
	var b strings.Builder
	b.WriteString(hd.commandText())
	b.WriteString(blockOpen)
	fmt.Fprintf(&b, "Conversation: %s / %s\n", hd.typ, hd.title)
	fmt.Fprintf(&b, "Last active: %s\n", hd.ago)
	fmt.Fprintf(&b, "Messages: %d exchanges\n", hd.messages)
	fmt.Fprintf(&b, "Summary: %s\n", summary)
	if strings.Trim(hd.task, "…") != "" {
		fmt.Fprintf(&b, "Task: %s\n", hd.task)
	}
	if strings.Trim(hd.last, "…") != "" {
		fmt.Fprintf(&b, "Last words of the user: %s\n", hd.last)
	}
	b.WriteString(hd.plan.text())
	left = append(left[:len(left):len(left)], hd.cut...)
	b.WriteString(leftOutText(left, hd.detail, hd.show))
	b.WriteString(hd.since)
	b.WriteString("\nPrevious context is loaded. The user expects you to continue where you left off.\n" +
		"Review the conversation history and pick up naturally." + blockClose)
	return b.String()
}

// parts describes the head; left is what the history omits.
func (hd *head) parts(left []LeftOut) []Part {
	var parts []Part
	if text := hd.commandText(); text != "" {
		parts = append(parts, Part{What: "command", Tokens: tokens.Count(text), Whole: hd.reference == "", Why: "the conversation began with it"})
	}
	block := *hd
	block.command, block.reference = "", ""
	whole := !slices.ContainsFunc(hd.cut, func(l LeftOut) bool { return l.What != theCommand })
	return append(parts, Part{What: "block", Tokens: tokens.Count(block.text(left)), Whole: whole, Why: "says what is resumed"})
}

// A detail is the level of detail about what was left out.
type detail int

const (
	perLine   detail = iota // one entry per line, with the command that shows it
	inOneLine               // all entries on one line
	totalOnly               // only the total
)

// leftOutText renders the part of the block about what was left out. show is the command
// line that shows the conversation.
func leftOutText(left []LeftOut, how detail, show string) string {
	if len(left) == 0 {
		return ""
	}
	var lines, words []string
	size := 0
	for _, l := range left {
		line, word := "- "+l.What, l.What
		if l.Count > 0 {
			line += fmt.Sprintf(": %d", l.Count)
			word = fmt.Sprintf("%d %s", l.Count, l.What)
		}
		lines = append(lines, line+aboutTokens(l.Tokens)+", see "+l.Show+"\n")
		words = append(words, word)
		size += l.Tokens
	}
	switch how {
	case perLine:
		return "Left out:\n" + strings.Join(lines, "")
	case inOneLine:
		return "Left out: " + strings.Join(words, ", ") + aboutTokens(size) + ", see " + show + "\n"
	}
	return "Left out: " + words[0] + " and more" + aboutTokens(size) + ", see " + show + "\n"
}

// aboutTokens formats an approximate number of tokens, if it is known.
func aboutTokens(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (about %d tokens)", n)
}

// A plan is the plan in the block: a status line, and one line per step unless all
// are done.
type plan struct {
	status string
	steps  []step
}

// A step is a line of a plan. Steps with the highest rank are dropped first.
type step struct {
	mark, text string
	rank       int
	done       bool
}

// newPlan renders p. The result is empty if p has no steps.
func newPlan(p *schema.Plan) plan {
	if p == nil || len(p.Steps) == 0 {
		return plan{}
	}
	n := len(p.Steps)
	var out plan
	done := 0
	current := -1
	if p.Current >= 0 && p.Current < n && p.Steps[p.Current].Status != "completed" {
		current = p.Current
	}
	for i, s := range p.Steps {
		st := step{mark: "[ ]", text: oneLine(cutField(s.Content)), rank: 1 + i}
		switch {
		case s.Status == "completed":
			st.mark, st.done = "[x]", true
			st.rank = 2*n + 1 - i // after all open steps, newest first
			done++
		case s.Status == "in_progress":
			st.mark = "[>]"
		}
		if i == current {
			st.rank = 0
		}
		out.steps = append(out.steps, st)
	}
	out.status = fmt.Sprintf("%d of %d steps done", done, n)
	if done == n {
		out.steps = nil
	}
	if current >= 0 {
		out.status += fmt.Sprintf(", step %d is current", current+1)
	}
	if p.Awaiting {
		out.status += ", waiting for the user"
	}
	return out
}

func (p plan) text() string {
	if p.status == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("Plan: " + p.status + "\n")
	for _, s := range p.steps {
		b.WriteString(s.line())
	}
	return b.String()
}

// line renders the step. Its tokens can be counted on their own: none spans the
// newline before or after it.
func (s step) line() string { return "- " + s.mark + " " + s.text + "\n" }
