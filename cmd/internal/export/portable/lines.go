package portable

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/schema/rawjson"
)

// A document in JSON Lines begins with a line {"version":…,"exportedAt":…,"conversation":…}.
// Each further line is an object with one member, whose name gives its kind: tool, message,
// summary, document, attachment or left_out. subagent starts the conversation of a
// sub-agent and has the native ids of the sub-agents that lead to it. end has the number of
// lines before it.

// WriteLines writes a conversation as JSON Lines.
func WriteLines(to io.Writer, c *Conversation) error {
	w := &lineWriter{writer: writer{out: bufio.NewWriterSize(to, 1<<16)}}
	w.raw("{\"version\":\"" + Version + "\",\"exportedAt\":" + strconv.FormatInt(Millis(c.At()), 10) + ",\"conversation\":")
	w.about(c)
	w.records(c, nil)
	w.begin("end")
	w.raw(strconv.Itoa(w.lines))
	w.endLine()
	return w.end()
}

type lineWriter struct {
	writer
	lines int
}

func (w *lineWriter) begin(kind string) { w.raw("{\"" + kind + "\":") }

func (w *lineWriter) endLine() {
	w.raw("}\n")
	w.lines++
}

// about writes the rest of a line that starts a conversation.
func (w *lineWriter) about(c *Conversation) {
	if c.Session != nil {
		w.record(c.Session)
	} else {
		w.raw("{\"title\":")
		w.quote(c.Name)
		w.raw("}")
	}
	w.endLine()
}

// records writes the lines that follow the first line of a conversation. way has the native
// ids of the sub-agents that contain it.
func (w *lineWriter) records(c *Conversation, way []string) {
	if len(c.LeftOut) > 0 {
		w.begin("left_out")
		w.value(c.LeftOut)
		w.endLine()
	}
	if c.Document != nil {
		w.begin("document")
		w.document(c.Document)
		w.endLine()
	}
	if c.Lines != nil {
		w.logLines("tool", c.Lines.Tools)
		w.logLines("message", c.Lines.Messages)
	}
	for i := range c.Tools {
		w.begin("tool")
		w.buf = schema.AppendTool(w.buf[:0], &c.Tools[i])
		w.bytes(line(w.buf))
		w.endLine()
	}
	for i := range c.Messages {
		w.begin("message")
		w.buf = schema.AppendMessage(w.buf[:0], &c.Messages[i])
		w.bytes(line(w.buf))
		w.endLine()
	}
	for _, sum := range c.Summaries {
		w.begin("summary")
		w.summary(sum)
		w.endLine()
	}
	for i := range c.Attachments {
		w.begin("attachment")
		w.attachment(&c.Attachments[i])
		w.endLine()
	}
	for i := range c.Subagents {
		sub := &c.Subagents[i]
		below := append(way[:len(way):len(way)], sub.NativeID)
		w.begin("subagent")
		w.value(below)
		w.raw(",\"conversation\":")
		w.about(&sub.Conversation)
		w.records(&sub.Conversation, below)
	}
}

// LineID returns the id of the record that one of the [Lines] has, or "".
func LineID(line *[]byte) string { return string(rawjson.Get(*line, "id")) }

func (w *lineWriter) logLines(kind string, lines [][]byte) {
	for _, line := range lines {
		w.begin(kind)
		w.bytes(line)
		w.endLine()
	}
}

// headBytes is the size of the start of a file that shows whether it is a document.
const headBytes = 512

// IsLines reports whether a file that starts with head is a document in JSON Lines.
func IsLines(head []byte) bool {
	return hasPrefix(head, `{"version":"`, `","exportedAt":`, `,"conversation":`)
}

// start returns the start of a file, without a byte order mark: editors and PowerShell add one.
func start(head []byte) string {
	head = bytes.TrimPrefix(head, []byte(byteOrderMark))
	return string(head[:min(len(head), headBytes)])
}

const byteOrderMark = "\xEF\xBB\xBF"

// hasPrefix reports whether a file that starts with head starts with the parts, in order and at
// most 24 bytes apart.
func hasPrefix(head []byte, parts ...string) bool {
	text := start(head)
	for i, part := range parts {
		at := strings.Index(text, part)
		if at < 0 || at > 24 || i == 0 && at > 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

// ReadLines reads a document in JSON Lines. The error is a [*FormatError] if it is damaged.
func ReadLines(from io.Reader) (*Conversation, error) {
	r := lineReader{}
	for record, err := range jsonl.Read(from, 0, 1) {
		if d := (*jsonl.Damage)(nil); errors.As(err, &d) {
			if d.Kind == jsonl.Unterminated || d.Kind == jsonl.BadUTF8 {
				continue
			}
			return nil, damaged("line %d: %s", d.Line, d.Kind)
		}
		if err != nil {
			return nil, err
		}
		if err := r.line(bytes.Clone(record.Raw)); err != nil {
			if f := (*FormatError)(nil); errors.As(err, &f) && r.lines == 0 {
				return nil, err
			}
			return nil, damaged("line %d: %v", record.Line, err)
		}
		r.lines++
	}
	switch {
	case r.all == nil:
		return nil, &FormatError{Foreign: true, Why: "holds no conversation"}
	case !r.ended:
		return nil, damaged("it is truncated: its last line is missing")
	}
	return r.all, nil
}

type lineReader struct {
	all, now *Conversation // the document, and the conversation that the current lines belong to
	lines    int
	ended    bool
}

var errUnknownLine = errors.New("the line is not from an export")

func (r *lineReader) line(raw []byte) error {
	members, err := rawjson.Object(raw)
	if err != nil {
		return err
	}
	if len(members) == 0 || r.ended {
		return errUnknownLine
	}
	if r.all == nil {
		return r.first(members)
	}
	switch value := members[0].Value; members[0].Name {
	case "tool":
		t, err := schema.ParseTool(value)
		if err == nil {
			r.now.Tools = append(r.now.Tools, t)
		}
		return err
	case "message":
		m, err := schema.ParseMessage(value)
		if err == nil {
			r.now.Messages = append(r.now.Messages, m)
		}
		return err
	case "summary":
		sum, err := schema.ParseSummary(value)
		if err == nil {
			r.now.Summaries = append(r.now.Summaries, sum)
		}
		return err
	case "document":
		return r.now.document(value)
	case "attachment":
		return r.now.attachment(value)
	case "left_out":
		r.now.LeftOut, err = texts(value)
		return err
	case "subagent":
		return r.subagent(members)
	case "end":
		if string(value) != strconv.Itoa(r.lines) {
			return errors.New("lines are missing or added: it says that there are " + string(value[:min(len(value), 20)]) + " before it")
		}
		r.ended = true
		return nil
	}
	return errUnknownLine
}

func (r *lineReader) first(members []rawjson.Member) (err error) {
	values := byName(members)
	version, conversation := values["version"], values["conversation"]
	if version == nil || conversation == nil {
		return &FormatError{Foreign: true, Why: "is not an exported conversation"}
	}
	if err := checkVersion(rawjson.String(version)); err != nil {
		return err
	}
	r.all = &Conversation{}
	r.now = r.all
	return r.now.about(conversation)
}

// about reads the record of a conversation.
func (c *Conversation) about(raw []byte) (err error) {
	values, err := object(raw)
	if err != nil {
		return err
	}
	if values["version"] == nil {
		c.Name = rawjson.String(values["title"])
		return nil
	}
	c.Session, err = parseRecord(raw)
	return err
}

func (r *lineReader) subagent(members []rawjson.Member) error {
	way, err := texts(members[0].Value)
	if err != nil {
		return err
	}
	conversation := byName(members)["conversation"]
	if len(way) == 0 || len(way) > maxSubagentDepth || conversation == nil {
		return errUnknownLine
	}
	at := r.all
	for _, id := range way[:len(way)-1] {
		sub := at.subagent(id)
		if sub == nil {
			return errors.New("the sub-agent that it belongs to is missing")
		}
		at = sub
	}
	id := way[len(way)-1]
	if id == "" || at.subagent(id) != nil {
		return errors.New("a sub-agent appears twice or has no id")
	}
	at.Subagents = append(at.Subagents, Subagent{NativeID: id})
	r.now = &at.Subagents[len(at.Subagents)-1].Conversation
	return r.now.about(conversation)
}

// maxSubagentDepth is how deep sub-agents may be nested.
const maxSubagentDepth = 16

func (c *Conversation) subagent(id string) *Conversation {
	for i := range c.Subagents {
		if c.Subagents[i].NativeID == id {
			return &c.Subagents[i].Conversation
		}
	}
	return nil
}

func (c *Conversation) document(raw []byte) error {
	values, err := object(raw)
	if err == nil {
		c.Document = &Document{Name: rawjson.String(values["name"]), Text: rawjson.String(values["text"])}
	}
	return err
}

func (c *Conversation) attachment(raw []byte) error {
	values, err := object(raw)
	if err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(rawjson.String(values["data"]))
	if err == nil {
		c.Attachments = append(c.Attachments, Attachment{SHA256: rawjson.String(values["sha256"]), Data: data})
	}
	return err
}
