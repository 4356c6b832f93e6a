package portable

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// IsJSON reports whether a file that starts with head may be a document in JSON.
func IsJSON(head []byte) bool {
	text := start(head)
	i := 0
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i < len(text) && text[i] == '{'
}

// ReadJSON reads a document in JSON, which another program may have written. The result
// shares memory with text. The error is a [*FormatError] if text is damaged or not a
// document.
func ReadJSON(text []byte) (*Conversation, error) {
	values, err := object(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	if err != nil {
		return nil, damaged("%v", err)
	}
	session := values["session"]
	if values["version"] == nil || session == nil || session[0] != '{' {
		return nil, &FormatError{Foreign: true, Why: "is not an exported conversation"}
	}
	if err := checkVersion(rawjson.String(values["version"])); err != nil {
		return nil, err
	}
	c := &Conversation{}
	if err := c.session(session, 0); err != nil {
		return nil, damaged("%v", err)
	}
	return c, nil
}

// session reads the object of a conversation.
func (c *Conversation) session(raw []byte, depth int) error {
	values, err := object(raw)
	if err != nil {
		return err
	}
	c.Name = rawjson.String(values["name"])
	if record := values["record"]; record != nil {
		if c.Session, err = parseRecord(record); err != nil {
			return err
		}
	} else {
		c.Session = foreignSession(values)
	}
	if values["messages"] == nil {
		return errors.New("it has no messages")
	}
	if err := c.messages(values); err != nil {
		return err
	}
	if err := c.superseded(values["superseded"]); err != nil {
		return err
	}
	for item, err := range each(values["summaries"]) {
		if err != nil {
			return err
		}
		sum, err := schema.ParseSummary(item)
		if err != nil {
			return err
		}
		c.Summaries = append(c.Summaries, sum)
	}
	if document := values["document"]; document != nil {
		if err := c.document(document); err != nil {
			return err
		}
	}
	for item, err := range each(values["attachments"]) {
		if err == nil {
			err = c.attachment(item)
		}
		if err != nil {
			return err
		}
	}
	if left := values["leftOut"]; left != nil {
		if c.LeftOut, err = texts(left); err != nil {
			return err
		}
	}
	return c.subagents(values["subagents"], depth)
}

func (c *Conversation) subagents(raw []byte, depth int) error {
	for item, err := range each(raw) {
		if err != nil {
			return err
		}
		values, err := object(item)
		if err != nil {
			return err
		}
		id := rawjson.String(values["native_id"])
		if id == "" || c.subagent(id) != nil || depth >= maxSubagentDepth {
			return errors.New("a sub-agent appears twice, has no id, or is nested too deeply")
		}
		sub := Subagent{NativeID: id}
		if err := sub.session(item, depth+1); err != nil {
			return err
		}
		c.Subagents = append(c.Subagents, sub)
	}
	return nil
}

func (c *Conversation) messages(values map[string][]byte) error {
	i := 0
	for item, err := range each(values["messages"]) {
		if err != nil {
			return fmt.Errorf("its messages: %w", err)
		}
		i++
		if err := c.message(item, i); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	i = 0
	for item, err := range each(values["tools"]) {
		if err != nil {
			return fmt.Errorf("its tools: %w", err)
		}
		i++
		t, err := schema.ParseTool(item)
		if err != nil {
			return fmt.Errorf("tool call %d: %w", i, err)
		}
		c.Tools = append(c.Tools, t)
	}
	return nil
}

// message reads message number n.
func (c *Conversation) message(raw []byte, n int) error {
	values, err := object(raw)
	if err != nil {
		return err
	}
	if c.foreign() {
		return c.foreignMessage(values, n)
	}
	record := []byte("{")
	add := func(name string, value []byte) {
		if value == nil {
			return
		}
		if len(record) > 1 {
			record = append(record, ',')
		}
		record = append(rawjson.AppendQuote(record, name), ':')
		record = append(record, value...)
	}
	add("id", values["id"])
	var rest []rawjson.Member
	if metadata := values["metadata"]; metadata != nil {
		if rest, err = rawjson.Object(metadata); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(rest, func(m rawjson.Member) bool { return m.Name == "timestamp" }) {
		at, err := timeIn(values["timestamp"])
		if err != nil {
			return err
		}
		if at != "" {
			add("timestamp", rawjson.AppendQuote(nil, string(at)))
		}
	}
	add("role", values["role"])
	add("content", values["content"])
	add("tool_calls", values["toolCalls"])
	for _, m := range rest {
		add(m.Name, m.Value)
	}
	m, err := schema.ParseMessage(append(record, '}'))
	if err != nil {
		return err
	}
	c.Messages = append(c.Messages, m)
	return nil
}

// superseded puts superseded revisions back where they were in the logs.
func (c *Conversation) superseded(raw []byte) error {
	if raw == nil {
		return nil
	}
	values, err := object(raw)
	if err != nil {
		return err
	}
	if c.Messages, err = insert(c.Messages, values["messages"], schema.ParseMessage); err == nil {
		c.Tools, err = insert(c.Tools, values["tools"], schema.ParseTool)
	}
	return err
}

func insert[R any](records []R, earlier []byte, parse func([]byte) (R, error)) ([]R, error) {
	var out []R
	for item, err := range each(earlier) {
		if err != nil {
			return nil, err
		}
		values, err := object(item)
		if err != nil {
			return nil, err
		}
		at, err := strconv.Atoi(string(values["line"]))
		if err != nil || at < len(out) || at-len(out) > len(records) {
			return nil, errors.New("the line number of a superseded record is wrong")
		}
		n := at - len(out)
		out, records = append(out, records[:n]...), records[n:]
		r, err := parse(values["record"])
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return append(out, records...), nil
}

// timeIn reads a time, in milliseconds of Unix time or RFC 3339.
func timeIn(raw []byte) (schema.Time, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] == '"' {
		at := schema.Time(rawjson.String(raw))
		if at.Time().IsZero() {
			return "", fmt.Errorf("%.40q is not a time", string(at))
		}
		return at, nil
	}
	ms, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.Abs(ms) > 1<<53 {
		return "", fmt.Errorf("%.40s is not a time", raw)
	}
	return spelled(int64(ms)), nil
}

// parseRecord reads the session.json in a document.
func parseRecord(raw []byte) (*schema.Session, error) {
	s, err := schema.ParseSession(raw)
	switch {
	case err != nil:
		return nil, err
	case s.Repair != nil:
		return nil, errors.New("its record is broken")
	case schema.CheckID(s.ID) != nil:
		return nil, schema.CheckID(s.ID)
	}
	return s, nil
}

// object returns the values of an object by name. Duplicate names are an error.
func object(raw []byte) (map[string][]byte, error) {
	members, err := rawjson.Object(raw)
	if err != nil {
		return nil, err
	}
	return byName(members), nil
}

func byName(members []rawjson.Member) map[string][]byte {
	values := make(map[string][]byte, len(members))
	for _, m := range members {
		values[m.Name] = m.Value
	}
	return values
}

// each yields the elements of a list. A missing or null list has none.
func each(raw []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if raw == nil || string(raw) == "null" {
			return
		}
		if raw[0] != '[' {
			yield(nil, errors.New("a value is not a list"))
			return
		}
		for item := range rawjson.Elements(raw) {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// texts reads a list of strings.
func texts(raw []byte) (list []string, err error) {
	for item, err := range each(raw) {
		if err != nil {
			return nil, err
		}
		text, err := rawjson.Unquote(item)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// Read reads a document in either form. ok is false if the text is neither.
func Read(text []byte) (c *Conversation, ok bool, err error) {
	switch {
	case IsLines(text):
		c, err = ReadLines(bytes.NewReader(text))
		return c, true, err
	case !IsJSON(text):
		return nil, false, nil
	}
	c, err = ReadJSON(text)
	if format := (*FormatError)(nil); errors.As(err, &format) && (format.Foreign || !bytes.Contains(text[:min(len(text), 4096)], []byte(`"exportedAt"`))) {
		return nil, false, nil
	}
	return c, true, err
}
