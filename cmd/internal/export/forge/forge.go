// Package forge renders a conversation as Markdown for code forges: pull requests, issues
// and repositories. Tool calls are folded, edits are shown as diffs. It also reads such
// Markdown back: what a reader sees in it, and nothing else.
//
// Messages are Markdown already. Open code blocks are closed, HTML is shown as text, and a
// backslash precedes a line that looks like one of ours, so that a message ends where it ends.
// The definition of a link or a footnote, which would count in the whole text, is shown as
// typed.
package forge

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"cortext/cmd/internal/export/call"
	"cortext/cmd/internal/shown"
	"cortext/schema"
	"cortext/schema/clip"
)

// An Input is the content to render.
type Input struct {
	Session *schema.Session
	History schema.History
	LeftOut []string // descriptions of what is missing, a few words each
}

// Write renders a conversation.
func Write(to io.Writer, in *Input) error {
	w := writer{in: in, out: bufio.NewWriterSize(to, 1<<16), loose: in.History.LooseCalls(), root: call.Root(in.History.Tools), asked: true}
	w.head()
	for i := range in.History.Messages {
		w.message(&in.History.Messages[i])
	}
	for _, left := range in.LeftOut {
		w.printf("\n"+leftOut+"%s.*\n", inline(left))
	}
	if n := in.History.Aside; n > 0 {
		w.printf("\n"+onBranches+"%d, not shown.*\n", n)
	}
	w.raw("\n" + end + "\n")
	return w.out.Flush()
}

type writer struct {
	in    *Input
	out   *bufio.Writer
	loose map[string][]string
	root  string // files below it are shown relative to it
	asked bool   // no answer has followed the last prompt
	day   string // the date shown last
	mark  string // number and time of the current message, until they are written
}

func (w *writer) raw(s string) { _, _ = w.out.WriteString(s) } // bufio keeps the error for Flush

func (w *writer) printf(format string, args ...any) { _, _ = fmt.Fprintf(w.out, format, args...) }

// head writes the title, facts, summary and plan of the conversation.
func (w *writer) head() {
	s := w.in.Session
	w.raw("# " + inline(s.DisplayTitle()) + "\n\n")
	about := []string{inline(s.ConversationType)}
	if at := s.CreatedAt.Time(); !at.IsZero() {
		w.day = at.UTC().Format(dayLayout)
		about = append(about, w.day)
	}
	for _, fact := range []string{s.LastAgent(), s.AgentConfig.Model} {
		if fact != "" {
			about = append(about, inline(fact))
		}
	}
	about = append(about, strconv.Itoa(len(w.in.History.Messages))+" messages")
	w.raw(strings.Join(about, " · ") + "\n")
	if strings.TrimSpace(shown.Clean(s.ContextSummary)) != "" {
		w.raw("\n**Summary**\n\n" + contain(s.ContextSummary, inHead))
	}
	if s.Plan != nil && len(s.Plan.Steps) > 0 {
		w.raw("\n**Plan**\n\n")
		for _, step := range s.Plan.Steps {
			box := " "
			if step.Status == "completed" {
				box = "x"
			}
			w.printf("- [%s] %s", box, inline(step.Content))
			if step.Status == "in_progress" {
				w.raw(inProgress)
			}
			w.raw("\n")
		}
	}
	if strings.TrimSpace(shown.Clean(s.Notes)) != "" {
		w.raw("\n**Notes**\n\n" + contain(s.Notes, inHead))
	}
}

// message writes a message. A prompt and the first answer to it get a heading. Any other
// message begins with a small line, or with a folded part that has its number and time.
func (w *writer) message(m *schema.Message) {
	number := "#" + strconv.Itoa(m.Number)
	switch {
	case m.Role == schema.User:
		w.printf("\n---\n\n### %s User%s\n", number, w.clock(m))
		w.asked = true
	case m.Role == schema.Assistant && w.asked:
		w.asked = false
		w.printf("\n#### %s %s%s\n", number, inline(cmp.Or(w.in.Session.AgentOf(m.Source), w.in.Session.AgentConfig.Agent, "Agent")), w.clock(m))
	default:
		w.mark = "<sub>" + number + w.clock(m) + "</sub>"
	}
	if m.Role == schema.System {
		w.details("<i>System: "+text(line(m.Content))+"</i>", func() { w.fenced(m.Content, "text") })
		return
	}
	if strings.TrimSpace(shown.Clean(m.Reasoning)) != "" {
		w.details("<i>Reasoning: "+text(line(m.Reasoning))+"</i>", func() { w.raw("\n" + contain(m.Reasoning, inMessage)) })
	}
	parts := m.Parts(w.loose[m.ID])
	for i := 0; i < len(parts); i++ {
		switch p := parts[i]; {
		case p.Attachment != nil:
			name := p.Attachment.Name
			if name == "" {
				name = p.Attachment.MediaType
			}
			w.begin()
			w.printf("\n"+attached+"%s, %d bytes*\n", inline(name), p.Attachment.Bytes)
		case p.Call != "":
			w.call(p.Call, p.Name)
		default:
			said := p.Text
			for i+1 < len(parts) && parts[i+1].Attachment == nil && parts[i+1].Call == "" {
				i++
				said += schema.TextJoint + parts[i].Text
			}
			if strings.TrimSpace(shown.Clean(said)) != "" {
				w.begin()
				w.raw("\n" + contain(said, inMessage))
			}
		}
	}
	w.begin()
	seen := *m
	seen.Content = strings.TrimSpace(shown.Clean(m.Content))
	if ending := seen.Ending(); ending != "" {
		w.printf("\n"+ended+"%s*\n", inline(ending))
	}
}

// begin writes the number and time of the current message on a line, unless they are written.
func (w *writer) begin() {
	if w.mark != "" {
		w.raw("\n" + w.mark + "\n")
		w.mark = ""
	}
}

// dayLayout and clockLayout are how dates and times are written, in UTC.
const (
	dayLayout   = "2 January 2006"
	clockLayout = "15:04"
)

// clock returns the time of a message, with the date if it is not the one shown last.
func (w *writer) clock(m *schema.Message) string {
	at := m.Timestamp.Time().UTC()
	if at.IsZero() {
		return ""
	}
	clock := ", " + at.Format(clockLayout)
	if day := at.Format(dayLayout); day != w.day {
		w.day = day
		clock = ", " + day + clock
	}
	return clock
}

// details writes a folded part.
func (w *writer) details(summary string, body func()) {
	if w.mark != "" {
		summary = w.mark + " " + summary
		w.mark = ""
	}
	w.raw("\n<details><summary>" + summary + "</summary>\n")
	body()
	w.raw("\n</details>\n")
}

// call writes a tool call: the call and its outcome on one line, the rest folded.
func (w *writer) call(id, name string) {
	t, ok := w.in.History.Tools[id]
	if !ok {
		w.begin()
		w.printf("\n"+missing+"%s"+notInLog+"\n", inline(name))
		return
	}
	t.Output = shown.Clean(t.Output) // its lines are counted as they are shown
	c := call.Describe(&t, w.root)
	mark := none
	switch c.Result {
	case call.Done:
		mark = done
	case call.Failed:
		mark = failed
	}
	argument := line(c.Argument)
	if c.Argument == c.File {
		argument = start(c.File, call.MostPath) // import needs all of it
	}
	w.details(fmt.Sprintf("%s <b>%s</b> <code>%s</code> %s", mark, text(line(c.Name)), text(argument), text(line(c.Outcome))), func() { w.body(&c) })
}

func (w *writer) body(c *call.Call) {
	if strings.TrimSpace(c.Command) != "" {
		w.fenced(c.Command, "sh")
	}
	switch {
	case c.Diff != nil:
		w.fenced(diffText(c), "diff")
	case c.Written != "":
		w.fenced(c.Written, extension(c.File))
	case c.Patch != "":
		w.fenced(c.Patch, "diff")
	case c.Input != "":
		w.fenced(c.Input, "json")
	}
	if strings.TrimSpace(c.Output) != "" {
		w.fenced(c.Output, "text")
	}
}

func diffText(c *call.Call) string {
	var b strings.Builder
	for i, h := range c.Diff {
		if i > 0 {
			b.WriteString(nextHunk + "\n")
		}
		for _, l := range h {
			b.WriteByte(l.Op)
			b.WriteString(strings.ReplaceAll(shown.Clean(l.Text), "\n", " "))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// extension returns a file's extension if it can name a language. The name text is for
// outputs.
func extension(file string) string {
	at := strings.LastIndexByte(file, '.')
	ending := file[at+1:]
	if at < 0 || len(ending) > 12 || strings.ContainsFunc(ending, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) || ending == "text" {
		return "txt"
	}
	return ending
}

// mostShown is the maximum number of bytes of a text that are shown.
const mostShown = 12 << 10

// cutSlack exceeds the length of the line that replaces what is left out, so that a text that was
// cut and imported is not cut again.
const cutSlack = 200

// fenced writes a text unchanged in a code block that the text cannot close. It cuts a long
// text in the middle.
func (w *writer) fenced(text, language string) {
	text = shown.Clean(text)
	if len(text) > mostShown+cutSlack {
		tail := text[len(text)-mostShown/3:]
		if at := strings.IndexByte(tail, '\n'); at >= 0 {
			tail = tail[at+1:]
		}
		head := clip.Head(text, mostShown*2/3)
		text = fmt.Sprintf("%s\n… %d bytes left out …\n%s", strings.TrimRight(head, "\n"), len(text)-len(head)-len(tail), strings.ToValidUTF8(tail, ""))
	}
	fence := fenceFor(text)
	w.raw("\n" + fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n")
}

// fenceFor returns a fence longer than any in a text.
func fenceFor(text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		if run++; run > longest {
			longest = run
		}
	}
	return strings.Repeat("`", longest+1)
}
