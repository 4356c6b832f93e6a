package schema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/schema/tokens"
)

// A sample is a fenced block of FORMAT.md that names its file after the language: ```json
// session.
type sample struct {
	kind string
	line int
	text []byte
}

func samples(t *testing.T) (all []sample, doc string) {
	b, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	open := false
	for i, l := range strings.SplitAfter(string(b), "\n") {
		fence, ok := strings.CutPrefix(strings.TrimSuffix(l, "\n"), "```")
		switch {
		case ok && !open:
			open = true
			all = append(all, sample{kind: fence, line: i + 2})
		case ok:
			open = false
		case open:
			s := &all[len(all)-1]
			s.text = append(s.text, l...)
		}
	}
	if open {
		t.Fatal("FORMAT.md: the last block is not closed")
	}
	return all, string(b)
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func conforms(s *jsonschema.Schema, b []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// spell parses b as the given kind and returns how the package spells it.
func spell(kind string, b []byte) ([]byte, error) {
	switch kind {
	case "session":
		s, err := schema.ParseSession(b)
		if err != nil {
			return nil, err
		}
		return s.Marshal()
	case "message":
		m, err := schema.ParseMessage(b)
		return schema.AppendMessage(nil, &m), err
	case "tool":
		c, err := schema.ParseTool(b)
		return schema.AppendTool(nil, &c), err
	}
	s, err := schema.ParseSummary(b)
	if err != nil {
		return nil, err
	}
	return s.Marshal()
}

func TestFormatSamples(t *testing.T) {
	schemas := map[string]*jsonschema.Schema{}
	for _, kind := range []string{"session", "message", "tool", "summary"} {
		schemas[kind] = compile(t, kind)
	}
	seen := map[string]int{}
	all, _ := samples(t)
	for _, s := range all {
		seen[s.kind]++
		lang, kind, _ := strings.Cut(s.kind, " ")
		kind, version, _ := strings.Cut(kind, " ")
		records := [][]byte{s.text}
		switch lang {
		case "":
			continue // a tree, or lines of another file
		case "json":
		case "jsonl":
			kind = strings.TrimSuffix(kind, "s")
			records = nil
			for r, err := range jsonl.Read(bytes.NewReader(s.text), 0, s.line) {
				if err != nil {
					t.Errorf("FORMAT.md: %v", err)
					continue
				}
				records = append(records, append(bytes.Clone(r.Raw), '\n'))
			}
		}
		if schemas[kind] == nil {
			t.Errorf("FORMAT.md:%d: no test for a block of %q", s.line, s.kind)
			continue
		}
		for _, r := range records {
			got, err := spell(kind, r)
			if err != nil {
				t.Errorf("FORMAT.md:%d: %v in\n%s", s.line, err, r)
				continue
			}
			if version == "" && !bytes.Equal(got, r) {
				t.Errorf("FORMAT.md:%d: the sample is not in the one spelling\n%s\nthe package writes\n%s", s.line, r, got)
			}
			for _, b := range [][]byte{r, got} {
				if err := conforms(schemas[kind], b); err != nil {
					t.Errorf("FORMAT.md:%d: %s.schema.json: %v", s.line, kind, err)
				}
			}
		}
	}
	for _, want := range []string{"json session", "json session 1.0", "jsonl messages", "jsonl messages 1.0", "jsonl tools", "json summary"} {
		if seen[want] == 0 {
			t.Errorf("FORMAT.md has no sample of %q", want)
		}
	}
}

// The numbers in the samples match what the text says.
func TestFormatNumbers(t *testing.T) {
	all, _ := samples(t)
	block := func(kind string) []byte {
		i := slices.IndexFunc(all, func(s sample) bool { return s.kind == kind })
		if i < 0 {
			t.Fatalf("FORMAT.md has no sample of %q", kind)
		}
		return all[i].text
	}
	session, err := schema.ParseSession(block("json session"))
	if err != nil {
		t.Fatal(err)
	}
	total, count := int64(0), 0
	var first, last schema.Time
	named := map[string]bool{}
	for r := range jsonl.Read(bytes.NewReader(block("jsonl messages")), 0, 1) {
		m, err := schema.ParseMessage(r.Raw)
		if err != nil {
			t.Fatal(err)
		}
		if want := tokens.Count(m.Content); m.Tokens != want {
			t.Errorf("message %s: tokens are %d, want %d", m.ID, m.Tokens, want)
		}
		if first == "" {
			first = m.Timestamp
		}
		last = m.Timestamp
		total += int64(m.Tokens)
		count++
		for _, c := range m.ToolCalls {
			named[c.ID] = true
		}
		texts := 0
		for _, b := range m.Blocks {
			switch b.Type {
			case schema.TextBlock:
				texts += b.Bytes + len("\n\n")
			case schema.ToolCallBlock:
				if !slices.ContainsFunc(m.ToolCalls, func(c schema.ToolCall) bool { return c.ID == b.ID }) {
					t.Errorf("message %s: block of an unknown call %q", m.ID, b.ID)
				}
			case schema.AttachmentBlock:
				if b.Index >= len(m.Attachments) {
					t.Errorf("message %s: no attachment %d", m.ID, b.Index)
				}
			}
		}
		if len(m.Blocks) > 0 && texts-len("\n\n") != len(m.Content) {
			t.Errorf("message %s: text blocks have %d bytes, content has %d", m.ID, texts-len("\n\n"), len(m.Content))
		}
	}
	calls := map[string]schema.Tool{}
	for r := range jsonl.Read(bytes.NewReader(block("jsonl tools")), 0, 1) {
		c, err := schema.ParseTool(r.Raw)
		if err != nil {
			t.Fatal(err)
		}
		want := tokens.Count(string(c.Input))
		if c.Output != "" {
			want += tokens.Count(c.Output)
		}
		if c.Tokens != want {
			t.Errorf("call %s: tokens are %d, want %d", c.ID, c.Tokens, want)
		}
		if old, ok := calls[c.ID]; !ok || c.Rev > old.Rev {
			calls[c.ID] = c
		}
	}
	if len(named) != len(calls) {
		t.Errorf("the messages name %d calls, the tool log has %d", len(named), len(calls))
	}
	for _, c := range calls {
		total += int64(c.Tokens)
	}
	if session.MessageCount != count || session.Tokens != total {
		t.Errorf("session has %d messages and %d tokens, the logs have %d and %d", session.MessageCount, session.Tokens, count, total)
	}
	if n := int64(len(block("jsonl messages"))); session.CountedBytes != n {
		t.Errorf("counted_bytes is %d, the messages have %d", session.CountedBytes, n)
	}
	if session.CreatedAt != first || session.LastActive != last {
		t.Errorf("session lasts from %s to %s, its messages from %s to %s", session.CreatedAt, session.LastActive, first, last)
	}
	s := session.Sources[0]
	if want := schema.DerivedID(s.Agent, s.NativeID, first.Time()); session.ID != want {
		t.Errorf("id is %s, want %s", session.ID, want)
	}
	if schema.NewTime(first.Time().Add(0)) != first || first.Time().Location() != time.UTC {
		t.Errorf("%s is not spelled as the format wants", first)
	}
}

// The sample summary covers the messages and calls in the other samples.
func TestFormatSummaryNumbers(t *testing.T) {
	var msgs []schema.Message
	var calls []schema.Tool
	var s *schema.Summary
	all, _ := samples(t)
	for _, sample := range all {
		switch sample.kind {
		case "jsonl messages":
			for r := range jsonl.Read(bytes.NewReader(sample.text), 0, 1) {
				m, err := schema.ParseMessage(r.Raw)
				if err != nil {
					t.Fatal(err)
				}
				msgs = append(msgs, m)
			}
		case "jsonl tools":
			for r := range jsonl.Read(bytes.NewReader(sample.text), 0, 1) {
				c, err := schema.ParseTool(r.Raw)
				if err != nil {
					t.Fatal(err)
				}
				calls = slices.DeleteFunc(calls, func(old schema.Tool) bool { return old.ID == c.ID })
				calls = append(calls, c)
			}
		case "json summary":
			var err error
			if s, err = schema.ParseSummary(sample.text); err != nil {
				t.Fatal(err)
			}
		}
	}
	from := slices.IndexFunc(msgs, func(m schema.Message) bool { return m.ID == s.First })
	to := slices.IndexFunc(msgs, func(m schema.Message) bool { return m.ID == s.Last })
	if from < 0 || to < from || to-from+1 != s.MessageCount {
		t.Fatalf("the range is %s to %s, %d messages: found at %d and %d", s.First, s.Last, s.MessageCount, from, to)
	}
	msgs = msgs[from : to+1]
	total := int64(0)
	for _, m := range msgs {
		total += int64(m.Tokens)
		for _, c := range calls {
			if c.MessageID == m.ID {
				total += int64(c.Tokens)
			}
		}
	}
	if s.SourceTokens != total || s.Tokens != tokens.Count(s.Content) {
		t.Errorf("tokens are %d of %d, want %d of %d", s.Tokens, s.SourceTokens, tokens.Count(s.Content), total)
	}
	if want := schema.MembersHash(msgs); s.Members != want {
		t.Errorf("members are %s, want %s", s.Members, want)
	}
}

// Each field of a record is in the specification, and in its JSON Schema with the right
// type. The schema has no other field.
func TestFormatNames(t *testing.T) {
	_, doc := samples(t)
	for _, c := range []struct {
		name   string
		record any
	}{
		{"session", schema.Session{}},
		{"message", schema.Message{}},
		{"tool", schema.Tool{}},
		{"summary", schema.Summary{}},
	} {
		b, err := os.ReadFile(c.name + ".schema.json")
		if err != nil {
			t.Fatal(err)
		}
		var root map[string]any
		if err := json.Unmarshal(b, &root); err != nil {
			t.Fatal(err)
		}
		documented{t, doc, root}.checkNames(c.name, root, reflect.TypeOf(c.record))
	}
	for _, k := range []jsonl.Kind{jsonl.TornTail, jsonl.Unterminated, jsonl.NULs, jsonl.Welded, jsonl.Conflict,
		jsonl.Broken, jsonl.BadUTF8, jsonl.TooLong} {
		if !strings.Contains(doc, "`"+string(k)+"`") {
			t.Errorf("FORMAT.md does not name the damage %q", k)
		}
	}
}

// documented is a record as described by section doc of FORMAT.md and by its schema.
type documented struct {
	t    *testing.T
	doc  string
	root map[string]any
}

func (d documented) checkNames(path string, node map[string]any, typ reflect.Type) {
	t, doc, root := d.t, d.doc, d.root
	if ref, ok := node["$ref"].(string); ok {
		node = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if typ == reflect.TypeFor[schema.Raw]() {
		return
	}
	want := ""
	switch typ.Kind() {
	case reflect.Pointer:
		d.checkNames(path, node, typ.Elem())
		return
	case reflect.String:
		want = "string"
		if node["enum"] != nil {
			return
		}
	case reflect.Bool:
		want = "boolean"
	case reflect.Int, reflect.Int64:
		want = "integer"
	case reflect.Slice:
		want = "array"
		if items, ok := node["items"].(map[string]any); ok {
			d.checkNames(path+"[]", items, typ.Elem())
		}
	case reflect.Struct:
		want = "object"
		properties, _ := node["properties"].(map[string]any)
		known := map[string]bool{}
		for f := range typ.Fields() {
			tag, ok := f.Tag.Lookup("json")
			if !ok {
				continue
			}
			name, _, _ := strings.Cut(tag, ",")
			known[name] = true
			if !strings.Contains(doc, "`"+name+"`") {
				t.Errorf("FORMAT.md does not name %s.%s", path, name)
			}
			property, ok := properties[name].(map[string]any)
			if !ok {
				t.Errorf("the schema lacks %s.%s", path, name)
				continue
			}
			d.checkNames(path+"."+name, property, f.Type)
		}
		for name := range properties {
			if !known[name] {
				t.Errorf("the schema has %s.%s, the record does not", path, name)
			}
		}
		if node["additionalProperties"] != nil {
			t.Errorf("the schema of %s refuses unknown members", path)
		}
	}
	if or, ok := node["type"].([]any); ok && len(or) == 2 && or[1] == "null" {
		node["type"] = or[0] // a value that can be removed
	}
	if node["type"] != want {
		t.Errorf("the schema says that %s is of type %v, want %s", path, node["type"], want)
	}
}

// Inputs that a schema refuses.
func TestSchemasRefuse(t *testing.T) {
	for _, c := range []struct{ kind, text string }{
		{"session", `{"status":"active"}`},
		{"session", `{"version":"1.1"}`},
		{"session", `{"version":"2.0","status":"active"}`},
		{"session", `{"version":"1.1","status":"archived"}`},
		{"session", `{"version":"1.1","status":"active","id":"01KAQ5D1M09ZVMRCWK4HPV5B8T"}`},
		{"session", `{"version":"1.1","status":"active","created_at":"yesterday"}`},
		{"session", `{"version":"1.1","status":"active","message_count":-1}`},
		{"session", `{"version":"1.1","status":"active","working_dir":"/home/x"}`},
		{"session", `{"version":"1.1","status":"active","working_dir":"C:\\x"}`},
		{"session", `{"version":"1.1","status":"active","conversation_id":"../x"}`},
		{"session", `{"version":"1.1","status":"active","metadata":[]}`},
		{"session", `{"version":"1.1","status":"active","plan":{"steps":[{"status":"done"}]}}`},
		{"session", `{"version":"1.2","status":"active","title_set":{"to":"x"}}`},
		{"session", `{"version":"1.2","status":"active","status_set":{"at":"2026-01-01T00:00:00.000Z","to":"x"}}`},
		{"session", `{"version":"1.2","status":"active","tags_set":[{"at":"2026-01-01T00:00:00.000Z","tag":"x"}]}`},
		{"session", `{"version":"1.2","status":"active","notes_set":{"at":"2026-01-01T00:00:00.000Z","to":"x"}}`},
		{"session", `{"version":"1.1","status":"active","agent_config":{"provider":{"base_url":"https://u:p@h/"}}}`},
		{"message", `{"content":"x"}`},
		{"message", `{"role":"tool"}`},
		{"message", `{"role":"user","attachments":[{"sha256":"abc"}]}`},
		{"message", `{"role":"user","blocks":[{"bytes":1}]}`},
		{"message", `{"role":"user","blocks":[{"type":"tool_call"}]}`},
		{"message", `{"role":"user","usage":{"prompt_tokens":"1"}}`},
		{"tool", `{"name":"Read"}`},
		{"tool", `{"id":"a","success":"yes"}`},
		{"tool", `{"id":"a","exit_code":0.5}`},
		{"summary", `{"version":"1.1","first":"a","last":"b"}`},
		{"summary", `{"version":"1.1","first":"a","last":"b","message_count":2,"created_at":"2025-11-22T10:31:10.000Z","content":"","tokens":0,"method":"x"}`},
		{"summary", `{"version":"1.1","first":"a","last":"b","message_count":2,"created_at":"2025-11-22T10:31:10.000Z","content":"x","tokens":1,"method":"x","ratio":"0.1"}`},
		{"summary", `{"version":"1.1","first":"a","last":"b","message_count":2,"created_at":"2025-11-22T10:31:10.000Z","content":"x","tokens":1,"method":"x","members":"sha256:abc"}`},
	} {
		if err := conforms(compile(t, c.kind), []byte(c.text)); err == nil {
			t.Errorf("%s.schema.json takes %s", c.kind, c.text)
		}
	}
	for _, c := range []struct{ kind, text string }{
		{"session", `{"version":"1.9","status":"active","new":{"a":1},"agent_config":{"new":[]},"sources":[{"new":1}]}`},
		{"session", `{"version":"1.2","status":"active","plan":null,"plan_set":{"at":"2026-01-01T00:00:00.000Z","to":null},"id":""}`},
		{"message", `{"role":"user","new":1,"blocks":[{"type":"video","new":1}]}`},
		{"message", `{"id":"a","sealed":"x"}`},
		{"tool", `{"id":"a","input":null,"new":1}`},
		{"tool", `{"id":"a","exit_code":-1}`},
		{"summary", `{"version":"1.9","first":"a","last":"b","message_count":2,"created_at":"2025-11-22T10:31:10Z","content":"x","tokens":0,"method":"x","new":[]}`},
	} {
		if err := conforms(compile(t, c.kind), []byte(c.text)); err != nil {
			t.Errorf("%s.schema.json refuses %s: %v", c.kind, c.text, err)
		}
	}
}
