package claude

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"path"
	"strconv"
	"strings"

	"cortext/inject"
	"cortext/schema"
	"cortext/schema/rawjson"
)

// A batch is emitted when it holds this many messages or bytes.
const (
	batchMessages = 256
	batchBytes    = 1 << 20
)

// each is the second pass: it builds the messages of the main conversation, then
// those of the sub-agents without a file of their own.
func (x *index) each(emit func(sub string, b inject.Batch) error) error {
	for i, g := range append([]*group{x.main}, x.order...) {
		sub := g.key
		if i == 0 {
			sub = ""
		}
		if err := x.eachOf(g, i == 0, func(b inject.Batch) error { return emit(sub, b) }); err != nil {
			return err
		}
	}
	return nil
}

func (x *index) eachOf(g *group, main bool, emit func(inject.Batch) error) error {
	var batch inject.Batch
	size := 0
	flush := func() error {
		if len(batch.Messages)+len(batch.Tools) == 0 {
			return nil
		}
		err := emit(batch)
		batch, size = inject.Batch{}, 0
		return err
	}
	for _, u := range g.units {
		n, err := x.build(u, &batch)
		if err != nil {
			return err
		}
		if size += n; size >= batchBytes || len(batch.Messages) >= batchMessages {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if main {
		if err := x.buildOrphans(&batch); err != nil {
			return err
		}
	}
	return flush()
}

// build adds the message of u and its calls to the batch and returns their
// approximate size in bytes.
func (x *index) build(u *unit, batch *inject.Batch) (int, error) {
	m := schema.Message{
		ID:        u.id,
		ParentID:  u.parent(),
		Timestamp: schema.NewTime(schema.Time(u.stamp).Time()),
		Source:    x.t.NativeID,
	}
	c := content{x: x, m: &m, batch: batch, unit: u}
	for _, at := range u.lines {
		r, err := x.read(at)
		if err != nil {
			return 0, err
		}
		switch u.kind {
		case assistantUnit:
			m.Role = schema.Assistant
			err = c.assistant(r)
		default:
			m.Role = schema.User
			if u.kind != userUnit {
				m.Role = schema.System
			}
			c.user(r)
		}
		if err != nil {
			return 0, err
		}
	}
	for _, at := range u.files {
		r, err := x.read(at)
		if err != nil {
			return 0, err
		}
		c.file(r)
	}
	c.close()
	batch.Messages = append(batch.Messages, m)
	return len(m.Content) + len(m.Reasoning) + c.size, nil
}

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
	x         *index
	m         *schema.Message
	batch     *inject.Batch
	unit      *unit
	texts     []string
	reasoning []string
	calls     map[string]bool
	loose     int
	size      int
}

func (c *content) addText(s string) {
	if s == "" {
		return
	}
	c.texts = append(c.texts, s)
	c.m.Blocks = append(c.m.Blocks, schema.Block{Type: schema.TextBlock, Bytes: len(s)})
}

// close joins the texts, and drops the blocks if there is only one.
func (c *content) close() {
	c.m.Content = strings.Join(c.texts, "\n\n")
	c.m.Reasoning = strings.Join(c.reasoning, "\n\n")
	if len(c.m.Blocks) < 2 {
		c.m.Blocks = nil
	}
}

// user adds a line of a user message: what the user typed, as typed.
func (c *content) user(r record) {
	list := blocks(rawjson.Get(r.Message, "content"))
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
			} else if strip := c.x.o.Strip; strip != nil && c.unit.kind == userUnit {
				if rest, ok := strip(s); ok {
					s = rest
				}
			}
			c.addText(s)
		case "image", "document":
			c.addAttachment(b)
		}
	}
}

// assistant adds one line of an API message. A line holds one block, and each repeats
// the usage of the whole message (FACTS.md, "Records of a transcript").
func (c *content) assistant(r record) error {
	for _, b := range blocks(rawjson.Get(r.Message, "content")) {
		switch b.Type {
		case "text":
			c.addText(b.Text())
		case "thinking":
			if s := b.Thinking(); s != "" {
				c.reasoning = append(c.reasoning, s)
			}
		case "image", "document":
			c.addAttachment(b)
		case "tool_use", "server_tool_use":
			if err := c.addCall(r, b); err != nil {
				return err
			}
		}
	}
	m := c.m
	m.Model = rawjson.String(rawjson.Get(r.Message, "model"))
	if reason := rawjson.String(rawjson.Get(r.Message, "stop_reason")); reason != "" {
		m.FinishReason = reason
	}
	if r.Aborted {
		m.FinishReason = "interrupted"
	}
	if u := rawjson.Get(r.Message, "usage"); u != nil {
		m.Usage = usage(u)
	}
	return nil
}

func usage(raw []byte) *schema.Usage {
	n := func(name string) int64 {
		v, err := strconv.ParseInt(string(rawjson.Get(raw, name)), 10, 64)
		if err != nil || v < 0 {
			return 0
		}
		return v
	}
	cached := n("cache_read_input_tokens")
	u := schema.Usage{
		PromptTokens:     n("input_tokens") + n("cache_creation_input_tokens") + cached,
		CompletionTokens: n("output_tokens"),
		CachedTokens:     cached,
	}
	if u.PromptTokens+u.CompletionTokens == 0 {
		return nil
	}
	return &u
}

func (c *content) addCall(r record, b block) error {
	id := b.ID
	if id == "" { // only seen in hand-made transcripts
		id = c.unit.id + "#" + strconv.Itoa(c.loose)
	}
	if c.calls[id] {
		return nil
	}
	if c.calls == nil {
		c.calls = map[string]bool{}
	}
	c.calls[id] = true
	c.m.ToolCalls = append(c.m.ToolCalls, schema.ToolCall{ID: id, Name: b.Name})
	c.m.Blocks = append(c.m.Blocks, schema.Block{Type: schema.ToolCallBlock, ID: id})
	t := schema.Tool{
		ID: id, MessageID: c.unit.id, Name: b.Name, Input: schema.Raw(b.Input),
		Timestamp: schema.NewTime(schema.Time(r.Timestamp).Time()),
	}
	at, ok := c.x.results[b.ID]
	if b.ID == "" {
		if ok = c.loose < len(c.unit.loose); ok {
			at = c.unit.loose[c.loose]
		}
		c.loose++
	}
	if ok {
		if err := c.x.outcome(&t, b.ID, at, c.batch); err != nil {
			return err
		}
	}
	c.size += len(t.Input) + len(t.Output)
	c.batch.Tools = append(c.batch.Tools, t)
	return nil
}

// buildOrphans keeps results whose calls are not in the file, because it is damaged
// or starts in the middle.
func (x *index) buildOrphans(batch *inject.Batch) error {
	for _, id := range x.orphans {
		if x.calls[id] != nil {
			continue
		}
		t := schema.Tool{ID: id}
		r, err := x.read(x.results[id])
		if err != nil {
			return err
		}
		t.Timestamp = schema.NewTime(schema.Time(r.Timestamp).Time())
		if err := x.outcome(&t, id, x.results[id], batch); err != nil {
			return err
		}
		batch.Tools = append(batch.Tools, t)
	}
	return nil
}

// outcome fills in the result for call id from the line at.
func (x *index) outcome(t *schema.Tool, id string, at ref, batch *inject.Batch) error {
	r, err := x.read(at)
	if err != nil {
		return err
	}
	for _, b := range blocks(rawjson.Get(r.Message, "content")) {
		if b.ToolUseID != id || b.Type != "tool_result" && !strings.HasSuffix(b.Type, "_tool_result") {
			continue
		}
		var texts []string
		for _, part := range blocks(b.Content) {
			switch part.Type {
			case "text":
				texts = append(texts, part.Text())
			case "image", "document":
				a, blob := attachment(part)
				t.Attachments = append(t.Attachments, a)
				batch.Blobs = append(batch.Blobs, blob...)
			default:
				texts = append(texts, string(part.raw)) // readers can see what it is
			}
		}
		if len(b.Content) > 0 && b.Content[0] == '{' {
			texts = append(texts, string(b.Content))
		}
		t.Output = strings.Join(texts, "\n\n")
		ok := !b.IsError
		t.Success = &ok
		if !ok {
			t.Error = inject.Failure(unmarked(t.Output))
		}
		t.ExitCode = exitCode(t.Output, ok, r.ToolUseResult)
		t.DurationMS = duration(r.ToolUseResult)
		return nil
	}
	return nil
}

// unmarked strips the tag that the agent puts around some failures.
func unmarked(s string) string {
	s = strings.TrimPrefix(strings.TrimSpace(s), "<tool_use_error>")
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(strings.TrimSpace(s), "</tool_use_error>")
}

// exitCode returns the exit code of a shell command: a failed one's output begins
// with "Exit code N", and one that ran to its end and succeeded has standard output
// beside it.
func exitCode(output string, ok bool, result []byte) *int {
	code := 0
	switch rest, named := strings.CutPrefix(output, "Exit code "); {
	case named && !ok:
		digits, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(strings.TrimSpace(digits))
		if err != nil {
			return nil
		}
		code = n
	case ok && rawjson.Get(result, "stdout") != nil && !isTrue(rawjson.Get(result, "interrupted")) && rawjson.Get(result, "backgroundTaskId") == nil:
	default:
		return nil
	}
	return &code
}

// duration returns the duration that the tool reported, in milliseconds.
func duration(result []byte) int64 {
	for _, name := range []string{"durationMs", "totalDurationMs"} {
		if ms, err := strconv.ParseFloat(string(rawjson.Get(result, name)), 64); err == nil && ms > 0 && ms < 1e12 {
			return int64(ms)
		}
	}
	return 0
}

func (c *content) addAttachment(b block) {
	a, blob := attachment(b)
	c.m.Blocks = append(c.m.Blocks, schema.Block{Type: schema.AttachmentBlock, Index: len(c.m.Attachments)})
	c.m.Attachments = append(c.m.Attachments, a)
	c.batch.Blobs = append(c.batch.Blobs, blob...)
}

// attachment turns an image or document block into a reference, so that its bytes
// stay out of the log.
func attachment(b block) (schema.Attachment, []inject.Blob) {
	a := schema.Attachment{MediaType: rawjson.String(rawjson.Get(b.Source, "media_type")), Name: b.Title}
	data := rawjson.String(rawjson.Get(b.Source, "data"))
	if data == "" {
		if url := rawjson.String(rawjson.Get(b.Source, "url")); url != "" && a.Name == "" {
			a.Name = url
		}
		return a, nil
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		raw = []byte(data)
	}
	a.Bytes = int64(len(raw))
	a.SHA256 = sha256Hex(raw)
	return a, []inject.Blob{{SHA256: a.SHA256, Data: raw}}
}

// file adds a reference to a file that the user named with @. It does not keep the
// text: the file is in the work tree, and the model's view of it may contain secrets.
func (c *content) file(r record) {
	name := rawjson.String(rawjson.Get(r.Attachment, "displayPath"))
	if name == "" {
		name = rawjson.String(rawjson.Get(r.Attachment, "filename"))
	}
	if name = strings.ReplaceAll(name, `\`, "/"); path.IsAbs(name) || strings.Contains(name, ":/") {
		name = path.Base(name) // no path of this machine
	}
	body := rawjson.String(rawjson.Get(rawjson.Get(rawjson.Get(r.Attachment, "content"), "file"), "content"))
	a := schema.Attachment{MediaType: "text/plain", Name: name}
	if body != "" {
		a.Bytes = int64(len(body))
		a.SHA256 = sha256Hex([]byte(body))
	}
	c.m.Attachments = append(c.m.Attachments, a)
}

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
