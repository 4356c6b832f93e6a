package page

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/export/call"
	"cortext/cmd/internal/shown"
	"cortext/schema"
)

// turn writes a turn as a section.
func (w *writer) turn(t *turn) {
	n, element := strconv.Itoa(t.number), "section"
	if w.prefix != "" {
		element = "div" // not a landmark within a sub-agent
	}
	w.out.raw("<" + element + " class=\"turn\" id=\"" + w.prefix + "p" + n + "\"")
	if w.prefix == "" {
		w.out.raw(" aria-label=\"Prompt " + n + "\"")
	}
	w.out.raw(">\n")
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
	w.out.raw("</" + element + ">\n")
}

// open starts the element of a message. The message's number links to the message.
func (w *writer) open(m *schema.Message, class string) {
	w.endCalls()
	n := strconv.Itoa(m.Number)
	w.out.raw("<div class=\"" + class + "\" id=\"" + w.prefix + "m" + n + "\"><a class=\"no\" href=\"#" + w.prefix + "m" + n + "\" aria-label=\"Message " + n + "\">#" + n + "</a>")
}

// ask writes a user prompt.
func (w *writer) ask(m *schema.Message, t *turn) {
	w.open(m, "ask")
	w.out.raw("<h2 class=\"hide\">The user said</h2>")
	w.parts(m)
	w.endCalls()
	facts := t.facts()
	if len(facts) > 0 || t.failed > 0 || t.added+t.removed > 0 {
		w.out.raw("<p class=\"soft\">")
		w.out.text(strings.Join(facts, " · "))
		if t.failed > 0 {
			w.out.raw(" · <span class=\"bad\">" + strconv.Itoa(t.failed) + " failed</span>")
		}
		if t.added+t.removed > 0 {
			w.out.raw(" · " + call.Changed(t.added, t.removed))
		}
		w.out.raw("</p>")
	}
	w.out.raw("</div>\n")
}

// event writes a message that is neither the user's nor the agent's.
func (w *writer) event(m *schema.Message) {
	w.open(m, "event")
	w.out.raw("<details class=\"fold\"><summary>")
	w.out.text(firstLine(shown.Clean(m.Content)))
	w.out.raw("</summary>")
	w.out.pre(m.Content, "")
	w.out.raw("</details></div>\n")
}

// answer writes an agent's message with its calls.
func (w *writer) answer(m *schema.Message) {
	ending := m.Ending()
	if m.Content == "" && m.Reasoning == "" && len(m.Attachments) == 0 && ending == "" {
		w.anchored(m)
		return
	}
	w.open(m, "answer")
	if m.Reasoning != "" {
		w.out.raw("<details class=\"fold reasoning\"><summary>")
		w.out.text(firstLine(shown.Clean(m.Reasoning)))
		w.out.raw("</summary><div class=\"md\">")
		w.out.markdown(m.Reasoning)
		w.out.raw("</div></details>")
	}
	w.within = true
	w.parts(m)
	if ending != "" {
		w.endCalls()
		w.out.raw("<p class=\"soft\">(")
		w.out.text(shown.Clean(ending))
		w.out.raw(")</p>")
	}
	w.endMessage()
}

// anchored writes a message that has only calls. They join the preceding calls.
func (w *writer) anchored(m *schema.Message) {
	for i, id := range append(idsOf(m), w.loose[m.ID]...) {
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
				w.out.raw("<div class=\"answer\">")
				w.within = true
			}
			w.out.raw("<div class=\"md\">")
			w.out.markdown(p.Text)
			w.out.raw("</div>")
		}
	}
}

// endMessage ends the element of an answer. The calls that follow are outside it, so that
// they share a card with the calls of the next message.
func (w *writer) endMessage() {
	if w.within {
		w.out.raw("</div>\n")
		w.within = false
	}
}

func (w *writer) endCalls() {
	if w.joined {
		w.out.raw("</div>\n")
		w.joined = false
	}
}

// step writes a call as a line that unfolds. Consecutive calls share a card. anchor is the
// number of the message that starts with the call, or 0.
func (w *writer) step(id, name string, m *schema.Message, anchor int) {
	w.endMessage()
	if !w.joined {
		w.out.raw("<div class=\"card calls\">\n")
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
	w.out.raw("<details class=\"" + class + "\"")
	if anchor > 0 {
		w.out.raw(" id=\"" + w.prefix + "m" + strconv.Itoa(anchor) + "\"")
	}
	w.out.raw("><summary><span class=\"mark\" aria-hidden=\"true\">" + mark + "</span><span class=\"hide\">" + said + ": </span><b>")
	w.out.text(shown.Clean(c.Name))
	w.out.raw("</b> <code class=\"arg\">")
	w.out.text(shown.Clean(c.Argument))
	w.out.raw("</code> <span class=\"out\">")
	w.out.text(shown.Clean(c.Outcome))
	w.out.raw("</span></summary>\n<div class=\"body\">")
	if ok {
		w.body(c)
	}
	w.attachments(id)
	w.out.raw("<p class=\"soft\"><a href=\"#" + w.prefix + "m" + strconv.Itoa(m.Number) + "\">#" + strconv.Itoa(m.Number) + "</a>")
	if took := tookOf(w.in.History.Tools[id]); took != "" {
		w.out.raw(" · " + took)
	}
	w.out.raw("</p></div></details>\n")
	for _, sub := range w.subagents[id] {
		w.subagent(sub)
	}
}

// tookOf formats how long a call took.
func tookOf(t schema.Tool) string {
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
func (w *writer) body(c *call.Call) {
	if c.Command != "" {
		w.out.pre(c.Command, "sh")
	}
	switch {
	case c.Diff != nil:
		w.out.diff(c)
	case c.Written != "":
		w.out.pre(c.Written, c.File)
	case c.Patch != "":
		w.out.pre(c.Patch, "diff")
	case c.Input != "":
		w.out.pre(c.Input, "json")
	}
	if strings.TrimSpace(c.Output) != "" {
		w.out.pre(c.Output, "")
	}
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
			w.out.raw("<figure><img loading=\"lazy\" alt=\"")
			w.out.text(name)
			w.out.raw("\" src=\"data:" + a.MediaType + ";base64," + base64.StdEncoding.EncodeToString(content) + "\"></figure>")
			return
		}
	}
	w.out.raw("<p class=\"soft\">Attached: ")
	w.out.text(name)
	if a.Bytes > 0 { // otherwise only the agent knew it
		w.out.raw(", " + size(int(a.Bytes)))
	}
	w.out.raw("</p>")
}

// subagent writes the conversation of a sub-agent, folded.
func (w *writer) subagent(sub *Subagent) {
	inner := newWriter(w.out, &sub.Input)
	inner.prefix = w.prefix + "s" + strconv.Itoa(len(w.calls)) + "-" + strconv.Itoa(w.nested) + "-"
	w.nested++
	w.out.raw("<details class=\"call sub\"><summary><span class=\"mark\" aria-hidden=\"true\">↳</span> <b>Sub-agent</b> <code class=\"arg\">")
	w.out.text(shown.Clean(sub.Session.DisplayTitle()))
	w.out.raw("</code> <span class=\"out\">" + count(len(sub.History.Messages), "message") + "</span></summary>\n<div class=\"body\">")
	for _, t := range turnsOf(&sub.History) {
		inner.tally(&t)
		inner.turn(&t)
	}
	w.out.raw("</div></details>\n")
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
