package schema

import "strings"

// A Part is a text, a tool call or an attachment of a message.
type Part struct {
	Text       string
	Call, Name string // id of a call, and the tool's name as in the message
	Attachment *Attachment
}

// Parts returns the parts of m, in the order of its blocks (FORMAT.md, "messages.jsonl"). Parts that no
// block places follow, and then the loose calls, which only their own lines link to m
// ([History.LooseCalls]). Blocks that do not match the content place no text.
func (m *Message) Parts(loose []string) (parts []Part) {
	names := map[string]string{}
	for _, c := range m.ToolCalls {
		names[c.ID] = c.Name
	}
	placed := map[string]bool{"": true}
	call := func(id string) {
		if !placed[id] {
			placed[id] = true
			parts = append(parts, Part{Call: id, Name: names[id]})
		}
	}
	attached := map[int]bool{}
	attach := func(i int) {
		if i >= 0 && i < len(m.Attachments) && !attached[i] {
			attached[i] = true
			parts = append(parts, Part{Attachment: &m.Attachments[i]})
		}
	}
	texts, ok := m.Texts()
	if !ok && m.Content != "" {
		parts = append(parts, Part{Text: m.Content})
	}
	for _, b := range m.Blocks {
		switch {
		case b.Type == TextBlock && ok:
			parts = append(parts, Part{Text: texts[0]})
			texts = texts[1:]
		case b.Type == ToolCallBlock:
			call(b.ID)
		case b.Type == AttachmentBlock:
			attach(b.Index)
		}
	}
	for _, c := range m.ToolCalls {
		call(c.ID)
	}
	for _, id := range loose {
		call(id)
	}
	for i := range m.Attachments {
		attach(i)
	}
	return parts
}

// TextJoint separates the texts in a message's content.
const TextJoint = "\n\n"

// Texts splits the content of m into the texts of its blocks. ok is false if the lengths
// of the blocks do not match the content.
func (m *Message) Texts() (texts []string, ok bool) {
	rest := m.Content
	for _, b := range m.Blocks {
		if b.Type != TextBlock {
			continue
		}
		if len(texts) > 0 {
			if rest, ok = strings.CutPrefix(rest, TextJoint); !ok {
				return nil, false
			}
		}
		if b.Bytes < 0 || b.Bytes > len(rest) {
			return nil, false
		}
		texts, rest = append(texts, rest[:b.Bytes]), rest[b.Bytes:]
	}
	return texts, rest == ""
}
