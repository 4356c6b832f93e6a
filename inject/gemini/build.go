package gemini

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"io"
	"strconv"
	"strings"

	"cortext/inject"
	"cortext/schema"
	"cortext/schema/rawjson"
)

// A source is a transcript from which messages are read again.
type source struct{ io.ReaderAt }

// fetch reads a message.
func (s source) fetch(at inject.Span) (record, error) {
	raw, err := at.Read(s)
	if err != nil {
		return record{}, err
	}
	return parseRecord(raw)
}

// merged returns the latest version of a message. Members that a later line lacks
// come from an earlier one.
func (s source) merged(u *unit) (record, error) {
	var m record
	for _, at := range u.refs {
		r, err := s.fetch(at)
		if err != nil {
			return m, err
		}
		if text := says(u.kind, r.Content); m.Content == nil || len(text.items)+len(text.thoughts) > 0 {
			m.Content, m.Display = r.Content, r.Display
		}
		m.ID, m.Model = u.id, cmp.Or(r.Model, m.Model)
		for _, f := range []struct{ to, from *[]byte }{{&m.ToolCalls, &r.ToolCalls}, {&m.Thoughts, &r.Thoughts}, {&m.Tokens, &r.Tokens}} {
			if len(*f.from) > 2 && string(*f.from) != "null" {
				*f.to = *f.from
			}
		}
	}
	return m, nil
}

// A builder makes the second pass: it builds the messages.
type builder struct {
	source
	x *index
}

// each builds all messages.
func (x *index) each(emit func(sub string, b inject.Batch) error) error {
	b := &builder{x.file, x}
	batcher := inject.Batcher{Emit: func(b inject.Batch) error { return emit("", b) }}
	for _, u := range x.units {
		if !u.kept() {
			continue
		}
		m, err := b.build(u)
		if err == nil {
			err = batcher.Add(m)
		}
		if err != nil {
			return err
		}
	}
	for _, id := range x.orphans {
		if x.owners[id] == nil {
			t, blobs, err := b.orphan(id)
			if err != nil {
				return err
			}
			batcher.AddTools([]schema.Tool{t}, blobs)
		}
	}
	return batcher.Flush()
}

// build returns the message of u with its calls.
func (b *builder) build(u *unit) (*inject.MessageBuilder, error) {
	r, err := b.merged(u)
	if err != nil {
		return nil, err
	}
	c := content{b: b, unit: u}
	c.Message = schema.Message{ID: u.id, ParentID: u.parent(), Timestamp: stamp(u.stamp), Source: b.x.t.NativeID}
	switch u.kind {
	case modelUnit:
		c.Role = schema.Assistant
		err = c.model(r)
	case userUnit:
		c.Role = schema.User
		c.user(r)
	default:
		c.Role = schema.System
		if u.notice {
			c.add(modelSays(r.Content))
		} else {
			c.add(userSays(r.Content))
		}
	}
	c.Finish()
	return &c.MessageBuilder, err
}

// stamp returns a record's time.
func stamp(s string) schema.Time { return schema.NewTime(schema.Time(s).Time()) }

// orphan returns a result whose call is not in the file, because the file is damaged or
// starts in the middle of a session.
func (b *builder) orphan(id string) (schema.Tool, []inject.Blob, error) {
	r, err := b.fetch(b.x.results[id])
	out := outcomeOf(parts(r.Content), id, -1)
	t := schema.Tool{ID: id, Name: out.name, Timestamp: stamp(r.Timestamp)}
	finish(&t, call{}, out)
	return t, out.blobs, err
}

// resultOf finds a call's result: in the call, or in the turn that follows.
func (b *builder) resultOf(k call, u *unit, loose *int) (outcome, error) {
	if len(k.result) > 0 && string(k.result) != "null" {
		return outcomeOf(parts(k.result), k.native, -1), nil
	}
	at, n := b.x.results[b.x.owners.resultName(k.native, u)], -1
	if k.native == "" {
		if *loose >= len(u.loose) {
			return outcome{}, nil
		}
		at, n = u.loose[*loose].at, u.loose[*loose].n
		*loose++
	}
	if at.Size == 0 {
		return outcome{}, nil
	}
	r, err := b.fetch(at)
	return outcomeOf(parts(r.Content), k.native, n), err
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
	inject.MessageBuilder
	b    *builder
	unit *unit
}

// add adds the texts and attachments of a message.
func (c *content) add(s spoken) {
	for _, i := range s.items {
		switch {
		case i.file != nil:
			c.AddAttachment(attachment(i.file))
		case i.call == nil:
			c.AddText(i.text)
		}
	}
}

// user adds what the user typed.
func (c *content) user(r record) {
	s := userSays(r.Content)
	line, isCommand := commandLine(r, s, c.b.x.o)
	if isCommand {
		c.AddText(line)
	}
	for _, i := range s.items {
		switch {
		case i.file != nil:
			c.AddAttachment(attachment(i.file))
		case isCommand:
		default:
			t, _ := c.b.x.o.Stripped(i.text)
			c.AddText(asTyped(r, t))
		}
	}
}

// model adds an answer: its texts and attachments, then its calls. The file does not
// record their place among the texts.
func (c *content) model(r record) error {
	s := modelSays(r.Content)
	c.add(s)
	lines := thoughts(r.Thoughts)
	if len(lines) == 0 {
		lines = s.thoughts
	}
	c.AddReasoning(strings.Join(lines, "\n"))
	c.Model, c.Usage = r.Model, usage(r.Tokens)
	if c.unit.cut {
		c.FinishReason = "interrupted"
	}
	ids := map[string]bool{}
	loose := 0
	for n, k := range calls(r, s) {
		id := c.b.x.owners.callName(k.native, c.unit)
		switch {
		case k.native == "":
			id = c.unit.id + "#" + strconv.Itoa(n)
		case id != k.native && k.status == "" && k.result == nil:
			continue // another message's call, in a copy
		}
		for ids[id] {
			id += "#" + strconv.Itoa(n)
		}
		ids[id] = true
		if k.status == "cancelled" {
			c.FinishReason = "interrupted"
		}
		if err := c.addCall(id, k, &loose); err != nil {
			return err
		}
	}
	return nil
}

func usage(raw []byte) *schema.Usage {
	n := func(name string) int64 { return inject.Count(raw, name) }
	return inject.NewUsage(n("input"), n("output")+n("thoughts"), n("cached"))
}

func (c *content) addCall(id string, k call, loose *int) error {
	t := schema.Tool{
		ID: id, MessageID: c.unit.id, Name: k.name, Input: schema.Raw(inject.CompactJSON(k.args)), Timestamp: stamp(cmp.Or(k.stamp, c.unit.stamp)),
	}
	out, err := c.b.resultOf(k, c.unit, loose)
	if err != nil {
		return err
	}
	finish(&t, k, out)
	c.AddCall(t, out.blobs...)
	return nil
}

// attachment returns the attachment for a file.
func attachment(f *file) inject.Attachment {
	if f.data != nil {
		data := []byte(rawjson.String(f.data))
		if raw, err := base64.StdEncoding.DecodeString(string(data)); err == nil {
			data = raw
		} else if raw, err := base64.RawURLEncoding.DecodeString(string(bytes.TrimRight(data, "="))); err == nil {
			data = raw
		}
		if len(data) > 0 {
			return inject.NewAttachment(f.name, f.mediaType, data)
		}
	}
	a := inject.MentionedFile(f.name, f.text)
	a.MediaType = f.mediaType
	return a
}
