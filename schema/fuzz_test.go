package schema_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// A record that was read can be written, reads back as the same record, and does not
// change from then on.

func FuzzSession(f *testing.F) {
	f.Add([]byte(first))
	f.Add([]byte(firstLines))
	for _, c := range merged {
		f.Add([]byte(c.text))
	}
	for _, s := range []string{
		`{"version":"1.1","status":"paused","x":{"y": [1, null]},"agent_config":{"tools":[],"provider":{},"x":0}}`,
		`{"version":"1.9","status":"active","sources":[{"agent":"claude","x":1},{}],"plan":{"steps":[{"content":"a"}],"current":0},"tags":[""]}`,
		`{"version":"1.1","status":"completed","agent_config":{"tools":[]},"metadata":{
 "a" : "\ud83d\ude00"},"git":null,"links":{"related":[]},"tokens":-0}`,
		`{"version":"2.0","status":1}`,
		`{"version":"1.1","status":"active","Title":"x","a":{"b":1,"b":2}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := schema.ParseSession(in)
		if err != nil {
			if s != nil {
				t.Fatalf("a half session came with %v", err)
			}
			return
		}
		out, err := s.Marshal()
		if err != nil {
			t.Fatalf("read and not written: %v", err)
		}
		again, err := schema.ParseSession(out)
		if err != nil {
			t.Fatalf("written and not read: %v\n%s", err, out)
		}
		if s.Repair = nil; again.Repair != nil {
			t.Fatalf("a written file needs repair: %+v\n%s", again.Repair, out)
		}
		if !reflect.DeepEqual(s, again) {
			t.Fatalf("read\n%+v\nand after writing\n%+v\nfrom\n%s", s, again, out)
		}
		if b, err := again.Marshal(); err != nil || !bytes.Equal(b, out) {
			t.Fatalf("written as\n%s\nand then as\n%s (%v)", out, b, err)
		}
		line := s.AppendLine(nil)
		if bytes.ContainsAny(line, "\r\n") || !json.Valid(line) {
			t.Fatalf("no line: %q", line)
		}
	})
}

// The result of reading doubled members does not depend on their order.
func FuzzSessionOrder(f *testing.F) {
	for _, c := range merged {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := schema.ParseSession(in)
		if err != nil || s.Repair == nil || s.Repair.Conflict >= 0 {
			return
		}
		members, err := rawjson.Members(in)
		if err != nil {
			return // two spellings joined: values may take several lines
		}
		turned := []byte("}")
		for i, m := range members {
			line := append(append(rawjson.AppendQuote(nil, m.Name), ':'), m.Value...)
			if i > 0 {
				line = append(line, ',')
			}
			turned = append(line, turned...)
		}
		again, err := schema.ParseSession(append([]byte("{"), turned...))
		if err != nil {
			t.Fatalf("%v\n{%s", err, turned)
		}
		one, err := s.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if other, err := again.Marshal(); err != nil || !bytes.Equal(one, other) {
			t.Fatalf("%v, one order is written as\n%s\nthe other as\n%s", err, one, other)
		}
	})
}

func FuzzMessage(f *testing.F) {
	for _, s := range []string{
		each.message,
		`{"role": "user", "content": "Let's brainstorm API design", "timestamp": "2025-11-22T10:30:00Z"}`,
		`{"role":"system","content":"\ud83d \udc00\ud83d\ude00\u0000","usage":{},"x":"\ud83d"}`,
		"{\"role\":\"user\",\"content\":\"\xed\xa0\xbd\xed\xb8\x80 \xff\",\"\xff\":1,\"\xfe\":2}",
		`{"sealed":"x","blocks":[],"tool_calls":[{}],"x":[1,
2],"rev":-0}`,
		`{"id":"a","timestamp":"","role":"user","blocks":[{"type":"text","bytes":0}],"attachments":[{"bytes":12,"name":"\u001b\n\/"}],"rev":1}`,
		`{"id":"a","role":"assistant","content":"\u001f\u0008\u001F","tool_calls":[{"id":"b","name":"c"},{}],"tokens":10,"usage":{"prompt_tokens":1}}`,
		`{"role":"user","rev":1073741824}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		checkRecord(t, in, schema.ParseMessage, schema.AppendMessage, schema.IsCanonicalMessage)
	})
}

func FuzzTool(f *testing.F) {
	for _, s := range []string{
		each.tool,
		`{"id":"a","input":{"id":"a", "b":"\ud83d"},"success":true}`,
		`{"id":"a","input":1e999,"exit_code":-1,"attachments":[{}]}`,
		"{\"id\":\"\\ud800\",\"input\":[\n\"\xff\"\r\n],\"output\":\"\xff\"}",
		`{"id":"a","input":"","success":null,"x":null}`,
		`{"id":"a","name":"b","input":{ "c": [null] },"output":"\"","success":false,"exit_code":0,"tokens":7}`,
		`{"id":"a","input":null,"success":true,"exit_code":01,"redacted":["b","a"]}`,
		`{"id":"a","rev":1073741824}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		checkRecord(t, in, schema.ParseTool, schema.AppendTool, schema.IsCanonicalTool)
	})
}

func checkRecord[R any](t *testing.T, in []byte, parse func([]byte) (R, error), write func([]byte, *R) []byte, canonical func([]byte) bool) {
	r, err := parse(in)
	if canonical(in) {
		if err != nil {
			t.Fatalf("canonical and not read: %v\n%s", err, in)
		}
		if out := write(nil, &r); string(out) != string(in)+"\n" {
			t.Fatalf("canonical is\n%q\nand written as\n%q", in, out)
		}
	}
	if err != nil {
		if !reflect.ValueOf(r).IsZero() {
			t.Fatalf("a half record came with %v", err)
		}
		return
	}
	out := write(nil, &r)
	if line, ok := strings.CutSuffix(string(out), "\n"); !ok || strings.ContainsAny(line, "\r\n") || !json.Valid(out) {
		t.Fatalf("not one line: %q", out)
	}
	again, err := parse(out)
	if err != nil {
		t.Fatalf("written and not read: %v\n%s", err, out)
	}
	if b := write(nil, &again); !bytes.Equal(b, out) {
		t.Fatalf("written as\n%q\nand then as\n%q", out, b)
	}
	// Bytes that are not UTF-8 and line breaks between the tokens of a value cannot be
	// written back.
	if utf8.Valid(in) && !bytes.ContainsAny(in, "\r\n") && !reflect.DeepEqual(r, again) {
		t.Fatalf("read\n%+v\nand after writing\n%+v", r, again)
	}
}
