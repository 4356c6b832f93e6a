package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// each has every field of every record with a value, in file order.
var each = struct {
	message, tool string
}{
	`{"id":"a","parent_id":"b","timestamp":"2025-11-22T10:30:00.000Z","role":"assistant","content":"c","blocks":[{"type":"text","bytes":1},{"type":"tool_call","id":"d"},{"type":"attachment","index":1}],"tool_calls":[{"id":"d","name":"e"}],"attachments":[{"media_type":"f","bytes":2,"sha256":"g","name":"h"}],"tokens":3,"reasoning":"i","model":"j","finish_reason":"k","duration_ms":4,"usage":{"prompt_tokens":5,"completion_tokens":6,"cached_tokens":7},"source":"l","rev":8,"sealed":"m","redacted":["n"],"x":{ "y":1 }}`,
	`{"id":"a","message_id":"b","name":"c","input":{"d": [1, "\ud83d"]},"output":"e","success":false,"error":"f","exit_code":0,"attachments":[{"name":"g"}],"tokens":1,"duration_ms":2,"timestamp":"2025-11-22T10:30:00.000Z","rev":3,"sealed":"h","redacted":["i"],"x":[ 0 ]}`,
}

func TestRecordFields(t *testing.T) {
	m, err := schema.ParseMessage([]byte(each.message))
	if err != nil {
		t.Fatal(err)
	}
	if got := schema.AppendMessage([]byte("> "), &m); string(got) != "> "+each.message+"\n" {
		t.Errorf("got  %swant %s", got, each.message)
	}
	noZero(t, reflect.ValueOf(m))
	if !m.Timestamp.Time().Equal(time.Date(2025, 11, 22, 10, 30, 0, 0, time.UTC)) || m.Usage.CachedTokens != 7 || m.Blocks[2].Index != 1 {
		t.Errorf("got %+v", m)
	}
	c, err := schema.ParseTool([]byte(each.tool))
	if err != nil {
		t.Fatal(err)
	}
	if got := schema.AppendTool([]byte("> "), &c); string(got) != "> "+each.tool+"\n" {
		t.Errorf("got  %swant %s", got, each.tool)
	}
	noZero(t, reflect.ValueOf(c))
	if *c.Success || *c.ExitCode != 0 || string(c.Input) != `{"d": [1, "\ud83d"]}` {
		t.Errorf("got %+v", c)
	}
}

// noZero fails for a field without a value: a field missing from the line above is not
// tested by it.
func noZero(t *testing.T, v reflect.Value) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); v.Field(i).IsZero() && f.Name != "Number" && (f.Name != "Branch" || v.Type().Name() != "Message") { // records do not have Number and Branch
			t.Errorf("the test has no value for %s.%s", v.Type(), f.Name)
		}
	}
}

func TestRecordSpelling(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"first version", `{"role": "user", "content": "x", "timestamp": "2025-11-22T10:30:00Z"}`,
			`{"timestamp":"2025-11-22T10:30:00Z","role":"user","content":"x"}`},
		{"order and space", " {\t\"content\" : \"x\" , \"role\":\"user\"} ", `{"role":"user","content":"x"}`},
		{"null is absent", `{"role":"user","content":null,"usage":null,"blocks":null,"tokens":null}`, `{"role":"user"}`},
		{"empty is absent", `{"role":"user","content":"","blocks":[],"tokens":0,"rev":-0}`, `{"role":"user"}`},
		{"an empty object stays", `{"role":"user","usage":{}}`, `{"role":"user","usage":{}}`},
		{"escapes", `{"role":"us\u0065r","content":"\u0041\/\u003c\u007f\u2028\u0000\u001F\u0008\"\\\b\f\n\r\t\ud83d\ude00"}`,
			`{"role":"user","content":"A/<` + "\x7f\u2028" + `\u0000\u001f\b\"\\\b\f\n\r\t😀"}`},
		{"lone surrogates", `{"role":"user","content":"\uD83D \uDE00\uD83D"}`, `{"role":"user","content":"\ud83d \ude00\ud83d"}`},
		{"a pair in two halves of bytes", "{\"role\":\"user\",\"content\":\"\xed\xa0\xbd\xed\xb8\x80\"}", `{"role":"user","content":"😀"}`},
		{"invalid UTF-8", "{\"role\":\"user\",\"content\":\"\xffa\xc3\"}", "{\"role\":\"user\",\"content\":\"\ufffda\ufffd\"}"},
		{"unknown goes last", `{"x":[ 1.0 ],"role":"user","ID":"not id"}`, `{"role":"user","x":[ 1.0 ],"ID":"not id"}`},
		{"unknown null stays", `{"role":"user","x":null}`, `{"role":"user","x":null}`},
		{"no line breaks", "{\"role\":\"user\",\"x\":{\r\n  \"y\": \"\\n\"\n}}", `{"role":"user","x":{  "y": "\n"}}`},
		{"no line ends of the old Mac", "{\"role\":\"user\",\"x\":[\r1]}", `{"role":"user","x":[1]}`},
		{"sealed", `{"id":"a","sealed":"s"}`, `{"id":"a","sealed":"s"}`},
	} {
		m, err := schema.ParseMessage([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := schema.AppendMessage(nil, &m)
		if string(got) != c.want+"\n" {
			t.Errorf("%s: got  %swant %s", c.name, got, c.want)
		}
		m, err = schema.ParseMessage(got)
		if again := schema.AppendMessage(nil, &m); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: the second time %v %s", c.name, err, again)
		}
	}
}

// A record is always one line, even for an agent that keeps its calls in a document and
// has line breaks in their input.
func TestRecordIsOneLine(t *testing.T) {
	c := schema.Tool{
		ID:      "a",
		Input:   schema.Raw("{\n  \"command\": \"a\\nb\",\r\n  \"n\": 1\n}"),
		Output:  "1\n2\r\n",
		Unknown: []rawjson.Member{{Name: "x", Value: []byte("[\n1\n]")}},
	}
	got := schema.AppendTool([]byte("{}\n"), &c)
	const want = "{}\n" + `{"id":"a","input":{  "command": "a\nb",  "n": 1},"output":"1\n2\r\n","x":[1]}` + "\n"
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestRecordStrict(t *testing.T) {
	message := func(b []byte) error { _, err := schema.ParseMessage(b); return err }
	tool := func(b []byte) error { _, err := schema.ParseTool(b); return err }
	for _, c := range []struct {
		name  string
		parse func([]byte) error
		text  string
		want  string
	}{
		{"empty", message, ``, "cut off"},
		{"cut off", message, each.message[:len(each.message)-1], "cut off"},
		{"two records", message, `{"role":"user"}{"role":"user"}`, "more text"},
		{"a list", message, `[]`, "an object was expected"},
		{"no role", message, `{"content":"x"}`, "role"},
		{"role of another", message, `{"role":"tool"}`, "role"},
		{"role in another case", message, `{"Role":"user"}`, "role"},
		{"name twice", message, `{"role":"user","role":"system"}`, "twice"},
		{"unknown name twice", message, `{"role":"user","x":1,"x":1}`, "twice"},
		{"name twice in a block", message, `{"role":"user","blocks":[{"type":"text","type":"text"}]}`, "twice"},
		{"name not UTF-8", message, "{\"role\":\"user\",\"\xff\":1}", "not valid UTF-8"},
		{"list of numbers", message, `{"role":"user","blocks":[1]}`, `field "blocks"`},
		{"string for a number", message, `{"role":"user","tokens":"1"}`, `field "tokens"`},
		{"number beyond 64 bits", message, `{"role":"user","rev":12345678901234567890}`, "not a whole number"},
		{"number for a string", message, `{"role":"user","content":1}`, `field "content"`},
		{"no id", tool, `{"name":"x"}`, "no id"},
		{"number for a boolean", tool, `{"id":"a","success":1}`, "neither true nor false"},
		{"string for a number in a tool", tool, `{"id":"a","exit_code":"0"}`, "not a whole number"},
		{"cut off tool", tool, each.tool[:40], "not closed"},
		{"too deep", tool, `{"id":"a","input":` + deep(20_000) + `}`, "nested deeper"},
	} {
		if err := c.parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q", c.name, err, c.want)
		}
	}
	// The input of a call comes from the agent and need not be strict.
	if err := tool([]byte(`{"id":"a","input":{"b":1,"b":"\ud83d","c":1e999}}`)); err != nil {
		t.Error(err)
	}
}

// A duplicate name is found among many members, too.
func TestRecordManyMembers(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"role":"user"`)
	const n = 1000
	for i := range n {
		fmt.Fprintf(&b, `,"%d":1`, i)
	}
	m, err := schema.ParseMessage(append(b.Bytes(), '}'))
	if err != nil || len(m.Unknown) != n {
		t.Errorf("%d members, %v", len(m.Unknown), err)
	}
	if _, err := schema.ParseMessage(append(b.Bytes(), `,"77":2}`...)); err == nil || !strings.Contains(err.Error(), `"77" appears twice`) {
		t.Error(err)
	}
}

func TestTime(t *testing.T) {
	if got := schema.NewTime(time.Time{}); got != "" {
		t.Errorf("the zero time is %q", got)
	}
	for _, year := range []int{-1, 10000, 60000} { // which transcripts may have
		if got := schema.NewTime(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)); got != "" {
			t.Errorf("year %d is %q", year, got)
		}
	}
	at := time.Date(2025, 11, 22, 12, 30, 0, 123_456_789, time.FixedZone("", 7200))
	if got := schema.NewTime(at); got != "2025-11-22T10:30:00.123Z" {
		t.Errorf("got %s", got)
	}
	for text, want := range map[schema.Time]time.Time{
		"2025-11-22T10:30:00Z":                at.Truncate(time.Second),
		"2025-11-22T12:30:00.123456789+02:00": at,
		"2025-11-22 10:30:00":                 {},
		"":                                    {},
		"9999-12-31T23:59:59Z":                time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		"9999-12-31T23:59:59-01:00":           {}, // in UTC it is in a year of five digits
		"0000-01-01T00:00:00+01:00":           {},
	} {
		if got := text.Time(); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

// line1K returns a message line of about n bytes, with typical content.
func line1K(n int) []byte {
	m := schema.Message{
		ID: "0b9d7c51-3f64-4f0e-8a53-7788990011aa", ParentID: "5f0c1d2e-6a7b-4c8d-9e0f-112233445566",
		Timestamp: "2025-11-22T10:30:15.120Z", Role: schema.Assistant, Model: "claude-sonnet-4-5-20250929",
		FinishReason: "end_turn", DurationMS: 8450, Tokens: 180,
		Usage:     &schema.Usage{PromptTokens: 14911, CompletionTokens: 121},
		Blocks:    []schema.Block{{Type: schema.TextBlock, Bytes: 480}, {Type: schema.ToolCallBlock, ID: "toolu_1"}},
		ToolCalls: []schema.ToolCall{{ID: "toolu_1", Name: "Read"}},
	}
	const text = "The handler returns \"404\" if the user is unknown.\nSee `api/users.go`, line 12 – or the tests. "
	for len(m.Content) < n-550 {
		m.Content += text
	}
	return schema.AppendMessage(nil, &m)
}

func BenchmarkParseMessage(b *testing.B) {
	line := line1K(1024)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := schema.ParseMessage(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendMessage(b *testing.B) {
	line := line1K(1024)
	m, err := schema.ParseMessage(line)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(line)))
	var dst []byte
	for b.Loop() {
		dst = schema.AppendMessage(dst[:0], &m)
	}
	if !json.Valid(dst) || !bytes.Equal(dst, line) {
		b.Fatalf("wrote %s", dst)
	}
}
