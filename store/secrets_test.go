package store

import (
	"strings"
	"testing"

	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

const secret = "AKIAQYLPMN5HHHFPZAM2"

func TestSecretsNeverReachTheDisk(t *testing.T) {
	s := newTestStore(t)
	sess := &schema.Session{
		Title: "use " + secret, Description: secret, ContextSummary: secret, Notes: secret,
		AgentConfig: schema.AgentConfig{Arguments: secret},
		Plan:        &schema.Plan{Steps: []schema.Step{{Content: secret}}},
		Metadata:    schema.Raw(`{"key":"` + secret + `"}`),
		Tags:        []string{"ok", secret},
	}
	c, err := s.Create("debug", "key "+secret, sess, []byte("# "+secret+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	unknown := []rawjson.Member{{Name: "later", Value: []byte(`{"a":["` + secret + `"]}`)}}
	m := message(1)
	m.Content, m.Reasoning, m.Unknown = "key "+secret, secret, unknown
	m.Attachments = []schema.Attachment{{Name: secret + ".png", Unknown: unknown}}
	m.Blocks = []schema.Block{{Type: "later", Unknown: unknown}, {Type: schema.TextBlock, Bytes: len(m.Content)}}
	m.Usage = &schema.Usage{PromptTokens: 1, Unknown: unknown}
	m.ToolCalls = []schema.ToolCall{{ID: "t1", Unknown: unknown}}
	tl := tool(1)
	tl.Input, tl.Output, tl.Error, tl.Unknown = schema.Raw("{\n  \"command\": \"export K="+secret+"\"\n}"), secret, secret, unknown
	tl.Attachments = []schema.Attachment{{Name: secret}}
	sub, err := c.Subagent("x")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for _, c := range []*Conversation{c, sub} {
		r := appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}, Tools: []schema.Tool{tl}})
		n := 0
		for _, count := range r.Redacted {
			n += count
		}
		if n != 13 {
			t.Errorf("%d secrets replaced, want 13: %v", n, r.Redacted)
		}
	}
	err = c.Edit(func(s *schema.Session) error { s.Notes = "again " + secret; return nil })
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range snapshot(t, s.dir) {
		if strings.Contains(name+content, secret) || strings.Contains(name+content, strings.ToLower(secret)) {
			t.Errorf("%s holds the secret: %s", name, content)
		}
	}
	for m := range c.Messages() {
		if want := "key [redacted: "; !strings.HasPrefix(m.Content, want) || m.Tokens != tokens.Count(m.Content) {
			t.Errorf("%q, %d tokens", m.Content, m.Tokens)
		}
	}
	for tl := range c.Tools() {
		if tl.Tokens != tokens.Count(string(tl.Input))+tokens.Count(tl.Output) {
			t.Errorf("%d tokens", tl.Tokens)
		}
	}
	wantSound(t, s)
}

func TestUnrunnableRulesWriteNothing(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	before := snapshot(t, s.dir)
	broken := tool(1)
	broken.Input = schema.Raw(`{"a":`)
	b := thread(0, 2)
	b.Tools = []schema.Tool{broken}
	if _, err := c.Append(b); err == nil {
		t.Error("no error")
	}
	wantSame(t, s.dir, before)
}
