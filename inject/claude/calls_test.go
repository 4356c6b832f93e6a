package claude

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cortext/inject"
	"cortext/schema"
)

// counted is a session with a server that counts calls from 0 in each request. The second
// turn has two parallel calls and was interrupted before the second one had a result, which
// comes two turns later. The third turn starts a sub-agent. In the fourth, answers have
// several calls with one id.
func counted() []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	ask := func(uuid, parent string) {
		line(`{"type":"user","uuid":%q,"parentUuid":%q,"message":{"role":"user","content":"go on"}}`, uuid, parent)
	}
	use := func(uuid, parent, message, id, input string) {
		line(`{"type":"assistant","uuid":%q,"parentUuid":%q,"message":{"id":%q,"content":[{"type":"tool_use","id":%q,"name":"Task","input":{"prompt":%q}}]}}`, uuid, parent, message, id, input)
	}
	result := func(uuid, parent, id, output, more string) {
		line(`{"type":"user","uuid":%q,"parentUuid":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}%s}`, uuid, parent, id, output, more)
	}
	ask("u1", "")
	use("a1", "u1", "m1", "call_0", "one")
	result("r1", "a1", "call_0", "first", "")
	ask("u2", "r1")
	use("a2", "u2", "m2", "call_0", "two")
	use("a3", "a2", "m2", "call_1", "three")
	result("r2", "a2", "call_0", "second", "")
	ask("u3", "r2")
	use("a4", "u3", "m3", "call_0", "four")
	use("a5", "a4", "m4", "call_1", "five")
	result("r4", "a5", "call_1", "fifth", "")
	result("r3", "a4", "call_0", "fourth", `,"toolUseResult":{"agentId":"helper"}`)
	ask("u4", "r3")
	use("a6", "u4", "m5", "call_0", "six")
	use("a7", "a6", "m5", "call_0", "seven")
	use("a7", "a6", "m5", "call_0", "seven") // the writer repeats a line
	result("r7", "a7", "call_0", "seventh", "")
	result("r6", "a6", "call_0", "sixth", "")
	line(`{"type":"assistant","uuid":"a8","parentUuid":"r6","message":{"id":"m6","content":[{"type":"tool_use","id":"call_2","name":"Task","input":{"prompt":"eight"}},{"type":"tool_use","id":"call_2","name":"Task","input":{"prompt":"nine"}}]}}`)
	line(`{"type":"user","uuid":"r8","parentUuid":"a8","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_2","content":"eighth"},{"type":"tool_result","tool_use_id":"call_2","content":"ninth"}]}}`)
	result("r5", "a3", "call_1", "third, at last", "")
	ask("u5", "r8")
	return b.Bytes()
}

// TestCountedCalls checks that calls with one id each keep their own result.
func TestCountedCalls(t *testing.T) {
	tr, all, _ := gather(t, counted(), "x.jsonl")
	var got []string
	for _, c := range all[""].Tools {
		got = append(got, fmt.Sprintf("%s %s %s %s", c.MessageID, c.ID, c.Input, c.Output))
	}
	want := []string{
		`m1 call_0 {"prompt":"one"} first`,
		`m2 call_0#m2 {"prompt":"two"} second`,
		`m2 call_1 {"prompt":"three"} third, at last`,
		`m3 call_0#m3 {"prompt":"four"} fourth`,
		`m4 call_1#m4 {"prompt":"five"} fifth`,
		`m5 call_0#m5 {"prompt":"six"} sixth`,
		`m5 call_0#m5.2 {"prompt":"seven"} seventh`,
		`m6 call_2 {"prompt":"eight"} eighth`,
		`m6 call_2#m6.2 {"prompt":"nine"} ninth`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("calls:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if tr.Calls["helper"] != "call_0#m3" {
		t.Errorf("the sub-agent was started by %q", tr.Calls["helper"])
	}
	named := map[string]bool{}
	for _, m := range all[""].Messages {
		for _, c := range m.ToolCalls {
			named[m.ID+" "+c.ID] = true
		}
		for _, b := range m.Blocks {
			if b.Type == schema.ToolCallBlock && !named[m.ID+" "+b.ID] {
				t.Errorf("message %s has a block for call %q", m.ID, b.ID)
			}
		}
	}
	for _, c := range all[""].Tools {
		if !named[c.MessageID+" "+c.ID] {
			t.Errorf("message %s does not name its call %s", c.MessageID, c.ID)
		}
	}
}

// TestCountedCallsGrowing checks that hooks, which read piece by piece, give the calls the
// same ids and results.
func TestCountedCallsGrowing(t *testing.T) {
	data := counted()
	var whole merged
	tr, err := read(bytes.NewReader(data), int64(len(data)), "x.jsonl", inject.Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole.take(t, tr)
	ends := lineEnds(data)
	for skip := 1; skip < len(ends); skip++ {
		var cuts []int
		for i := skip - 1; i < len(ends); i += skip {
			cuts = append(cuts, ends[i])
		}
		cuts = append(cuts, len(data))
		m, again := growing(t, data, "x.jsonl", cuts)
		if m.text() != whole.text() {
			t.Errorf("every %d lines:\n%s\nat once:\n%s", skip, m.text(), whole.text())
		}
		if skip == 1 && again > 1 { // for the result that comes late
			t.Errorf("%d of %d readings from the beginning", again, len(cuts))
		}
	}
	// A cursor of an earlier version does not say which ids were issued before it. So a session
	// that counts is read from its beginning; long ids need not be.
	long := bytes.ReplaceAll(data, []byte("call_"), []byte("toolu_01ABCDEFGHIJKLMNOP"))
	for _, c := range []struct {
		data  []byte
		calls bool // the cursor has them
		want  error
	}{{data, true, nil}, {data, false, inject.ErrCursor}, {long, true, nil}, {long, false, nil}} {
		ends := lineEnds(c.data)
		from := cursorAt(t, c.data, ends[7])
		if from.Calls == nil || from.Offset == 0 {
			t.Fatalf("cursor %+v", from)
		}
		if !c.calls {
			from.Calls = nil
		}
		tr, err := read(bytes.NewReader(c.data), int64(ends[len(ends)-3]), "x.jsonl", inject.Options{From: from}) // without the late result
		if !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", from, err)
		}
		if err == nil && (tr.Next.Calls == nil) == c.calls {
			t.Errorf("the cursor after %+v is %+v", from, tr.Next)
		}
	}
}

// cursorAt returns the cursor after reading the first n bytes of a transcript.
func cursorAt(t *testing.T, data []byte, n int) inject.Cursor {
	t.Helper()
	tr, err := read(bytes.NewReader(data), int64(n), "x.jsonl", inject.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr.Next
}
