package store

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// A record is a message or a call on its way into a log.
type record struct {
	message *schema.Message // one of the two is set
	tool    *schema.Tool
	copied  bool // from another log: it keeps its rev
}

func messageRecord(m schema.Message) record { return record{message: &m} }
func toolRecord(t schema.Tool) record       { return record{tool: &t} }

func (r record) id() string {
	if r.message != nil {
		return r.message.ID
	}
	return r.tool.ID
}

func (r record) rev() int {
	if r.message != nil {
		return r.message.Rev
	}
	return r.tool.Rev
}

func (r record) setRev(rev int) {
	if r.message != nil {
		r.message.Rev = rev
	} else {
		r.tool.Rev = rev
	}
}

// beats reports whether r takes precedence over o, a record with the same id.
func (r record) beats(o record) bool {
	if r.message != nil {
		return messageLog().beats(r.message, o.message)
	}
	return toolLog().beats(r.tool, o.tool)
}

// skeleton returns the record without its texts: what says where it belongs.
func (r record) skeleton() record {
	if m := r.message; m != nil {
		return messageRecord(schema.Message{ID: m.ID, ParentID: m.ParentID, Timestamp: m.Timestamp, Role: m.Role, ToolCalls: m.ToolCalls, Source: m.Source})
	}
	t := r.tool
	return toolRecord(schema.Tool{ID: t.ID, MessageID: t.MessageID, Name: t.Name, Timestamp: t.Timestamp})
}

// encode returns the line of the record with the given rev.
func (r record) encode(rev int) []byte { return r.appendLine(nil, rev) }

// appendLine appends what encode returns.
func (r record) appendLine(dst []byte, rev int) []byte {
	if r.message != nil {
		m := *r.message
		m.Rev = rev
		return schema.AppendMessage(dst, &m)
	}
	t := *r.tool
	t.Rev = rev
	return schema.AppendTool(dst, &t)
}

// inherit makes the record count as redacted by the redactions of the lines stored under
// its id. It returns false if this machine cannot repeat one of them: then the record may
// hold the text that was redacted, and must not be written.
func (r record) inherit(stored [][]byte, k *known) bool {
	for _, raw := range stored {
		if !endsRedacted(raw) {
			continue
		}
		for _, id := range redactedBy(r, raw) {
			if !k.repeats(id) {
				return false
			}
			r.mark(id)
		}
	}
	return true
}

// redactions returns the record's list of redactions.
func (r record) redactions() *[]string {
	if r.message != nil {
		return &r.message.Redacted
	}
	return &r.tool.Redacted
}

// mark adds a redaction to the record's list.
func (r record) mark(ids ...string) {
	list := r.redactions()
	*list = slices.Compact(slices.Sorted(slices.Values(slices.Concat(*list, ids))))
}

// redactedBy returns the redactions of a stored line of the same log as r.
func redactedBy(r record, raw []byte) []string {
	if r.message != nil {
		m, _ := schema.ParseMessage(raw)
		return m.Redacted
	}
	t, _ := schema.ParseTool(raw)
	return t.Redacted
}

// endsRedacted reports whether a line may be a record that was redacted after it was
// stored: the list of its redactions is at its end.
func endsRedacted(line []byte) bool {
	const end = 512
	return bytes.Contains(line[max(0, len(line)-end):], []byte(`"redacted":`))
}

// revise compares the record with those stored under its id. The record is new if it
// equals none of them and is not an earlier state of the one that counts. A new record
// must be written with rev.
func (r record) revise(stored [][]byte) (rev int, isNew bool) {
	line := bytes.TrimSuffix(r.encode(0), []byte("\n"))
	for _, raw := range stored {
		if bytes.Equal(raw, line) { // the usual case, decided without parsing
			return 0, false
		}
	}
	if r.message != nil {
		return messageLog().revise(r.message, stored)
	}
	return toolLog().revise(r.tool, stored)
}

// A logKind says how to read the records of one of the two logs, and which record counts
// if several have the same id.
type logKind[R any] struct {
	file   string
	parse  func(line []byte) (R, error)
	encode func(*R) []byte // its line, with its rev
	rank   func(*R) rank
	less   func(r, than *R) bool // reports whether r is an earlier state of than
	record func(*R) record
	of     func(record) R // the opposite of record

	combine func(r, o *R) (R, bool) // one that has what is redacted in either
}

func messageLog() logKind[schema.Message] {
	encode := func(m *schema.Message) []byte { return schema.AppendMessage(nil, m) }
	as := func(m *schema.Message) record { return record{message: m} }
	of := func(r record) schema.Message { return *r.message }
	return logKind[schema.Message]{messagesFile, schema.ParseMessage, encode, messageRank, saysLess, as, of, combineMessages}
}

func toolLog() logKind[schema.Tool] {
	encode := func(t *schema.Tool) []byte { return schema.AppendTool(nil, t) }
	as := func(t *schema.Tool) record { return record{tool: t} }
	of := func(r record) schema.Tool { return *r.tool }
	return logKind[schema.Tool]{toolsFile, schema.ParseTool, encode, toolRank, hasLessOutcome, as, of, combineTools}
}

// ChooseMessage returns the message to read if two lines have the same id: the one that
// counts or, if each redacts something that the other does not, a combination of both.
func ChooseMessage(m, o schema.Message) schema.Message { return messageLog().choose(m, o) }

// ChooseTool is [ChooseMessage] for a call.
func ChooseTool(t, o schema.Tool) schema.Tool { return toolLog().choose(t, o) }

// choose returns the record to read if two lines have the same id: the one that counts or,
// if each redacts something that the other does not, a combination of both.
func (k logKind[R]) choose(r, o R) R {
	if both, ok := k.combine(&r, &o); ok {
		return both
	}
	if k.beats(&r, &o) {
		return r
	}
	return o
}

// beats reports whether r takes precedence over o.
func (k logKind[R]) beats(r, o *R) bool { return k.rank(r).compare(k.rank(o)) > 0 }

// revise is [record.revise] for a record that equals none of the stored lines.
func (k logKind[R]) revise(r *R, stored [][]byte) (rev int, isNew bool) {
	line := k.rank(r).line
	rev = -1
	var best *R
	for _, raw := range stored {
		old, err := k.parse(raw)
		if err != nil {
			continue
		}
		if bytes.Equal(k.rank(&old).line, line) {
			return 0, false
		}
		rev = max(rev, k.rank(&old).rev)
		if best == nil || k.beats(&old, best) {
			best = &old
		}
	}
	if best == nil {
		return 0, true
	}
	if k.rank(r).marks() <= k.rank(best).marks() && k.less(r, best) {
		return 0, false
	}
	return min(rev+1, schema.MaxRev), true
}

// at reads the record whose lines are at offsets, and returns the line that counts.
func (k logKind[R]) at(log io.ReaderAt, offsets []int64) (best R, err error) {
	found := false
	for _, offset := range offsets {
		raw, err := recordAt(log, offset)
		if err != nil {
			return best, err
		}
		r, err := k.parse(raw)
		switch {
		case err != nil:
		case found:
			best = k.choose(r, best)
		default:
			best, found = r, true
		}
	}
	if !found {
		err = errors.New("a line that looked like a record is not one")
	}
	return best, err
}

// A rank orders two lines with the same id. The greater precedence counts: more
// redactions, then the greater rev. If two clones used the same rev, the longer line
// counts, then the greater bytes, so the result does not depend on who merged.
type rank struct {
	precedence int64
	rev        int
	line       []byte // as it would be written without rev
}

// marks is the number of redactions.
func (r rank) marks() int64 { return r.precedence >> 31 }

func (r rank) compare(o rank) int {
	return cmp.Or(cmp.Compare(r.precedence, o.precedence), cmp.Compare(len(r.line), len(o.line)), bytes.Compare(r.line, o.line))
}

func messageRank(m *schema.Message) rank {
	return rank{m.Precedence(), m.Rev, messageRecord(*m).encode(0)}
}

func toolRank(t *schema.Tool) rank {
	return rank{t.Precedence(), t.Rev, toolRecord(*t).encode(0)}
}

// saysLess reports whether m is an earlier state of the stored message, as in an older
// copy of a transcript: its text is cut short, or it lacks calls or other fields.
func saysLess(m, stored *schema.Message) bool {
	if m.Role == schema.System && strings.Contains(stored.Content, "\x1b") { // an older version captured local output this way
		m, stored = new(*m), new(*stored)
		m.Content, stored.Content = schema.WithoutEscapes(m.Content), schema.WithoutEscapes(stored.Content)
	}
	if !strings.HasPrefix(stored.Content, m.Content) || !strings.HasPrefix(stored.Reasoning, m.Reasoning) {
		return false
	}
	have := map[string]bool{}
	for _, call := range stored.ToolCalls {
		have[call.ID] = true
	}
	for _, call := range m.ToolCalls {
		if !have[call.ID] {
			return false
		}
	}
	if len(m.Content) < len(stored.Content) || len(m.ToolCalls) < len(stored.ToolCalls) {
		return true
	}
	rest := *m // the remaining fields must be in stored, too
	rest.Reasoning, rest.Blocks, rest.ToolCalls, rest.Tokens = stored.Reasoning, stored.Blocks, stored.ToolCalls, stored.Tokens
	if stored.Source != "" {
		rest.Source = stored.Source // a fork of a session repeats its messages
	}
	if a, b := m.Usage, stored.Usage; a != nil && b != nil && a.PromptTokens <= b.PromptTokens &&
		a.CompletionTokens <= b.CompletionTokens && a.CachedTokens <= b.CachedTokens {
		rest.Usage = b
	}
	return membersIn(messageRank(&rest).line, messageRank(stored).line)
}

// hasLessOutcome reports whether t is an earlier state of the same call: it has no
// outcome, its output is cut short, or it lacks fields.
func hasLessOutcome(t, stored *schema.Tool) bool {
	limited := likeStored(*t, stored)
	t = &limited
	if t.Success == nil && stored.Success != nil {
		return true
	}
	if !strings.HasPrefix(stored.Output, t.Output) || t.Success != nil && stored.Success == nil {
		return false
	}
	rest := *t
	rest.Output, rest.Tokens = stored.Output, stored.Tokens
	return membersIn(toolRank(&rest).line, toolRank(stored).line)
}

// membersIn reports whether b has each member of the object a.
func membersIn(a, b []byte) bool {
	of, err := rawjson.Members(a)
	if err != nil {
		return false
	}
	in, err := rawjson.Members(b)
	if err != nil {
		return false
	}
	for _, m := range of {
		if !slices.ContainsFunc(in, func(o rawjson.Member) bool { return o.Name == m.Name && bytes.Equal(o.Value, m.Value) }) {
			return false
		}
	}
	return true
}
