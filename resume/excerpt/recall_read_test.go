package excerpt_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// TestRead checks that the readers return texts in order and cut before them.
func TestRead(t *testing.T) {
	want := []Said{
		{"user", "look at a/b.go", 0}, {"assistant", "I look.", 1}, {"call", `Read {"path":"a/b.go"}`, 1}, {"result", "one <two>", 2}, {"assistant", "done", 3},
	}
	for name, data := range map[string]string{
		"x.jsonl": `{"type":"user","message":{"content":"look at a/b.go"}}
{"type":"assistant","message":{"content":[{"type":"text","text":"I look."},{"type":"tool_use","name":"Read","input":{"path":"a/b.go"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"one <two>"}]}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"done"}]}}
{"type":"user","isMeta":true,"message":{"content":"noise"}}
not a record
`,
		"x.json": `{"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"look at a/b.go"},{"type":"text","synthetic":true,"text":"noise"}]},
{"info":{"role":"assistant"},"parts":[{"type":"text","text":"I look."},{"type":"tool","tool":"Read","state":{"input":{"path":"a/b.go"},"error":"one <two>"}}]},
{"info":{"role":"assistant"},"parts":[{"type":"text","text":"done"}]}]}`,
		"y.json": `{"projectHash":"x","messages":[{"type":"user","content":"look at a/b.go"},
{"type":"gemini","content":"I look.","toolCalls":[{"name":"Read","args":{"path":"a/b.go"},"result":"one <two>"}]},
{"type":"info","content":"noise"},{"type":"gemini","content":[{"text":"done"}]}]}`,
	} {
		tr := Read(name, []byte(data))
		if tr == nil || len(tr.Said) != len(want) {
			t.Fatalf("%s: %+v", name, tr)
		}
		for i, s := range tr.Said {
			w := want[i]
			if s.Kind != w.Kind || strings.Trim(strings.TrimSuffix(s.Text, "\n"), `"`) != w.Text {
				t.Errorf("%s: %+v, want %+v", name, s, w)
			}
		}
		if agent := map[string]string{"x.jsonl": "claude", "x.json": "opencode", "y.json": "gemini"}[name]; tr.Agent != agent {
			t.Errorf("%s: agent %s", name, tr.Agent)
		}
		before := Read(name, tr.Cut(tr.Said[len(want)-1].At))
		if len(before.Said) != len(want)-1 || !reflect.DeepEqual(before.Said, tr.Said[:len(want)-1]) {
			t.Errorf("%s: cut before the last it says %+v", name, before.Said)
		}
	}
	if Read("x.json", []byte("no document")) != nil {
		t.Error("what is no document is read")
	}
}

// TestMeasure checks which names are needed, how many of them a payload has, and where
// a conversation is cut.
func TestMeasure(t *testing.T) {
	var all []Said
	for i := range 100 {
		kind := []string{"user", "assistant", "call", "result"}[i%4]
		all = append(all, Said{kind, fmt.Sprintf("text %d of cmd/main.go and file_%d.go", i, i/10), i})
	}
	all[50].Text = "the onlyOnce name"
	all[99].Text = "onlyOnce and neverBefore and onlyInResult"
	got := Cuts(all)
	if want := []int{24, 36, 48, 60, 72, 84}; !reflect.DeepEqual(got, want) { // out of 24, 28 … 84
		t.Errorf("cuts %v, want %v", got, want)
	}
	need := Future(all, 72)
	if len(need) != 2 || math.Abs(need["cmd/main.go"]-math.Log(1+72.0/71)) > 1e-12 || math.Abs(need["file_7.go"]-math.Log(1+72.0/2)) > 1e-12 {
		t.Errorf("needed: %v", need)
	}
	if s := Score(need, "see file_7.go"); math.Abs(s-need["file_7.go"]/(need["file_7.go"]+need["cmd/main.go"])) > 1e-12 {
		t.Errorf("score %v", s)
	}
	if Score(need, "cmd/main.go file_7.go") != 1 || Score(need, "") != 0 {
		t.Error("all is not 1, or nothing is not 0")
	}
	if names := Names("plain words ./go.mod, --dry-run x86_64 12345 a.b well-known 12ab34 getName"); len(names) != 3 || !names["go.mod"] || !names["x86_64"] || !names["getName"] {
		t.Errorf("names %v", names)
	}
}
