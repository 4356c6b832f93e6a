package store

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
	"cortext/store/secrets"
)

// Preparing is the one way of a record to the disk: its secrets are replaced,
// then its tokens are counted. A rule that cannot run is an error, and nothing
// is written.

// prepareMessage returns m as it is stored, but for its rev.
func (s *Store) prepareMessage(m schema.Message, counts secrets.Counts) (schema.Message, error) {
	r := redaction{s.redactor, counts, nil}
	r.content(&m)
	r.text(&m.Reasoning)
	m.Attachments = r.attachments(m.Attachments)
	m.Unknown = r.unknown(m.Unknown)
	if r.err != nil {
		return m, fmt.Errorf("message %q: %w", m.ID, r.err)
	}
	m.Tokens = tokens.Count(m.Content)
	m.Rev = 0
	return m, nil
}

// prepareTool returns t as it is stored, but for its rev.
func (s *Store) prepareTool(t schema.Tool, counts secrets.Counts) (schema.Tool, error) {
	r := redaction{s.redactor, counts, nil}
	r.json(&t.Input)
	r.text(&t.Output)
	r.text(&t.Error)
	t.Attachments = r.attachments(t.Attachments)
	t.Unknown = r.unknown(t.Unknown)
	if r.err != nil {
		return t, fmt.Errorf("tool call %q: %w", t.ID, r.err)
	}
	t.Tokens = tokens.Count(string(t.Input)) + tokens.Count(t.Output)
	t.Rev = 0
	return t, nil
}

// prepareSession replaces the secrets in what people and agents wrote into s.
func (s *Store) prepareSession(sess *schema.Session) error {
	r := redaction{s.redactor, nil, nil}
	for _, text := range []*string{&sess.Title, &sess.Description, &sess.ContextSummary, &sess.Notes, &sess.AgentConfig.Arguments} {
		r.text(text)
	}
	r.json(&sess.Metadata)
	if sess.Plan != nil {
		for i := range sess.Plan.Steps {
			r.text(&sess.Plan.Steps[i].Content)
		}
	}
	if r.err != nil {
		return fmt.Errorf("session: %w", r.err)
	}
	return nil
}

// redaction replaces the secrets of one record. The first error stays.
type redaction struct {
	redactor *secrets.Redactor
	counts   secrets.Counts
	err      error
}

func (r *redaction) text(s *string) {
	if *s == "" || r.err != nil {
		return
	}
	if !utf8.ValidString(*s) { // as it will be read back, so that lengths agree
		*s, _ = rawjson.Unquote(rawjson.AppendQuote(nil, *s))
	}
	*s, r.err = r.redactor.Text(*s, r.counts)
}

func (r *redaction) json(raw *schema.Raw) {
	if len(*raw) == 0 || r.err != nil {
		return
	}
	if r.err = rawjson.Valid(*raw); r.err == nil {
		*raw, r.err = r.redactor.JSON(oneLine(*raw), r.counts)
	}
}

// oneLine returns valid JSON as it can stand in a line: valid UTF-8, and, where
// it was spread over lines, without the space between its parts.
func oneLine(raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if !bytes.ContainsAny(raw, "\n\r") {
		return raw
	}
	out := make([]byte, 0, len(raw))
	inString := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString && c == '\\':
			out = append(out, c)
			i++
			c = raw[i]
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			continue
		}
		out = append(out, c)
	}
	return out
}

func (r *redaction) attachments(in []schema.Attachment) []schema.Attachment {
	out := append([]schema.Attachment(nil), in...)
	for i := range out {
		r.text(&out[i].Name)
	}
	return out
}

func (r *redaction) unknown(in []rawjson.Member) []rawjson.Member {
	out := append([]rawjson.Member(nil), in...)
	for i := range out {
		r.json((*schema.Raw)(&out[i].Value))
	}
	return out
}

// content replaces the secrets in a message's text, block by block where it has
// several, and sets the lengths of the blocks anew. Blocks that do not agree with
// the content say nothing and are left out.
func (r *redaction) content(m *schema.Message) {
	texts, ok := splitBlocks(m)
	if !ok {
		m.Blocks = nil
	}
	if len(texts) < 2 {
		r.text(&m.Content)
		if len(texts) == 1 {
			m.Blocks = append([]schema.Block(nil), m.Blocks...)
			for i := range m.Blocks {
				if m.Blocks[i].Type == schema.TextBlock {
					m.Blocks[i].Bytes = len(m.Content)
				}
			}
		}
		return
	}
	m.Blocks = append([]schema.Block(nil), m.Blocks...)
	at := 0
	for i := range m.Blocks {
		if m.Blocks[i].Type == schema.TextBlock {
			r.text(&texts[at])
			m.Blocks[i].Bytes = len(texts[at])
			at++
		}
	}
	m.Content = strings.Join(texts, blankLine)
}

// blankLine joins the text blocks of a message.
const blankLine = "\n\n"

// splitBlocks takes a message's content apart by its blocks. ok says that the
// lengths agree with it.
func splitBlocks(m *schema.Message) (texts []string, ok bool) {
	rest := m.Content
	for _, b := range m.Blocks {
		if b.Type != schema.TextBlock {
			continue
		}
		if len(texts) > 0 {
			if rest, ok = strings.CutPrefix(rest, blankLine); !ok {
				return nil, false
			}
		}
		if b.Bytes < 0 || b.Bytes > len(rest) {
			return nil, false
		}
		texts = append(texts, rest[:b.Bytes])
		rest = rest[b.Bytes:]
	}
	return texts, rest == ""
}
