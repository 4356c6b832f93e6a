package resume

import (
	"fmt"
	"slices"
	"strings"

	"cortext/resume/excerpt"
	"cortext/schema"
	"cortext/schema/rawjson"
)

// A history renders messages and estimates their size in tokens.
type history struct {
	schema.History
	extra map[string][]string // by message: calls that only their own record links to it
}

func newHistory(h schema.History) *history { return &history{h, h.LooseCalls()} }

// An item is the content under one heading of the history.
type item struct {
	heading string // without its run of tildes; begins with a space
	speaker string // of a text
	branch  int    // number of its branch, if the history has several; 0 otherwise
	tool    string // of a call: its name
	outcome string // of a call: how it ended
	texts   []excerpt.Text
}

// blank reports whether the item is text that consists of white space.
func (it *item) blank() bool {
	return it.tool == "" && !slices.ContainsFunc(it.texts, func(t excerpt.Text) bool { return strings.TrimSpace(t.Text) != "" })
}

// section renders the item in full.
func (it *item) section() section {
	var b strings.Builder
	b.WriteString(it.heading + "\n")
	for _, p := range it.texts {
		b.WriteString(p.Text + "\n")
	}
	return section(b.String())
}

// sections renders m, with its calls where its blocks place them.
func (h *history) sections(m *schema.Message) (all []section) {
	for _, it := range h.items(m, inFull) {
		all = append(all, it.section())
	}
	return all
}

// A form selects how items are rendered.
type form int

const (
	inFull    form = iota
	inExcerpt      // without times and the text that agents add to outputs
)

// items splits m into items, with its calls where its blocks place them.
func (h *history) items(m *schema.Message, f form) []item {
	who := role(m.Role) + branchMark(m.Branch)
	heading := " " + who
	if t := m.Timestamp.Time(); f == inFull && !t.IsZero() {
		heading += t.Format(" 2006-01-02 15:04")
	}
	if m.Sealed != "" {
		return []item{{heading: heading, speaker: who, texts: []excerpt.Text{{Kind: excerpt.System, Text: sealed}}}}
	}
	done := []item{{heading: heading, speaker: who, branch: m.Branch}}
	write := func(text string) {
		last := &done[len(done)-1]
		if strings.HasPrefix(last.heading, toolHeading) {
			done = append(done, item{heading: " " + who + " continued", speaker: who, branch: m.Branch})
			last = &done[len(done)-1]
		}
		if len(last.texts) == 0 {
			last.texts = []excerpt.Text{{Kind: speaker(m.Role), Text: text}}
		} else {
			last.texts[0].Text += schema.TextJoint + text // the blank line that joins texts in a message's content
		}
	}
	for _, p := range m.Parts(h.extra[m.ID]) {
		switch {
		case p.Call != "":
			it := h.call(p, f)
			it.branch = m.Branch
			it.heading += branchMark(m.Branch)
			done = append(done, it)
		case p.Attachment != nil:
			write(Reference(p.Attachment))
		default:
			write(rawjson.Text(p.Text))
		}
	}
	return done
}

// branchMark says in a heading which branch a message is on, if there are several.
func branchMark(branch int) string {
	if branch == 0 {
		return ""
	}
	return fmt.Sprintf(" (branch %d)", branch)
}

// sealed replaces encrypted content.
const sealed = "[sealed]"

// speaker returns the kind of text that a role produces.
func speaker(r schema.Role) excerpt.Kind {
	switch r {
	case schema.User:
		return excerpt.User
	case schema.Assistant:
		return excerpt.Assistant
	}
	return excerpt.System
}

// role names the speaker. A sealed message may hide its role.
func role(r schema.Role) string {
	switch r {
	case schema.User, schema.Assistant, schema.System:
		return string(r)
	}
	return "unknown"
}

// Reference names an attachment, whose bytes are not in the log.
func Reference(a *schema.Attachment) string {
	media := oneLine(a.MediaType)
	if media == "" {
		media = "of unknown type"
	}
	text := "[attachment " + media
	if a.Bytes > 0 { // OpenCode names files without giving their size
		text += fmt.Sprintf(", %d bytes", a.Bytes)
	}
	if name := oneLine(a.Name); name != "" {
		text += ", " + name
	}
	return text + "]"
}

// recordedTokens estimates the tokens of m and its calls from the counts in the log,
// so that omitted messages need no counting.
func (h *history) recordedTokens(m *schema.Message) int {
	n := recordedOr(m.Tokens, m.Content)
	for _, p := range m.Parts(h.extra[m.ID]) {
		if p.Call != "" {
			t := h.Tools[p.Call]
			n += recordedOr(t.Tokens, string(t.Input), t.Output)
		}
	}
	return n
}

// recordedOr returns count, or an estimate if it cannot be the token count of the
// texts: a text has at most one token per byte.
func recordedOr(count int, texts ...string) int {
	size, guess := 0, 0
	for _, t := range texts {
		size += len(t)
		guess += estimate(t)
	}
	if count <= 0 || count > size {
		return guess
	}
	return count
}

// estimate estimates the tokens of a text from its length: in English and in code, one
// is about four bytes.
func estimate(text string) int { return (len(text) + 3) / 4 }
