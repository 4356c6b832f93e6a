package gemini

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
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

// each is the second pass: it builds the messages.
func (x *index) each(emit func(sub string, b inject.Batch) error) error {
	var batch inject.Batch
	size := 0
	flush := func() error {
		if len(batch.Messages)+len(batch.Tools) == 0 {
			return nil
		}
		err := emit("", batch)
		batch, size = inject.Batch{}, 0
		return err
	}
	for _, u := range x.units {
		if !u.kept() {
			continue
		}
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
	if err := x.buildOrphans(&batch); err != nil {
		return err
	}
	return flush()
}

// fetch reads a message again.
func (x *index) fetch(at ref) (record, error) {
	raw := make([]byte, at.size)
	if _, err := x.file.ReadAt(raw, at.offset); err != nil && !errors.Is(err, io.EOF) {
		return record{}, err
	}
	return parseRecord(raw)
}

// merged returns the latest version of a message. Members that a later line lacks
// come from an earlier one.
func (x *index) merged(u *unit) (record, error) {
	var m record
	for _, at := range u.refs {
		r, err := x.fetch(at)
		if err != nil {
			return m, err
		}
		if s := says(u.kind, r.Content); m.Content == nil || len(s.items)+len(s.thoughts) > 0 {
			m.Content, m.Display = r.Content, r.Display
		}
		m.ID, m.Model = u.id, first(r.Model, m.Model)
		for _, f := range []struct{ to, from *[]byte }{{&m.ToolCalls, &r.ToolCalls}, {&m.Thoughts, &r.Thoughts}, {&m.Tokens, &r.Tokens}} {
			if len(*f.from) > 2 && string(*f.from) != "null" {
				*f.to = *f.from
			}
		}
	}
	return m, nil
}

// build adds the message of u and its calls to the batch and returns their
// approximate size in bytes.
func (x *index) build(u *unit, batch *inject.Batch) (int, error) {
	r, err := x.merged(u)
	if err != nil {
		return 0, err
	}
	m := schema.Message{
		ID: u.id, ParentID: u.parent(), Timestamp: schema.NewTime(schema.Time(u.stamp).Time()), Source: x.t.NativeID,
	}
	c := content{x: x, m: &m, batch: batch, unit: u}
	switch u.kind {
	case modelUnit:
		m.Role = schema.Assistant
		err = c.model(r)
	case userUnit:
		m.Role = schema.User
		c.user(r)
	default:
		m.Role = schema.System
		if u.notice {
			c.add(modelSays(r.Content))
		} else {
			c.add(userSays(r.Content))
		}
	}
	if err != nil {
		return 0, err
	}
	c.close()
	batch.Messages = append(batch.Messages, m)
	return len(m.Content) + len(m.Reasoning) + c.size, nil
}

// parent returns the id of the nearest message above u. It relinks the units in between
// to it, so that no later call walks over them again.
func (u *unit) parent() string {
	p := u.above
	for p != nil && !p.kept() {
		p = p.above
	}
	for v := u; v != nil && v.above != p; {
		v, v.above = v.above, p
	}
	if p == nil {
		return ""
	}
	return p.id
}

// content collects the content of a message.
type content struct {
	x     *index
	m     *schema.Message
	batch *inject.Batch
	unit  *unit
	texts []string
	size  int
}

func (c *content) addText(s string) {
	if s == "" {
		return
	}
	c.texts = append(c.texts, s)
	c.m.Blocks = append(c.m.Blocks, schema.Block{Type: schema.TextBlock, Bytes: len(s)})
}

func (c *content) addFile(f *file) {
	a, blob := attachment(f)
	c.m.Blocks = append(c.m.Blocks, schema.Block{Type: schema.AttachmentBlock, Index: len(c.m.Attachments)})
	c.m.Attachments = append(c.m.Attachments, a)
	c.addBlobs(blob)
}

func (c *content) addBlobs(blobs []inject.Blob) {
	c.batch.Blobs = append(c.batch.Blobs, blobs...)
	for _, b := range blobs {
		c.size += len(b.Data)
	}
}

// add adds the texts and attachments of a message.
func (c *content) add(s spoken) {
	for _, i := range s.items {
		switch {
		case i.file != nil:
			c.addFile(i.file)
		case i.call == nil:
			c.addText(i.text)
		}
	}
}

// close joins the texts, and drops the blocks if there is only one.
func (c *content) close() {
	c.m.Content = strings.Join(c.texts, "\n\n")
	if len(c.m.Blocks) < 2 {
		c.m.Blocks = nil
	}
}

// user adds what the user typed.
func (c *content) user(r record) {
	s, strip := userSays(r.Content), c.x.o.Strip
	line, isCommand := commandLine(r, s, strip)
	if isCommand {
		c.addText(line)
	}
	for _, i := range s.items {
		switch {
		case i.file != nil:
			c.addFile(i.file)
		case isCommand:
		default:
			t := i.text
			if strip != nil {
				if rest, ok := strip(t); ok {
					t = rest
				}
			}
			c.addText(asTyped(r, t))
		}
	}
}

// model adds an answer: its texts and attachments, then its calls. The file does not
// record their place among the texts.
func (c *content) model(r record) error {
	s := modelSays(r.Content)
	c.add(s)
	m := c.m
	lines := thoughts(r.Thoughts)
	if len(lines) == 0 {
		lines = s.thoughts
	}
	m.Reasoning = strings.Join(lines, "\n")
	m.Model, m.Usage = r.Model, usage(r.Tokens)
	if c.unit.cut {
		m.FinishReason = "interrupted"
	}
	ids := map[string]bool{}
	loose := 0
	for n, k := range calls(r, s) {
		id := k.native
		switch {
		case id == "":
			id = c.unit.id + "#" + strconv.Itoa(n)
		case c.x.owners[id] != c.unit:
			if k.status == "" && k.result == nil {
				continue // another message's call, in a copy
			}
			id += "@" + c.unit.id
		}
		for ids[id] {
			id += "#" + strconv.Itoa(n)
		}
		ids[id] = true
		if k.status == "cancelled" {
			m.FinishReason = "interrupted"
		}
		if err := c.addCall(id, k, &loose); err != nil {
			return err
		}
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
	u := schema.Usage{
		PromptTokens: n("input"), CompletionTokens: n("output") + n("thoughts"), CachedTokens: n("cached"),
	}
	if u.PromptTokens+u.CompletionTokens <= 0 {
		return nil
	}
	return &u
}

func (c *content) addCall(id string, k call, loose *int) error {
	c.m.ToolCalls = append(c.m.ToolCalls, schema.ToolCall{ID: id, Name: k.name})
	c.m.Blocks = append(c.m.Blocks, schema.Block{Type: schema.ToolCallBlock, ID: id})
	t := schema.Tool{
		ID: id, MessageID: c.unit.id, Name: k.name, Input: schema.Raw(compact(k.args)),
		Timestamp: schema.NewTime(schema.Time(first(k.stamp, c.unit.stamp)).Time()),
	}
	out, err := c.x.resultOf(k, c.unit, loose)
	if err != nil {
		return err
	}
	finish(&t, k, out)
	c.addBlobs(out.blobs)
	c.size += len(t.Input) + len(t.Output)
	c.batch.Tools = append(c.batch.Tools, t)
	return nil
}

// compact removes the space between the tokens of a JSON value: documents are
// indented.
func compact(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted && i+1 < len(raw):
			out = append(out, c)
			i++
		case !quoted && (c == ' ' || c == '\n' || c == '\r' || c == '\t'):
			continue
		}
		out = append(out, raw[i])
	}
	return out
}

// resultOf finds a call's result: in the call, or in the turn that follows.
func (x *index) resultOf(k call, u *unit, loose *int) (outcome, error) {
	if len(k.result) > 0 && string(k.result) != "null" {
		return outcomeOf(parts(k.result), k.native, -1), nil
	}
	at, n := x.results[k.native], -1
	if k.native == "" {
		if *loose >= len(u.loose) {
			return outcome{}, nil
		}
		at, n = u.loose[*loose].at, u.loose[*loose].n
		*loose++
	}
	if at.size == 0 {
		return outcome{}, nil
	}
	r, err := x.fetch(at)
	return outcomeOf(parts(r.Content), k.native, n), err
}

// buildOrphans keeps results whose calls are not in the file, because it is damaged
// or starts in the middle.
func (x *index) buildOrphans(batch *inject.Batch) error {
	for _, id := range x.orphans {
		if x.owners[id] != nil {
			continue
		}
		r, err := x.fetch(x.results[id])
		if err != nil {
			return err
		}
		out := outcomeOf(parts(r.Content), id, -1)
		t := schema.Tool{ID: id, Name: out.name, Timestamp: schema.NewTime(schema.Time(r.Timestamp).Time())}
		finish(&t, call{}, out)
		batch.Tools = append(batch.Tools, t)
		batch.Blobs = append(batch.Blobs, out.blobs...)
	}
	return nil
}

// attachment turns a file into a reference, so that its bytes stay out of the log. It
// does not keep the text of a file named with @: the file is in the work tree, and
// the model's view of it may contain secrets.
func attachment(f *file) (schema.Attachment, []inject.Blob) {
	a := schema.Attachment{MediaType: f.mediaType, Name: f.name}
	if f.data == nil {
		if f.text != "" {
			a.Bytes, a.SHA256 = int64(len(f.text)), sha256Hex([]byte(f.text))
		}
		return a, nil
	}
	data := []byte(rawjson.String(f.data))
	if raw, err := base64.StdEncoding.DecodeString(string(data)); err == nil {
		data = raw
	} else if raw, err := base64.RawURLEncoding.DecodeString(string(bytes.TrimRight(data, "="))); err == nil {
		data = raw
	}
	if len(data) == 0 {
		return a, nil
	}
	a.Bytes, a.SHA256 = int64(len(data)), sha256Hex(data)
	return a, []inject.Blob{{SHA256: a.SHA256, Data: data}}
}

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
