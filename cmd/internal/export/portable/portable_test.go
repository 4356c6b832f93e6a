package portable

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// generated returns a random conversation with what logs may hold: earlier states of
// records, unknown members, lone surrogates, lines without an id, odd times.
func generated(r *rand.Rand) *Conversation {
	at := time.Unix(1_763_800_000+r.Int64N(1e6), 0)
	s := &schema.Session{
		Version: schema.Version, Title: pick(r, "", "API design", "日本語 \"\\"), ConversationType: pick(r, "chat", "plan"), Status: schema.Paused,
		ID: schema.NewID(at, [10]byte{byte(r.Uint32()), 1}), CreatedAt: schema.NewTime(at), LastActive: schema.NewTime(at.Add(time.Hour)),
		ConversationID: pick(r, "001-chat-old", ""), ContextSummary: pick(r, "", "where it stands"), Tags: []string{"a", "b"},
		AgentConfig: schema.AgentConfig{Agent: "claude", Modes: &schema.Modes{Permission: "bypassPermissions", Plan: true}},
		Unknown:     []rawjson.Member{{Name: "later", Value: []byte(`{"x": [1,2]}`)}},
	}
	c := &Conversation{Session: s}
	parent := ""
	for i := range r.IntN(12) {
		m := schema.Message{ID: fmt.Sprintf("m%d", i), ParentID: parent, Role: schema.User, Content: pick(r, "", "hello", "tail \xed\xa0\xbd of a pair", "<script>\u2028\n\n```")}
		m.Timestamp = schema.NewTime(at.Add(time.Duration(i) * time.Second))
		switch r.IntN(6) {
		case 0:
			m.ID = ""
		case 1:
			m.Timestamp = "2025-11-22T10:30:00Z"
		case 2:
			m.Timestamp = ""
		case 3:
			m.Unknown = []rawjson.Member{{Name: `odd "name"`, Value: []byte(`1.50`)}, {Name: "content_more", Value: []byte(`null`)}}
		}
		if r.IntN(2) == 0 {
			m.Role, m.Reasoning = schema.Assistant, "because"
			m.Blocks = []schema.Block{{Type: schema.TextBlock, Bytes: len(m.Content)}, {Type: schema.ToolCallBlock, ID: fmt.Sprint("t", i)}}
			m.ToolCalls = []schema.ToolCall{{ID: fmt.Sprint("t", i), Name: "Bash", Unknown: []rawjson.Member{{Name: "kind", Value: []byte(`"x"`)}}}}
			t := schema.Tool{ID: fmt.Sprint("t", i), MessageID: m.ID, Name: "Bash", Input: schema.Raw(`{"command": "ls",  "n":1e3}`)}
			c.Tools = append(c.Tools, t)
			if r.IntN(2) == 0 {
				done := r.IntN(2) == 0
				t.Rev, t.Success, t.Output = 1, &done, "out"
				c.Tools = append(c.Tools, t)
			}
		}
		c.Messages = append(c.Messages, m)
		if r.IntN(3) == 0 && m.ID != "" {
			m.Rev, m.Content, m.Blocks = 1, m.Content+" and more", nil
			c.Messages = append(c.Messages, m)
		}
		if m.ID != "" {
			parent = m.ID
		}
	}
	if r.IntN(2) == 0 {
		c.Document = &Document{Name: "chat.md", Text: "# Title\n"}
		c.Attachments = []Attachment{{SHA256: strings.Repeat("ab", 32), Data: []byte{0, 1, 2}}}
		c.Summaries = []*schema.Summary{{Version: "1.0", First: "m0", Last: "m1", MessageCount: 2, CreatedAt: schema.NewTime(at), Content: "short", Method: schema.Extracted, Members: "sha256:" + strings.Repeat("0", 64)}}
	}
	if r.IntN(3) == 0 {
		sub := Subagent{NativeID: "agent-1", Conversation: *generated(r)}
		sub.Document, sub.LeftOut = nil, nil
		c.Subagents = append(c.Subagents, sub)
	}
	return c
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

func written(t testing.TB, c *Conversation) (asJSON, lines []byte) {
	t.Helper()
	var j, l bytes.Buffer
	if err := errors.Join(WriteJSON(&j, c), WriteLines(&l, c)); err != nil {
		t.Fatal(err)
	}
	return j.Bytes(), l.Bytes()
}

// logs returns the lines of the logs of a conversation and of its sub-agents.
func logs(c *Conversation) string {
	var b []byte
	for i := range c.Messages {
		b = schema.AppendMessage(b, &c.Messages[i])
	}
	for i := range c.Tools {
		b = schema.AppendTool(b, &c.Tools[i])
	}
	for i := range c.Subagents {
		b = append(append(b, c.Subagents[i].NativeID...), logs(&c.Subagents[i].Conversation)...)
	}
	return string(b)
}

// TestRoundTrip: what is read says what was written, line by line, and is written again as
// the same bytes, in both forms.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 1))
	for n := range 300 {
		c := generated(r)
		asJSON, lines := written(t, c)
		if err := rawjson.Valid(asJSON); err != nil {
			t.Fatalf("%d: %v\n%s", n, err, asJSON)
		}
		fromJSON, err := ReadJSON(asJSON)
		if err != nil {
			t.Fatalf("%d: %v\n%s", n, err, asJSON)
		}
		fromLines, err := ReadLines(bytes.NewReader(lines))
		if err != nil {
			t.Fatalf("%d: %v\n%s", n, err, lines)
		}
		if !IsJSON(asJSON) || IsLines(asJSON) || !IsLines(lines) {
			t.Errorf("%d: the forms are taken for each other", n)
		}
		for _, back := range []*Conversation{fromJSON, fromLines} {
			if logs(back) != logs(c) {
				t.Fatalf("%d: the logs are\n%s\nwant\n%s", n, logs(back), logs(c))
			}
			j, l := written(t, back)
			if !bytes.Equal(j, asJSON) || !bytes.Equal(l, lines) {
				t.Fatalf("%d: written again:\n%s\nwant\n%s", n, j, asJSON)
			}
		}
	}
}

// TestCutOff: a document that is not whole is refused, wherever it ends.
func TestCutOff(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 2))
	asJSON, lines := written(t, generated(r))
	for n := range lines {
		if c, err := ReadLines(bytes.NewReader(lines[:n])); err == nil && n < len(lines)-1 { // the last newline may be missing
			t.Fatalf("%d of %d bytes: %+v", n, len(lines), c)
		}
	}
	for n := range len(asJSON) - 1 {
		if _, err := ReadJSON(asJSON[:n]); err == nil {
			t.Fatalf("%d of %d bytes of JSON are read", n, len(asJSON))
		}
	}
	all := bytes.SplitAfter(lines, []byte("\n"))
	without := append(bytes.Clone(all[0]), bytes.Join(all[2:], nil)...)
	if _, err := ReadLines(bytes.NewReader(without)); err == nil {
		t.Error("a document without its second line is read")
	}
}

// TestForeign reads a document of another program, with nothing but the members that the
// format began with.
func TestForeign(t *testing.T) {
	c, err := ReadJSON([]byte(`{"version":"1.0","exportedAt":1763807467250,"session":{"name":"Talk","provider":"claude","modes":{"orchestrate":false,"plan":true,"bypassPermissions":false},
		"messages":[{"id":"a","role":"user","content":"hi","timestamp":1763807467250},
			{"role":"assistant","content":"hello","timestamp":1763807468000,"toolCalls":[{"name":"ls","arguments":{"path":"."},"result":"a\nb"}],"metadata":{"k":1}}],
		"longTermSummary":"They met.","metrics":{"anything":1}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Title() != "Talk" || c.Session.ContextSummary != "They met." || c.Session.AgentConfig.Agent != "claude" || !c.Session.AgentConfig.Modes.Plan || len(c.Messages) != 2 {
		t.Errorf("%+v", c)
	}
	if m := c.Messages[1]; m.ParentID != "a" || m.ID == "" || m.Timestamp != "2025-11-22T10:31:08.000Z" || len(m.ToolCalls) != 1 || len(m.Unknown) != 1 || c.Tools[0].Output != "a\nb" {
		t.Errorf("%+v %+v", m, c.Tools)
	}
	for text, foreign := range map[string]bool{
		`{"sessionId":"x","messages":[]}`: true,
		`[1]`:                             false,
		`{"version":"2.0","exportedAt":1,"session":{"messages":[]}}`:                                                 false,
		`{"version":"1.0","exportedAt":1,"session":{"name":"x"}}`:                                                    false,
		`{"version":"1.0","exportedAt":1,"session":{"messages":[{"role":"robot","content":"x"}]}}`:                   false,
		`{"version":"1.0","exportedAt":1,"session":{"messages":[{"role":"user","content":7}]}}`:                      false,
		`{"version":"1.0","exportedAt":1,"session":{"messages":[{"role":"user","content":"x","timestamp":"soon"}]}}`: false,
	} {
		_, err := ReadJSON([]byte(text))
		var format *FormatError
		if !errors.As(err, &format) || format.Foreign != foreign {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzReadJSON(f *testing.F) {
	asJSON, _ := written(f, generated(rand.New(rand.NewPCG(20, 3))))
	f.Add(asJSON)
	f.Add([]byte(`{"version":"1.0","session":{"messages":[{"role":"user","content":"x","timestamp":1e300}],"superseded":{"messages":[{"line":9}]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ReadJSON(text)
		if err != nil {
			return
		}
		again(t, c)
	})
}

func FuzzReadLines(f *testing.F) {
	_, lines := written(f, generated(rand.New(rand.NewPCG(20, 4))))
	f.Add(lines)
	f.Add([]byte("{\"version\":\"1.0\",\"exportedAt\":0,\"conversation\":{\"title\":\"x\"}}\n{\"subagent\":[\"a\",\"b\"]}\n{\"end\":1}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ReadLines(bytes.NewReader(text))
		if err != nil {
			return
		}
		again(t, c)
	})
}

// again writes what was read, and reads that: the logs stay the same.
func again(t *testing.T, c *Conversation) {
	var b bytes.Buffer
	if err := WriteLines(&b, c); err != nil {
		t.Skip("not a conversation that can be written:", err) // such as a summary without content
	}
	back, err := ReadLines(&b)
	if err != nil {
		t.Fatalf("what was written is not read: %v", err)
	}
	if logs(back) != logs(c) {
		t.Errorf("%q, want %q", logs(back), logs(c))
	}
}
