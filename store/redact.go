package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
	"cortext/store/secrets"
)

// Every record is prepared on its way to the disk: first its secrets are redacted, then
// its tokens are counted. If a rule cannot run, that is an error and nothing is written.

// Append collects the records to add. It redacts secrets and counts tokens; nothing is
// written before [Tx.Flush].
func (tx *Tx) Append(b schema.Batch) error {
	known, err := tx.knows()
	if err != nil {
		return err
	}
	redact := tx.c.s.policy.redactor(tx.result.counts()).knowing(known)
	limits := limiter{tx.c.s.opts.limits(), tx.c.s.keepWhole}
	if b, err = redact.batch(b); err != nil {
		return fmt.Errorf("append to %q: %w", tx.c.path, err)
	}
	for _, t := range b.Tools {
		err := limits.limit(&t)
		if err == nil && limits.Attachments {
			err = tx.c.attachBeside(t.Attachments)
		}
		if err != nil {
			return fmt.Errorf("append to %q: %w", tx.c.path, err)
		}
		tx.pending.addTool(t)
	}
	for _, m := range b.Messages {
		if limits.Attachments {
			if err := tx.c.attachBeside(m.Attachments); err != nil {
				return fmt.Errorf("append to %q: %w", tx.c.path, err)
			}
		}
		tx.pending.addMessage(m)
	}
	return nil
}

// batch returns records as they are stored, except for their revs. The result shares no changed
// data with b.
func (r recordRedactor) batch(b schema.Batch) (ready schema.Batch, err error) {
	ready = schema.Batch{Messages: slices.Clone(b.Messages), Tools: slices.Clone(b.Tools)}
	size := 0
	for i := range ready.Tools {
		t := &ready.Tools[i]
		if *t, err = r.copyOfTool(*t); err != nil {
			return ready, err
		}
		t.Rev = 0
		size += len(t.Input) + len(t.Output)
	}
	for i := range ready.Messages {
		m := &ready.Messages[i]
		if *m, err = r.copyOfMessage(*m); err != nil {
			return ready, err
		}
		m.Rev = 0
		size += len(m.Content)
	}
	countBatch(ready, size)
	return ready, nil
}

// message returns m as it is stored, except for its rev. The result shares no
// changed data with m.
func (r recordRedactor) message(m schema.Message) (schema.Message, error) {
	m, err := r.copyOfMessage(m)
	if err == nil {
		m.Tokens, m.Rev = tokens.Count(m.Content), 0
	}
	return m, err
}

// copyOfMessage is message for a record of a log, which has its tokens and its rev already.
func (r recordRedactor) copyOfMessage(m schema.Message) (schema.Message, error) {
	r.begin()
	if !slices.Contains([]schema.Role{schema.User, schema.Assistant, schema.System}, m.Role) && m.Sealed == "" {
		return m, fmt.Errorf("message %q: role %.40q is not user, assistant or system", m.ID, m.Role)
	}
	m.Blocks, m.ToolCalls = slices.Clone(m.Blocks), slices.Clone(m.ToolCalls)
	r.content(&m)
	r.text(&m.Reasoning)
	m.Attachments = r.attachments(m.Attachments)
	for i := range m.Blocks {
		r.unknown(&m.Blocks[i].Unknown)
	}
	for i := range m.ToolCalls {
		r.unknown(&m.ToolCalls[i].Unknown)
	}
	if m.Usage != nil {
		usage := *m.Usage
		r.unknown(&usage.Unknown)
		m.Usage = &usage
	}
	r.unknown(&m.Unknown)
	if r.err != nil {
		return m, fmt.Errorf("message %q: %w", m.ID, r.err)
	}
	record{message: &m}.mark(r.knownAgain()...)
	return m, nil
}

// tool returns t as it is stored, except for its rev. The result shares no changed
// data with t.
func (r recordRedactor) tool(t schema.Tool) (schema.Tool, error) {
	t, err := r.copyOfTool(t)
	if err == nil {
		t.Tokens, t.Rev = countTool(&t), 0
	}
	return t, err
}

// copyOfTool is tool for a record of a log, which has its tokens and its rev already.
func (r recordRedactor) copyOfTool(t schema.Tool) (schema.Tool, error) {
	r.begin()
	if t.ID == "" {
		return t, fmt.Errorf("a tool call of message %q has no id", t.MessageID)
	}
	r.json(&t.Input)
	r.text(&t.Output)
	r.text(&t.Error)
	t.Attachments = r.attachments(t.Attachments)
	r.unknown(&t.Unknown)
	if r.err != nil {
		return t, fmt.Errorf("tool call %q: %w", t.ID, r.err)
	}
	record{tool: &t}.mark(r.knownAgain()...)
	return t, nil
}

// session redacts the texts of people and agents in sess.
func (r recordRedactor) session(sess *schema.Session) error {
	for _, text := range []*string{&sess.Title, &sess.Description, &sess.ContextSummary, &sess.Notes, &sess.AgentConfig.Arguments} {
		r.text(text)
	}
	for i := range sess.Tags {
		r.text(&sess.Tags[i])
	}
	r.json(&sess.Metadata)
	if sess.Plan != nil {
		for i := range sess.Plan.Steps {
			r.text(&sess.Plan.Steps[i].Content)
		}
	}
	if r.known != nil && r.err == nil {
		r.err = recordRedactor{redactor: r.known.redactor}.rest(sess)
	}
	if r.err != nil {
		return fmt.Errorf("session: %w", r.err)
	}
	return nil
}

// rest redacts what else in sess may quote something. It is only for texts that the user
// named: the rules do not look there.
func (r recordRedactor) rest(sess *schema.Session) error {
	r.text(&sess.AgentConfig.Command)
	r.unknown(&sess.AgentConfig.Unknown)
	if p := sess.AgentConfig.Provider; p != nil {
		r.text(&p.BaseURL)
		r.unknown(&p.Unknown)
	}
	if sess.Git != nil {
		r.text(&sess.Git.Branch)
		r.unknown(&sess.Git.Unknown)
	}
	if sess.Plan != nil {
		r.unknown(&sess.Plan.Unknown)
	}
	if sess.Links != nil {
		r.unknown(&sess.Links.Unknown)
	}
	r.unknown(&sess.Unknown)
	return r.err
}

// forget removes what stamps still say about tags and names that are redacted now.
func (r recordRedactor) forget(sess *schema.Session) error {
	if r.redactor == nil {
		return nil
	}
	sess.ForgetRedacted(func(text string) string { r.text(&text); return text })
	return r.err
}

// across replaces what is left in the content of a message because it spans several of its
// blocks; then the blocks are dropped.
func (r recordRedactor) across(m *schema.Message) error {
	content := m.Content
	if r.text(&content); r.err == nil && content != m.Content {
		m.Content, m.Blocks, m.Tokens = content, nil, tokens.Count(content)
	}
	return r.err
}

// summary returns a summary as it is stored. The result shares no changed data
// with sum.
func (r recordRedactor) summary(sum *schema.Summary) (*schema.Summary, error) {
	ready := *sum
	r.text(&ready.Content)
	r.text(&ready.Model)
	r.unknown(&ready.Unknown)
	if r.err != nil {
		return nil, fmt.Errorf("summary of %q: %w", sum.First, r.err)
	}
	ready.Tokens = tokens.Count(ready.Content)
	return &ready, nil
}

// Redact returns text as it would be stored in conversations, given by id: with its
// secrets replaced, and what the user redacted there.
func (p policy) Redact(text string, ids ...string) (string, error) {
	r := p.redactor(nil)
	r.text(&text)
	for _, id := range ids {
		known, err := p.knownOf(id)
		if err != nil {
			return "", err
		}
		if known != nil && r.err == nil {
			text, r.err = known.redactor.Text(text, nil)
		}
	}
	return text, r.err
}

// A recordRedactor redacts the secrets of one record. It keeps the first error.
type recordRedactor struct {
	redactor *secrets.Redactor
	counts   secrets.Counts
	known    *known // what the user redacted, too; may be nil
	again    secrets.Counts
	err      error
}

// redactor returns a recordRedactor that applies the rules. It adds to counts what it
// redacts, unless that is nil.
func (p policy) redactor(counts secrets.Counts) recordRedactor {
	return recordRedactor{redactor: p.rules, counts: counts}
}

// knowing also redacts what the user redacted in the conversation before.
func (r recordRedactor) knowing(k *known) recordRedactor {
	r.known = k
	return r
}

// knownAgain returns the redactions whose texts were redacted again.
func (r *recordRedactor) knownAgain() []string {
	return slices.Collect(maps.Keys(r.again))
}

// begin begins a record.
func (r *recordRedactor) begin() {
	if r.known != nil {
		r.again = secrets.Counts{}
	}
}

func (r *recordRedactor) text(s *string) {
	if *s == "" || r.err != nil {
		return
	}
	if !utf8.ValidString(*s) { // as it will be read back, so that lengths agree
		*s, _ = rawjson.Unquote(rawjson.AppendQuote(nil, *s))
	}
	*s, r.err = r.redactor.Text(*s, r.counts)
	if r.err == nil && r.known != nil {
		*s, r.err = r.known.redactor.Text(*s, r.again)
	}
}

func (r *recordRedactor) json(raw *schema.Raw) {
	if len(*raw) == 0 || r.err != nil {
		return
	}
	if r.err = rawjson.Valid(*raw); r.err == nil {
		*raw, r.err = r.redactor.JSON(oneLine(*raw), r.counts)
	}
	if r.err == nil && r.known != nil {
		*raw, r.err = r.known.redactor.JSON(*raw, r.again)
	}
}

// oneLine makes valid JSON fit on one line: valid UTF-8, without line endings between
// tokens.
func oneLine(raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if !bytes.ContainsAny(raw, "\n\r") {
		return raw
	}
	return slices.DeleteFunc(bytes.Clone(raw), func(c byte) bool { return c == '\n' || c == '\r' })
}

func (r *recordRedactor) attachments(in []schema.Attachment) []schema.Attachment {
	out := slices.Clone(in)
	for i := range out {
		r.text(&out[i].Name)
		r.unknown(&out[i].Unknown)
	}
	return out
}

func (r *recordRedactor) unknown(members *[]rawjson.Member) {
	*members = slices.Clone(*members)
	for i := range *members {
		r.json((*schema.Raw)(&(*members)[i].Value))
	}
}

// content redacts a message's text, block by block if it has several, and updates the
// lengths of the blocks in place. It drops blocks that do not match the content.
func (r *recordRedactor) content(m *schema.Message) {
	texts, ok := m.Texts()
	if !ok {
		m.Blocks = nil
	}
	if len(texts) < 2 {
		r.text(&m.Content)
		if len(texts) == 1 {
			for i := range m.Blocks {
				if m.Blocks[i].Type == schema.TextBlock {
					m.Blocks[i].Bytes = len(m.Content)
				}
			}
		}
		return
	}
	at := 0
	for i := range m.Blocks {
		if m.Blocks[i].Type == schema.TextBlock {
			r.text(&texts[at])
			m.Blocks[i].Bytes = len(texts[at])
			at++
		}
	}
	m.Content = strings.Join(texts, schema.TextJoint)
}
