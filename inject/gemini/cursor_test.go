package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	order           []string
}

func (m *merged) take(t *testing.T, tr *inject.Transcript) {
	t.Helper()
	if m.messages == nil {
		m.messages, m.tools = map[string]string{}, map[string]string{}
	}
	err := tr.Each(func(_ string, b inject.Batch) error {
		for i := range b.Messages {
			id := b.Messages[i].ID
			if _, ok := m.messages[id]; !ok {
				m.order = append(m.order, id)
			}
			m.messages[id] = string(schema.AppendMessage(nil, &b.Messages[i]))
		}
		for i := range b.Tools {
			m.tools[b.Tools[i].ID] = string(schema.AppendTool(nil, &b.Tools[i]))
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
func growing(t *testing.T, data []byte, cuts []int, strip func(string) (string, bool)) (m merged, fromStart int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "transcript.jsonl")
	var c inject.Cursor
	for _, cut := range cuts {
		if err := os.WriteFile(file, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		o := inject.Options{From: c, Strip: strip}
		tr, err := adapter.Open(file, o)
		if errors.Is(err, inject.ErrCursor) {
			fromStart++
			o.From = inject.Cursor{}
			tr, err = adapter.Open(file, o)
		}
		if err != nil {
			t.Fatal(err)
		}
		m.take(t, tr)
		c = tr.Next
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
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

// transcripts returns the fixtures with one record per line, and real transcripts if
// they exist.
func transcripts(t *testing.T) (files []string) {
	for _, file := range fixtures(t) {
		if filepath.Ext(file) == ".jsonl" {
			files = append(files, file)
		}
	}
	if dir := os.Getenv("CORTEXT_TRANSCRIPTS"); dir != "" {
		real, err := filepath.Glob(filepath.Join(dir, "fixtures", "*", "gemini*.jsonl"))
		if err != nil || len(real) == 0 {
			t.Fatalf("%s holds no transcripts of the Gemini CLI: %v", dir, err)
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
		ends := lineEnds(data)
		whole, _ := growing(t, data, []int{len(data)}, nil)
		for i, end := range ends {
			got, n := growing(t, data, []int{end - 1, end, len(data)}, nil)
			if got.text() != whole.text() {
				t.Fatalf("%s cut behind line %d:\n%s\nwant\n%s", file, i+1, got.text(), whole.text())
			}
			read, again = read+3, again+n
		}
		got, n := growing(t, data, ends, nil)
		if got.text() != whole.text() {
			t.Fatalf("%s read in %d steps:\n%s\nwant\n%s", file, len(ends), got.text(), whole.text())
		}
		read, again = read+len(ends), again+n
	}
	t.Logf("%d readings, %d of them from the start", read, again)
	if again*4 > read {
		t.Errorf("%d of %d readings had to begin at the start: the cursor is of no use", again, read)
	}
}

// TestGrowingLong checks that in a long session the cursor stays near the end and only
// new lines are read, whatever was rewound, rewritten or copied.
func TestGrowingLong(t *testing.T) {
	var sb strings.Builder
	sb.WriteString(linesOf())
	line := func(format string, args ...any) { fmt.Fprintf(&sb, format+"\n", args...) }
	for i := range 600 {
		line(`{"id":"u%d","type":"user","content":"question %d"}`, i, i%7)
		line(`{"id":"g%d","type":"gemini","content":"answer %d","model":"m"}`, i, i%5)
		line(`{"id":"g%d","type":"gemini","content":"answer %d","model":"m","toolCalls":[{"id":"call_%d","name":"x","status":"success","result":"r%d"}]}`, i, i%5, i%3, i)
		line(`{"id":"r%d","type":"user","content":[{"functionResponse":{"id":"call_%d","response":{"output":"r%d"}}}]}`, i, i%3, i)
		line(`{"id":"h%d","type":"gemini","content":"done %d","model":"m"}`, i, i)
		switch {
		case i%50 == 49: // not far back
			line(`{"$rewindTo":"u%d"}`, i-3)
		case i%40 == 39:
			line(`{"id":"i%d","type":"info","content":"Request cancelled."}`, i)
		}
	}
	data := []byte(sb.String())
	ends := lineEnds(data)
	whole, _ := growing(t, data, []int{len(data)}, nil)
	var cuts []int
	for i := 0; i < len(ends); i += 3 {
		cuts = append(cuts, ends[i])
	}
	got, again := growing(t, data, append(cuts, len(data)), nil)
	if got.text() != whole.text() {
		t.Fatal("read bit by bit it differs")
	}
	if again > 0 {
		t.Errorf("%d of %d readings had to begin at the start", again, len(cuts))
	}
	file := write(t, string(data))
	tr, err := adapter.Open(file, inject.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if left := int64(len(data)) - tr.Next.Offset; left > 1000 {
		t.Errorf("%d bytes would be read again", left)
	}
}

// TestDistantParent checks that a message's parent, or the event that interrupts it, may
// be far away from it.
func TestDistantParent(t *testing.T) {
	lines := []string{`{"id":"a","type":"user","content":"one"}`, `{"id":"b","type":"gemini","content":"two","model":"m"}`}
	for i := range 2 * maxAnchors {
		lines = append(lines, fmt.Sprintf(`{"id":"n%d","type":"user","content":"<hook_context>x</hook_context>"}`, i))
	}
	lines = append(lines, `{"id":"c","type":"user","content":"three"}`,
		`{"id":"d","type":"gemini","content":"four","model":"m","toolCalls":[{"id":"x","name":"x","status":"success","result":"r"}]}`,
		`{"id":"r","type":"user","content":[{"functionResponse":{"id":"x","response":{"output":"r"}}}]}`,
		`{"id":"e","type":"warning","content":"slow"}`, `{"id":"f","type":"info","content":"Request cancelled."}`)
	data := []byte(linesOf(lines...))
	whole, _ := growing(t, data, []int{len(data)}, nil)
	got, again := growing(t, data, lineEnds(data), nil)
	if got.text() != whole.text() || again > 0 {
		t.Errorf("%d times from the start\n%s\nwant\n%s", again, got.text(), whole.text())
	}
	if !strings.Contains(whole.messages["c"], `"parent_id":"b"`) || !strings.Contains(whole.messages["d"], `"interrupted"`) {
		t.Errorf("%s%s", whole.messages["c"], whole.messages["d"])
	}
}

// TestCursorRefused checks that a file is read from the start if it changed, or if it
// depends on more than the cursor records.
func TestCursorRefused(t *testing.T) {
	data, err := os.ReadFile("../../testdata/agents/gemini/0.61.0/rewind/transcript.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := adapter.Open(write(t, string(data)), inject.Options{})
	if err != nil || tr.Next.Offset == 0 {
		t.Fatalf("cursor %+v, %v", tr.Next, err)
	}
	tr.Close()
	behind := bytes.Clone(data)
	behind[tr.Next.Offset-10] ^= 1
	for name, d := range map[string]string{
		"shrunk":              string(data[:tr.Next.Offset-1]),
		"another head":        strings.Replace(string(data), `"`, `'`, 1),
		"another tail":        string(behind),
		"a document":          "{\n" + string(data),
		"rewound to unknown":  string(data) + `{"$rewindTo":"nosuch"}` + "\n",
		"rewound to the root": string(data) + `{"$rewindTo":"` + tr.Roots[0] + `"}` + "\n",
		"written again":       string(data) + `{"id":"` + tr.Next.Anchors[5].Line + `","type":"gemini","content":"x"}` + "\n",
		"an unknown context":  string(data) + `{"$set":{"messages":[{"id":"n","type":"user","content":"read @notes.txt and @shot.png please"}]}}` + "\n",
		"an unknown call":     string(data) + `{"id":"n","type":"user","content":[{"functionResponse":{"id":"nosuch","response":{"output":"x"}}}]}` + "\n",
	} {
		tr, err := adapter.Open(write(t, d), inject.Options{From: tr.Next})
		if !errors.Is(err, inject.ErrCursor) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			tr.Close()
		}
	}
}

// TestCursorOwn checks that a payload of ours is recognized and the first message after
// it has no parent, wherever the file is cut.
func TestCursorOwn(t *testing.T) {
	data := []byte(linesOf(
		`{"id":"p","type":"user","content":"OURS"}`,
		`{"id":"a","type":"user","content":"one"}`,
		`{"id":"b","type":"gemini","content":"two","model":"m"}`,
		`{"$rewindTo":"a"}`,
		`{"id":"c","type":"user","content":"three"}`,
	))
	strip := func(s string) (string, bool) { return strings.CutPrefix(s, "OURS") }
	whole, _ := growing(t, data, []int{len(data)}, strip)
	got, _ := growing(t, data, append(lineEnds(data), len(data)), strip)
	if got.text() != whole.text() || len(whole.order) != 3 || strings.Contains(whole.messages["c"], "parent_id") {
		t.Errorf("%s\nwant\n%s", got.text(), whole.text())
	}
}

func FuzzOpen(f *testing.F) {
	for _, file := range fixtures(f) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(data) { // short lines, which the fuzzer can shorten further
			if len(line) < 2000 {
				f.Add(line)
			}
		}
	}
	f.Add([]byte(linesOf(`{"$set":{"messages":[{"id":"a","type":"user","content":"x"}]}}`, `{"$rewindTo":"a"}`, `{"id":"a","type":"gemini"}`)))
	f.Add([]byte("{\n\"history\":[{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"x\"}}]},1,{}"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		adapter.Detect(bytes.NewReader(data))
		file := filepath.Join(dir, fmt.Sprintf("session-%d.jsonl", os.Getpid()))
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		tr, b, _ := gather(t, file, inject.Options{})
		if len(b.Messages) != tr.Messages {
			t.Fatalf("%d messages, said to have %d", len(b.Messages), tr.Messages)
		}
		seen, calls := map[string]bool{"": true}, map[string]bool{}
		for _, m := range b.Messages {
			if m.ID == "" || seen[m.ID] || !seen[m.ParentID] {
				t.Fatalf("id %q is empty or appears twice, or hangs on %q which is not there", m.ID, m.ParentID)
			}
			seen[m.ID] = true
			if _, err := schema.ParseMessage(bytes.TrimSuffix(schema.AppendMessage(nil, &m), []byte("\n"))); err != nil {
				t.Fatalf("the message cannot be read back: %v", err)
			}
		}
		for _, x := range b.Tools {
			if calls[x.ID] || !seen[x.MessageID] {
				t.Fatalf("call %q appears twice, or belongs to %q which is not there", x.ID, x.MessageID)
			}
			calls[x.ID] = true
		}
		if tr, err := adapter.Open(file, inject.Options{From: tr.Next}); err == nil {
			if err := tr.Each(func(string, inject.Batch) error { return nil }); err != nil {
				t.Fatal(err)
			}
			tr.Close()
		} else if !errors.Is(err, inject.ErrCursor) {
			t.Fatal(err)
		}
	})
}
