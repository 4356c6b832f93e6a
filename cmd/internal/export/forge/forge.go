// Package forge renders a conversation as Markdown for code forges: pull requests, issues
// and repositories. Tool calls are folded, edits are shown as diffs.
// Messages are Markdown already. They cannot affect what follows them: open code blocks are
// closed, and HTML is shown as text.
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
	Root    string   // files below it are shown relative to it; empty: the folder that contains most of them
}

// Write renders a conversation.
func Write(to io.Writer, in *Input) error {
	if in.Root == "" {
		in.Root = call.Root(in.History.Tools)
	}
	w := writer{in: in, out: bufio.NewWriterSize(to, 1<<16), loose: in.History.LooseCalls()}
	w.head()
	for i := range in.History.Messages {
		w.message(&in.History.Messages[i])
	}
	for _, left := range in.LeftOut {
		w.printf("\n*Left out: %s.*\n", inline(left))
	}
	if n := in.History.Aside; n > 0 {
		w.printf("\n*Messages on other branches: %d, not shown.*\n", n)
	}
	return w.out.Flush()
}

type writer struct {
	in    *Input
	out   *bufio.Writer
	loose map[string][]string
	asked bool // the last message was a prompt
}

func (w *writer) raw(s string) { _, _ = w.out.WriteString(s) } // bufio keeps the error for Flush

func (w *writer) printf(format string, args ...any) { _, _ = fmt.Fprintf(w.out, format, args...) }

// head writes the title, facts, summary and plan of the conversation.
func (w *writer) head() {
	s := w.in.Session
	w.raw("# " + inline(s.DisplayTitle()) + "\n\n")
	about := []string{inline(s.ConversationType)}
	if at := s.CreatedAt.Time(); !at.IsZero() {
		about = append(about, at.UTC().Format("2 January 2006"))
	}
	for _, fact := range []string{s.AgentConfig.Agent, s.AgentConfig.Model} {
		if fact != "" {
			about = append(about, inline(fact))
		}
	}
	about = append(about, strconv.Itoa(len(w.in.History.Messages))+" messages")
	w.raw(strings.Join(about, " · ") + "\n")
	if s.ContextSummary != "" {
		w.raw("\n**Summary**\n\n" + contain(s.ContextSummary))
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
				w.raw(" *(in progress)*")
			}
			w.raw("\n")
		}
	}
	if s.Notes != "" {
		w.raw("\n**Notes**\n\n" + contain(s.Notes))
	}
}

// message writes a message. User prompts get a heading.
func (w *writer) message(m *schema.Message) {
	switch m.Role {
	case schema.User:
		w.printf("\n---\n\n### #%d User%s\n", m.Number, clock(m))
		w.asked = true
	case schema.System:
		w.details("<i>#"+strconv.Itoa(m.Number)+" "+text(line(m.Content))+"</i>", func() { w.fenced(m.Content, "text") })
		return
	case schema.Assistant:
		if w.asked { // the first answer to a prompt
			w.asked = false
			w.printf("\n#### #%d %s%s\n", m.Number, inline(cmp.Or(w.in.Session.AgentConfig.Agent, "Agent")), clock(m))
		}
	}
	if m.Reasoning != "" {
		w.details("<i>Reasoning: "+text(line(m.Reasoning))+"</i>", func() { w.raw("\n" + contain(m.Reasoning)) })
	}
	for _, p := range m.Parts(w.loose[m.ID]) {
		switch {
		case p.Attachment != nil:
			name := p.Attachment.Name
			if name == "" {
				name = p.Attachment.MediaType
			}
			w.printf("\n*Attached: %s, %d bytes*\n", inline(name), p.Attachment.Bytes)
		case p.Call != "":
			w.call(p.Call, p.Name)
		case strings.TrimSpace(p.Text) != "":
			w.raw("\n" + contain(p.Text))
		}
	}
}

func clock(m *schema.Message) string {
	if at := m.Timestamp.Time(); !at.IsZero() {
		return ", " + at.UTC().Format("15:04")
	}
	return ""
}

// details writes a folded part.
func (w *writer) details(summary string, body func()) {
	w.raw("\n<details><summary>" + summary + "</summary>\n")
	body()
	w.raw("\n</details>\n")
}

// call writes a tool call: the call and its outcome on one line, the rest folded.
func (w *writer) call(id, name string) {
	t, ok := w.in.History.Tools[id]
	if !ok {
		w.printf("\n○ **%s** *not in the log*\n", inline(name))
		return
	}
	c := call.Describe(&t, w.in.Root)
	mark := "○"
	switch c.Result {
	case call.Done:
		mark = "✓"
	case call.Failed:
		mark = "✗"
	}
	w.details(fmt.Sprintf("%s <b>%s</b> <code>%s</code> %s", mark, text(c.Name), text(line(c.Argument)), text(c.Outcome)), func() { w.body(&c) })
}

func (w *writer) body(c *call.Call) {
	if c.Command != "" {
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
			b.WriteString("@@\n")
		}
		for _, l := range h {
			b.WriteByte(l.Op)
			b.WriteString(l.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// extension returns a file's extension if it can name a language.
func extension(file string) string {
	at := strings.LastIndexByte(file, '.')
	ending := file[at+1:]
	if at < 0 || len(ending) > 12 || strings.ContainsFunc(ending, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return "text"
	}
	return ending
}

// mostShown is the number of bytes that are shown of a text.
const mostShown = 12 << 10

// fenced writes a text unchanged in a code block that the text cannot close. It cuts a long
// text in the middle.
func (w *writer) fenced(text, language string) {
	text = shown.Clean(text)
	if len(text) > mostShown {
		tail := text[len(text)-mostShown/3:]
		if at := strings.IndexByte(tail, '\n'); at >= 0 {
			tail = tail[at+1:]
		}
		head := clip.Head(text, mostShown*2/3)
		text = fmt.Sprintf("%s\n… %d bytes left out …\n%s", strings.TrimRight(head, "\n"), len(text)-len(head)-len(tail), strings.ToValidUTF8(tail, ""))
	}
	fence := fenceFor(text)
	w.raw("\n" + fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n")
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
