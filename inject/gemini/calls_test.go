package gemini

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cortext/inject"
)

// counted is a session with a server that counts calls from 0, three times. Some calls have
// their result only in the turn after them.
func counted() (data []byte, calls int) {
	var lines []string
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	const each = maxCalls + 20
	for i := range 3 * each {
		id, result := fmt.Sprintf("call_%d", i%each), fmt.Sprintf(`,"result":"output %d"`, i)
		if i%3 == 1 {
			result = ""
		}
		line(`{"id":"u%d","type":"user","content":"question %d"}`, i, i)
		line(`{"id":"g%d","type":"gemini","content":"","model":"m"}`, i)
		line(`{"id":"g%d","type":"gemini","content":"","model":"m","toolCalls":[{"id":"%s","name":"x","status":"success"%s}]}`, i, id, result)
		line(`{"id":"r%d","type":"user","content":[{"functionResponse":{"id":"%s","response":{"output":"output %d"}}}]}`, i, id, i)
	}
	return []byte(linesOf(lines...)), 3 * each
}

// TestCountedCallsGrowing checks that calls with the same id keep their own results, and get
// the same ids whether the transcript is read hook by hook or at once.
func TestCountedCallsGrowing(t *testing.T) {
	data, calls := counted()
	whole, _ := growing(t, data, []int{len(data)}, nil)
	if len(whole.tools) != calls {
		t.Errorf("%d calls, not %d", len(whole.tools), calls)
	}
	for id, tool := range whole.tools {
		var n int
		if _, err := fmt.Sscanf(tool[strings.Index(tool, `"message_id":"g`):], `"message_id":"g%d"`, &n); err != nil || !strings.Contains(tool, fmt.Sprintf(`"output":"output %d"`, n)) {
			t.Errorf("call %s has another's result: %s", id, tool)
		}
	}
	got, again := growing(t, data, lineEnds(data), nil)
	if got.text() != whole.text() {
		t.Errorf("%d calls read line by line differ from %d read at once", len(got.tools), len(whole.tools))
	}
	if again > 0 {
		t.Errorf("%d readings had to begin at the start", again)
	}
}

// TestCountedCallsUnknown checks that a session that counts is read from its beginning if
// the cursor is from an earlier version, which does not say which ids were issued before it,
// and if the result of an earlier call comes late.
func TestCountedCallsUnknown(t *testing.T) {
	data, _ := counted()
	long := []byte(strings.ReplaceAll(string(data), "call_", "toolu_01ABCDEFGHIJKLMNOP"))
	late := linesOf(`{"id":"late","type":"user","content":[{"functionResponse":{"id":"call_1","response":{"output":"late"}}}]}`)
	for _, c := range []struct {
		data  []byte
		add   string
		calls bool // the cursor has them
		want  error
	}{{data, "", true, nil}, {data, "", false, inject.ErrCursor}, {long, "", true, nil}, {long, "", false, nil}, {data, late, true, inject.ErrCursor}} {
		head, err := adapter.Open(write(t, string(c.data[:lineEnds(c.data)[200]])), inject.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer head.Close()
		from := head.Next
		if from.Calls == nil || from.Offset == 0 {
			t.Fatalf("cursor %+v", from)
		}
		if !c.calls {
			from.Calls = nil
		}
		end := lineEnds(c.data)[210]
		tr, err := adapter.Open(write(t, string(c.data[:end])+c.add), inject.Options{From: from})
		if !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", from, err)
		}
		if err == nil {
			if (tr.Next.Calls == nil) == c.calls {
				t.Errorf("the cursor after %+v is %+v", from, tr.Next)
			}
			tr.Close()
		}
	}
}
