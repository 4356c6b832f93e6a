package claude

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"path"
	"strconv"
	"strings"

	"cortext/inject"
	"cortext/schema"
	"cortext/schema/rawjson"
)

// A builder makes the second pass: it builds messages from their lines.
type builder struct {
	x       *index
	batcher inject.Batcher
}

// each builds the messages of the main conversation, then those of the sub-agents
// without a file of their own.
func (x *index) each(emit func(sub string, b inject.Batch) error) error {
	for i, g := range append([]*group{x.main}, x.order...) {
		sub := g.key
		if i == 0 {
			sub = ""
		}
		b := &builder{x: x, batcher: inject.Batcher{Emit: func(b inject.Batch) error { return emit(sub, b) }}}
		for _, u := range g.units {
			m, err := b.build(u)
			if err == nil {
				err = b.batcher.Add(m)
			}
			if err != nil {
				return err
			}
		}
		if i == 0 {
			if err := b.orphans(); err != nil {
				return err
			}
		}
		if err := b.batcher.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// build returns the message of u with its calls.
func (b *builder) build(u *unit) (*inject.MessageBuilder, error) {
	c := content{b: b, unit: u}
	c.Message = schema.Message{ID: u.id, ParentID: u.parent(), Timestamp: stamp(u.stamp), Source: b.x.t.NativeID}
	for _, at := range u.lines {
		r, err := b.x.read(&b.x.line, at)
		if err != nil {
			return nil, err
		}
		switch u.kind {
		case assistantUnit:
			c.Role = schema.Assistant
			err = c.assistant(r)
		default:
			c.Role = schema.User
			if u.kind != userUnit {
				c.Role = schema.System
			}
			c.user(r)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, at := range u.files {
		r, err := b.x.read(&b.x.line, at)
		if err != nil {
			return nil, err
		}
		c.Attachments = append(c.Attachments, mentioned(r).Attachment)
	}
	c.Finish()
	return &c.MessageBuilder, nil
}

// stamp returns a record's time.
func stamp(s string) schema.Time { return schema.NewTime(schema.Time(s).Time()) }

// parent returns the id of the nearest message above u in the same conversation.
func (u *unit) parent() string {
	for p := range ancestors(u.node) {
		if p.unit != nil && p.unit != u {
			if p.unit.group != nil && p.unit.group != u.group {
				return ""
			}
			return p.unit.id
		}
	}
	return ""
}

// content collects the content of one message's lines.
type content struct {
	inject.MessageBuilder
	b     *builder
	unit  *unit
	calls map[string]bool
	named int // how many calls with an id there were
	loose int // and how many without
}

// user adds a line of a user message: what the user typed, as typed.
func (c *content) user(r record) {
	list := blocks(r.message().content)
	switch r.Type {
	case "attachment": // queued_command
		list = blocks(rawjson.Get(r.Attachment, "prompt"))
	case "system": // local_command
		list = blocks(r.Content)
	}
	for _, b := range list {
		switch b.Type {
		case "text":
			s := b.Text()
			if line, ok := typed(s); ok {
				s = line
			} else if isOutput(s) {
				s = schema.WithoutEscapes(s)
			} else if c.unit.kind == userUnit {
				s, _ = c.b.x.o.Stripped(s)
			}
			c.AddText(s)
		case "image", "document":
			c.AddAttachment(attachment(b))
		}
	}
}

// assistant adds one line of an API message. A line holds one block, and each repeats
// the usage of the whole message (FACTS.md, "Records of a transcript").
func (c *content) assistant(r record) error {
	m := r.message()
	for _, b := range blocks(m.content) {
		switch b.Type {
		case "text":
			c.AddText(b.Text())
		case "thinking":
			c.AddReasoning(b.Thinking())
		case "image", "document":
			c.AddAttachment(attachment(b))
		case "tool_use", "server_tool_use":
			if err := c.addCall(r, b); err != nil {
				return err
			}
		}
	}
	c.Model = rawjson.String(m.model)
	if reason := rawjson.String(m.stopReason); reason != "" {
		c.FinishReason = reason
	}
	if r.Aborted {
		c.FinishReason = "interrupted"
	}
	if m.usage != nil {
		c.Usage = usage(m.usage)
	}
	return nil
}

func usage(raw []byte) *schema.Usage {
	n := func(name string) int64 { return inject.Count(raw, name) }
	cached := n("cache_read_input_tokens")
	return inject.NewUsage(n("input_tokens")+n("cache_creation_input_tokens")+cached, n("output_tokens"), cached)
}

func (c *content) addCall(r record, b block) error {
	id := b.ID
	var made *call
	if id == "" { // only seen in hand-made transcripts
		id = c.unit.id + "#" + strconv.Itoa(c.loose)
	} else if c.named < len(c.unit.calls) { // else the file was replaced since
		made = c.unit.calls[c.named]
		id = made.name
		c.named++
	}
	if c.calls[id] {
		return nil
	}
	if c.calls == nil {
		c.calls = map[string]bool{}
	}
	c.calls[id] = true
	t := schema.Tool{ID: id, MessageID: c.unit.id, Name: b.Name, Input: bytes.Clone(b.Input), Timestamp: stamp(r.Timestamp)}
	var got result
	ok, place := false, 0
	if made != nil {
		got, ok, place = made.result, made.answered, made.place
	} else if b.ID == "" {
		if ok = c.loose < len(c.unit.loose); ok {
			got = c.unit.loose[c.loose]
		}
		c.loose++
	}
	var blobs []inject.Blob
	if ok {
		var err error
		if blobs, err = c.b.outcome(&t, got, b.ID, place); err != nil {
			return err
		}
	}
	c.AddCall(t, blobs...)
	return nil
}

// orphans keeps results whose calls are not in the file, because the file is damaged or
// starts in the middle of a session.
func (b *builder) orphans() error {
	for _, id := range b.x.orphans {
		orphan := b.x.calls[id]
		if orphan.unit != nil {
			continue
		}
		t := schema.Tool{ID: id, Timestamp: stamp(orphan.result.stamp)}
		blobs, err := b.outcome(&t, orphan.result, id, 0)
		if err != nil {
			return err
		}
		b.batcher.AddTools([]schema.Tool{t}, blobs)
	}
	return nil
}

// outcome fills in a result, and returns its attachments: of the results for call id in the
// message, the one with the index place.
func (b *builder) outcome(t *schema.Tool, got result, id string, place int) (blobs []inject.Blob, err error) {
	raw, err := b.x.result.Read(b.x.file, got.message)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks(parseMessage(raw).content) {
		if b.ToolUseID != id || b.Type != "tool_result" && !strings.HasSuffix(b.Type, "_tool_result") {
			continue
		}
		if place > 0 {
			place--
			continue
		}
		var texts []string
		for _, part := range blocks(b.Content) {
			switch part.Type {
			case "text":
				texts = append(texts, part.Text())
			case "image", "document":
				a := attachment(part)
				t.Attachments = append(t.Attachments, a.Attachment)
				blobs = append(blobs, a.Blobs...)
			default:
				texts = append(texts, string(part.raw)) // readers can see what it is
			}
		}
		if len(b.Content) > 0 && b.Content[0] == '{' {
			texts = append(texts, string(b.Content))
		}
		t.Output = strings.Join(texts, "\n\n")
		t.Success = new(!b.IsError)
		if b.IsError {
			t.Error = inject.Failure(unmarked(t.Output))
		}
		t.ExitCode = exitCode(t.Output, !b.IsError, got.report.completed)
		t.DurationMS = got.report.duration
		break
	}
	return blobs, nil
}

// unmarked strips the tag that the agent puts around some failures.
func unmarked(s string) string {
	s = strings.TrimPrefix(strings.TrimSpace(s), "<tool_use_error>")
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(strings.TrimSpace(s), "</tool_use_error>")
}

// exitCode returns the exit code of a shell command. The output of a failed command
// begins with "Exit code N".
func exitCode(output string, ok, completed bool) *int {
	code := 0
	switch rest, named := strings.CutPrefix(output, "Exit code "); {
	case named && !ok:
		digits, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(strings.TrimSpace(digits))
		if err != nil {
			return nil
		}
		code = n
	case ok && completed:
	default:
		return nil
	}
	return &code
}

// A report is what the agent recorded about a call besides what the model saw.
type report struct {
	completed bool   // a shell command ended: it has its standard output in a member of its own
	duration  int64  // in milliseconds
	agent     string // the sub-agent that the call started
}

func reportOf(result []byte) report {
	var stdout, stopped bool
	var duration, total int64
	var agent []byte
	for name, value := range rawjson.Fields(result) {
		switch string(name) {
		case "stdout":
			stdout = true
		case "interrupted":
			stopped = stopped || inject.IsTrue(value)
		case "backgroundTaskId":
			stopped = true
		case "durationMs":
			duration = milliseconds(value)
		case "totalDurationMs":
			total = milliseconds(value)
		case "agentId":
			if agent == nil {
				agent = value
			}
		}
	}
	return report{stdout && !stopped, cmp.Or(duration, total), rawjson.String(agent)}
}

func milliseconds(value []byte) int64 {
	if ms, err := strconv.ParseFloat(string(value), 64); err == nil && ms > 0 && ms < 1e12 {
		return int64(ms)
	}
	return 0
}

// attachment turns an image or document block into an attachment.
func attachment(b block) inject.Attachment {
	mediaType, data := rawjson.String(rawjson.Get(b.Source, "media_type")), rawjson.String(rawjson.Get(b.Source, "data"))
	if data != "" {
		return inject.NewAttachment(b.Title, mediaType, inject.DecodeBase64(data, base64.StdEncoding))
	}
	name := cmp.Or(b.Title, rawjson.String(rawjson.Get(b.Source, "url")))
	return inject.Attachment{Attachment: schema.Attachment{MediaType: mediaType, Name: name}}
}

// mentioned returns the attachment for a file, or a resource of an MCP server, that the user
// named with @.
func mentioned(r record) inject.Attachment {
	if uri := rawjson.String(rawjson.Get(r.Attachment, "uri")); uri != "" {
		var texts []string
		for part := range rawjson.Elements(rawjson.Get(rawjson.Get(r.Attachment, "content"), "contents")) {
			texts = append(texts, rawjson.String(rawjson.Get(part, "text")))
		}
		return inject.MentionedFile(uri, strings.Join(texts, "\n"))
	}
	name := cmp.Or(rawjson.String(rawjson.Get(r.Attachment, "displayPath")), rawjson.String(rawjson.Get(r.Attachment, "filename")))
	if name = strings.ReplaceAll(name, `\`, "/"); path.IsAbs(name) || strings.Contains(name, ":/") {
		name = path.Base(name) // drop the path on this machine
	}
	file := rawjson.Get(rawjson.Get(r.Attachment, "content"), "file")
	return inject.MentionedFile(name, rawjson.String(rawjson.Get(file, "content")))
}
