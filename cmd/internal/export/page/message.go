package page

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/export/call"
	"cortext/cmd/internal/export/highlight"
	"cortext/cmd/internal/shown"
	"cortext/schema"
)

// turn writes a turn as a section.
func (w *writer) turn(t *turn) {
	n, element := strconv.Itoa(t.number), "section"
	if w.prefix != "" {
		element = "div" // not a landmark within a sub-agent
	}
	w.raw("<" + element + " class=\"turn\" id=\"" + w.prefix + "p" + n + "\"")
	if w.prefix == "" {
		w.raw(" aria-label=\"Prompt " + n + "\"")
	}
	w.raw(">\n")
	for _, m := range t.messages {
		switch m.Role {
		case schema.User:
			w.ask(m, t)
		case schema.System:
			w.event(m)
		default:
			w.answer(m)
		}
	}
	w.endCalls()
	w.raw("</" + element + ">\n")
}

// open starts the element of a message. The message's number links to the message.
func (w *writer) open(m *schema.Message, class string) {
	w.endCalls()
	n := strconv.Itoa(m.Number)
	w.raw("<div class=\"" + class + "\" id=\"" + w.prefix + "m" + n + "\"><a class=\"no\" href=\"#" + w.prefix + "m" + n + "\" aria-label=\"Message " + n + "\">#" + n + "</a>")
}

// ask writes a user prompt.
func (w *writer) ask(m *schema.Message, t *turn) {
	w.open(m, "ask")
	w.raw("<h2 class=\"hide\">The user said</h2>")
	w.parts(m)
	w.endCalls()
	facts := t.facts()
	if len(facts) > 0 || t.failed > 0 || t.added+t.removed > 0 {
		w.raw("<p class=\"soft\">")
		w.text(strings.Join(facts, " · "))
		if t.failed > 0 {
			w.raw(" · <span class=\"bad\">" + strconv.Itoa(t.failed) + " failed</span>")
		}
		if t.added+t.removed > 0 {
			w.raw(" · " + call.Changed(t.added, t.removed))
		}
		w.raw("</p>")
	}
	w.raw("</div>\n")
}

// event writes a message that is neither the user's nor the agent's.
func (w *writer) event(m *schema.Message) {
	w.open(m, "event")
	w.raw("<details class=\"fold\"><summary>")
	w.text(firstLine(shown.Clean(m.Content)))
	w.raw("</summary>")
	w.pre(shown.Clean(m.Content), "")
	w.raw("</details></div>\n")
}

// answer writes an agent's message with its calls.
func (w *writer) answer(m *schema.Message) {
	if m.Content == "" && m.Reasoning == "" && len(m.Attachments) == 0 {
		w.anchored(m)
		return
	}
	w.open(m, "answer")
	if m.Reasoning != "" {
		w.raw("<details class=\"fold reasoning\"><summary>")
		w.text(firstLine(shown.Clean(m.Reasoning)))
		w.raw("</summary><div class=\"md\">")
		w.markdown(m.Reasoning)
		w.raw("</div></details>")
	}
	w.within = true
	w.parts(m)
	w.endMessage()
}

// anchored writes a message that has only calls. They join the preceding calls.
func (w *writer) anchored(m *schema.Message) {
	ids := append(idsOf(m), w.loose[m.ID]...)
	if len(ids) == 0 {
		return
	}
	for i, id := range ids {
		anchor := 0
		if i == 0 {
			anchor = m.Number
		}
		w.step(id, nameIn(m, id), m, anchor)
	}
}

func nameIn(m *schema.Message, id string) string {
	for _, c := range m.ToolCalls {
		if c.ID == id {
			return c.Name
		}
	}
	return ""
}

// parts writes the texts, calls and attachments of a message in order.
func (w *writer) parts(m *schema.Message) {
	for _, p := range m.Parts(w.loose[m.ID]) {
		switch {
		case p.Attachment != nil:
			w.endCalls()
			w.attachment(p.Attachment)
		case p.Call != "":
			w.step(p.Call, p.Name, m, 0)
		case strings.TrimSpace(p.Text) != "":
			w.endCalls()
			if m.Role == schema.Assistant && !w.within { // text that follows calls
				w.raw("<div class=\"answer\">")
				w.within = true
			}
			w.raw("<div class=\"md\">")
			w.markdown(p.Text)
			w.raw("</div>")
		}
	}
}

// endMessage ends the element of an answer. The calls that follow are outside it, so that
// they share a card with the calls of the next message.
func (w *writer) endMessage() {
	if w.within {
		w.raw("</div>\n")
		w.within = false
	}
}

func (w *writer) endCalls() {
	if w.joined {
		w.raw("</div>\n")
		w.joined = false
	}
}

// step writes a call as a line that unfolds. Consecutive calls share a card. anchor is the
// number of the message that starts with the call, or 0.
func (w *writer) step(id, name string, m *schema.Message, anchor int) {
	w.endMessage()
	if !w.joined {
		w.raw("<div class=\"card calls\">\n")
		w.joined = true
	}
	c, ok := w.call(id)
	if !ok {
		c = &call.Call{Name: name, Outcome: "not in the log"}
	}
	class, mark, said := "call", "✓", "done"
	switch c.Result {
	case call.Failed:
		class, mark, said = "call failed", "✗", "failed"
	case call.None:
		class, mark, said = "call none", "○", "no result"
	}
	w.raw("<details class=\"" + class + "\"")
	if anchor > 0 {
		w.raw(" id=\"" + w.prefix + "m" + strconv.Itoa(anchor) + "\"")
	}
	w.raw("><summary><span class=\"mark\" aria-hidden=\"true\">" + mark + "</span><span class=\"hide\">" + said + ": </span><b>")
	w.text(shown.Clean(c.Name))
	w.raw("</b> <code class=\"arg\">")
	w.text(shown.Clean(c.Argument))
	w.raw("</code> <span class=\"out\">")
	w.text(shown.Clean(c.Outcome))
	w.raw("</span></summary>\n<div class=\"body\">")
	w.body(c, ok)
	w.attachments(id)
	w.raw("<p class=\"soft\"><a href=\"#" + w.prefix + "m" + strconv.Itoa(m.Number) + "\">#" + strconv.Itoa(m.Number) + "</a>")
	if took := w.took(id); took != "" {
		w.raw(" · " + took)
	}
	w.raw("</p></div></details>\n")
	for _, sub := range w.subagents[id] {
		w.subagent(sub)
	}
}

func (w *writer) took(id string) string {
	t := w.in.History.Tools[id]
	if t.DurationMS < 1000 {
		if t.DurationMS > 0 {
			return strconv.FormatInt(t.DurationMS, 10) + " ms"
		}
		return ""
	}
	return lasting(time.Duration(t.DurationMS) * time.Millisecond)
}

func (w *writer) attachments(id string) {
	t := w.in.History.Tools[id]
	for i := range t.Attachments {
		w.attachment(&t.Attachments[i])
	}
}

// body writes the details of a call.
func (w *writer) body(c *call.Call, known bool) {
	if !known {
		return
	}
	if c.Command != "" {
		w.pre(c.Command, "sh")
	}
	switch {
	case c.Diff != nil:
		w.diff(c)
	case c.Written != "":
		w.pre(c.Written, c.File)
	case c.Patch != "":
		w.pre(c.Patch, "diff")
	case c.Input != "":
		w.pre(c.Input, "json")
	}
	if strings.TrimSpace(c.Output) != "" {
		w.pre(c.Output, "")
	}
}

// pre writes a text unchanged, coloured by the name of a language or file. It cuts a long
// text in the middle.
func (w *writer) pre(text, name string) {
	head, tail, left := shorten(shown.Clean(text))
	w.raw("<pre tabindex=\"0\"><code>")
	w.buf = AppendCode(w.buf[:0], head, name)
	_, _ = w.out.Write(w.buf)
	if left > 0 {
		w.raw("</code></pre><p class=\"soft\">… " + size(left) + " left out …</p><pre tabindex=\"0\"><code>")
		w.buf = AppendCode(w.buf[:0], tail, name)
		_, _ = w.out.Write(w.buf)
	}
	w.raw("</code></pre>")
}

// mostLines is the number of lines that are shown of a diff.
const mostLines = 800

// diff writes the diff of an edit, with the old and the new text coloured as code.
func (w *writer) diff(c *call.Call) {
	var old, changed []string
	for _, h := range c.Diff {
		for _, l := range h {
			if l.Op != '+' {
				old = append(old, l.Text)
			}
			if l.Op != '-' {
				changed = append(changed, l.Text)
			}
		}
	}
	before, after := codeLines(old, c.File), codeLines(changed, c.File)
	w.raw("<pre class=\"diff\" tabindex=\"0\"><code>")
	shown := 0
	for i, h := range c.Diff {
		if i > 0 {
			w.raw("<span class=\"gap\">⋯</span>")
		}
		for _, l := range h {
			var code []byte
			if l.Op != '+' {
				code, before = next(before)
			}
			if l.Op != '-' {
				code, after = next(after)
			}
			if shown++; shown > mostLines {
				continue
			}
			switch l.Op {
			case '+':
				w.raw("<span class=\"add\">+ ")
			case '-':
				w.raw("<span class=\"del\">- ")
			default:
				w.raw("<span>  ")
			}
			_, _ = w.out.Write(code)
			w.raw("\n</span>")
		}
	}
	w.raw("</code></pre>")
	if shown > mostLines {
		w.raw("<p class=\"soft\">… " + count(shown-mostLines, "line") + " left out</p>")
	}
}

func next(lines [][]byte) ([]byte, [][]byte) {
	if len(lines) == 0 {
		return nil, nil
	}
	return lines[0], lines[1:]
}

// codeLines returns lines of code as HTML. It reads them as one text, because comments and
// strings may span lines.
func codeLines(lines []string, file string) (list [][]byte) {
	for i := range lines {
		lines[i] = strings.ReplaceAll(shown.Clean(lines[i]), "\n", " ")
	}
	text := strings.Join(lines, "\n")
	l, ok := highlight.Language(file)
	if !ok || len(text) > mostCode {
		for _, l := range lines {
			list = append(list, AppendText(nil, l))
		}
		return list
	}
	for _, parts := range l.Lines(text) {
		var b []byte
		for _, p := range parts {
			b = appendPart(b, p)
		}
		list = append(list, b)
	}
	return list
}

// pictures lists the image types that a page shows. SVG is not one of them, because it may contain scripts.
func pictures() []string {
	return []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
}

// mostPicture is the size of the largest image that a page includes, in bytes.
const mostPicture = 8 << 20

// attachment writes an image, or the name of another attachment.
func (w *writer) attachment(a *schema.Attachment) {
	name := shown.Clean(a.Name)
	if name == "" {
		name = shown.Clean(a.MediaType)
	}
	if w.in.Content != nil && slices.Contains(pictures(), a.MediaType) && a.Bytes <= mostPicture {
		if content, ok := w.in.Content(a.SHA256); ok && len(content) <= mostPicture {
			w.raw("<figure><img loading=\"lazy\" alt=\"")
			w.text(name)
			w.raw("\" src=\"data:" + a.MediaType + ";base64," + base64.StdEncoding.EncodeToString(content) + "\"></figure>")
			return
		}
	}
	w.raw("<p class=\"soft\">Attached: ")
	w.text(name)
	if a.Bytes > 0 { // otherwise only the agent knew it
		w.raw(", " + size(int(a.Bytes)))
	}
	w.raw("</p>")
}

// subagent writes the conversation of a sub-agent, folded.
func (w *writer) subagent(sub *Subagent) {
	inner := w.r.writer(w.out, &sub.Input)
	inner.out = w.out
	inner.prefix = w.prefix + "s" + strconv.Itoa(len(w.calls)) + "-" + strconv.Itoa(w.nested) + "-"
	w.nested++
	w.raw("<details class=\"call sub\"><summary><span class=\"mark\" aria-hidden=\"true\">↳</span> <b>Sub-agent</b> <code class=\"arg\">")
	w.text(shown.Clean(sub.Session.DisplayTitle()))
	w.raw("</code> <span class=\"out\">" + count(len(sub.History.Messages), "message") + "</span></summary>\n<div class=\"body\">")
	for _, t := range inner.turns() {
		inner.tally(&t)
		inner.turn(&t)
	}
	w.raw("</div></details>\n")
}

// firstLine returns the start of a text on one line.
func firstLine(s string) string {
	const most = 140
	s = strings.Join(strings.Fields(s[:min(len(s), 4*most)]), " ")
	if len(s) > most {
		for s = s[:most]; len(s) > 0 && s[len(s)-1] >= 0x80; s = s[:len(s)-1] {
		}
		s += "…"
	}
	return strings.ToValidUTF8(s, "")
}
