package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/inject"
	"cortext/schema"
)

// merged is what a store would have after captures of a growing transcript: the last
// record for each id.
type merged struct {
	messages, tools map[string]string
	order           map[string][]string // ids by sub-agent
}

func (m *merged) take(t *testing.T, tr *inject.Transcript) {
	t.Helper()
	if m.messages == nil {
		m.messages, m.tools, m.order = map[string]string{}, map[string]string{}, map[string][]string{}
	}
	err := tr.Each(func(sub string, b inject.Batch) error {
		for i := range b.Messages {
			id := sub + "/" + b.Messages[i].ID
			if _, ok := m.messages[id]; !ok {
				m.order[sub] = append(m.order[sub], id)
			}
			m.messages[id] = string(schema.AppendMessage(nil, &b.Messages[i]))
		}
		for i := range b.Tools {
			m.tools[sub+"/"+b.Tools[i].ID] = string(schema.AppendTool(nil, &b.Tools[i]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (m *merged) text() string {
	b, _ := json.Marshal([]any{m.order, m.messages, m.tools})
	return string(b)
}

// growing reads a growing transcript as hooks do: up to each of the cuts, from the
// cursor of the previous reading.
func growing(t *testing.T, data []byte, name string, cuts []int) (m merged, fromStart int) {
	t.Helper()
	var c inject.Cursor
	for _, cut := range cuts {
		o := inject.Options{From: c}
		tr, err := read(bytes.NewReader(data), int64(cut), name, o)
		if errors.Is(err, inject.ErrCursor) {
			fromStart++
			o.From = inject.Cursor{}
			tr, err = read(bytes.NewReader(data), int64(cut), name, o)
		}
		if err != nil {
			t.Fatal(err)
		}
		m.take(t, tr)
		c = tr.Next
	}
	return m, fromStart
}

// lineEnds returns the lengths at which a transcript has only whole lines.
func lineEnds(data []byte) (ends []int) {
	at := 0
	for line := range bytes.Lines(data) {
		at += len(line)
		ends = append(ends, at)
	}
	return ends
}

// transcripts returns the fixtures, and the real transcripts if they exist.
func transcripts(t *testing.T) (files []string) {
	files, err := filepath.Glob("../../testdata/agents/claude/*/*/transcript.jsonl")
	if err != nil || len(files) < 5 {
		t.Fatalf("fixtures: %v, %v", files, err)
	}
	if dir := os.Getenv("CORTEXT_TRANSCRIPTS"); dir != "" {
		real, err := filepath.Glob(filepath.Join(dir, "claude", "*", "*.jsonl"))
		if err != nil || len(real) == 0 {
			t.Fatalf("%s holds no transcripts of Claude Code: %v", dir, err)
		}
		files = append(files, real...)
	} else {
		t.Log("NOT RUN on real transcripts: CORTEXT_TRANSCRIPTS is not set")
	}
	return files
}

// TestGrowing checks that reading a transcript piece by piece, wherever it is cut,
// gives the same as reading it at once.
func TestGrowing(t *testing.T) {
	read, again := 0, 0
	for _, file := range transcripts(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		ends := lineEnds(data)
		whole, _ := growing(t, data, name, []int{len(data)})
		step := max(1, len(ends)/40)
		if len(data) > 1<<20 {
			step = max(1, len(ends)/3)
		}
		for i := 0; i < len(ends); i += step { // one cut
			got, n := growing(t, data, name, []int{ends[i], len(data)})
			if got.text() != whole.text() {
				t.Fatalf("%s cut behind line %d:\n%s\nwant\n%s", file, i+1, got.text(), whole.text())
			}
			read, again = read+2, again+n
		}
		var cuts []int
		for i := 0; i < len(ends); i += step { // many cuts
			cuts = append(cuts, ends[i])
		}
		got, n := growing(t, data, name, append(cuts, len(data)))
		if got.text() != whole.text() {
			t.Fatalf("%s read in %d steps: differs", file, len(cuts)+1)
		}
		read, again = read+len(cuts)+1, again+n
	}
	t.Logf("%d readings, %d of them from the start", read, again)
	if again*4 > read {
		t.Errorf("%d of %d readings had to begin at the start: the cursor is of no use", again, read)
	}
}

// TestCursorRefused checks that a changed file is read from the start.
func TestCursorRefused(t *testing.T) {
	data, err := os.ReadFile("../../testdata/agents/claude/2.1.329/events/transcript.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := read(bytes.NewReader(data), int64(len(data)), "x", inject.Options{})
	if err != nil || tr.Next.Offset == 0 {
		t.Fatalf("cursor %+v, %v", tr.Next, err)
	}
	changed := bytes.Replace(data, []byte(`"`), []byte(`'`), 1)
	behind := append([]byte{}, data...)
	behind[tr.Next.Offset-10] ^= 1
	for name, d := range map[string][]byte{"shrunk": data[:tr.Next.Offset-1], "empty": nil, "another head": changed, "another tail": behind} {
		if _, err := read(bytes.NewReader(d), int64(len(d)), "x", inject.Options{From: tr.Next}); !errors.Is(err, inject.ErrCursor) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOwnPayload checks that neither cortext's own text in a session nor the program's
// answer to it is captured. What follows must be captured, and so must a user's own
// mention of the text.
func TestOwnPayload(t *testing.T) {
	for _, shown := range []string{"", "Resumed: brainstorm / X"} {
		ownPayload(t, inject.Request{Payload: "# Brainstorm\nPAYLOAD", Shown: shown, NativeID: "s", Time: "2026-11-21T10:00:00.000Z", Dir: "/w"})
	}
}

func ownPayload(t *testing.T, r inject.Request) {
	t.Helper()
	own := transcriptOf(r)
	rest := `{"type":"assistant","uuid":"a","parentUuid":"` + inject.PayloadID(r.Payload) + `","timestamp":"2026-11-21T10:00:01.000Z","sessionId":"s","message":{"role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}
{"type":"user","uuid":"b","parentUuid":"a","promptId":"p","timestamp":"2026-11-21T10:00:02.000Z","sessionId":"s","message":{"role":"user","content":"<command-name>/workspace.plan</command-name><command-args>X</command-args>"}}
{"type":"user","uuid":"c","parentUuid":"b","timestamp":"2026-11-21T10:00:03.000Z","sessionId":"s","message":{"role":"user","content":"OURS and more"}}
{"type":"user","uuid":"d","parentUuid":"c","timestamp":"2026-11-21T10:00:04.000Z","sessionId":"s","message":{"role":"user","content":"OURS"}}
{"type":"assistant","uuid":"e","parentUuid":"d","timestamp":"2026-11-21T10:00:05.000Z","sessionId":"s","message":{"role":"assistant","model":"m","content":"real answer"}}
{"type":"assistant","uuid":"f","parentUuid":"e","timestamp":"2026-11-21T10:00:06.000Z","sessionId":"s","message":{"role":"assistant","model":"<synthetic>","content":"API Error"}}
`
	data := []byte(own + rest)
	strip := func(s string) (string, bool) { return strings.CutPrefix(s, "OURS") }
	for _, cut := range lineEnds(data) {
		var m merged
		var c inject.Cursor
		for _, end := range []int{cut, len(data)} {
			o := inject.Options{Strip: strip, From: c}
			tr, err := read(bytes.NewReader(data), int64(end), "s.jsonl", o)
			if err != nil {
				t.Fatal(err)
			}
			m.take(t, tr)
			c = tr.Next
			if o.From.Offset == 0 && (len(tr.Roots) != 1 || tr.Roots[0] != inject.PayloadID(r.Payload)) || end == len(data) && c.Offset == 0 {
				t.Errorf("roots %q, cursor %+v", tr.Roots, c)
			}
			if o.From.Offset == 0 && end == len(data) && (len(tr.Commands) != 1 || tr.Commands[0].PromptID != "p" || tr.Commands[0].Message != "b") {
				t.Errorf("commands %v", tr.Commands)
			}
		}
		if got, want := strings.Join(m.order[""], " "), "/b /c /e /f"; got != want {
			t.Errorf("captured %s, want %s", got, want)
		}
		if !strings.Contains(m.messages["/c"], `"content":" and more"`) {
			t.Errorf("c is %s", m.messages["/c"])
		}
		if strings.Contains(m.messages["/b"], "parent_id") {
			t.Errorf("the first message hangs on what was not captured: %s", m.messages["/b"])
		}
	}
}
