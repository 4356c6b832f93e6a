package inject

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"cortext/schema"
)

// A MessageBuilder collects one message with its calls, in the order of its blocks.
type MessageBuilder struct {
	schema.Message
	Tools []schema.Tool
	Blobs []Blob

	texts     []string
	reasoning []string
}

// AddText adds a text, unless it is empty.
func (b *MessageBuilder) AddText(s string) {
	if s != "" {
		b.texts = append(b.texts, s)
		b.Blocks = append(b.Blocks, schema.Block{Type: schema.TextBlock, Bytes: len(s)})
	}
}

// AddReasoning adds the model's reasoning, unless it is empty.
func (b *MessageBuilder) AddReasoning(s string) {
	if s != "" {
		b.reasoning = append(b.reasoning, s)
	}
}

// AddAttachment adds an attachment.
func (b *MessageBuilder) AddAttachment(a Attachment) {
	b.Blocks = append(b.Blocks, schema.Block{Type: schema.AttachmentBlock, Index: len(b.Attachments)})
	b.Attachments = append(b.Attachments, a.Attachment)
	b.Blobs = append(b.Blobs, a.Blobs...)
}

// LeastUniqueCall is the length, in bytes, of the shortest call id that no model's server
// issues twice (FORMAT.md, section 10). Shorter ids may be counted.
const LeastUniqueCall = 20

// IsCounted reports whether a server may issue this id of a call again.
func IsCounted(id string) bool { return id != "" && len(id) < LeastUniqueCall }

// AddCall adds a call.
func (b *MessageBuilder) AddCall(t schema.Tool, blobs ...Blob) {
	b.ToolCalls = append(b.ToolCalls, schema.ToolCall{ID: t.ID, Name: t.Name})
	b.Blocks = append(b.Blocks, schema.Block{Type: schema.ToolCallBlock, ID: t.ID})
	b.Tools = append(b.Tools, t)
	b.Blobs = append(b.Blobs, blobs...)
}

// IsEmpty reports whether the message has no content.
func (b *MessageBuilder) IsEmpty() bool { return len(b.texts) == 0 && len(b.Blocks) == 0 }

// Finish joins the texts. A message needs no blocks if there is only one.
func (b *MessageBuilder) Finish() {
	b.Content = strings.Join(b.texts, "\n\n")
	b.Reasoning = strings.Join(b.reasoning, "\n\n")
	if len(b.Blocks) < 2 {
		b.Blocks = nil
	}
}

// Size returns the size of the message and its calls in bytes, without attachments.
func (b *MessageBuilder) Size() int {
	n := len(b.Content) + len(b.Reasoning)
	for i := range b.Tools {
		n += len(b.Tools[i].Input) + len(b.Tools[i].Output)
	}
	return n
}

// An Attachment is a reference to a file and, unless only its name is known, the file's
// content. Keeping the two apart keeps the bytes out of the log.
type Attachment struct {
	schema.Attachment
	Blobs []Blob
}

// NewAttachment returns an attachment with content.
func NewAttachment(name, mediaType string, data []byte) Attachment {
	sum := SHA256(data)
	return Attachment{
		Attachment: schema.Attachment{Name: name, MediaType: mediaType, Bytes: int64(len(data)), SHA256: sum},
		Blobs:      []Blob{{SHA256: sum, Data: data}},
	}
}

// MentionedFile returns the attachment for a file that the user named with @. It does
// not keep the text: the file is in the work tree, and the model's view of it may contain
// secrets.
func MentionedFile(name, text string) Attachment {
	a := Attachment{Attachment: schema.Attachment{Name: name, MediaType: "text/plain"}}
	if text != "" {
		a.Bytes, a.SHA256 = int64(len(text)), SHA256([]byte(text))
	}
	return a
}

// DecodeBase64 decodes data with the first encoding that fits. It returns malformed
// data unchanged.
func DecodeBase64(data string, encodings ...*base64.Encoding) []byte {
	for _, enc := range encodings {
		if b, err := enc.DecodeString(data); err == nil {
			return b
		}
	}
	return []byte(data)
}

// NewUsage returns the tokens that an answer used, or nil if they are not known.
func NewUsage(prompt, completion, cached int64) *schema.Usage {
	u := schema.Usage{PromptTokens: prompt, CompletionTokens: completion, CachedTokens: cached}
	if u.PromptTokens+u.CompletionTokens == 0 {
		return nil
	}
	return &u
}

// SHA256 returns the SHA-256 hash of data in hex.
func SHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// A batch is emitted when it holds this many messages or bytes. The first one holds fewer
// messages, because they often suffice to name a conversation.
const (
	firstMessages = 2
	batchMessages = 256
	batchBytes    = 1 << 20
)

// A Batcher emits messages in batches of bounded size.
type Batcher struct {
	Emit func(Batch) error

	batch   Batch
	size    int
	emitted bool // a batch
}

// Add adds a message.
func (b *Batcher) Add(m *MessageBuilder) error {
	b.batch.Messages = append(b.batch.Messages, m.Message)
	b.AddTools(m.Tools, m.Blobs)
	most := batchMessages
	if !b.emitted {
		most = firstMessages
	}
	if b.size += m.Size(); b.size >= batchBytes || len(b.batch.Messages) >= most {
		return b.Flush()
	}
	return nil
}

// AddTools adds calls without a message.
func (b *Batcher) AddTools(tools []schema.Tool, blobs []Blob) {
	b.batch.Tools = append(b.batch.Tools, tools...)
	b.batch.Blobs = append(b.batch.Blobs, blobs...)
	for i := range blobs {
		b.size += len(blobs[i].Data)
	}
}

// Flush emits what was added since the last batch.
func (b *Batcher) Flush() error {
	if len(b.batch.Messages)+len(b.batch.Tools) == 0 {
		return nil
	}
	batch := b.batch
	b.batch, b.size, b.emitted = Batch{}, 0, true
	return b.Emit(batch)
}
