package portable

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"
	"time"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// WriteJSON writes a conversation as one JSON object, with each message or call on its own line.
func WriteJSON(to io.Writer, c *Conversation) error {
	w := writer{out: bufio.NewWriterSize(to, 1<<16)}
	w.raw("{\n\"version\":\"" + Version + "\",\n\"exportedAt\":")
	w.raw(strconv.FormatInt(Millis(c.At()), 10))
	w.raw(",\n\"session\":")
	w.session(c, "")
	w.raw("\n}\n")
	return w.end()
}

// Millis returns a time as Unix time in milliseconds, or 0 for the zero time.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// A writer writes JSON and keeps the first error.
type writer struct {
	out  *bufio.Writer
	buf  []byte
	line []byte // buffer for a record
	err  error
}

func (w *writer) end() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

func (w *writer) raw(s string) {
	if w.err == nil {
		_, w.err = w.out.WriteString(s)
	}
}

func (w *writer) bytes(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
}

func (w *writer) quote(s string) {
	w.buf = rawjson.AppendQuote(w.buf[:0], s)
	w.bytes(w.buf)
}

// session writes the object of a conversation. native is a sub-agent's id.
func (w *writer) session(c *Conversation, native string) {
	w.raw("{\n")
	if native != "" {
		w.raw("\"native_id\":")
		w.quote(native)
		w.raw(",\n")
	}
	w.raw("\"name\":")
	w.quote(c.Title())
	s := c.Session
	if s == nil {
		s = new(schema.Session)
	}
	w.raw(",\n\"provider\":")
	w.quote(ProviderOf(s))
	w.raw(",\n\"modes\":")
	w.value(ModesOf(s))
	messages, earlier := counting(c.Messages, func(m *schema.Message) (string, int64) { return m.ID, m.Precedence() })
	w.raw(",\n\"messages\":[")
	for i, at := range messages {
		w.item(i)
		w.message(&c.Messages[at])
	}
	w.raw("],\n\"longTermSummary\":")
	w.quote(s.ContextSummary)
	w.raw(",\n\"metrics\":")
	tools, earlierTools := counting(c.Tools, func(t *schema.Tool) (string, int64) { return t.ID, t.Precedence() })
	w.value(MetricsOf(s, len(messages), len(tools)))
	w.raw(",\n\"tools\":[")
	for i, at := range tools {
		w.item(i)
		w.line = schema.AppendTool(w.line[:0], &c.Tools[at])
		w.bytes(line(w.line))
	}
	w.raw("]")
	if c.Session != nil {
		w.raw(",\n\"record\":")
		w.record(c.Session)
	}
	if len(earlier)+len(earlierTools) > 0 {
		w.raw(",\n\"superseded\":{\"messages\":[")
		for i, at := range earlier {
			w.item(i)
			w.earlier(at, line(schema.AppendMessage(nil, &c.Messages[at])))
		}
		w.raw("],\"tools\":[")
		for i, at := range earlierTools {
			w.item(i)
			w.earlier(at, line(schema.AppendTool(nil, &c.Tools[at])))
		}
		w.raw("]}")
	}
	w.rest(c)
	w.raw("\n}")
}

// rest writes the members that most conversations lack.
func (w *writer) rest(c *Conversation) {
	if len(c.Summaries) > 0 {
		w.raw(",\n\"summaries\":[")
		for i, sum := range c.Summaries {
			w.item(i)
			w.summary(sum)
		}
		w.raw("]")
	}
	if c.Document != nil {
		w.raw(",\n\"document\":")
		w.document(c.Document)
	}
	if len(c.Attachments) > 0 {
		w.raw(",\n\"attachments\":[")
		for i := range c.Attachments {
			w.item(i)
			w.attachment(&c.Attachments[i])
		}
		w.raw("]")
	}
	if len(c.LeftOut) > 0 {
		w.raw(",\n\"leftOut\":")
		w.value(c.LeftOut)
	}
	if len(c.Subagents) > 0 {
		w.raw(",\n\"subagents\":[")
		for i := range c.Subagents {
			w.item(i)
			w.session(&c.Subagents[i].Conversation, c.Subagents[i].NativeID)
		}
		w.raw("]")
	}
}

// item starts an element of a list.
func (w *writer) item(i int) {
	if i > 0 {
		w.raw(",")
	}
	w.raw("\n")
}

// value writes a value that does not contain text of the conversation.
func (w *writer) value(v any) {
	b, err := json.Marshal(v)
	if w.err == nil {
		w.err = err
	}
	w.bytes(b)
}

func (w *writer) earlier(at int, record []byte) {
	w.raw("{\"line\":" + strconv.Itoa(at) + ",\"record\":")
	w.bytes(record)
	w.raw("}")
}

// record writes session.json on one line.
func (w *writer) record(s *schema.Session) {
	b, err := settled(s).Marshal()
	if err != nil && w.err == nil {
		w.err = err
	}
	w.compact(b)
}

func (w *writer) summary(s *schema.Summary) {
	b, err := s.Marshal()
	if err != nil && w.err == nil {
		w.err = err
	}
	w.compact(b)
}

// compact writes an object on a single line. Its input has a member on each line.
func (w *writer) compact(object []byte) {
	members, err := rawjson.Members(object)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.raw("{")
	for i, m := range members {
		if i > 0 {
			w.raw(",")
		}
		w.quote(m.Name)
		w.raw(":")
		w.bytes(m.Value)
	}
	w.raw("}")
}

func (w *writer) document(d *Document) {
	w.raw("{\"name\":")
	w.quote(d.Name)
	w.raw(",\"text\":")
	w.quote(d.Text)
	w.raw("}")
}

func (w *writer) attachment(a *Attachment) {
	w.raw("{\"sha256\":")
	w.quote(a.SHA256)
	w.raw(",\"data\":\"" + base64.StdEncoding.EncodeToString(a.Data) + "\"}")
}

// message writes a message in the form that other programs know. Its metadata holds the
// rest of the record.
func (w *writer) message(m *schema.Message) {
	w.line = schema.AppendMessage(w.line[:0], m)
	record := line(w.line)
	w.raw("{")
	if m.ID != "" {
		w.raw("\"id\":")
		w.quote(m.ID)
		w.raw(",")
	}
	w.raw("\"role\":")
	w.quote(string(m.Role))
	w.raw(",\"content\":")
	if content := rawjson.Get(record, "content"); content != nil {
		w.bytes(content)
	} else {
		w.raw("\"\"")
	}
	ms := Millis(m.Timestamp.Time())
	w.raw(",\"timestamp\":" + strconv.FormatInt(ms, 10))
	if calls := rawjson.Get(record, "tool_calls"); calls != nil {
		w.raw(",\"toolCalls\":")
		w.bytes(calls)
	}
	members, err := rawjson.Members(record)
	if w.err == nil {
		w.err = err
	}
	n := 0
	for _, member := range members {
		switch member.Name {
		case "id", "role", "content", "tool_calls":
			continue
		case "timestamp":
			if m.Timestamp == spelled(ms) {
				continue
			}
		}
		if n++; n == 1 {
			w.raw(",\"metadata\":{")
		} else {
			w.raw(",")
		}
		w.quote(member.Name)
		w.raw(":")
		w.bytes(member.Value)
	}
	if n > 0 {
		w.raw("}")
	}
	w.raw("}")
}

// spelled formats a time in milliseconds as session.json does. It returns "" for 0.
func spelled(ms int64) schema.Time {
	if ms == 0 {
		return ""
	}
	return schema.NewTime(time.UnixMilli(ms))
}

func line(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\n")) }

// counting returns the indexes of the current revisions and of the superseded ones, both in
// order.
func counting[R any](records []R, key func(*R) (id string, precedence int64)) (counts, earlier []int) {
	best := make(map[string]int, len(records))
	for i := range records {
		id, precedence := key(&records[i])
		if id == "" {
			continue
		}
		if at, ok := best[id]; ok {
			if _, have := key(&records[at]); precedence < have {
				continue
			}
		}
		best[id] = i
	}
	for i := range records {
		if id, _ := key(&records[i]); id == "" || best[id] == i {
			counts = append(counts, i)
		} else {
			earlier = append(earlier, i)
		}
	}
	return counts, earlier
}
