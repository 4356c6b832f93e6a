package inject_test

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"cortext/inject"
	"cortext/schema"
)

// TestMessageBuilder checks that blocks record the order of texts, files and calls, and
// that a message with only one block has none.
func TestMessageBuilder(t *testing.T) {
	var b inject.MessageBuilder
	if b.AddText(""); !b.IsEmpty() {
		t.Errorf("with an empty text it is %+v", b)
	}
	b.AddText("one")
	b.AddAttachment(inject.NewAttachment("a.png", "image/png", []byte("png")))
	b.AddText("two")
	b.AddReasoning("")
	b.AddReasoning("r1")
	b.AddReasoning("r2")
	b.AddCall(schema.Tool{ID: "c", Name: "bash"}, inject.Blob{SHA256: "x"})
	b.Finish()
	sum := inject.SHA256([]byte("png"))
	want := schema.Message{
		Content: "one\n\ntwo", Reasoning: "r1\n\nr2",
		Blocks: []schema.Block{
			{Type: schema.TextBlock, Bytes: 3}, {Type: schema.AttachmentBlock}, {Type: schema.TextBlock, Bytes: 3}, {Type: schema.ToolCallBlock, ID: "c"},
		},
		ToolCalls:   []schema.ToolCall{{ID: "c", Name: "bash"}},
		Attachments: []schema.Attachment{{Name: "a.png", MediaType: "image/png", Bytes: 3, SHA256: sum}},
	}
	if !reflect.DeepEqual(b.Message, want) || len(b.Tools) != 1 || len(b.Blobs) != 2 || b.Blobs[0].SHA256 != sum || b.IsEmpty() {
		t.Errorf("it is %+v, tools %v, blobs %v", b.Message, b.Tools, b.Blobs)
	}
	var single inject.MessageBuilder
	single.AddText("one")
	if single.Finish(); single.Blocks != nil || single.Content != "one" {
		t.Errorf("a single text is %+v", single.Message)
	}
}

// TestMentionedFile checks that the text of a file that the user named does not get
// into the log.
func TestMentionedFile(t *testing.T) {
	a := inject.MentionedFile("a.txt", "text")
	if a.Bytes != 4 || a.SHA256 != inject.SHA256([]byte("text")) || a.Blobs != nil || a.MediaType != "text/plain" {
		t.Errorf("it is %+v", a)
	}
	if a := inject.MentionedFile("a.txt", ""); a.Bytes != 0 || a.SHA256 != "" {
		t.Errorf("without its text it is %+v", a)
	}
}

func TestDecodeBase64(t *testing.T) {
	for data, want := range map[string]string{"YQ==": "a", "YQ": "a", "!": "!", "": ""} {
		if got := string(inject.DecodeBase64(data, base64.StdEncoding, base64.RawStdEncoding)); got != want {
			t.Errorf("%q is %q", data, got)
		}
	}
}

// TestBatcher checks that batches have a bounded number of messages and bytes,
// including those of calls and attachments, and that together they contain everything
// in order.
func TestBatcher(t *testing.T) {
	text := func(n int) *inject.MessageBuilder {
		return &inject.MessageBuilder{Message: schema.Message{Content: strings.Repeat("x", n)}}
	}
	large := text(0)
	large.AddCall(schema.Tool{Output: strings.Repeat("x", 2<<20)})
	file := text(0)
	file.AddAttachment(inject.NewAttachment("", "", make([]byte, 2<<20)))
	for name, c := range map[string]struct {
		message *inject.MessageBuilder
		n       int
		sizes   []int
	}{
		"few": {text(1), 3, []int{2, 1}}, "many": {text(1), 600, []int{2, 256, 256, 86}}, "long": {text(700_000), 5, []int{2, 2, 1}},
		"calls": {large, 2, []int{1, 1}}, "files": {file, 2, []int{1, 1}}, "none": {text(0), 0, nil},
	} {
		var sizes []int
		b := inject.Batcher{Emit: func(b inject.Batch) error { sizes = append(sizes, len(b.Messages)); return nil }}
		for range c.n {
			if err := b.Add(c.message); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Flush(); err != nil || !reflect.DeepEqual(sizes, c.sizes) {
			t.Errorf("%s: batches of %v, %v", name, sizes, err)
		}
	}
	tools := 0
	b := inject.Batcher{Emit: func(b inject.Batch) error { tools += len(b.Tools); return nil }}
	b.AddTools([]schema.Tool{{ID: "orphan"}}, nil)
	if err := b.Flush(); err != nil || tools != 1 {
		t.Errorf("%d calls without a message, %v", tools, err)
	}
}
