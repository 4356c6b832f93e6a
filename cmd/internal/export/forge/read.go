package forge

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/export/portable"
	"cortext/schema"
)

// Parts of our lines.
const (
	attached   = "*Attached: "
	ended      = "*Ended: "
	missing    = "○ **"
	notInLog   = "** *not in the log*"
	leftOut    = "*Left out: "
	onBranches = "*Messages on other branches: "
	inProgress = " *(in progress)*"
	nextHunk   = "@@"
	foldEnd    = "</details>"
	end        = "*Exported by cortext.*"

	done, failed, none = "✓", "✗", "○" // how a call ended
)

// timePattern matches the date and time of a message. A date that is the one before it is left out.
const timePattern = `(?:, (\d{1,2} [A-Z][a-z]+ \d{4}))?(?:, (\d\d:\d\d))?`

// lacks says what Markdown does not carry.
const lacks = "Markdown carries no ids, seconds, token counts, tags, sub-agents, agents but the last, or content of attachments"

// Is reports whether a file that starts with head may be Markdown. [Read] says whether it is
// ours.
func Is(head []byte) bool {
	return strings.HasPrefix(strings.TrimPrefix(string(head[:min(len(head), 16)]), byteOrderMark), "# ")
}

// byteOrderMark is what some editors put before a text.
const byteOrderMark = "\uFEFF"

// maxLines bounds what Read splits: a line takes at least 16 bytes of memory.
const maxLines = 16 << 20

// Read reads the Markdown that [Write] wrote, and somebody may have edited since. The error
// is a [*portable.FormatError].
func Read(text string) (*portable.Conversation, error) {
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), byteOrderMark)
	if n := strings.Count(text, "\n"); n > maxLines {
		return nil, &portable.FormatError{Why: fmt.Sprintf("has %d lines, more than %d", n, maxLines)}
	}
	r := reader{lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), c: &portable.Conversation{Lacks: lacks}}
	if err := r.head(); err != nil {
		return nil, err
	}
	for !r.ended {
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	for i, l := range r.lines[r.at:] {
		if !isBlank(l) {
			return nil, damaged("line %d follows the end of the export", r.at+i+1)
		}
	}
	r.endMessage()
	if n := len(r.c.Messages); n != r.expected {
		r.c.Warnings = append(r.c.Warnings, fmt.Sprintf("it says that it has %d messages, and has %d", r.expected, n))
	}
	if r.cut > 0 {
		r.c.Warnings = append(r.c.Warnings, fmt.Sprintf("texts that the export cut in the middle: %d", r.cut))
	}
	return r.c, nil
}

// A reader reads one text.
type reader struct {
	lines    []string
	at       int // index of the next line
	c        *portable.Conversation
	day      string // the date of the last message
	expected int    // number of messages, by the head
	cut      int    // number of texts that were cut
	ended    bool

	message *schema.Message // the current one, nil before the first
	texts   []string        // of its blocks
}

func damaged(format string, args ...any) error {
	return &portable.FormatError{Why: "is damaged: " + fmt.Sprintf(format, args...)}
}

// line returns the next line without spaces at its end, and whether there is one.
func (r *reader) line() (string, bool) {
	if r.at >= len(r.lines) {
		return "", false
	}
	return strings.TrimRight(r.lines[r.at], " \t"), true
}

// head reads what is before the messages.
func (r *reader) head() error {
	var about []string
	if len(r.lines) > 2 {
		about = patterns().aboutLine.FindStringSubmatch(strings.TrimRight(r.lines[2], " \t"))
	}
	title, ok := strings.CutPrefix(r.lines[0], "# ")
	if !ok || about == nil || strings.TrimSpace(r.lines[1]) != "" {
		return &portable.FormatError{Foreign: true, Why: "is not Markdown that cortext export wrote: cortext imports transcripts of agents, and what cortext export writes"}
	}
	s := &schema.Session{Version: schema.Version, Title: unescape(strings.TrimSpace(title))}
	r.c.Session = s
	facts := strings.Split(about[1], " · ")
	s.ConversationType, facts = unescape(facts[0]), facts[1:]
	if len(facts) > 0 && patterns().dayPattern.MatchString(facts[0]) {
		r.day, facts = facts[0], facts[1:]
	}
	switch {
	case len(facts) > 1:
		s.AgentConfig.Agent, s.AgentConfig.Model = unescape(facts[0]), unescape(strings.Join(facts[1:], " · "))
	case len(facts) == 1:
		s.AgentConfig.Agent = unescape(facts[0])
	}
	r.expected, _ = strconv.Atoi(about[2])
	for r.at = 3; ; {
		l, ok := r.line()
		m := patterns().headingLine.FindStringSubmatch(l)
		switch {
		case !ok || m == nil && l != "" && l != "---":
			return nil
		case m == nil:
			r.at++
			continue
		}
		r.at++
		if m[1] == "Plan" {
			s.Plan = r.plan()
			continue
		}
		text, err := r.text(inHead)
		if err != nil {
			return err
		}
		if m[1] == "Notes" {
			s.Notes = text
		} else {
			s.ContextSummary = text
		}
	}
}

// plan reads the steps of the plan.
func (r *reader) plan() *schema.Plan {
	p := &schema.Plan{}
	for ; ; r.at++ {
		l, ok := r.line()
		m := patterns().planLine.FindStringSubmatch(l)
		switch {
		case !ok || m == nil && l != "":
			if p.Current = slices.IndexFunc(p.Steps, func(s schema.Step) bool { return s.Status == "in_progress" }); p.Current < 0 {
				p.Current = max(0, slices.IndexFunc(p.Steps, func(s schema.Step) bool { return s.Status != "completed" }))
			}
			return p
		case m == nil:
			continue
		}
		step := schema.Step{Status: "pending"}
		content, now := strings.CutSuffix(m[2], inProgress)
		switch {
		case m[1] == "x":
			step.Status = "completed"
		case now:
			step.Status = "in_progress"
		}
		step.Content = unescape(content)
		p.Steps = append(p.Steps, step)
	}
}

// isOurs reports whether a line is one of ours.
func isOurs(l string, in place) bool {
	l = strings.TrimRight(l, " \t")
	switch {
	case l == "":
		return false
	case l[0] == '<':
		return l == foldEnd || patterns().markLine.MatchString(l) || patterns().foldLine.MatchString(l)
	case !in.ours().MatchString(l) || l[0] == '\\':
		return false
	}
	return l == end || patterns().userLine.MatchString(l) || patterns().answerLine.MatchString(l) || patterns().attachedLine.MatchString(l) || patterns().endedLine.MatchString(l) || patterns().missingLine.MatchString(l) ||
		patterns().leftOutLine.MatchString(l) || patterns().branchesLine.MatchString(l) || in == inHead && patterns().headingLine.MatchString(l)
}

// text reads a text up to the next of our lines.
func (r *reader) text(in place) (string, error) {
	from, fence, fenceAt := r.at, "", 0
	for ; r.at < len(r.lines); r.at++ {
		l := r.lines[r.at]
		switch {
		case fence != "":
			if ends(l, fence) {
				fence = ""
			}
			continue
		case isOurs(l, in):
			return release(unpadded(r.lines[from:r.at], patterns().userLine.MatchString(strings.TrimRight(l, " \t"))), in), nil
		}
		if fence = fenceIn(l); fence != "" {
			fenceAt = r.at + 1
		}
	}
	if fence != "" {
		return "", damaged("the code block that begins in line %d has no end", fenceAt)
	}
	return "", r.truncated()
}

func (r *reader) truncated() error {
	return damaged("it is truncated: its last line is not %q: add that if nothing else is missing, or export the conversation again", end)
}

// unpadded strips the lines that separate a text from ours: blank ones, and a rule before a
// prompt.
func unpadded(lines []string, beforePrompt bool) []string {
	blank := func(i int) bool { return strings.TrimSpace(lines[i]) == "" }
	if n := len(lines); beforePrompt && n >= 2 && lines[n-2] == "---" && blank(n-1) {
		lines = lines[:n-2]
	}
	if n := len(lines); n > 0 && blank(n-1) {
		lines = lines[:n-1]
	}
	if len(lines) > 0 && blank(0) {
		lines = lines[1:]
	}
	return lines
}

// next reads one of our lines with what belongs to it, or a text.
func (r *reader) next() error {
	l, ok := r.line()
	if !ok {
		return r.truncated()
	}
	if !isOurs(l, inMessage) {
		text, err := r.text(inMessage)
		if err != nil || strings.TrimSpace(text) == "" {
			return err
		}
		return r.said(text)
	}
	r.at++
	if m := patterns().userLine.FindStringSubmatch(l); m != nil {
		r.begin(schema.User, m[1], m[2])
		return nil
	}
	for _, p := range []*regexp.Regexp{patterns().answerLine, patterns().markLine} {
		if m := p.FindStringSubmatch(l); m != nil {
			r.begin(schema.Assistant, m[1], m[2])
			return nil
		}
	}
	if m := patterns().foldLine.FindStringSubmatch(l); m != nil {
		if m[1] != "" {
			r.begin(schema.Assistant, m[2], m[3])
		}
		return r.fold(m[4])
	}
	if m := patterns().attachedLine.FindStringSubmatch(l); m != nil {
		return r.attachment(m[1], m[2])
	}
	if m := patterns().endedLine.FindStringSubmatch(l); m != nil {
		return r.ending(unescape(m[1]))
	}
	if m := patterns().missingLine.FindStringSubmatch(l); m != nil {
		_, err := r.call(unescape(m[1]))
		return err
	}
	if m := patterns().leftOutLine.FindStringSubmatch(l); m != nil {
		r.c.LeftOut = append(r.c.LeftOut, unescape(m[1]))
		return nil
	}
	if m := patterns().branchesLine.FindStringSubmatch(l); m != nil {
		r.c.LeftOut = append(r.c.LeftOut, "messages on other branches: "+m[1])
		return nil
	}
	if l == end {
		r.ended = true
		return nil
	}
	return damaged("line %d ends a folded part that has no beginning", r.at)
}

// begin begins a message.
func (r *reader) begin(role schema.Role, day, clock string) {
	r.endMessage()
	n := len(r.c.Messages) + 1
	m := &schema.Message{ID: "message-" + strconv.Itoa(n), Role: role}
	if n > 1 {
		m.ParentID = r.c.Messages[n-2].ID
	}
	if day != "" {
		r.day = day
	}
	if at, err := time.Parse(dayLayout+" "+clockLayout, r.day+" "+clock); err == nil {
		m.Timestamp = schema.NewTime(at)
	}
	r.message, r.texts = m, nil
}

// endMessage adds the current message to the conversation.
func (r *reader) endMessage() {
	m := r.message
	if m == nil {
		return
	}
	m.Content = strings.Join(r.texts, schema.TextJoint)
	if len(m.Blocks) < 2 {
		m.Blocks = nil
	}
	r.c.Messages = append(r.c.Messages, *m)
	r.message = nil
}

// current returns the current message.
func (r *reader) current() (*schema.Message, error) {
	if r.message == nil {
		return nil, damaged("line %d belongs to no message", r.at)
	}
	return r.message, nil
}

func (r *reader) said(text string) error {
	m, err := r.current()
	if err != nil {
		return err
	}
	m.Blocks = append(m.Blocks, schema.Block{Type: schema.TextBlock, Bytes: len(text)})
	r.texts = append(r.texts, text)
	return nil
}

func (r *reader) attachment(name, bytes string) error {
	m, err := r.current()
	if err != nil {
		return err
	}
	size, _ := strconv.ParseInt(bytes, 10, 64)
	m.Blocks = append(m.Blocks, schema.Block{Type: schema.AttachmentBlock, Index: len(m.Attachments)})
	m.Attachments = append(m.Attachments, schema.Attachment{Name: unescape(name), Bytes: size})
	return nil
}

// ending reads why the current message breaks off or has no text.
func (r *reader) ending(why string) error {
	m, err := r.current()
	if err != nil {
		return err
	}
	m.FinishReason = strings.TrimPrefix(strings.TrimPrefix(why, "no text"), ": ")
	return nil
}

// call adds a call to the current message and returns its id.
func (r *reader) call(name string) (id string, err error) {
	m, err := r.current()
	if err != nil {
		return "", err
	}
	id = fmt.Sprintf("%s-call-%d", m.ID, len(m.ToolCalls)+1)
	m.Blocks = append(m.Blocks, schema.Block{Type: schema.ToolCallBlock, ID: id})
	m.ToolCalls = append(m.ToolCalls, schema.ToolCall{ID: id, Name: name})
	return id, nil
}
